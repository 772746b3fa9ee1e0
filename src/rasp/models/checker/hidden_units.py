"""The rule `units`: what hidden units add, in every row of what they are claimed to read.

Units that read the same number z, forwards or backwards, are relu(a z + b): together a function of
z that is a straight line between its kinks. Where z is off by w, it moves by no more than at
z - w and z + w, and, for each kink between these, by the size of that unit at its nearer end. So
steps that are flat absorb what z is off. What each unit rounds by itself moves it alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rasp.models.certificate.claims import GroupClaim, Refused
from rasp.models.certificate.weights.arrays import FeedForwardWeights
from rasp.models.checker.float_errors import SLACK, TINY, rounding
from rasp.models.checker.relations import Array, Relation, row_ids
from rasp.models.checker.slots import SlotStream

AT_ONCE = 3_000_000
DIGITS = 12
"""Rows of weights that agree to so many digits, up to a factor, are taken for one row; what they
differ is charged."""


@dataclass(frozen=True, eq=False)
class Added:
    """What a group of hidden units writes."""

    dims: Array
    space: Relation
    value: Array  # (row, dimension)
    off: Array
    slope: Array  # (dimension,)


@dataclass(frozen=True, eq=False)
class _Units:
    """Units that read one row of weights, each times a factor of its own."""

    row: Array  # (dimension,)
    factor: Array  # (unit,)
    bias: Array
    out: Array  # (written dimension, unit)
    beside: Array  # (unit,): how far what else they read can move them
    count: float
    """How many numbers each of them adds up, at most."""
    ways: Array  # (unit, way): weights of dimensions beside the row that hold 0
    way_slopes: Array


def feed_forward(
    stream: SlotStream, block: FeedForwardWeights, claims: tuple[GroupClaim, ...]
) -> list[Added]:
    """What the groups of a feed-forward write, one after another."""
    if any(group.units < 0 for group in claims):
        raise Refused("a group has less than no units")
    if sum(group.units for group in claims) != len(block.bias):
        raise Refused("there are more hidden units than claims, or fewer")
    start, found = 0, []
    for group in claims:
        units = slice(start, start + group.units)
        start += group.units
        part = FeedForwardWeights(block.inside[units], block.bias[units], block.out[:, units])
        if group.units:
            found.append(_group(stream, part, group))
    return found


def _group(stream: SlotStream, block: FeedForwardWeights, claim: GroupClaim) -> Added:
    dims = np.flatnonzero(block.out.any(axis=1))
    space = stream.facts.space(stream.facts.base(claim.inputs))
    total, off, size, count = np.zeros((4, len(space), len(dims)))
    there, slope = np.ones(len(space), bool), np.zeros(len(dims))
    for units in _same_rows(stream, block, dims):
        numbers = stream.read(units.row[None], np.zeros(1), space)
        there &= numbers.there
        points, onto = _different(np.hstack([numbers.value, numbers.off, numbers.size]))
        steep = float(stream.steepness(units.row[None])[0])
        value, error, most, on, steeper = _run(stream, units, points, steep)
        total, off, slope = total + value[onto], off + error[onto], slope + steeper
        size, count = size + most[onto], count + on[onto]
    off = off + rounding(count, size)
    space, total, off = space.where(there), total[there], off[there]
    if claim.over is None:
        return Added(dims, space, total, off, slope)
    target = stream.facts.space(stream.facts.base(claim.over))
    if target.names == space.names:
        return Added(dims, space, total, off, slope)
    total, off, there = stream.projected(space, total, off, target)
    return Added(dims, target.where(there), total[there], off[there], slope)


def _same_rows(stream: SlotStream, block: FeedForwardWeights, dims: Array) -> Iterator[_Units]:
    """Units by the row that they read, forwards or backwards."""
    inside, most = block.inside, stream.most
    main = np.take_along_axis(inside, np.abs(inside).argmax(axis=1)[:, None], 1)[:, 0]
    factor = np.where(main == 0, 1.0, main)
    shapes = np.round(inside / factor[:, None], DIGITS) + 0.0
    _, which = _different(shapes)
    still = (most == 0) & (stream.slope != 0)
    for number in range(int(which.max(initial=-1)) + 1):
        mine = np.flatnonzero(which == number)
        row = inside[mine[0]] / factor[mine[0]]
        other = np.abs(inside[mine] - np.outer(factor[mine], row))
        ways = still & inside[mine].any(axis=0)
        yield _Units(
            np.where(ways, 0.0, row), factor[mine], block.bias[mine], block.out[np.ix_(dims, mine)],
            other @ most + SLACK * 2.0**-50 * (np.abs(inside[mine]) @ most),
            float((inside[mine] != 0).sum(axis=1).max(initial=0) + 1),
            inside[np.ix_(mine, ways)], stream.slope[ways],
        )  # fmt: skip


def _different(table: Array) -> tuple[Array, Array]:
    """The different rows of a table, and which of them each row is."""
    which, first = row_ids(table + 0.0)
    return table[first], which


def _run(
    stream: SlotStream, units: _Units, points: Array, steep: float
) -> tuple[Array, Array, Array, Array, Array]:
    """(point, dimension): what units add, how far off that is but for the rounding of the sum, and
    the sum of all sizes, and how many these are; and (dimension,) the gradient, at most."""
    at_once = max(1, AT_ONCE // (6 * len(units.bias)))
    parts = [_run_batch(stream, units, points[first : first + at_once], steep)
             for first in range(0, len(points), at_once)]  # fmt: skip
    value, error, size, on, slope = (np.concatenate(part) for part in zip(*parts, strict=True))
    return value, error, size, on, slope.max(axis=0, initial=0.0)


def _run_batch(
    stream: SlotStream, units: _Units, points: Array, steep: float
) -> tuple[Array, Array, Array, Array, Array]:
    z, wrong, size = points.T
    sizes = np.abs(units.out).T
    before = z[:, None] * units.factor + units.bias  # (point, unit)
    width = wrong[:, None] * np.abs(units.factor)
    alone = rounding(units.count, size[:, None] * np.abs(units.factor) + np.abs(units.bias))
    alone = alone + units.beside
    hidden, low, high = (np.maximum(before + sign * width, 0) for sign in (0, -1, 1))
    backwards = units.factor < 0
    left, right = np.where(backwards, high, low), np.where(backwards, low, high)
    value = hidden @ units.out.T
    error = np.maximum(np.abs(left @ units.out.T - value), np.abs(right @ units.out.T - value))
    kink = (before - width < 0) & (before + width > 0)
    error += (np.minimum(np.abs(before - width), high) * kink) @ sizes
    on = before + width + alone > 0
    error += ((alone + TINY) * on) @ sizes
    error = _coarser(stream, before, width + alone, hidden, error, sizes)
    largest = np.maximum(high, hidden)
    near = on & (before - width - alone < 0)
    slope = np.abs((on * ~near * units.factor) @ units.out.T) * steep
    slope += ((near * np.abs(units.factor)) @ sizes) * steep
    slope += sum((np.abs((on * ~near * way) @ units.out.T) + (near * np.abs(way)) @ sizes) * most
                 for way, most in zip(units.ways.T, units.way_slopes, strict=True))  # fmt: skip
    count = on.astype(float) @ (units.out != 0).T
    return value, error, (largest + alone * on) @ sizes, count, slope


def _coarser(
    stream: SlotStream, before: Array, width: Array, hidden: Array, error: Array, sizes: Array
) -> Array:
    """The same where hidden units are rounded once more: each by itself, or each between its
    ends."""
    precision = stream.precision
    if precision.is_float32:
        return error
    middle, around = precision.ends(before, width)
    apart = [np.abs(np.maximum(middle + side, 0) - hidden) for side in (-around, around)]
    more = SLACK * precision.unit * (np.abs(before) + width) * (before + width > 0)
    return np.asarray(np.minimum(error + 2 * more @ sizes, np.maximum(*apart) @ sizes))
