"""What a selector picked and the values in, the aggregate's column out, and where it failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from rasp.base.errors import RaspLimitError
from rasp.base.limits import Limits
from rasp.base.meter import Meter
from rasp.language.evaluator.fast.columns import (
    BOOL,
    FLOAT,
    LARGEST,
    ONE,
    STRING,
    Array,
    Column,
    chosen,
    constant,
    numbers,
    one_kind,
)
from rasp.language.evaluator.fast.range_sums import limbs
from rasp.language.evaluator.fast.workspace import Batch
from rasp.language.graph import Aggregate

Summed: TypeAlias = Callable[[Sequence[Array | None]], list[Array]]
"""Sums weights (None: counts) over what each query picks."""

LIMBS_AT_ONCE = 16
MOST_SCALED_BITS = 2**33
"""A gigabyte of numerators over one denominator."""
COPIES = 12
"""How often a numerator is in memory while means are made, cut into limbs and put together."""


class TooManyDenominators(Exception):
    """An input whose values have no common denominator of any reasonable size."""

    def __init__(self, length: int, number: int) -> None:
        self.number = number
        self.error = RaspLimitError(
            f"the mean of {length} floats with so many different denominators is over the limit",
            hint="round the values first, or give a shorter input",
        )


@dataclass(frozen=True, eq=False)
class KnownPicks:
    """What is known about a selector's picks, each found when first asked for."""

    count: Array  # (size,)
    positions: Callable[[], Array]  # where a query picks one key, the key's position
    sums: Summed


def aggregated(
    node: Aggregate, values: Column, picks: KnownPicks, batch: Batch, meter: Meter
) -> tuple[Column, Array | None]:
    """The aggregate's column; the second part is True where the picked values have no mean."""
    column, failed = _of_picks(values, picks, batch, meter)
    if int(picks.count.min()) > 0 or failed is not None:
        return column, failed
    return chosen(picks.count == 0, constant(node.default), column), None


def _of_picks(
    values: Column, picks: KnownPicks, batch: Batch, meter: Meter
) -> tuple[Column, Array | None]:
    """The same where something was picked."""
    count = picks.count
    is_summable = len(values.kinds) == 1 and int(values.kinds[0]) not in (BOOL, STRING)
    if values.size == 1 and is_summable:
        mean = Column(one_kind(FLOAT), values.numerators, values.denominators)
        return chosen(count == 1, values, mean), None
    if int(count.max()) <= 1:
        return values.take(_places(picks)), None
    has_no_mean = _has_no_mean(values, picks)
    if has_no_mean is not None:
        return values, has_no_mean
    column = _means(values, picks, batch, meter)
    too_large = _too_large(column, picks, meter.limits)
    if is_summable:  # the mean of one value is that value, but for its kind
        kinds = np.where(count == 1, values.kinds, np.uint8(FLOAT))
        return Column(kinds, *column.parts[1:]), too_large
    return chosen(count == 1, values.take(_places(picks)), column), too_large


def _places(picks: KnownPicks) -> Array:
    return np.where(picks.count == 1, picks.positions(), 0)


def _has_no_mean(values: Column, picks: KnownPicks) -> Array | None:
    """Where several strings, or several values with a bool among them, were picked."""
    several = picks.count > 1
    is_bool = values.kinds == BOOL
    wrong = several & (values.kinds == STRING)  # an input's values are all strings, or none is
    if is_bool.all():
        wrong = several
    elif is_bool.any():
        [bools] = picks.sums([is_bool.astype(np.float64)])
        wrong = wrong | (several & (bools > 0))
    return wrong if wrong.any() else None


def _means(values: Column, picks: KnownPicks, batch: Batch, meter: Meter) -> Column:
    """The mean of each query's picks, in lowest terms."""
    tops, scale = _on_common_denominator(values, batch, meter)
    cut = limbs(np.broadcast_to(tops, batch.size))
    sums: list[Array] = []
    for at in meter.watched(range(0, len(cut.weights), LIMBS_AT_ONCE), 1):
        sums += picks.sums(cut.weights[at : at + LIMBS_AT_ONCE])
    top, bottom = cut.joined(sums), np.maximum(picks.count, 1)
    if cut.is_big or scale.dtype == object or int(scale.max()) * int(bottom.max()) >= LARGEST:
        return _big_means(top, bottom.astype(object) * scale.astype(object), meter)
    bottom = bottom * scale
    shared = np.gcd(top, bottom)
    if int(shared.max()) > 1:
        top, bottom = top // shared, bottom // shared
    return numbers(one_kind(FLOAT), top, bottom)


def _big_means(top: Array, bottom: Array, meter: Meter) -> Column:
    pairs = list(zip(top.tolist(), bottom.tolist(), strict=True))
    distinct = meter.watched(set(pairs), 1)  # many queries share their picks
    mean_of = {pair: Fraction(*pair) for pair in distinct}
    means = [mean_of[pair] for pair in pairs]
    tops, bottoms = np.empty(len(means), object), np.empty(len(means), object)
    tops[:] = [mean.numerator for mean in means]
    bottoms[:] = [mean.denominator for mean in means]
    return numbers(one_kind(FLOAT), tops, bottoms)


def _too_large(column: Column, picks: KnownPicks, limits: Limits) -> Array | None:
    """Where a mean of several has too many digits."""
    too_large = column.too_large(limits.number_bits)
    if too_large is None:
        return None
    wrong = too_large & (picks.count > 1)  # a lone pick is not a new number
    return wrong if wrong.any() else None


def _on_common_denominator(values: Column, batch: Batch, meter: Meter) -> tuple[Array, Array]:
    """Numerators over one denominator for all, or (where that is large) for each input."""
    if values.is_whole:
        return values.numerators, ONE
    if not values.is_big:
        scale = 1
        for bottom in meter.watched(np.unique(values.denominators).tolist()):
            scale = math.lcm(scale, bottom)
            if scale >= LARGEST:
                break
        if scale * int(np.abs(values.numerators).max()) < LARGEST:
            scaled = values.numerators * (scale // values.denominators)
            return scaled, np.array([scale])
    return _on_denominator_per_input(values, batch, meter)


def _on_denominator_per_input(values: Column, batch: Batch, meter: Meter) -> tuple[Array, Array]:
    """The same in Python's integers, each input by itself."""
    tops = np.broadcast_to(values.numerators, batch.size).tolist()
    bottoms = np.broadcast_to(values.denominators, batch.size).tolist()
    scaled, scales = np.empty(batch.size, object), np.empty(batch.size, object)
    for number, (start, end) in enumerate(pairwise(batch.starts.tolist())):
        scale = _common_denominator(bottoms[start:end], number, meter)
        scales[start:end] = scale
        pairs = zip(tops[start:end], bottoms[start:end], strict=True)
        scaled[start:end] = [top * (scale // bottom) for top, bottom in meter.watched(pairs, 8)]
    return scaled, scales


def _common_denominator(denominators: list[int], number: int, meter: Meter) -> int:
    most = min(MOST_SCALED_BITS, 8 * meter.limits.memory // COPIES)
    scale = 1
    for bottom in meter.watched(set(denominators), 8):
        scale = math.lcm(scale, bottom)
        if scale.bit_length() * len(denominators) > most:
            raise TooManyDenominators(len(denominators), number)
    return scale
