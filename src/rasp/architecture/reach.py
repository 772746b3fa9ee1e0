"""A selector in, how far it can look out: bounds on key position minus query position.

Where every selection of a program stays inside an attention pattern, the pattern changes
nothing, and no input needs to be tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from rasp.architecture.linear import Terms
from rasp.architecture.normal import NEVER, Form, normal_forms
from rasp.architecture.patterns import Pattern
from rasp.graph import (
    Aggregate,
    Indices,
    Node,
    SelectBest,
    Selector,
    in_order,
)
from rasp.operators.comparisons import EQUAL, GREATER, LESS

Reach: TypeAlias = tuple[float, float]
"""The least and the greatest of key position minus query position."""
POSITION: Terms = frozenset([(Indices(), Fraction(1))])
EVERYWHERE: Reach = (-math.inf, math.inf)
NOWHERE: Reach = (math.inf, -math.inf)


def stays_within(pattern: Pattern, outputs: Sequence[Node]) -> bool:
    """Tell whether every selection provably keeps to the pairs that a pattern allows.

    False means that this simple argument does not decide it.
    """
    selectors: list[Selector] = []
    for node in in_order(outputs):
        if isinstance(node, (Aggregate, SelectBest)):
            selectors.append(node.selector)
    selectors += [output for output in outputs if isinstance(output, Selector)]
    forms = normal_forms(selectors)
    return all(_is_allowed(pattern, reach(forms[selector])) for selector in selectors)


def _is_allowed(pattern: Pattern, reach: Reach) -> bool:
    low, high = reach
    if low > high:
        return True
    match pattern.shape, pattern.numbers:
        case "window" | "bigbird", (width, *_):
            return -width <= low and high <= width
        case "strided", (step,):
            return (-step < low and high < step) or (low == high and low % step == 0)
        case "block", _:
            return low == high == 0
    return high <= 0


def reach(form: Form) -> Reach:
    """Return how far a selector looks, from its normal form.

    >>> from rasp.graph import Select
    >>> from rasp.architecture.normal import normal_form
    >>> from rasp.graph import Const, Elementwise
    >>> before = Elementwise("-", (Indices(), Const(1)))
    >>> reach(normal_form(Select(Indices(), before, "==")))
    (-1, -1)
    """
    match form:
        case ("compare", keys, queries, apart, signs):
            return _reach_of_comparison(keys, queries, apart, signs)
        case ("best", tuple() as inner, *_):
            return reach(inner)
        case ("and", frozenset() as members):
            reaches = [reach(member) for member in members]
            return max(low for low, _ in reaches), min(high for _, high in reaches)
        case ("or", frozenset() as members):
            reaches = [each for each in map(reach, members) if each[0] <= each[1]]
            if not reaches:
                return NOWHERE
            return min(low for low, _ in reaches), max(high for _, high in reaches)
    return NOWHERE if form == NEVER else EVERYWHERE


def _reach_of_comparison(keys: Terms, queries: Terms, apart: Fraction, signs: int) -> Reach:
    """A key's position against a query's plus a constant bounds key - query by the constant.

    Against a constant alone only the sure bounds are left, since no position is less than 0: a
    key of at most c is at most c after any query, a query of at most c at most c after any key.
    """
    if keys == queries == POSITION:
        return _between(apart, signs)
    if keys == POSITION and not queries:
        return -math.inf, _between(apart, signs)[1]
    if queries == POSITION and not keys:
        return _between(apart, signs)[0], math.inf
    return EVERYWHERE


def _between(bound: Fraction, signs: int) -> Reach:
    """The whole numbers x that compare with a bound by one of the signs, x on the left."""
    low: float = -math.inf
    high: float = math.inf
    if not signs & LESS:
        low = math.ceil(bound) if signs & EQUAL else math.floor(bound) + 1
    if not signs & GREATER:
        high = math.floor(bound) if signs & EQUAL else math.ceil(bound) - 1
    return low, high
