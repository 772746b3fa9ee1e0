"""A graph and an order of sublayers in, the chain of attentions that takes longest out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rasp.insight.schedule.sublayer_order import time_for
from rasp.language.graph import Aggregate, Node, Selector


def deepest_chain(outputs: Sequence[Node], times: Mapping[Node, int]) -> tuple[Node, ...]:
    """Return attentions, first to last, each of which needs the one before it in its own slot.

    It ends in the output that is there last; each link is a need that could not be there later
    without delaying what needs it.
    """
    node: Node | None = max(outputs, key=lambda output: times[output], default=None)
    chain: list[Node] = []
    if isinstance(node, Selector):
        chain.append(node)
    while node is not None:
        if isinstance(node, Aggregate):
            chain.append(node)
        node = _latest_need(node, times)
    return tuple(reversed(chain))


def _latest_need(node: Node, times: Mapping[Node, int]) -> Node | None:
    """The need that kept a node waiting; of several, one that itself waited longest."""
    return max(
        node.needs,
        key=lambda needed: (time_for(node, needed, times[needed]), times[needed]),
        default=None,
    )
