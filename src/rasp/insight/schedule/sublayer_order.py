"""An order of sublayers, and a graph, in; the first and last time for each node out.

A transformer is a row of attention sublayers (`s`) and feed-forwards (`f`). Its attention
sublayers are *slots*, numbered from 1; slot 0 is the embedding. A value that slot n's
attention makes is there at time 2n; what the feed-forward after slot n makes, at time 2n + 1.
So time // 2 is the layer where every slot has its feed-forward, as in a plain stack; and any
other order (the paper's discussion of sandwich transformers) only lacks some odd times.

`earliest_layers` is the paper's rule for a plain stack (section 3, "Compilation"): only attention
moves a value to another position, so only attention costs a layer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rasp.base.errors import RaspValueError
from rasp.language.graph import Elementwise, Indices, Node, SOp, Tokens, TokensAs, in_order

NEVER = 1 << 40
"""The time of a node that no feed-forward can compute."""


@dataclass(frozen=True)
class Order:
    """How many attention sublayers there are, and after which of them there is a feed-forward."""

    slots: int
    feed_forwards: tuple[int, ...]
    """Slots, in order. 0 is a feed-forward before the first attention."""

    @classmethod
    def layered(cls, depth: int) -> Order:
        """Return the paper's layers: a feed-forward after every attention, and one at the input."""
        return cls(depth, tuple(range(depth + 1)))

    @classmethod
    def read(cls, text: str) -> Order:
        """Read an order such as `sfsf`.

        >>> Order.read("ffssf")
        Order(slots=2, feed_forwards=(0, 2))
        """
        unknown = sorted(set(text) - set("sf"))
        if unknown or not text:
            problem = f"`{text}` has `{unknown[0]}` in it" if unknown else "this one is empty"
            raise RaspValueError(
                f"an order of sublayers is written with `s` and `f`, but {problem}",
                hint="`s` is a self-attention, `f` a feed-forward: a plain stack of two layers "
                "is `sfsf`",
            )
        slots, feed_forwards = 0, list[int]()
        for letter in text:
            if letter == "s":
                slots += 1
            elif slots not in feed_forwards[-1:]:
                feed_forwards.append(slots)
        return cls(slots, tuple(feed_forwards))

    def fed_forward(self, time: int) -> int:
        """Return when elementwise work can be done on values that are there at a time.

        A feed-forward makes a whole expression at once: what it made, it can go on working on.
        """
        at = bisect_left(self.feed_forwards, time // 2)
        return 2 * self.feed_forwards[at] + 1 if at < len(self.feed_forwards) else NEVER

    def last_feed_forward(self, time: int) -> int:
        """Return the last time, up to this one, at which elementwise work can be done; else -1."""
        at = bisect_right(self.feed_forwards, (time - 1) // 2)
        return 2 * self.feed_forwards[at - 1] + 1 if at else -1

    @cached_property
    def end(self) -> int:
        """The last time there is."""
        return 2 * self.slots + 1


def attended(time: int) -> int:
    """Return when attention can first read values that are there at a time."""
    return time if time >= NEVER else 2 * (time // 2 + 1)


def earliest_times(outputs: Iterable[Node], order: Order) -> dict[Node, int]:
    """Map each node to the first time at which it can be there, beyond the last slot if need be."""
    nodes = in_order(outputs)
    sources = input_sources(nodes)
    times: dict[Node, int] = {}
    for node in nodes:
        time = max((time_for(node, needed, times[needed]) for needed in node.needs), default=0)
        is_free = node in sources and len(sources[node]) < 2
        if isinstance(node, Elementwise) and not is_free:
            time = order.fed_forward(time)
        times[node] = time
    return times


def time_for(user: Node, needed: Node, time: int) -> int:
    """Return from when on a node can be made, as far as one that it needs is concerned."""
    return attended(time) if layers_between(user, needed) else time


def latest_times(outputs: Sequence[Node], order: Order) -> dict[Node, int]:
    """Map each node to the last time at which it may be made, if all is to end in time."""
    times: dict[Node, int] = {}
    for node in reversed(in_order(outputs)):
        own = times.setdefault(node, order.end)
        own = order.last_feed_forward(own) if isinstance(node, Elementwise) else own - own % 2
        times[node] = own
        for needed in node.needs:
            ready = own - layers_between(node, needed)
            times[needed] = min(times.get(needed, order.end), ready)
    return times


def input_sources(nodes: Sequence[Node]) -> dict[Node, frozenset[str]]:
    """Map each s-op that needs no attention to what it reads of `tokens` and `indices`.

    What reads one of them alone is a row of an embedding table, and free.
    """
    sources: dict[Node, frozenset[str]] = {}
    for node in nodes:
        if isinstance(node, (Tokens, TokensAs)):
            sources[node] = frozenset(["tokens"])
        elif isinstance(node, Indices):
            sources[node] = frozenset(["indices"])
        elif isinstance(node, SOp) and all(needed in sources for needed in node.needs):
            sources[node] = frozenset[str]().union(*(sources[needed] for needed in node.needs))
    return sources


def earliest_layers(outputs: Iterable[Node]) -> dict[Node, int]:
    """Map each node to the first layer in which it can be computed.

    >>> from rasp.language.graph import Aggregate, Const, Select, Tokens
    >>> found = Aggregate(Select(Tokens(), Tokens(), "=="), Const(1))
    >>> earliest_layers([found])[found]
    1
    """
    layer: dict[Node, int] = {}
    for node in in_order(outputs):
        layer[node] = max(
            (layer[needed] + layers_between(node, needed) for needed in node.needs), default=0
        )
    return layer


def layers_between(user: Node, needed: Node) -> int:
    """Return how many layers lie between a node and one that needs it: 0 or 1.

    Attention reads s-ops (keys, queries, values) that were made before its layer; elementwise
    work, and the parts of a selector, are done where what they need is.
    """
    return int(isinstance(needed, SOp) and not isinstance(user, Elementwise))
