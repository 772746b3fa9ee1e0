"""Two ranges per query in, sums over the keys that lie in both out, all queries at once.

The keys are in the order of the first codes; so a query's first range is a stretch of them.
Its second range is read off bit by bit from the top, as in a wavelet matrix: at each bit the
keys are parted, zeros before ones, and each query follows its stretch into the half that its
bound lies in, adding the whole of the lower half where the bound lies in the upper. That is one
pass over keys and queries per bit, O(n log n) in all, with nothing kept between bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.meter import Meter
from rasp.language.evaluator.fast.coding import sorting_order
from rasp.language.evaluator.fast.columns import Array

if TYPE_CHECKING:
    from rasp.language.evaluator.fast.key_layout import Codings


def dominance_sums(
    first: Codings,
    second: Codings,
    keys: Array | None,
    weights: Sequence[Array | None],
    meter: Meter,
) -> list[Array]:
    """Sum each weight (None: count) over the keys in both of a query's ranges."""
    order, begin, end = stretches(first, keys)
    columns = [np.ones(len(order)) if weight is None else weight for weight in weights]
    table = np.stack(columns, axis=1)[order]  # (keys, weights)
    codes = second.keys[order if keys is None else keys[order]]
    sums = _below(codes, table, begin, end, second.ends, second.size, meter)
    if second.low.any():
        sums -= _below(codes, table, begin, end, second.low, second.size, meter)
    return list(sums.T)


def stretches(codings: Codings, keys: Array | None) -> tuple[Array, Array, Array]:
    """The order that sorts some keys (None: all) by code, and each query's stretch in it."""
    codes = codings.keys if keys is None else codings.keys[keys]
    starts = np.zeros(codings.size + 1, np.int64)
    np.cumsum(np.bincount(codes, minlength=codings.size), out=starts[1:])
    return sorting_order(codes), starts[codings.low], starts[codings.ends]


@dataclass(frozen=True, eq=False)
class Parting:
    """The keys parted by one bit of their codes: zeros before ones, else in the same order."""

    is_one: Array
    zeros: Array  # how many zeros are before each place, and before the end

    @property
    def order(self) -> Array:
        """Which key comes to each place."""
        return np.concatenate([np.flatnonzero(~self.is_one), np.flatnonzero(self.is_one)])

    def followed(self, places: Array, upper: Array) -> Array:
        """Where the ends of stretches come to, in the ones where `upper` and else in the zeros."""
        zeros = self.zeros[places]
        return np.where(upper, self.zeros[-1] + places - zeros, zeros)


def parted(codes: Array, bit: int) -> Parting:
    """Part the keys by a bit of their codes."""
    is_one = (codes >> bit & 1).astype(bool)
    zeros = np.zeros(len(codes) + 1, np.int64)
    np.cumsum(~is_one, out=zeros[1:])
    return Parting(is_one, zeros)


def _below(
    codes: Array, table: Array, begin: Array, end: Array, bound: Array, size: int, meter: Meter
) -> Array:
    """For each query, the sums over its stretch of the keys whose code is below its bound."""
    sums = np.zeros((len(begin), table.shape[1]))
    for bit in meter.watched(reversed(range(size.bit_length())), 1):
        parting = parted(codes, bit)
        running = np.zeros((len(codes) + 1, table.shape[1]))
        np.cumsum(np.where(parting.is_one[:, None], 0, table), axis=0, out=running[1:])
        upper = (bound >> bit & 1).astype(bool)
        sums += np.where(upper[:, None], running[end] - running[begin], 0)
        begin, end = parting.followed(begin, upper), parting.followed(end, upper)
        order = parting.order
        codes, table = codes[order], table[order]
    return sums
