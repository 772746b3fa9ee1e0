"""A layout and weights in, one sum per query out: how many keys it picks, or their total.

Weights are doubles that hold whole numbers, chosen (by `limbs`) so small that no sum can reach
2^53: every addition is exact. Larger numbers are cut into several such weights and put together
again afterwards, as int64 or as Python's integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rasp.evaluator.fast.columns import LARGEST, Array
from rasp.evaluator.fast.dominance import dominance_sums
from rasp.evaluator.fast.layout import Layout

EXACT_DOUBLE = 2**53


@dataclass(frozen=True, eq=False)
class Limbs:
    """Whole numbers as a sum of weights, each times a power of two."""

    weights: tuple[Array, ...]  # each (size,) float64
    shifts: tuple[int, ...]
    is_big: bool  # a sum may not fit in int64

    def joined(self, sums: Sequence[Array]) -> Array:
        """Put the sums of the weights together."""
        total = np.zeros(1, object if self.is_big else np.int64)
        for value, shift in zip(sums, self.shifts, strict=True):
            total = total + (value.astype(object) if self.is_big else value) * (1 << shift)
        return total


def limbs(values: Array) -> Limbs:
    """Cut whole numbers, int64 or Python's, into weights whose sums are exact.

    >>> limbs(np.array([2**60, 1])).shifts
    (0, 50)
    """
    if values.dtype == object:
        return _limbs_of_big(values)
    largest = max(int(values.max()), -int(values.min()))
    if largest * len(values) < EXACT_DOUBLE:
        return Limbs((values.astype(np.float64),), (0,), False)
    is_big = largest * len(values) >= LARGEST
    bits = 52 - len(values).bit_length()
    shifts = range(0, largest.bit_length(), bits)
    parts = [(values >> shift) & ((1 << bits) - 1) for shift in shifts]
    parts[-1] = values >> shifts[-1]  # the last part carries the sign
    return Limbs(tuple(part.astype(np.float64) for part in parts), tuple(shifts), is_big)


def _limbs_of_big(values: Array) -> Limbs:
    """Python's integers as little-endian words."""
    word = 4 if len(values) < 2**20 else 2
    bits = max(value.bit_length() for value in values) + 1
    count = -(-bits // (8 * word))
    joined = b"".join(value.to_bytes(count * word, "little", signed=True) for value in values)
    words = np.frombuffer(joined, f"<u{word}").reshape(len(values), count)
    weights = [words[:, at].astype(np.float64) for at in range(count)]
    weights[-1] = np.ascontiguousarray(words[:, -1]).view(f"<i{word}").astype(np.float64)
    return Limbs(tuple(weights), tuple(range(0, 8 * word * count, 8 * word)), True)


def layout_sums(layout: Layout, weights: Sequence[Array | None], size: int) -> list[Array]:
    """For each weight (None counts the keys), one whole number per query, zero where none."""
    kept = [weight if weight is None or layout.keys is None else weight[layout.keys]
            for weight in weights]  # fmt: skip
    if layout.second is not None:
        sums = dominance_sums(layout.first, layout.second, kept)
    else:
        sums = [_range_sums(layout, weight) for weight in kept]
    whole = [values.astype(np.int64, copy=False) for values in sums]
    return whole if layout.queries is None else [_spread(v, layout.queries, size) for v in whole]


def _range_sums(layout: Layout, weight: Array | None) -> Array:
    codings = layout.first
    table = np.bincount(codings.keys, weight, codings.size)
    if codings.high is None:
        return table[codings.low]
    running = np.zeros(codings.size + 1, table.dtype)
    np.cumsum(table, out=running[1:])
    return running[codings.high] - running[codings.low]


def _spread(values: Array, positions: Array, size: int) -> Array:
    result = np.zeros(size, np.int64)
    result[positions] = values
    return result
