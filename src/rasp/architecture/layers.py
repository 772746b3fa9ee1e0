"""A graph in, the first and the last layer in which each node can be computed out.

Only attention moves a value to another position. So a head in layer l compares keys and
queries, and mixes values, that were there when layer l-1 ended; elementwise work rides along
in the layer that made its last operand. Layer 0 is the embedding. (Section 3 of the paper,
"Compilation".)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rasp.graph import Elementwise, Node, SOp, in_order


def layers_between(user: Node, needed: Node) -> int:
    """Return how many layers must end between a node and one that needs it: 0 or 1.

    Attention reads s-ops (keys, queries, values) made before its layer; everything else,
    elementwise work and the parts of a selector alike, happens where its operands are.
    """
    return int(isinstance(needed, SOp) and not isinstance(user, Elementwise))


def earliest_layers(outputs: Iterable[Node]) -> dict[Node, int]:
    """Map each node to the first layer in which it can be computed.

    >>> from rasp.graph import Aggregate, Const, Select, Tokens
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


def latest_layers(outputs: Iterable[Node], depth: int) -> dict[Node, int]:
    """Map each node to the last layer in which it may be computed where `depth` must suffice."""
    outputs = list(outputs)
    layer: dict[Node, int] = {}
    for node in reversed(in_order(outputs)):
        own = layer.setdefault(node, depth)
        for needed in node.needs:
            bound = own - layers_between(node, needed)
            layer[needed] = min(layer.get(needed, depth), bound)
    return layer


def depth_of(layers: Mapping[Node, int]) -> int:
    """Return the number of layers: the latest that any node is in."""
    return max(layers.values(), default=0)
