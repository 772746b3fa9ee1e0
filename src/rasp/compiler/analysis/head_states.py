"""What the outputs of one head can be together: rows of values in, rows of means or sums out.

A head that counts letters and vowels never counts more vowels than letters; one that picks
nothing gives all its defaults at once. Tables leave out what cannot be there.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import TypeAlias

Row: TypeAlias = tuple[Fraction, ...]

MOST_WORK = 400_000
"""How many additions of rows it may take to find out."""


def joint_sums(rows: Iterable[Row], most: int, least: int) -> set[Row] | None:
    """Every sum of `least` to `most` rows, each used as often as liked; None if that is too much.

    >>> zero, one = Fraction(0), Fraction(1)
    >>> [tuple(map(int, row)) for row in sorted(joint_sums([(one, zero), (one, one)], 2, 1))]
    [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    """
    by_count = _sums_by_count(rows, most)
    if by_count is None:
        return None
    sums, unit = by_count
    return {_scaled(row, unit) for found in sums[least:] for row in found}


def joint_means(rows: Iterable[Row], most: int) -> set[Row] | None:
    """Every mean of 1 to `most` rows; None if that is too much.

    >>> zero, one = Fraction(0), Fraction(1)
    >>> [tuple(map(str, row)) for row in sorted(joint_means([(one, zero), (zero, one)], 2))]
    [('0', '1'), ('1/2', '1/2'), ('1', '0')]
    """
    by_count = _sums_by_count(rows, most)
    if by_count is None:
        return None
    sums, unit = by_count
    return {_scaled(row, unit * count) for count, found in enumerate(sums) if count
            for row in found}  # fmt: skip


def _sums_by_count(rows: Iterable[Row], most: int) -> tuple[list[set[tuple[int, ...]]], int] | None:
    """For each count, the sums of so many rows in whole units, and how many units make 1."""
    different = set(rows)
    unit = lcm(*(number.denominator for row in different for number in row))
    steps = [tuple(int(number * unit) for number in row) for row in different]
    sums = [{(0,) * len(row) for row in steps[:1]}]
    work = 0
    for _ in range(most):
        work += len(sums[-1]) * len(steps)
        if work > MOST_WORK:
            return None
        sums.append({
            tuple(map(int.__add__, row, step)) for row in sums[-1] for step in steps
        })  # fmt: skip
    return sums, unit


def _scaled(row: tuple[int, ...], unit: int) -> Row:
    return tuple(Fraction(number, unit) for number in row)
