"""Numbers that keys can hold in, every sum and mean that a head can make of them out.

A head picks at most as many keys as an input has positions, and each key holds one of finitely
many values. So its sums are the sums of at most N of these, its means those sums divided by how
many they are of. A set of whole numbers is kept as the bits of one large int.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from math import comb, lcm

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.tables import rows_in_order

MOST_BITS = 20_000_000
MOST_NUMBERS = 400_000
MOST_ROWS = 400_000
MOST_WAYS = 400_000
"""How many ways to add rows are tried one by one."""
MOST_SHIFTED = 2**34
MOST_UNIT = 2**14
"""Bits of how many units make 1: means of means of 4,096 numbers take 12,000 of them."""
Row = tuple[Fraction, ...]


def unit_of(numbers: Iterable[Fraction]) -> int:
    """How many units make 1, all numbers being whole multiples of the unit.

    >>> unit_of([Fraction(1, 2), Fraction(2, 3)])
    6
    """
    unit = 1
    for number in numbers:
        unit = lcm(unit, number.denominator)
        if unit.bit_length() > MOST_UNIT:
            raise Refused("fractions are too different to be added up")
    return unit


def sums(values: Iterable[Fraction], most: int, least: int) -> list[Fraction]:
    """Every sum of `least` to `most` of the values, each used as often as liked.

    >>> [int(number) for number in sums([Fraction(0), Fraction(1)], 3, 0)]
    [0, 1, 2, 3]
    """
    distinct = set(values)
    *_, (_, reached) = _sums_by_count({*distinct, Fraction(0)}, most, distinct, least)
    return _listed(reached)


def means(values: Iterable[Fraction], most: int) -> list[Fraction]:
    """Every mean of 1 to `most` of the values.

    >>> [str(number) for number in means([Fraction(0), Fraction(1)], 3)]
    ['0', '1/3', '1/2', '2/3', '1']
    """
    distinct = set(values)
    if len(distinct) == 1:
        return list(distinct)
    by_count = _sums_by_count(distinct, most)
    return _listed(number / count for count, totals in by_count for number in totals)


def subset_sums(values: Sequence[Fraction]) -> list[Fraction]:
    """Every sum of some of the values, each used once at most.

    >>> [int(number) for number in subset_sums([Fraction(1), Fraction(0), Fraction(2)])]
    [0, 1, 2, 3]
    """
    unit = unit_of(values)
    steps = [int(value * unit) for value in values]
    _check_size(sum(map(abs, steps)))
    low = sum(step for step in steps if step < 0)
    reached = 1 << -low
    for step in steps:
        reached |= reached << step if step >= 0 else reached >> -step
    return [Fraction(place + low, unit) for place in _bits(reached)]


def pair_sums(first: Iterable[Fraction], second: Iterable[Fraction]) -> list[Fraction]:
    """Every sum of one of each."""
    ones, others = set(first), set(second)
    _check_size(len(ones) * len(others))
    unit = unit_of(ones | others)
    whole = [int(number * unit) for number in others]
    starts = (int(number * unit) for number in ones)
    return _joined(([start + number for number in whole] for start in starts), unit)


def sums_after(values: Sequence[Fraction], step: Fraction) -> list[Fraction]:
    """Every value, with a step for each place up to its own, or up to any later one.

    >>> [int(number) for number in sums_after([Fraction(0), Fraction(10)], Fraction(1))]
    [1, 2, 12]
    """
    unit = unit_of([step, *values])
    stride, end = int(step * unit), len(values) + 1
    starts = enumerate((int(value * unit) for value in values), 1)
    return _joined((range(start + place * stride, start + end * stride, stride)
                    for place, start in starts), unit)  # fmt: skip


def _joined(sets: Iterable[Iterable[int]], unit: int) -> list[Fraction]:
    """Numbers in whole units, which are much faster to add than fractions."""
    joined: set[int] = set()
    for numbers in sets:
        joined.update(numbers)
        if len(joined) > MOST_NUMBERS:
            raise Refused(f"a number can be one of more than {MOST_NUMBERS}")
    return [Fraction(number, unit) for number in sorted(joined)]


def _sums_by_count(
    values: Iterable[Fraction], most: int, first: Iterable[Fraction] = (), number: int = 0
) -> Iterator[tuple[int, Iterator[Fraction]]]:
    """For each count, the sums of so many values, of which the first `number` are of `first`.

    Sums of up to `most` values are sums of exactly so many, where 0 may be added.
    """
    distinct = sorted(set(values))
    unit = unit_of(distinct)
    low, spread = int(distinct[0] * unit), int((distinct[-1] - distinct[0]) * unit)
    _check_size(spread * most)
    _check_size(spread * most * max(len(distinct), most // 8) // 50)
    reached = 1
    for count in range(1, most + 1):
        added = first if count <= number else distinct
        reached = reduce(int.__or__, (reached << (int(value * unit) - low) for value in added))
        yield count, _numbers(reached, count * low, unit)


def _numbers(reached: int, low: int, unit: int) -> Iterator[Fraction]:
    """The numbers of a set, made only when they are asked for."""
    yield from (Fraction(place + low, unit) for place in _bits(reached))


def _bits(number: int) -> list[int]:
    digits = np.frombuffer(bin(number)[:1:-1].encode(), np.uint8)
    return [int(place) for place in np.flatnonzero(digits == ord("1"))]


def _listed(numbers: Iterable[Fraction]) -> list[Fraction]:
    distinct: set[Fraction] = set()
    for number in numbers:
        distinct.add(number)
        if len(distinct) > MOST_NUMBERS:
            raise Refused(f"a number can be one of more than {MOST_NUMBERS}")
    return sorted(distinct)


def _check_size(size: int) -> None:
    if size > MOST_BITS:
        raise Refused("a set of sums is too large to be listed")


def joint_sums(rows: Iterable[Row], most: int, by_count: bool = False) -> list[Row] | None:
    """Every sum of 0 to `most` rows; divided by how many, if `by_count`; None if that is too much.

    >>> zero, one = Fraction(0), Fraction(1)
    >>> [tuple(map(int, row)) for row in joint_sums([(one, zero), (one, one)], 2)]
    [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    """
    reached = whole_sums(rows, most, by_count)
    if reached is None:
        return None
    whole, units = reached
    return sorted({tuple(Fraction(number, unit * count)
                         for number, unit in zip(row, units, strict=True))
                   for count, *row in whole.tolist()})  # fmt: skip


def whole_sums(
    rows: Iterable[Row], most: int, by_count: bool = False
) -> tuple[np.ndarray, list[int]] | None:
    """(sum, 1 + column): the same in whole units, with how many rows were added before them (1
    where that is not asked for); and how many units make 1, for each column.

    Sums of up to `most` rows are sums of exactly so many, if a row of zeros may be added.
    """
    distinct = set(rows)
    if not distinct:
        return None
    width = len(next(iter(distinct)))
    if not by_count:
        distinct.add((Fraction(0),) * width)
    units = [unit_of(row[column] for row in distinct) for column in range(width)]
    steps = np.array([[int(number * unit) for number, unit in zip(row, units, strict=True)]
                      for row in sorted(distinct)], object)  # fmt: skip
    added = steps if by_count else steps[(steps != 0).any(axis=1)]
    if comb(most + len(added), most) <= MOST_WAYS and most * np.abs(steps).max() < 2**62:
        return _few_added(added.astype(np.int64), most, by_count), units
    low = steps.min(axis=0)
    bases = most * (steps.max(axis=0) - low) + 1
    size = int(np.prod(bases))
    if size >= 2**62 or most * np.abs(steps).max() >= 2**62:
        return None  # int64 would wrap
    radix = np.cumprod(np.append(1, bases[:-1])).astype(np.int64)
    moves = ((steps - low).astype(np.int64) * radix).sum(axis=1).tolist()
    counts = range(1 if by_count else most, most + 1)
    tables = []
    for count, codes in zip(counts, _reached(moves, size, counts), strict=False):
        whole = codes[:, None] // radix % bases.astype(np.int64) + count * low.astype(np.int64)
        tables.append(np.insert(whole, 0, count if by_count else 1, axis=1))
    if len(tables) < len(counts):
        return None
    joined = rows_in_order(np.concatenate(tables))
    return (joined, units) if len(joined) <= MOST_ROWS else None


def _few_added(steps: np.ndarray, most: int, by_count: bool) -> np.ndarray:
    """(sum, 1 + column): the sums of up to `most` of few rows, by how often each row is added."""
    sums, left = np.zeros((1, 1 + steps.shape[1]), np.int64), np.array([most])
    for row in np.insert(steps, 0, 1, axis=1):
        before = np.repeat(np.arange(len(left)), left + 1)
        times = np.arange(len(before)) - np.searchsorted(before, before)
        sums, left = sums[before] + times[:, None] * row, left[before] - times
    if by_count:
        return rows_in_order(sums[sums[:, 0] > 0])
    sums[:, 0] = 1
    return rows_in_order(sums)


def _reached(moves: Sequence[int], size: int, counts: range) -> Iterator[np.ndarray]:
    """All sums of exactly so many moves, below `size`; ends early where that is too much."""
    if size * len(moves) * counts[-1] <= MOST_SHIFTED:
        reached = 1
        for count in range(1, counts[-1] + 1):
            reached = reduce(int.__or__, (reached << move for move in moves))
            if count in counts:
                yield np.array(_bits(reached))
        return
    sums, work = np.zeros(1, np.int64), 0
    for count in range(1, counts[-1] + 1):
        sums = np.unique(sums[:, None] + np.array(moves, np.int64))
        work += len(sums)
        if work > MOST_ROWS * 4:
            return
        if count in counts:
            yield sums
