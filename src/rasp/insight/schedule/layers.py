"""A graph in, the first layer in which each node can be computed out: the paper's rule.

Only attention moves a value to another position, so only attention costs a layer. A head
compares keys and queries, and mixes values, that were there before its layer; elementwise
work rides along in the layer that made its last operand. Layer 0 is the embedding.
(Section 3 of the paper, "Compilation".)
"""

from __future__ import annotations

from collections.abc import Iterable

from rasp.language.graph import Elementwise, Node, SOp, in_order


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
