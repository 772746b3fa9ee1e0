"""A layout and weights in, one sum per query out: how many keys it picks, or their total.

Weights are doubles that hold whole numbers, chosen (by `limbs`) so small that no sum can reach
2^53: every addition is exact. Larger numbers are cut into several such weights and put together
again afterwards, as int64 or as Python's integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rasp.base.meter import Meter
from rasp.language.evaluator.fast.columns import LARGEST, Array
from rasp.language.evaluator.fast.dominance import dominance_sums
from rasp.language.evaluator.fast.key_layout import Codings, Pairing
from rasp.language.evaluator.fast.key_plan import Term
from rasp.language.evaluator.fast.workspace import Workspace

EXACT_SUM_BITS = 47
"""Doubles add whole numbers exactly below 2^53; a key may count up to 2^6 times."""

WORD_BYTES = {16: 2, 32: 4}


@dataclass(frozen=True, eq=False)
class Limbs:
    """Whole numbers as a sum of weights, each times a power of two."""

    weights: tuple[Array, ...]  # each (size,) float64; the first are the lowest bits
    bits: int
    is_big: bool  # a sum may not fit in int64

    def joined(self, sums: Sequence[Array]) -> Array:
        """Put the sums of the weights together."""
        if self.is_big and len(sums) > 1:
            return _joined_words(sums, self.bits)
        total = sums[-1]
        for part in reversed(sums[:-1]):
            total = (total << self.bits) + part
        return total.astype(object) if self.is_big else total


def _joined_words(sums: Sequence[Array], bits: int) -> Array:
    """Carry what does not fit into a word to the next, then read all words as one number."""
    extra = [np.zeros(1, np.int64)] * (64 // bits + 1)  # for the last carry and the sign
    carry = np.zeros(1, np.int64)
    words = np.empty((len(sums[0]), len(sums) + len(extra)), f"<u{WORD_BYTES[bits]}")
    for at, part in enumerate([*sums, *extra]):
        total = part + carry
        words[:, at] = total & ((1 << bits) - 1)
        carry = total >> bits
    step, data = words.strides[0], words.tobytes()
    result = np.empty(len(words), object)
    result[:] = [int.from_bytes(data[start : start + step], "little", signed=True)
                 for start in range(0, len(data), step)]  # fmt: skip
    return result


def limbs(values: Array) -> Limbs:
    """Cut whole numbers, int64 or Python's, into weights whose sums are exact.

    >>> [weight.tolist() for weight in limbs(np.array([2**60, 1])).weights]
    [[0.0, 1.0], [32768.0, 0.0]]
    """
    if values.dtype == object:
        return _limbs_of_big(values)
    largest = max(int(values.max()), -int(values.min()))
    if largest * len(values) < 2**EXACT_SUM_BITS:
        return Limbs((values.astype(np.float64),), 0, False)
    is_big = largest * len(values) >= LARGEST
    bits = 16 if is_big else EXACT_SUM_BITS - len(values).bit_length()
    shifts = range(0, largest.bit_length(), bits)
    parts = [(values >> shift) & ((1 << bits) - 1) for shift in shifts]
    parts[-1] = values >> shifts[-1]  # the last part carries the sign
    weights = tuple(part.astype(np.float64) for part in parts)
    return Limbs(weights, bits, is_big)


def _limbs_of_big(values: Array) -> Limbs:
    """Python's integers as little-endian words."""
    word = 4 if len(values) < 2 ** (EXACT_SUM_BITS - 32) else 2
    bits = max(value.bit_length() for value in values) + 1
    count = -(-bits // (8 * word))
    joined = b"".join(value.to_bytes(count * word, "little", signed=True) for value in values)
    words = np.frombuffer(joined, f"<u{word}").reshape(len(values), count)
    weights = [words[:, at].astype(np.float64) for at in range(count)]
    weights[-1] = np.ascontiguousarray(words[:, -1]).view(f"<i{word}").astype(np.float64)
    return Limbs(tuple(weights), 8 * word, True)


@dataclass(frozen=True, eq=False)
class Counted:
    """The keys that count at all (None: every one), and what each counts for (None: one)."""

    keys: Array | None
    times: Array | None

    def constant(self, weight: Array | None) -> int | None:
        """What a weight is at all of these keys, if it is the same: its sums are multiples."""
        if weight is None:
            return 1
        kept = weight if self.keys is None else weight[self.keys]
        if not len(kept):
            return 0
        first = kept[0]
        return int(first) if kept[-1] == first and (kept == first).all() else None

    def of(self, weight: Array | None) -> Array | None:
        """A weight (None: one per key) of these keys, times what they count for."""
        if weight is None:
            return self.times
        kept = weight if self.keys is None else weight[self.keys]
        return kept if self.times is None else kept * self.times


def counted(term: Term, space: Workspace) -> Counted:
    """What each key counts for: the sum of the coefficients of the filters that it passes."""
    if len(term.weights) == 1 and term.weights[0][1] == 1:
        return Counted(space.filtered(term.weights[0][0]), None)
    times = np.zeros(1)
    for filters, coefficient in term.weights:
        times = times + coefficient * space.passes(filters)
    times = np.broadcast_to(times, space.batch.size)
    keys = None if times.all() else np.flatnonzero(times)
    return Counted(keys, times if keys is None else times[keys])


def layout_sums(
    layout: Pairing, counted: Counted, weights: Sequence[Array | None], size: int, meter: Meter
) -> list[Array]:
    """For each weight (None counts the keys), a whole number per query, or one for all."""
    kept = [counted.of(weight) for weight in weights]
    if layout.second is not None:
        sums = dominance_sums(layout.first, layout.second, counted.keys, kept, meter)
    else:
        sums = [_range_sums(layout.first, counted.keys, weight) for weight in kept]
    whole = [values.astype(np.int64, copy=False) for values in sums]
    return whole if layout.queries is None else [_spread(v, layout.queries, size) for v in whole]


def _range_sums(codings: Codings, keys: Array | None, weight: Array | None) -> Array:
    if codings.size == 1 and codings.high is None:  # one group: everybody gets the same
        count = len(codings.keys) if keys is None else len(keys)
        return np.array([count if weight is None else weight.sum()])
    codes = codings.keys if keys is None else codings.keys[keys]
    table = np.bincount(codes, weight, codings.size)
    if codings.high is None:
        return table[codings.low]
    running = np.zeros(codings.size + 1, table.dtype)
    np.cumsum(table, out=running[1:])
    return running[codings.high] - running[codings.low]


def _spread(values: Array, positions: Array, size: int) -> Array:
    result = np.zeros(size, np.int64)
    result[positions] = values
    return result
