"""A node in, the attention that its author meant out: whom a position looks at, and what for.

`selector_width(same)` is two heads and some arithmetic in the graph, but whoever wrote it meant
one thing: count what `same` picks. A node is read so where it is exactly what the library's own
function makes of that selector, whatever the text was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rasp.language.embedding import lib
from rasp.language.embedding.handle_operators import SelectorHandle, SOpHandle
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Node,
    Selector,
    SelectorAnd,
    SelectorOr,
    SOp,
)
from rasp.language.graph.idioms import FIRST_KEY, selector_of_width

Purpose = Literal["mean", "sum", "count", "select"]
"""What the library adds to a selector, or keeps of it, so that a mean becomes a count."""


@dataclass(frozen=True)
class AttentionMeant:
    """A selector and what is done with the keys it picks."""

    purpose: Purpose
    selector: Selector
    values: SOp
    """What is read at the keys; 1 where they are only counted."""
    leaves_out_first: bool = False
    """True where position 0 is known to be a BOS, and never counts."""


def attention_of(node: Node) -> AttentionMeant | None:
    """Return the attention that a node is, or that alone makes it.

    >>> from rasp import length
    >>> attention_of(length.node).purpose
    'count'
    """
    if node is lib.length.node:
        return AttentionMeant("count", lib.select_all.node, Const(1))
    match node:
        case Selector():
            return AttentionMeant("select", node, Const(1))
        case Aggregate(selector, values):
            return AttentionMeant("mean", selector, values)
        case Elementwise("+" | "-") if (width := selector_of_width(node)) is not None:
            selector, leaves_out_first = width
            return AttentionMeant("count", selector, Const(1), leaves_out_first=leaves_out_first)
        case Elementwise("+" | "-" | "/"):
            return next(_sums(node), None)
    return None


def _sums(node: Elementwise) -> Iterator[AttentionMeant]:
    """The calls of `selected_sum` that make exactly this node."""
    for aggregate in aggregates_of(node):
        match aggregate:
            case Aggregate(SelectorOr(selector), Elementwise("if", (_, _, values))):
                for has_bos in (False, True):
                    given = SelectorHandle(selector), SOpHandle(values)
                    if lib.selected_sum(*given, assume_bos=has_bos).node is node:
                        yield AttentionMeant("sum", selector, values, leaves_out_first=has_bos)


def aggregates_of(node: Node) -> list[Aggregate]:
    """The aggregates that a small piece of arithmetic is made of, none if there is more in it.

    >>> len(aggregates_of(lib.length.node))
    1
    """
    aggregates: list[Aggregate] = []
    stack: list[Node] = [node]
    while stack and len(aggregates) <= 3:
        match stack.pop():
            case Aggregate() as aggregate:
                aggregates.append(aggregate)
            case Elementwise(op, operands) if op in ("+", "-", "/", "round"):
                stack.extend(operands)
            case Const():
                pass
            case _:
                return []
    return aggregates


def as_written(aggregate: Aggregate) -> Selector:
    """The selector of an aggregate without what the library's counting added to it.

    >>> from rasp import lib, select, tokens
    >>> same = select(tokens, tokens, "==")
    >>> [as_written(each) is same.node for each in aggregates_of(lib.selector_width(same).node)]
    [True, True]
    """
    match aggregate.selector:
        case SelectorOr(left, right) | SelectorAnd(left, right) if right is FIRST_KEY:
            return left
    return aggregate.selector
