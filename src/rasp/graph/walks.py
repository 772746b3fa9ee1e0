"""Orders in which to visit a graph. All of them are iterative and linear, so depth is free."""

from __future__ import annotations

from collections.abc import Iterable

from rasp.graph.nodes import Node


def in_order(outputs: Iterable[Node]) -> list[Node]:
    """List every node that the outputs need, each once, after everything it needs itself.

    >>> from rasp.graph.nodes import Elementwise, Indices
    >>> [type(node).__name__ for node in in_order([Elementwise("-", (Indices(),))])]
    ['Indices', 'Elementwise']
    """
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node in reversed(list(outputs))]
    while stack:
        node, needs_done = stack.pop()
        if needs_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((needed, False) for needed in reversed(node.needs) if needed not in seen)
    return order


def users(outputs: Iterable[Node]) -> dict[Node, list[Node]]:
    """Map each node to the nodes that need it directly, in order."""
    found: dict[Node, list[Node]] = {}
    for node in in_order(outputs):
        found.setdefault(node, [])
        for needed in dict.fromkeys(node.needs):
            found[needed].append(node)
    return found
