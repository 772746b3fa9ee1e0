"""An s-op in, the sum it is out: so many times this, so many times that, and a constant.

`length - 1 - indices` and `length - indices - 1` are the same sum. Only arithmetic that is sure
to be on numbers is taken apart: `+` joins strings, and joined strings have an order.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from rasp.language.graph.nodes import Const, Elementwise, Indices, SOp
from rasp.language.operators import giving

Terms: TypeAlias = frozenset[tuple[SOp, Fraction]]
Sum: TypeAlias = tuple[Terms, Fraction]
"""S-ops with their factors, and the constant."""

DEPTH = 6
"""Levels of arithmetic that are taken apart; what is deeper counts as one s-op."""
NUMBER_OPERATORS = frozenset(giving("int", "float", "bool", "number", "int or float"))


def linear(s_op: SOp, depth: int = DEPTH) -> Sum:
    """Write an s-op as a sum.

    >>> before = Elementwise("-", (Indices(), Const(1)))
    >>> linear(before) == linear(Elementwise("+", (Const(-1), Indices())))
    True
    """
    match s_op:
        case Const(value) if not isinstance(value, str):
            return frozenset(), Fraction(value)
        case Elementwise() if depth and is_number(s_op):
            total = _arithmetic(s_op, depth)
            if total is not None:
                return total
    return frozenset([(s_op, Fraction(1))]), Fraction(0)


def _arithmetic(s_op: Elementwise, depth: int) -> Sum | None:
    match s_op:
        case Elementwise("+", (left, right)):
            return added(linear(left, depth - 1), linear(right, depth - 1), Fraction(1))
        case Elementwise("-", (left, right)):
            return added(linear(left, depth - 1), linear(right, depth - 1), Fraction(-1))
        case Elementwise("negate", (inner,)):
            return scaled(linear(inner, depth - 1), Fraction(-1))
        case Elementwise("plus", (inner,)):
            return linear(inner, depth - 1)
        case Elementwise("*", (inner, Const(value)) | (Const(value), inner)):
            if not isinstance(value, str):
                return scaled(linear(inner, depth - 1), Fraction(value))
    return None


def is_number(s_op: SOp) -> bool:
    """Tell whether an s-op is sure to hold numbers (bools count) wherever it can be computed."""
    match s_op:
        case Elementwise("+", (left, right)):
            return _is_plainly_number(left) or _is_plainly_number(right)
        case Elementwise("*", (left, right)):
            return _is_plainly_number(left) and _is_plainly_number(right)
    return _is_plainly_number(s_op)


def _is_plainly_number(s_op: SOp) -> bool:
    """Tell without looking deeper."""
    if isinstance(s_op, Const):
        return not isinstance(s_op.value, str)
    return isinstance(s_op, Indices) or (
        isinstance(s_op, Elementwise) and s_op.op in NUMBER_OPERATORS
    )


def added(one: Sum, other: Sum, factor: Fraction) -> Sum:
    """Return a sum plus another one times a factor."""
    terms = dict(one[0])
    for s_op, times in other[0]:
        terms[s_op] = terms.get(s_op, Fraction(0)) + factor * times
    kept = frozenset((s_op, times) for s_op, times in terms.items() if times)
    return kept, one[1] + factor * other[1]


def scaled(one: Sum, factor: Fraction) -> Sum:
    """Return a sum times a factor."""
    return added((frozenset(), Fraction(0)), one, factor)
