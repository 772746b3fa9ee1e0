"""A layout and a rank for each key in, the highest rank that each query picks out.

Under one order the keys a query picks are neighbours, and the highest of a stretch is the
higher of two overlapping stretches whose length is a power of two. Under two orders the second
is read off bit by bit, as `dominance` does for sums. But a highest rank cannot be subtracted, so
a range with two ends is walked once towards each of them, and each walk takes only what lies on
its own side of the bit where the ends part. O(n log n) under one order, O(n log² n) under two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rasp.base.meter import Meter
from rasp.language.evaluator.fast.columns import Array
from rasp.language.evaluator.fast.dominance import parted, stretches
from rasp.language.evaluator.fast.key_layout import Codings, Pairing

WALK_BYTES = 120
"""Bytes of each position while two orders are walked."""


def highest_ranks(layout: Pairing, keys: Array | None, ranks: Array, meter: Meter) -> Array:
    """For each query, the highest rank of the keys (None: of all) it picks; -1 where of none."""
    order, begin, end = stretches(layout.first, keys)
    kept = order if keys is None else keys[order]
    if layout.second is None:
        return stretch_highest(ranks[kept], begin, end)
    meter.afford(WALK_BYTES * (len(order) + len(begin)))
    return _highest_between(layout.second, kept, ranks[kept], begin, end, meter)


def _highest_between(
    second: Codings, kept: Array, ranks: Array, begin: Array, end: Array, meter: Meter
) -> Array:
    """Of the keys in each query's stretch, those whose second code is in its range."""
    codes, size, bits = second.keys[kept], second.size, second.size.bit_length()
    too_low, too_high = second.low - 1, second.ends  # the codes next to the range
    highest = np.full(len(begin), -1, np.int64)
    up = np.flatnonzero((too_high < size) | (too_low < 0))
    if len(up):
        walk = _Walk(codes, ranks, bits, meter)
        highest[up] = walk.below(begin[up], end[up], too_high[up], too_low[up])
    down = np.flatnonzero(too_low >= 0)
    if len(down):
        last = (1 << bits) - 1
        walk = _Walk(last - codes, ranks, bits, meter)
        other = np.where(too_high < size, last - too_high, -1)[down]
        below = walk.below(begin[down], end[down], last - too_low[down], other)
        highest[down] = np.maximum(highest[down], below)
    return highest


@dataclass(frozen=True, eq=False)
class _Walk:
    """Keys in the order of the first codes, with their second codes, to be parted bit by bit."""

    codes: Array
    ranks: Array
    bits: int
    meter: Meter

    def below(self, begin: Array, end: Array, bound: Array, other: Array) -> Array:
        """For each query, the highest rank in its stretch of the keys with a code below its bound.

        Where `other`, a smaller code, is not negative, only those codes count that have more
        leading bits in common with the bound than with it.
        """
        codes, ranks = self.codes, self.ranks
        highest = np.full(len(begin), -1, np.int64)
        for bit in self.meter.watched(reversed(range(self.bits)), 1):
            parting = parted(codes, bit)
            codes, ranks = codes[parting.order], ranks[parting.order]
            upper = (bound >> bit & 1).astype(bool)
            is_beyond = bound >> (bit + 1) != other >> (bit + 1)
            first, last = parting.zeros[begin], parting.zeros[end]
            taken = np.flatnonzero(upper & is_beyond & (first < last))
            ranked = stretch_highest(ranks[: parting.zeros[-1]], first[taken], last[taken])
            highest[taken] = np.maximum(highest[taken], ranked)
            begin, end = parting.followed(begin, upper), parting.followed(end, upper)
        return highest


def stretch_highest(values: Array, begin: Array, end: Array) -> Array:
    """The highest of `values[begin:end]` for each stretch; -1 where it is empty.

    >>> stretch_highest(np.array([3, 1, 2]), np.array([0, 1, 2]), np.array([2, 3, 2])).tolist()
    [3, 2, -1]
    """
    result = np.full(len(begin), -1, np.int64)
    lengths = end - begin
    window = 1  # values[i] is the highest of `window` original values from i on
    while True:
        fitting = np.flatnonzero((lengths >= window) & (lengths < 2 * window))
        left, right = values[begin[fitting]], values[end[fitting] - window]
        result[fitting] = np.maximum(left, right)
        if not (lengths >= 2 * window).any():
            return result
        values = np.maximum(values[:-window], values[window:])
        window *= 2
