"""What float32 does to sums: when they are exact, how far off they are if not, what is too large.

Numbers that are multiples of one power of two (their grain) and stay below 2^24 of it are added in
float32 without rounding, in any order. However else n numbers are added, each of the sums on the
way is at most the sum of all sizes, so the error is at most (n - 1) · 2^-24 of that. What is below
2^-126 may become 0 (`TINY`), and what is beyond `HUGE` may become infinite: nothing may be that
large.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.tables import Array

TINY, HUGE = 2.0**-126, 2.0**126
"""What is smaller may be 0 to float32, and what is larger, added up, is infinite."""
UNIT = 2.0**-24
"""The largest relative error of one operation in float32."""
SLACK = 1.01
"""For products of small errors, and for the rounding of the bounds themselves."""
EXACT, WHOLE = 2.0**24, 2.0**53
"""Whole numbers up to these are numbers of float32, and of float64."""
DOUBLE = 2.0**-46
"""A generous relative error of what is computed here in float64."""


def at_most(number: float, digits: int) -> str:
    """A bound in words, of few digits: no less than the number, but for what float64 rounds.

    >>> at_most(5.3333, 3), at_most(20.0, 3), at_most(1.234e-5, 2)
    ('5.34', '20', '1.3e-05')
    """
    above = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(number * (1 - DOUBLE))
    return f"{float(above):.{digits}g}"


def lost_in_float64(size: Array | float, count: int) -> Array | float:
    """How far off float64 is, at most, where it adds so many numbers, of so much all together: a
    part of that, whatever they come to. They may cancel.
    """
    return DOUBLE * (1 + count / 64) * size


def lost_of_wholes(size: Array | float, count: int, unit: Array | float) -> Array:
    """The same; but nothing where all of it is in whole multiples of a unit, and together so small
    that float64 has all whole numbers up to four times as many.
    """
    return np.asarray(np.where(4 * size <= WHOLE * unit, 0.0, lost_in_float64(size, count)))


def check_size(*sizes: Array | float) -> None:
    """Refuse what float32 may have no numbers for."""
    if not all(np.all(size <= HUGE) for size in sizes):
        raise Refused("a number, or its rounding error, is too large to check")


def grain_of(numbers: Array) -> float:
    """The largest power of two that divides all numbers; 0 where there is none above 2^-40."""
    return float(grains(numbers).min(initial=2.0**20))


def grains(numbers: Array) -> Array:
    """The same for each number alone; for 0, which is a multiple of everything, 2^20."""
    fraction, exponent = np.frexp(numbers)
    whole = (fraction * 2.0**53).astype(np.int64)  # the number is this times 2^(exponent - 53)
    powers = np.ldexp((whole & -whole).astype(float), exponent - 53)
    powers = np.where(powers < 2.0**-40, 0.0, np.minimum(powers, 2.0**20))
    return np.asarray(np.where(numbers == 0, 2.0**20, powers))
