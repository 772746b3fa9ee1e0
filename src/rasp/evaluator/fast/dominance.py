"""Two ranges per query in, sums over the keys that lie in both out, all queries at once.

The keys stand in the order of the first codes; so a query's first range is a stretch of them.
Its second range is read off bit by bit from the top, as in a wavelet matrix: at each bit the
keys are parted, zeros before ones, and each query follows its stretch into the half that its
bound lies in, adding the whole of the lower half where the bound lies in the upper. That is one
pass over keys and queries per bit, O(n log n) in all, with nothing kept between bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rasp.evaluator.fast.coding import sorting_order
from rasp.evaluator.fast.columns import Array
from rasp.meter import Meter

if TYPE_CHECKING:
    from rasp.evaluator.fast.layout import Codings


def dominance_sums(
    first: Codings,
    second: Codings,
    keys: Array | None,
    weights: Sequence[Array | None],
    meter: Meter,
) -> list[Array]:
    """Sum each weight (None: count) over the keys in both of a query's ranges."""
    codes = first.keys if keys is None else first.keys[keys]
    order = sorting_order(codes)
    starts = np.zeros(first.size + 1, np.int64)
    np.cumsum(np.bincount(codes, minlength=first.size), out=starts[1:])
    begin, end = starts[first.low], starts[first.ends]
    columns = [np.ones(len(order)) if weight is None else weight for weight in weights]
    table = np.stack(columns, axis=1)[order]  # (keys, weights)
    codes = second.keys[order if keys is None else keys[order]]
    sums = _below(codes, table, begin, end, second.ends, second.size, meter)
    if second.low.any():
        sums -= _below(codes, table, begin, end, second.low, second.size, meter)
    return list(sums.T)


def _below(
    codes: Array, table: Array, begin: Array, end: Array, bound: Array, size: int, meter: Meter
) -> Array:
    """For each query, the sums over its stretch of the keys whose code is below its bound."""
    sums = np.zeros((len(begin), table.shape[1]))
    for bit in meter.watched(reversed(range(size.bit_length())), 1):
        is_one = (codes >> bit & 1).astype(bool)
        zeros = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(~is_one, out=zeros[1:])
        running = np.zeros((len(codes) + 1, table.shape[1]))
        np.cumsum(np.where(is_one[:, None], 0, table), axis=0, out=running[1:])
        upper = (bound >> bit & 1).astype(bool)
        sums += np.where(upper[:, None], running[end] - running[begin], 0)
        begin_zeros, end_zeros = zeros[begin], zeros[end]
        begin = np.where(upper, zeros[-1] + begin - begin_zeros, begin_zeros)
        end = np.where(upper, zeros[-1] + end - end_zeros, end_zeros)
        parted = np.concatenate([np.flatnonzero(~is_one), np.flatnonzero(is_one)])
        codes, table = codes[parted], table[parted]
    return sums
