"""Hidden units in, what they add to the residual stream out, by the state of their inputs.

The units of a group read one number z, forwards or backwards: relu(±z + bias). Their inputs'
states are run through the actual weights, one by one. What z is off moves all units of a group
together, so that the sum changes by its slope there, and by no more than its own size for a unit
that may be on or off; what is rounded in each unit moves it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rasp.certificate.arrays import UnitArrays
from rasp.certificate.claims import GroupClaim, Notes, Refused
from rasp.certificate.stream import (
    DOUBLE,
    EXACT,
    SLACK,
    UNIT,
    Group,
    Parts,
    Reading,
    Stream,
    grain_of,
    grains,
)
from rasp.certificate.tables import Array

AT_ONCE = 4_000_000


def feed_forward(
    stream: Stream, block: UnitArrays, claims: Sequence[GroupClaim], name: str, notes: Notes
) -> None:
    """Check the hidden units of a layer, and add what they add to the stream."""
    if sum(claim.units for claim in claims) != len(block.bias):
        raise Refused("there are more hidden units than claims, or fewer", name)
    size = len(stream.error)
    up, down, low, high, count, stray = np.zeros((6, size))
    grain, writers = np.full(size, np.inf), np.zeros(size, int)
    groups, start = [], 0
    for claim in claims:
        units = slice(start, start + claim.units)
        start += claim.units
        if not claim.units:
            continue
        part = UnitArrays(block.inside[units], block.bias[units], block.out[:, units])
        group, most, numbers, fine = _group(stream, part, claim.inputs, name, notes)
        groups.append(group)
        for total, positive, negative in ((up, most, 1), (down, most, -1)):
            total[group.dims] += _one_way(group, positive, negative)
        low[group.dims] += group.table.min(axis=0)
        high[group.dims] += group.table.max(axis=0)
        stray[group.dims] += group.error.max(axis=0, initial=0.0)
        count[group.dims] += numbers
        grain[group.dims] = np.minimum(grain[group.dims], fine)
        writers[group.dims] += 1
    grain = np.where(np.isfinite(grain), grain, 0.0)
    stream.add(np.zeros(size), up, down, (low, high), count, grain, writers == 1)
    stream.stray = stream.stray + stray
    for group in groups:
        stream.groups.append(group)
        stream.grain[group.dims[group.error.max(axis=0, initial=0.0) > 0]] = 0.0


def _one_way(group: Group, mass: Array, sign: int) -> Array:
    """(dimension,): all that units add of one sign, at most: half of all sizes and of the sum."""
    return np.asarray((mass + sign * group.table + group.error).max(axis=0, initial=0.0) / 2)


def _group(
    stream: Stream, part: UnitArrays, inputs: Sequence[int], name: str, notes: Notes
) -> tuple[Group, Array, Array, Array]:
    row, signs = _one_number(stream, part.inside, name)
    reading = stream.read(row[None], inputs)
    space = stream.values.space(tuple(inputs))
    held = reading.on(stream.values, space)
    held = Parts(np.nan_to_num(held.value), held.error, held.mass, held.count)  # or no input has it
    table = np.hstack([held.value, held.error, held.mass, held.count])
    points, places = np.unique(table, axis=0, return_inverse=True)
    parts = Parts(*(points[:, [column]] for column in range(4)))
    dims = np.flatnonzero(part.out.any(axis=1))
    out = part.out[dims]
    found = []
    for first in range(0, len(points), max(1, AT_ONCE // max(1, len(part.bias)))):
        some = np.arange(first, min(len(points), first + max(1, AT_ONCE // max(1, len(part.bias)))))
        found.append(_run(reading, parts.at(some), signs, part.bias, out))
    value, error, mass, numbers, is_exact = (
        np.concatenate(arrays) for arrays in zip(*found, strict=True)
    )
    grain = np.zeros(len(dims))
    if is_exact.all():
        inner = min(float(reading.grain[0]), grain_of(part.bias))
        grain = grains(out).min(axis=1, initial=2.0**20) * inner
        most = (mass + np.abs(value)).max(axis=0, initial=0.0) / 2
        grain = np.where(most <= EXACT * grain, grain, 0.0)
    most = np.minimum(mass, (mass + np.abs(value) + error) / 2)
    rounding = SLACK * UNIT * (most * np.maximum(numbers - 1, 0) + mass) + DOUBLE * mass
    error = error + np.where(grain > 0, 0.0, rounding)
    notes.blocks.append((name, f"{len(part.bias)} hidden units, {len(points)} different inputs",
                         float(error.max(initial=0.0))))  # fmt: skip
    group = Group(space, places.reshape(-1), dims, value, error)
    return group, mass, numbers.max(axis=0), grain


def _one_number(stream: Stream, inside: Array, name: str) -> tuple[Array, Array]:
    """The row that all units of a group read, and its sign in each of them."""
    rows = np.where(stream.size > 0, inside, 0.0)
    row = rows[0]
    signs = np.where((rows == row).all(axis=1), 1.0, -1.0)
    if not (rows == signs[:, None] * row).all():
        raise Refused("hidden units of one group read different numbers", name)
    return row, signs


def _run(
    reading: Reading, held: Parts, signs: Array, bias: Array, out: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """(point, dimension): what units add, how far that can be off, its mass and its count."""
    before = held.value * signs + bias  # (point, unit)
    rounding = reading.rounding(held, bias, signs)
    off = held.error + rounding
    near = (np.abs(before) <= off) & (off > 0)
    on = (before > 0) & ~near
    hidden = np.maximum(before, 0)
    size = np.abs(out).T
    value = hidden @ out.T
    error = np.abs((on * signs) @ out.T) * held.error
    error += (near * off + on * rounding) @ size
    most = np.maximum(before + off, 0)
    counted = (on | near).astype(float) @ (out != 0).T
    return value, error, most @ size, counted, (off.max(axis=1, initial=0.0) == 0)
