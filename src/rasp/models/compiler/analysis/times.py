"""When a model reads and writes: a number for each of its sublayers, in the order they run in.

    -1 embedding, 0 feed-forward before layer 1, 1 attention of layer 1, 2 its feed-forward, 3 …

What is read at a time is what was written at earlier times.
"""

from __future__ import annotations

EMBEDDING = -1


def attention_time(layer: int) -> int:
    """When the heads of a layer read and write."""
    return 2 * layer - 1


def feed_forward_time(layer: int) -> int:
    """When the feed-forward of a layer reads and writes; layer 0 has one before the first heads."""
    return 2 * layer


def readout_time(layers: int) -> int:
    """When the outputs of a model of so many layers are read."""
    return 2 * layers + 1


def last_feed_forward_before(time: int) -> int:
    """The layer of the last feed-forward whose work can be read at a time.

    >>> last_feed_forward_before(attention_time(3)), last_feed_forward_before(feed_forward_time(3))
    (2, 2)
    """
    return (time - 1) // 2


def layer_at(time: int) -> int:
    """The layer that a time belongs to."""
    return (time + 1) // 2


def sublayer_name(time: int) -> str:
    """What runs at a time, as claims and traces call it.

    >>> [sublayer_name(time) for time in (EMBEDDING, attention_time(1), feed_forward_time(1))]
    ['embedding', 'layer1.attention', 'layer1.feed_forward']
    """
    if time == EMBEDDING:
        return "embedding"
    return f"layer{layer_at(time)}.{'attention' if time % 2 else 'feed_forward'}"
