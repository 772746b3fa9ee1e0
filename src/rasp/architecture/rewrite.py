"""Outputs and a change in, new outputs out: the graph rebuilt around nodes that are replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rasp.graph import (
    Aggregate,
    Elementwise,
    Node,
    Score,
    ScoreSum,
    Select,
    SelectBest,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    in_order,
)


def rewritten(
    outputs: Sequence[Node], change: Callable[[Node, Node], Node | None]
) -> tuple[Node, ...]:
    """Rebuild a graph from its inputs on.

    `change` is given each node as it was and as it is with its needs rebuilt, and returns
    what to put in its place, or None to leave it.

    >>> from rasp.graph import Const, Indices, Tokens
    >>> double = Elementwise("+", (Tokens(), Tokens()))
    >>> new, = rewritten([double], lambda old, new: Indices() if old is Tokens() else None)
    >>> new is Elementwise("+", (Indices(), Indices()))
    True
    """
    new: dict[Node, Node] = {}
    for node in in_order(outputs):
        rebuilt = _with_needs(node, [new[needed] for needed in node.needs])
        new[node] = change(node, rebuilt) or rebuilt
    return tuple(new[output] for output in outputs)


def _with_needs(node: Node, needs: list[Any]) -> Node:
    match node:
        case Elementwise(op):
            return Elementwise(op, tuple(needs))
        case Select(op=op):
            return Select(needs[0], needs[1], op)
        case Aggregate(default=default):
            return Aggregate(needs[0], needs[1], default)
        case SelectorAnd() | SelectorOr() | SelectorNot() | SelectBest() | Score() | ScoreSum():
            return type(node)(*needs)
    return node
