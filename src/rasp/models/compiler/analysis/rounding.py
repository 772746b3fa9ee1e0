"""Numbers in, how far off float32 makes them, about, and what it rounds nothing of, out."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

UNIT = 2.0**-24
"""The largest relative error of one float32 operation."""
ROOM = 6.0
"""The grid is at least so many times as wide as what is added may be off."""


def can_be_rounded(codes: Iterable[Fraction], length: int) -> bool:
    """Whether numbers are multiples of a power of two that is large beside their errors."""
    different = set(codes)
    unit = min((power_of_two_in(code) for code in different if code), default=Fraction(0))
    reach = max(map(abs, different), default=Fraction(0))
    return not reach or (bool(unit) and ROOM * rough_error(reach, length) < unit)


def is_power_of_two(weight: Fraction | int) -> bool:
    """Whether multiplying by it rounds nothing.

    >>> is_power_of_two(Fraction(-1, 4)), is_power_of_two(3)
    (True, False)
    """
    return power_of_two_in(weight) == abs(weight)


def rough_error(reach: Fraction | float, length: int) -> float:
    """Roughly how far off what a head adds can be, of which `reach` is the largest."""
    return float(reach) * (2 * length + 60) * UNIT


def power_of_two_in(number: Fraction | int) -> Fraction:
    """The largest power of two of which a number is a multiple; 0 where there is none."""
    above, below = abs(number.numerator), number.denominator
    return Fraction(above & -above, below) if below & (below - 1) == 0 else Fraction(0)
