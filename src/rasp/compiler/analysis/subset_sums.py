"""Sets of numbers in, the sums and means that some of them can have out, exactly."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import lcm
from operator import or_
from typing import TypeVar

MOST_BITS = 20_000_000
"""The largest set of sums, in bits: a bit for each whole number in its range."""
MOST_MEANS = 60_000
"""The most numbers that are listed."""
MOST_DIGITS = 15
"""The most digits of a size that are shown."""
MOST_PAIRS = 4_000_000
"""The most pairs of numbers that are added."""

Number = TypeVar("Number", bound=int | Fraction)


class TooMany(Exception):
    """The set is too large to be listed; `size` says how large, at least."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size

    def __str__(self) -> str:
        """The size, in few digits.

        >>> str(TooMany(596)), str(TooMany(3 * 10**400))
        ('596', 'over 10^400')
        """
        digits = len(str(self.size))
        return str(self.size) if digits <= MOST_DIGITS else f"over 10^{digits - 1}"


def sums(values: Iterable[Fraction], most: int, least: int = 0) -> list[Fraction]:
    """Every sum of `least` to `most` of the values, each used as often as liked.

    >>> [int(each) for each in sums([Fraction(0), Fraction(1)], 3)]
    [0, 1, 2, 3]
    """
    different = set(values)
    *_, (_, totals) = _sums_by_count({*different, Fraction(0)}, most, different, least)
    return in_size_order(totals)


def means(values: Iterable[Fraction], most: int) -> list[Fraction]:
    """Every mean of 1 to `most` of the values.

    >>> [str(each) for each in means([Fraction(0), Fraction(1)], 3)]
    ['0', '1/3', '1/2', '2/3', '1']
    """
    different = sorted(set(values))
    if len(different) == 1:
        return different
    numbers: set[Fraction] = set()
    for count, totals in _sums_by_count(different, most):
        numbers.update(total / count for total in totals)
        if len(numbers) > MOST_MEANS:
            raise TooMany(len(numbers))
    return in_size_order(numbers)


def subset_sums(values: list[Fraction]) -> list[Fraction]:
    """Every sum of some of the values, each used once at most.

    >>> [int(each) for each in subset_sums([Fraction(1), Fraction(0), Fraction(2)])]
    [0, 1, 2, 3]
    """
    unit = lcm(*(value.denominator for value in values))
    steps = [int(value * unit) for value in values]
    low = sum(step for step in steps if step < 0)
    if sum(map(abs, steps)) > MOST_BITS:
        raise TooMany(sum(map(abs, steps)))
    reached = 1 << -low
    for step in steps:
        reached |= reached << step if step >= 0 else reached >> -step
    if reached.bit_count() > MOST_MEANS:
        raise TooMany(reached.bit_count())
    return list(_numbers_in(reached, low, unit))


def _sums_by_count(
    values: Iterable[Fraction], most: int, first: Iterable[Fraction] = (), number: int = 0
) -> Iterable[tuple[int, Iterable[Fraction]]]:
    """For each count, the sums: bit s of a big integer says whether s can be reached.

    The first `number` of the values that are added are some of `first`.
    """
    different = sorted(set(values))
    unit = lcm(*(value.denominator for value in different))
    low, spread = int(different[0] * unit), int((different[-1] - different[0]) * unit)
    size = spread * most
    if size * max(1, most // 8) > 8 * MOST_BITS or size * len(different) > 50 * MOST_BITS:
        raise TooMany(size)
    reached = 1
    for count in range(1, most + 1):
        added = first if count <= number else different
        reached = reduce(or_, (reached << (int(value * unit) - low) for value in added), 0)
        if reached.bit_count() > MOST_MEANS:
            raise TooMany(reached.bit_count())
        yield count, _numbers_in(reached, count * low, unit)


def _numbers_in(reached: int, low: int, unit: int) -> Iterable[Fraction]:
    """The numbers of a set, made only when they are asked for."""
    bits = bin(reached)[:1:-1]
    place = bits.find("1")
    while place >= 0:
        yield Fraction(place + low, unit)
        place = bits.find("1", place + 1)


def sums_of_pairs(first: Collection[Fraction], second: Collection[Fraction]) -> list[Fraction]:
    """Every sum of one of each."""
    if len(first) * len(second) > MOST_PAIRS:
        raise TooMany(len(first) * len(second))
    return in_size_order({left + right for left in first for right in second})


def in_size_order(numbers: Iterable[Number]) -> list[Number]:
    """Sort exactly; doubles decide wherever they differ, which is much faster.

    >>> [str(each) for each in in_size_order([Fraction(1, 2), Fraction(1, 3)])]
    ['1/3', '1/2']
    """
    ordered = list(numbers)
    with suppress(OverflowError):
        ordered.sort(key=float)
        if all(float(low) < float(high) for low, high in pairwise(ordered)):
            return ordered
    return sorted(ordered)
