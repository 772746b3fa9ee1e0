"""A selector in, how far it can look out: bounds on key position minus query position.

Where every selection of a program stays inside an attention pattern, the pattern changes
nothing, and no input needs to be tried.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from rasp.architecture.normal import NEVER, Form, normal_forms
from rasp.architecture.patterns import Pattern
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    SelectBest,
    Selector,
    SOp,
    in_order,
)

Reach: TypeAlias = tuple[float, float]
"""The least and the greatest of key position minus query position."""
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
    >>> before = Elementwise("-", (Indices(), Const(1)))
    >>> reach(normal_form(Select(Indices(), before, "==")))
    (-1, -1)
    """
    match form:
        case ("compare", SOp() as keys, SOp() as queries, frozenset() as signs):
            return _reach_of_comparison(keys, queries, signs)
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


def _reach_of_comparison(keys: SOp, queries: SOp, signs: frozenset[str]) -> Reach:
    """`key + a` against `query + b` bounds key - query by b - a.

    Against a constant only the sure bounds are left, since no position is less than 0: a key
    of at most c is at most c after any query, and a query of at most c at most c after any key.
    """
    ours, theirs = _offset(keys), _offset(queries)
    if ours is not None and theirs is not None:
        return _between(theirs - ours, signs)
    if ours is not None and isinstance(queries, Const) and not isinstance(queries.value, str):
        return -math.inf, _between(queries.value - ours, signs)[1]
    if theirs is not None and isinstance(keys, Const) and not isinstance(keys.value, str):
        return _between(theirs - keys.value, signs)[0], math.inf
    return EVERYWHERE


def _between(bound: Fraction, signs: frozenset[str]) -> Reach:
    """The whole numbers x that compare with a bound by one of the signs, x on the left."""
    low: float = -math.inf
    high: float = math.inf
    if "<" not in signs:
        low = math.ceil(bound) if "=" in signs else math.floor(bound) + 1
    if ">" not in signs:
        high = math.floor(bound) if "=" in signs else math.ceil(bound) - 1
    return low, high


def _offset(s_op: SOp) -> Fraction | None:
    """The constant that an s-op adds to `indices`, or None where it is something else."""
    offset = Fraction(0)
    while isinstance(s_op, Elementwise):
        match s_op:
            case Elementwise("+", (rest, Const(value)) | (Const(value), rest)) if _number(value):
                offset += Fraction(value)
            case Elementwise("-", (rest, Const(value))) if _number(value):
                offset -= Fraction(value)
            case Elementwise("plus", (rest,)):
                pass
            case _:
                return None
        s_op = rest
    return offset if isinstance(s_op, Indices) else None


def _number(value: object) -> bool:
    return not isinstance(value, str)
