"""A graph in, what never changes again out: values that depend on earlier positions only.

When an input grows by a token, an s-op is *settled* where its values at the old positions cannot
change: it is made from tokens and positions, position by position, and by selectors that only
look back.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    score_terms,
    selectors_in,
)
from rasp.operators.comparisons import ANY, EQUAL, GREATER, OUTCOMES


def settled_nodes(order: Sequence[Node]) -> set[SOp]:
    """Return the s-ops whose values at old positions stay as they are when an input grows.

    >>> from rasp.graph import Tokens
    >>> earlier = Aggregate(Select(Indices(), Indices(), "<"), Indices())
    >>> everything = Aggregate(Select(Const(1), Const(1), "=="), Indices())
    >>> found = settled_nodes([Indices(), Const(1), earlier, everything])
    >>> earlier in found, everything in found
    (True, False)
    """
    found: set[SOp] = set()
    for node in order:
        if isinstance(node, Aggregate):
            parts = [node.values, *s_ops_of(node.selector)]
            if looks_back(node.selector) and found.issuperset(parts):
                found.add(node)
        elif isinstance(node, SOp) and found.issuperset(node.needs):
            found.add(node)
    return found


def s_ops_of(selector: Selector) -> list[SOp]:
    """Return the keys and queries that a selector compares or scores."""
    found: list[SOp] = []
    for node in selectors_in(selector):
        if isinstance(node, Select):
            found += [node.keys, node.queries]
        if isinstance(node, SelectBest):
            found += [
                side for score in score_terms(node.scorer) for side in (score.keys, score.queries)
            ]
    return found


def looks_back(selector: Selector) -> bool:
    """Tell whether a selector provably picks no key after its query.

    >>> looks_back(SelectorNot(Select(Indices(), Indices(), ">")))
    True
    """
    back: dict[tuple[Selector, bool], bool] = {}
    for node in selectors_in(selector):
        for is_negated in (False, True):
            back[node, is_negated] = _looks_back(node, is_negated, back)
    return back[selector, False]


def _looks_back(node: Selector, is_negated: bool, back: dict[tuple[Selector, bool], bool]) -> bool:
    match node:
        case Select(keys, queries, op):
            outcomes = OUTCOMES[op]
            return _compares_back(keys, queries, ANY - outcomes if is_negated else outcomes)
        case SelectorNot(inner):
            return back[inner, not is_negated]
        case SelectorAnd(left, right) | SelectorOr(left, right):
            is_both = isinstance(node, SelectorAnd) != is_negated
            sides = (back[left, is_negated], back[right, is_negated])
            return any(sides) if is_both else all(sides)
        case SelectBest(inner):
            return not is_negated and back[inner, False]
    return False


def _compares_back(keys: SOp, queries: SOp, outcomes: int) -> bool:
    """Positions plus a number on both sides: key - query is less, equal or greater than a gap."""
    left, right = _offset(keys), _offset(queries)
    if left is None:
        return False
    if right is None:
        first = isinstance(queries, Const) and not isinstance(queries.value, str)
        return first and outcomes == EQUAL and queries.value - left <= 0  # type: ignore[attr-defined]
    gap = right - left  # a key is picked where key - query compares so with the gap
    if outcomes & GREATER:
        return False
    return gap <= 0 if outcomes & EQUAL else gap <= 1


def _offset(node: SOp) -> Fraction | None:
    """Return c where an s-op is `indices + c`."""
    total = Fraction(0)
    while isinstance(node, Elementwise) and node.op in ("+", "-"):
        left, right = node.operands
        if isinstance(right, Const) and not isinstance(right.value, str):
            total += right.value if node.op == "+" else -right.value
            node = left
        elif node.op == "+" and isinstance(left, Const) and not isinstance(left.value, str):
            total += left.value
            node = right
        else:
            return None
    return total if isinstance(node, Indices) else None
