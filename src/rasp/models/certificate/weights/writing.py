"""What the heads of a layer move in, the residual stream with it out.

A number of float32 between 2^e and 2^(e+1) is a multiple of 2^(e-23), its grid. Where a dimension
is in that range before, after and whatever is added first, every sum that has it as a part is
rounded to the grid. So where what a head should add is a multiple of the grid, and what it does
add is off by less than half of it, float32 itself puts it right: the dimension is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from rasp.models.certificate.program.tables import Array
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.certificate.weights.channels import Channel
from rasp.models.certificate.weights.rounding import SLACK, UNIT, grains
from rasp.models.certificate.weights.stream import Stream

MOST_OFF = 0.49
"""How far off a sum may be, in multiples of the grid, to be rounded to the right one."""


def write(stream: Stream, channels: Sequence[Channel], heads: Sequence[HeadWeights]) -> None:
    """Add what the heads of a layer move to the stream, one head after the other."""
    error, mass, count = np.zeros((3, len(stream.error)))
    for channel in channels:
        used = np.abs(channel.column)
        error, mass = error + used * channel.error, mass + used * channel.size
        count = count + (used > 0)
    near, grain, rounded = _put_right(stream, channels, mass, error + SLACK * UNIT * count * mass)
    low, high, stray, nothing = np.zeros((4, len(stream.error)))
    for channel, column in zip(channels, near, strict=True):
        column = np.where(rounded, column, channel.column)
        stream.gradient = stream.gradient + channel.gradient
        stream.constant = stream.constant - column * float(channel.shift)
        low, high = low - column * float(channel.shift), high - column * float(channel.shift)
        for variable, weight in channel.weights.items():
            direction = column * float(weight)
            stream.outputs[variable] = stream.outputs.get(variable, nothing) + direction
            numbers = stream.floats(variable)
            ends = direction * numbers.min(), direction * numbers.max()
            low, high = low + np.minimum(*ends), high + np.maximum(*ends)
        if channel.group is not None:
            group = channel.group
            stream.groups.append(group)
            low[group.dims] += group.table.min(axis=0)
            high[group.dims] += group.table.max(axis=0)
            stray[group.dims] += group.error.max(axis=0)
    before = grain, stream.error, stream.stray
    times = sum(((head.out != 0).any(axis=1).astype(int) for head in heads), nothing.astype(int))
    stream.add(error, mass, mass, (low, high), count, nothing, nothing > 0, times)
    stream.grain, stream.error, stream.stray = (
        np.where(rounded, right, now)
        for right, now in zip(before, (stream.grain, stream.error, stream.stray), strict=True)
    )
    stream.stray = stream.stray + stray


def _put_right(
    stream: Stream, channels: Sequence[Channel], mass: Array, off: Array
) -> tuple[list[Array], Array, Array]:
    """The columns next to those written that keep dimensions on their grids, the grain that these
    have then, and (dimension,) whether float32 itself puts right by how much that is off.
    """
    grid, columns, grain = _grids(stream, mass), [], stream.grain
    for channel in channels:
        if channel.group is not None:
            off = off + np.where(channel.column != 0, np.inf, 0.0)
            columns.append(channel.column)
            continue
        unit = _unit_of(stream, channel)
        near = _near(channel.column, unit, grid)
        off = off + np.abs(channel.column - near) * channel.size
        grain = np.where(near != 0, np.minimum(grain, grains(near) * unit), grain)
        columns.append(near)
    return columns, grain, (grid > 0) & (off < MOST_OFF * grid)


def _grids(stream: Stream, mass: Array) -> Array:
    """(dimension,): the grid to which every sum with it is rounded; 0 where there is none."""
    low, high = stream.low - mass, stream.high + mass
    exponent = np.floor(np.log2(np.where(low > 0, low, 1.0)))
    grid = 2.0 ** (exponent - 23)
    fine = (low > 0) & (mass > 0) & (high <= 2.0 ** (exponent + 1))
    fine &= (stream.stray == 0) & (stream.grain >= grid) & (not stream.precision.stores)
    return np.asarray(np.where(fine, grid, 0.0))


def _unit_of(stream: Stream, channel: Channel) -> float:
    """The largest power of two of which a channel's value is a multiple; 0 where there is none."""
    numbers = [channel.shift]
    for variable, weight in channel.weights.items():
        numbers += [weight * number for number in stream.values.numbers(variable)]
    return min((_unit(number) for number in numbers if number), default=0.0)


def _near(column: Array, unit: float, grid: Array) -> Array:
    """(dimension,): the factor next to the one written with which multiples of a unit become
    multiples of the grid; not a number where there is none.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.round(column / (grid / unit)) * (grid / unit)
    return np.where(column == 0, 0.0, near)


def _unit(number: Fraction) -> float:
    """The largest power of two of which a number is a multiple; 0 where there is none."""
    above, below = abs(number.numerator), number.denominator
    return (above & -above) / below if below & (below - 1) == 0 else 0.0
