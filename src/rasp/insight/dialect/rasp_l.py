"""A program in, the parts of it that RASP-L does not have out.

RASP-L (Zhou and others, *What Algorithms can Transformers Learn?*, 2023) is RASP without what a
causal decoder could hardly learn: heads look back only, a position may be compared with another
and moved by one but not computed with, and numbers stay small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from rasp.insight.dialect.selector_rows import NotInDialect
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Select,
    SelectBest,
    Selector,
    SOp,
    in_order,
)
from rasp.language.graph.idioms import LENGTH, selector_of_width
from rasp.language.graph.reach import POSITION, looks_back
from rasp.language.graph.sum_form import linear
from rasp.language.operators import COMPARISONS


def check_rasp_l(output: SOp) -> None:
    """Raise at the first part of a program that RASP-L does not have.

    >>> import rasp
    >>> check_rasp_l(rasp.programs.load("previous_token").node)
    >>> try: check_rasp_l(rasp.programs.load("reverse").node)
    ... except NotInDialect as found: print(found.reason)
    looks at later positions
    """
    origins = dict(_without_idioms(output))
    positions = _positions(origins)
    for node, origin in origins.items():
        looks_ahead = isinstance(node, Aggregate | SelectBest) and not looks_back(node.selector)
        if looks_ahead or node is LENGTH:
            # the selector itself may also be part of a head elsewhere that looks back
            raise NotInDialect(origin, "looks at later positions")
    for node in origins:
        _check_positions(node, positions)
        if isinstance(node, Elementwise) and _grows(node):
            raise NotInDialect(node, "makes numbers that grow without bound")


def _grows(node: Elementwise) -> bool:
    return node.op in ("*", "^") and not any(isinstance(part, Const) for part in node.operands)


def _without_idioms(output: SOp) -> Iterator[tuple[Node, Node]]:
    """Every node the output needs, twice; a width is the head that counts it, and the width."""
    inside: set[Node] = set()
    for node in reversed(in_order([output])):
        if node in inside:
            continue
        counted = _counted(node) if isinstance(node, SOp) else None
        if counted is None:
            yield node, node
        else:
            kept = {needed for part in counted for needed in in_order([part])}
            inside |= set(in_order([node])) - kept
            yield Aggregate(counted[0], counted[1]), node


def _counted(node: SOp) -> tuple[Selector, SOp] | None:
    """Where a node is the library's way to write a count: what is counted, and where."""
    width = selector_of_width(node)
    if width is not None:
        return width[0], Const(1)
    match node:
        case Elementwise("round", (Elementwise("*", (places, Aggregate(selector, values))),)):
            if linear(places) == (POSITION, Fraction(1)) and selector is Select(
                Indices(), Indices(), "<="
            ):
                return selector, values
    return None


def _positions(nodes: Iterable[Node]) -> dict[Node, int]:
    """The s-ops that are a position plus a constant, and the constant."""
    distances: dict[Node, int] = {}
    for node in nodes:
        if isinstance(node, SOp) and not isinstance(node, Const):
            terms, more = linear(node)
            if terms == POSITION and more.denominator == 1:
                distances[node] = int(more)
    return distances


def _check_positions(node: Node, positions: dict[Node, int]) -> None:
    """A position is compared, or moved by one; nothing else is done with it."""
    used = [needed for needed in node.needs if needed in positions]
    if not used or node in positions:
        if abs(positions.get(node, 0)) > 1:
            raise NotInDialect(node, "moves by more than one position at once")
        return
    if isinstance(node, Elementwise) and node.op not in (*COMPARISONS, "if"):
        raise NotInDialect(node, "computes with positions")
