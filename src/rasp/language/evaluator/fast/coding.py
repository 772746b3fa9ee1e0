"""Columns in, whole numbers out that compare as the columns' atoms do.

Codes are all that selections look at. Whole numbers are their own codes; fractions are ranked
by their nearest doubles, and by exact comparison where different ones have doubles too close to
trust. Numbers come before strings, so that none are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.language.evaluator.fast.columns import (
    FLOAT,
    STRING,
    Array,
    Column,
    merged_tables,
    one_kind,
)

CLOSE = 2.0**-50
WIDEST = 2**62


@dataclass(frozen=True, eq=False)
class Codes:
    """For each of some columns, codes from 0 to `size` - 1."""

    arrays: tuple[Array, ...]
    size: int


def codes_of(columns: Sequence[Column]) -> Codes:
    """Number the atoms of several columns so that equal atoms have equal codes, in order.

    >>> from rasp.language.evaluator.fast.columns import from_atoms
    >>> [codes.tolist() for codes in codes_of([from_atoms([5, 7]), from_atoms([True, 6])]).arrays]
    [[4, 6], [0, 5]]
    """
    table, numerators = merged_tables(columns)
    if not any(column.has_numbers for column in columns):
        return Codes(tuple(numerators), max(len(table), 1))
    if any(column.has_strings for column in columns):
        return _mixed(columns, numerators, len(table))
    is_big = any(column.is_big for column in columns)
    if not is_big and all(column.is_whole for column in columns):
        return _from_least(tuple(numerators))
    return _ranked(columns)


def sorting_order(codes: Array) -> Array:
    """The positions that sort codes (none negative); equal codes keep their order.

    numpy sorts positions by 16 bits in linear time. Where codes are longer than twice that,
    sorting numbers is much faster than sorting positions by them, so each code is made one
    number with its position where both fit.
    """
    most = int(codes.max()) if len(codes) else 0
    if most < 2**16:
        return np.argsort(codes.astype(np.uint16), kind="stable")
    if most < 2**32:
        by_low = np.argsort(codes.astype(np.uint16), kind="stable")
        return by_low[np.argsort((codes >> 16).astype(np.uint16)[by_low], kind="stable")]
    bits = len(codes).bit_length()
    if most >= WIDEST >> bits:
        return np.argsort(codes, kind="stable")
    packed = codes << bits
    packed |= np.arange(len(codes))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def numbered(codes: Array) -> tuple[Array, Array]:
    """The distinct codes, sorted, and for each position the number of its code among them.

    >>> [part.tolist() for part in numbered(np.array([7, 5, 7]))]
    [[5, 7], [1, 0, 1]]
    """
    order = sorting_order(codes)
    in_order = codes[order]
    is_new = np.ones(len(codes), bool)
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    numbers = np.empty(len(codes), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return in_order[is_new], numbers


def compressed(arrays: Sequence[Array]) -> Codes:
    """Renumber codes without gaps, in the same order; the arrays share one numbering."""
    values, numbers = numbered(arrays[0] if len(arrays) == 1 else np.concatenate(arrays))
    ends = np.cumsum([len(array) for array in arrays])[:-1]
    return Codes(tuple(np.split(numbers, ends)), len(values))


def _from_least(arrays: tuple[Array, ...]) -> Codes:
    least = min(int(array.min()) for array in arrays)
    size = max(int(array.max()) for array in arrays) - least + 1
    codes = tuple(array - least for array in arrays) if least else arrays
    return compressed(codes) if size >= WIDEST else Codes(codes, size)


def _ranked(columns: Sequence[Column]) -> Codes:
    """Rank fractions: sort by the nearest double, then tell apart what the doubles cannot.

    Doubles of machine integers have a relative error below 2^-51; those of Python's integers are
    the nearest there are, so that the order of different ones is right however small they are.
    """
    tops, bottoms = _joined(columns)
    try:
        near = (tops / bottoms).astype(np.float64)
    except OverflowError:
        return _ranked_exactly(columns)
    order = np.argsort(near)
    near = near[order]
    is_close = np.diff(near) <= CLOSE * np.maximum(np.abs(near[1:]), np.abs(near[:-1]))
    is_new = _differs(tops[order], bottoms[order])
    if (is_close & is_new).any():
        order = _settled(order, is_close, is_close & is_new, tops, bottoms)
        is_new = _differs(tops[order], bottoms[order])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum(is_new)])
    return _split(ranks, columns)


def _differs(tops: Array, bottoms: Array) -> Array:
    """Where a fraction, in lowest terms, is not the one before it."""
    differs: Array = (tops[1:] != tops[:-1]) | (bottoms[1:] != bottoms[:-1])
    return differs


def _settled(order: Array, is_close: Array, in_doubt: Array, tops: Array, bottoms: Array) -> Array:
    """Sort by exact comparison within each cluster of doubles too close to trust."""
    clusters = np.concatenate([[0], np.cumsum(~is_close)])
    is_doubtful = np.zeros(len(order), bool)  # by cluster
    is_doubtful[clusters[1:][in_doubt]] = True
    places = np.flatnonzero(is_doubtful[clusters])

    def exactly(place: int) -> tuple[int, Fraction]:
        at = order[place]
        return int(clusters[place]), Fraction(int(tops[at]), int(bottoms[at]))

    settled = order.copy()
    settled[places] = order[sorted(places.tolist(), key=exactly)]
    return settled


def _ranked_exactly(columns: Sequence[Column]) -> Codes:
    """Rank numbers of any size, one distinct value at a time."""
    values = [value for column in columns for value in _exact_values(column)]
    place = {value: at for at, value in enumerate(sorted(set(values)))}
    ranks = np.fromiter(map(place.__getitem__, values), np.int64, len(values))
    return _split(ranks, columns)


def _exact_values(column: Column) -> list[int] | list[Fraction]:
    if column.is_whole:
        return list(column.numerators.tolist())
    tops, bottoms = np.broadcast_arrays(column.numerators, column.denominators)
    return list(map(Fraction, tops.tolist(), bottoms.tolist()))


def _mixed(columns: Sequence[Column], numerators: list[Array], strings: int) -> Codes:
    """Columns with strings in some inputs and numbers in others: numbers first, then strings."""
    is_string = [np.broadcast_to(column.kinds == STRING, column.size) for column in columns]
    only_numbers = [
        Column(one_kind(FLOAT), np.where(mask, 0, column.numerators), column.denominators)
        for column, mask in zip(columns, is_string, strict=True)
    ]
    number_codes = codes_of(only_numbers)
    arrays = tuple(
        np.where(mask, np.where(mask, places, 0).astype(np.int64) + number_codes.size, codes)
        for mask, places, codes in zip(is_string, numerators, number_codes.arrays, strict=True)
    )
    return Codes(arrays, number_codes.size + strings)


def _joined(columns: Sequence[Column]) -> tuple[Array, Array]:
    pairs = [np.broadcast_arrays(column.numerators, column.denominators) for column in columns]
    return np.concatenate([top for top, _ in pairs]), np.concatenate([low for _, low in pairs])


def _split(ranks: Array, columns: Sequence[Column]) -> Codes:
    sizes = [max(len(column.numerators), len(column.denominators)) for column in columns]
    size = int(ranks.max()) + 1
    return Codes(tuple(np.split(ranks, np.cumsum(sizes)[:-1])), size)
