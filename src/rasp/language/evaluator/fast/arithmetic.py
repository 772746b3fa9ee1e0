"""Columns of numbers in, their exact sum, product, order … out, with the doubtful places named.

All positions are computed at once in int64. A position whose result might not fit, or where
the operator does not apply (a zero divisor, a string), is *doubtful*: its value here means
nothing, and the caller computes it again from the atoms themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from rasp.language.evaluator.fast.columns import (
    BOOL,
    FLOAT,
    INT,
    LARGEST,
    STRING,
    Array,
    Column,
    booleans,
    merged_tables,
    numbers,
    one_kind,
)

Doubt: TypeAlias = Array | None  # (size,) or (1,) bool; None where nothing is doubtful
Result: TypeAlias = tuple[Column, Doubt]


def add(left: Column, right: Column, sign: int = 1) -> Result:
    if left.is_whole and right.is_whole:
        total = left.numerators + sign * right.numerators
        return numbers(wider_kind(left, right), total), None
    shared = np.gcd(left.denominators, right.denominators)
    left_times, right_times = right.denominators // shared, left.denominators // shared
    doubt = either(
        may_overflow(left.numerators, left_times), may_overflow(right.numerators, right_times)
    )
    doubt = either(doubt, may_overflow(left.denominators, left_times))
    top = left.numerators * left_times + sign * right.numerators * right_times
    return lowest_terms(wider_kind(left, right), top, left.denominators * left_times, doubt)


def subtract(left: Column, right: Column) -> Result:
    return add(left, right, -1)


def multiply(left: Column, right: Column) -> Result:
    doubt = may_overflow(left.numerators, right.numerators)
    top = left.numerators * right.numerators
    if left.is_whole and right.is_whole:
        top = top if doubt is None else np.where(doubt, 0, top)
        return numbers(wider_kind(left, right), top), doubt
    doubt = either(doubt, may_overflow(left.denominators, right.denominators))
    return lowest_terms(wider_kind(left, right), top, left.denominators * right.denominators, doubt)


def divide(left: Column, right: Column) -> Result:
    doubt = either(
        may_overflow(left.numerators, right.denominators),
        may_overflow(left.denominators, right.numerators),
    )
    zero = right.numerators == 0
    doubt = either(doubt, zero if zero.any() else None)
    top, bottom = left.numerators * right.denominators, left.denominators * right.numerators
    if bottom.min() < 0:
        top, bottom = np.where(bottom < 0, -top, top), np.abs(bottom)
    if doubt is None and left.size == 1 and abs(int(left.numerators[0])) == 1 and left.is_whole:
        return numbers(one_kind(FLOAT), top, bottom), None  # a reciprocal stays in lowest terms
    return lowest_terms(one_kind(FLOAT), top, bottom, doubt)


def floor_divide(left: Column, right: Column) -> Result:
    first, divisor, _, doubt = _whole_pair(left, right)
    quotient = np.floor_divide(first, divisor)
    quotient = quotient if doubt is None else np.where(doubt, 0, quotient)
    return numbers(one_kind(INT), quotient), doubt


def modulo(left: Column, right: Column) -> Result:
    first, divisor, bottom, doubt = _whole_pair(left, right)
    return lowest_terms(wider_kind(left, right), np.remainder(first, divisor), bottom, doubt)


def _whole_pair(left: Column, right: Column) -> tuple[Array, Array, Array, Doubt]:
    """A dividend and a divisor over one denominator; a divisor of zero is doubtful, and a 1."""
    zero = right.numerators == 0
    doubt: Doubt = zero if zero.any() else None
    first, second, bottom = left.numerators, right.numerators, left.denominators
    if not (left.is_whole and right.is_whole):
        doubt = either(doubt, may_overflow(left.numerators, right.denominators))
        doubt = either(doubt, may_overflow(right.numerators, left.denominators))
        doubt = either(doubt, may_overflow(left.denominators, right.denominators))
        first = left.numerators * right.denominators
        second = right.numerators * left.denominators
        bottom = left.denominators * right.denominators
    return first, np.where(second == 0, 1, second), bottom, doubt


def power(left: Column, right: Column) -> Result:
    """Whole powers from 0 on; all others are doubtful."""
    exponent = right.numerators
    usable = (right.kinds != FLOAT) & (exponent >= 0)
    exponent = np.where(usable, exponent, 0)
    largest = np.maximum(np.abs(left.numerators), left.denominators)
    fits = exponent * np.log2(np.maximum(largest, 1)) < 61
    sure = usable & fits
    exponent = np.where(sure, exponent, 0)
    result = numbers(
        wider_kind(left, right) if (left.kinds == FLOAT).any() else one_kind(INT),
        np.power(left.numerators, exponent),
        np.power(left.denominators, exponent),
    )
    return result, None if sure.all() else ~sure


def negate(value: Column) -> Result:
    return Column(unsigned_kinds(value), -value.numerators, value.denominators), None


def plus(value: Column) -> Result:
    return Column(unsigned_kinds(value), value.numerators, value.denominators), None


def rounded(value: Column) -> Result:
    """To the nearest int, halves to the even one."""
    if value.is_whole:
        return Column(one_kind(INT), value.numerators), None
    below = value.numerators // value.denominators
    twice = 2 * (value.numerators - below * value.denominators)
    up = (twice > value.denominators) | ((twice == value.denominators) & (below % 2 == 1))
    return numbers(one_kind(INT), below + up), None


def floored(value: Column) -> Result:
    """To the nearest int below or at a number."""
    if value.is_whole:
        return Column(one_kind(INT), value.numerators), None
    return numbers(one_kind(INT), value.numerators // value.denominators), None


def absolute(value: Column) -> Result:
    return Column(unsigned_kinds(value), np.abs(value.numerators), value.denominators), None


def truncated(value: Column) -> Result:
    """To an int, towards zero."""
    if value.is_whole:
        return Column(one_kind(INT), value.numerators), None
    below = value.numerators // value.denominators
    inexact = below * value.denominators != value.numerators
    return numbers(one_kind(INT), below + (inexact & (value.numerators < 0))), None


def floated(value: Column) -> Result:
    return Column(one_kind(FLOAT), value.numerators, value.denominators), None


def ordered(test: Callable[[Array, Array], Array]) -> Callable[[Column, Column], Result]:
    """A comparison by order of numbers with numbers or strings with strings."""

    def compare(left: Column, right: Column) -> Result:
        _, (first, second) = merged_tables([left, right])
        doubt: Doubt = (left.kinds == STRING) != (right.kinds == STRING)
        if not (left.is_whole and right.is_whole):
            doubt = either(doubt, may_overflow(first, right.denominators))
            doubt = either(doubt, may_overflow(second, left.denominators))
            first, second = first * right.denominators, second * left.denominators
        return booleans(test(first, second)), doubt if doubt is not None and doubt.any() else None

    return compare


def equal(left: Column, right: Column) -> Array:
    """Where two columns hold equal atoms; pairs are in lowest terms, so parts tell."""
    _, (first, second) = merged_tables([left, right])
    same: Array = first == second
    if not (left.is_whole and right.is_whole):
        same = same & (left.denominators == right.denominators)
    if left.has_strings or right.has_strings:
        same = same & ((left.kinds == STRING) == (right.kinds == STRING))
    return same


def truth(value: Column) -> Array:
    """Where atoms count as true: numbers other than zero, strings that are not empty."""
    first = 1 if value.strings and value.strings[0] == "" else 0
    is_true: Array = value.numerators != 0
    if not value.has_strings:
        return is_true
    return np.where(value.kinds == STRING, value.numerators >= first, is_true)


def wider_kind(left: Column, right: Column) -> Array:
    """The kind of a sum or product: float where either is, else int."""
    either_float = (left.kinds == FLOAT) | (right.kinds == FLOAT)
    return np.where(either_float, np.uint8(FLOAT), np.uint8(INT))


def unsigned_kinds(value: Column) -> Array:
    return np.where(value.kinds == BOOL, np.uint8(INT), value.kinds)


def lowest_terms(kinds: Array, top: Array, bottom: Array, doubt: Doubt) -> Result:
    if doubt is not None:
        top, bottom = np.where(doubt, 0, top), np.where(doubt, 1, bottom)
    if len(bottom) == 1 and bottom[0] == 1:
        return numbers(kinds, top), doubt
    shared = np.gcd(top, bottom)
    return numbers(kinds, top // shared, bottom // shared), doubt


def may_overflow(left: Array, right: Array) -> Doubt:
    """Where a product might be too large for a sum of two such products to fit in int64."""
    if _largest(left) * _largest(right) < LARGEST // 2:
        return None
    doubt = np.abs(left.astype(np.float64)) * np.abs(right.astype(np.float64)) > LARGEST // 4
    return doubt if doubt.any() else None


def either(left: Doubt, right: Doubt) -> Doubt:
    if left is None or right is None:
        return right if left is None else left
    return left | right


def _largest(values: Array) -> int:
    return max(int(values.max()), -int(values.min()), 1)
