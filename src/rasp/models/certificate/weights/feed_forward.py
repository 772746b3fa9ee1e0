"""Hidden units in, what they add to the residual stream out, by the state of their inputs.

Units of a group that read the same number z, forwards or backwards, are relu(±z + bias). Their
inputs' states are run through the actual weights, one by one. What z is off moves all these units
together, so that the sum changes by its slope there, and by no more than its own size for a unit
that may be on or off; what is rounded in each unit moves it alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rasp.models.certificate.claims import Findings, GroupClaim, Refused
from rasp.models.certificate.program.tables import Array, Space, distinct_rows
from rasp.models.certificate.weights.arrays import FeedForwardWeights, batches, check_cells
from rasp.models.certificate.weights.gradients import Ways, ways_into
from rasp.models.certificate.weights.precision import Precision
from rasp.models.certificate.weights.reading import Parts, Reading, UnitGroup, located, projected
from rasp.models.certificate.weights.rounding import (
    DOUBLE,
    EXACT,
    SLACK,
    TINY,
    UNIT,
    at_most,
    grain_of,
    grains,
)
from rasp.models.certificate.weights.stream import Stream

AT_ONCE = 4_000_000
CELLS = 1_000_000
"""How many numbers are read at once."""


def feed_forward(
    stream: Stream,
    block: FeedForwardWeights,
    claims: Sequence[GroupClaim],
    name: str,
    notes: Findings,
) -> None:
    """Check the hidden units of a layer, and add what they add to the stream."""
    counts = [claim.units for claim in claims]
    if sum(counts) != len(block.bias) or min(counts, default=0) < 0:  # below 0: some come twice
        raise Refused("there are more hidden units than claims, or fewer", name)
    size, seen = len(stream.error), stream.rounded()
    up, down, low, high, count, stray = np.zeros((6, size))
    grain, writers = np.full(size, np.inf), np.zeros(size, int)
    groups, start = [], 0
    gradient = np.zeros(size)
    for claim in claims:
        units = slice(start, start + claim.units)
        start += claim.units
        if not claim.units:
            continue
        part = FeedForwardWeights(block.inside[units], block.bias[units], block.out[:, units])
        group, most, numbers, fine = _group(seen, part, claim, name, notes, gradient)
        groups.append(group)
        up[group.dims] += _one_way(group, most, 1)
        down[group.dims] += _one_way(group, most, -1)
        low[group.dims] += group.table.min(axis=0)
        high[group.dims] += group.table.max(axis=0)
        stray[group.dims] += group.error.max(axis=0, initial=0.0)
        count[group.dims] += numbers
        grain[group.dims] = np.minimum(grain[group.dims], fine)
        writers[group.dims] += 1
    grain = np.where(np.isfinite(grain), grain, 0.0)
    stream.add(np.zeros(size), up, down, (low, high), count, grain, writers == 1)
    stream.stray = stream.stray + stray
    stream.gradient = stream.gradient + gradient
    for group in groups:
        stream.groups.append(group)
        stream.grain[group.dims[group.error.max(axis=0, initial=0.0) > 0]] = 0.0


def _one_way(group: UnitGroup, mass: Array, sign: int) -> Array:
    """(dimension,): all that units add of one sign, at most: half of all sizes and of the sum."""
    return np.asarray((mass + sign * group.table + group.error).max(axis=0, initial=0.0) / 2)


def _group(
    stream: Stream, part: FeedForwardWeights, claim: GroupClaim, name: str, notes: Findings,
    gradient: Array,
) -> tuple[UnitGroup, Array, Array, Array]:  # fmt: skip
    """What the units of a group add, its mass, count and grain.

    Also adds up by how much more each dimension can change with the embedded input.
    """
    space = stream.values.space(claim.inputs)
    unseen = _Unseen(stream, space)
    dims = np.flatnonzero(part.out.any(axis=1))
    out = part.out[dims]
    parts, places, inner, slope = _added(stream, part, out, claim.inputs, space, unseen)
    if unseen.alike:
        raise Refused("hidden units are said to look at more than they do", name)
    gradient[dims] += slope
    value, error, mass, count = parts.four
    grain = grains(out).min(axis=1, initial=2.0**20) * inner
    most = (mass + np.abs(value)).max(axis=0, initial=0.0) / 2
    grain = np.where(most <= EXACT * grain, grain, 0.0)
    most = np.minimum(mass, (mass + np.abs(value) + error) / 2)
    rounding = SLACK * UNIT * (most * np.maximum(count - 1, 0) + mass) + DOUBLE * mass
    rounding += 2 * TINY * count
    error = error + np.where(grain > 0, 0.0, rounding)
    notes.blocks.append((name, f"{len(part.bias)} hidden units, {len(value)} different inputs, "
                         f"off by at most {at_most(error.max(initial=0.0), 2)}", 0.0))  # fmt: skip
    numbered = count.max(axis=0, initial=0.0)
    if claim.over is None:
        return UnitGroup(space, places, dims, value, error), mass, numbered, grain
    held = Parts(value, error, mass, count).at(places)
    return *_function_of(stream, claim.over, space, held, dims), numbered, grain


def _added(
    stream: Stream, part: FeedForwardWeights, out: Array, inputs: Sequence[int], space: Space,
    unseen: _Unseen,
) -> tuple[Parts, Array, float, Array]:  # fmt: skip
    """What units add, at each point; which point each combination is; the grain of the units'
    values; and the gradient. They are run for each number that some of them read.
    """
    numbers = list(_numbers(stream, part.inside))
    runs = _ran(stream, part, out, numbers, inputs, space)
    if len(numbers) == 1:
        (run,) = runs
        unseen.see(run[1])
        return run
    check_cells(len(out), space.size)
    # each dimension by itself in memory, as it is written
    total, inner = Parts(*np.zeros((4, len(out), space.size)).transpose(0, 2, 1)), 2.0**20
    gradient = np.zeros(len(out))
    for (units, _, _), (ran, onto, own, slope) in zip(numbers, runs, strict=True):
        unseen.see(onto)
        touched = np.flatnonzero(out[:, units].any(axis=1))
        gradient[touched] += slope
        inner = min(inner, own)
        for whole, added in zip(total.four, ran.four, strict=True):
            whole[:, touched] += added[onto]
    return total, np.arange(space.size), inner, gradient


class _Unseen:
    """The variables that hidden units are said to look at, less those that change what they read:
    labels are made of them.

    With a promise, or where some combinations never occur, they need not: what differs may be in
    those that are excluded. Nor need a variable that the others decide.
    """

    def __init__(self, stream: Stream, space: Space) -> None:
        sizes = stream.values.sizes(space.variables)
        self.alike: dict[int, Array] = {}
        """(combination,): which differ in no other variable."""
        if not stream.precision.is_float32 or stream.values.promise.conditions:
            return
        if 0 < space.size == np.prod(sizes):
            for place in range(len(sizes)):
                others = space.grid.copy()
                others[place] = 0
                if sizes[place] > 1:
                    self.alike[place] = np.ravel_multi_index([*others], sizes)

    def see(self, kind: Array) -> None:
        """Units read one number: (combination,) which one it is."""
        for place, alike in [*self.alike.items()]:
            one_kind = np.zeros(len(kind), int)
            one_kind[alike] = kind
            if (one_kind[alike] != kind).any():
                del self.alike[place]


def _function_of(
    stream: Stream, over: Sequence[int], space: Space, parts: Parts, dims: Array
) -> tuple[UnitGroup, Array]:
    """The same as a function of other variables: what varies for one state of them is an error.

    Also the mass at each of its points. No input is in a state of them that no state of the units'
    inputs comes with, so it is left out.
    """
    target = stream.values.space(tuple(over))
    held = projected(parts, located(stream.values, target, space), target.size)
    there = held.there
    held, target = held.at(there), Space(target.variables, target.grid[:, there])
    return UnitGroup(target, np.arange(target.size), dims, held.value, held.error), held.mass


Number = tuple[Array, Array, Array]
"""Units that read one number, forwards or backwards: which, its row, and the signs."""


def _numbers(stream: Stream, inside: Array) -> Iterator[Number]:
    rows = np.where((stream.size > 0) | (stream.error > 0), inside, 0.0)
    main = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], 1)
    signs = np.where(main[:, 0] < 0, -1.0, 1.0)
    different, which = np.unique(rows * signs[:, None], axis=0, return_inverse=True)
    order = np.argsort(which.reshape(-1), kind="stable")
    ends = np.searchsorted(which.reshape(-1)[order], np.arange(len(different) + 1))
    for row, first, last in zip(different, ends[:-1], ends[1:], strict=True):
        units = order[first:last]
        yield units, row, signs[units]


def _ran(
    stream: Stream, part: FeedForwardWeights, out: Array, numbers: list[Number],
    inputs: Sequence[int], space: Space,
) -> Iterator[tuple[Parts, Array, float, Array]]:  # fmt: skip
    """For each number: what its units add at each of its points to the dimensions that they touch,
    which point each combination of inputs is, the grain of the units' values (0 where these are
    rounded), and the gradient.
    """
    narrow = stream.within(space)
    for batch in (numbers[chosen] for chosen in batches(len(numbers), space.size, CELLS)):
        reading = narrow.read(np.array([row for _, row, _ in batch]), inputs)
        places = [located(stream.values, piece.space, space) for piece in reading.pieces]
        for place, (units, row, signs) in enumerate(batch):
            points, onto = _told_apart(reading, places, place, space.size)
            points[:, 0] = np.nan_to_num(points[:, 0])  # no input has it
            touched = out[:, units][out[:, units].any(axis=1)]
            ways = ways_into(stream, part.inside[units], row, signs)
            parts, inner, gradient = _points(
                reading.only(place),
                points,
                signs,
                part.bias[units],
                touched,
                stream.precision,
                ways,
            )
            yield parts, onto, inner, gradient


def _told_apart(
    reading: Reading, places: Sequence[Array], column: int, size: int
) -> tuple[Array, Array]:
    """(point, part): what a number can be, and which point each of `size` combinations is.

    Its pieces are looked at one by one: most have few different values.
    """
    rows = np.array([[part[0, column] for part in reading.base.four]])
    which = np.zeros(size, int)
    for piece, at in zip(reading.pieces, places, strict=True):
        own, onto = distinct_rows(np.stack([part[:, column] for part in piece.parts.four], axis=1))
        which = which * len(own) + onto[at]
        number = np.zeros(len(rows) * len(own), int)
        number[which] = 1
        used = np.flatnonzero(number)
        number[used] = np.arange(len(used))
        rows = rows[used // len(own)] + own[used % len(own)]
        which = number[which]
    held = reading.only(column).within(Parts(*(rows[:, [part]] for part in range(4))))
    points, onto = distinct_rows(np.hstack(held.four))
    return points, onto[which]


def _points(
    reading: Reading, points: Array, signs: Array, bias: Array, out: Array, precision: Precision,
    ways: Ways,
) -> tuple[Parts, float, Array]:  # fmt: skip
    parts = Parts(*(points[:, [column]] for column in range(4)))
    runs = [_run(reading, parts.at(batch), signs, bias, out, precision, ways)
            for batch in batches(len(points), len(bias), AT_ONCE)]  # fmt: skip
    value, error, mass, numbers, is_exact, gradient = (
        np.concatenate(arrays) for arrays in zip(*runs, strict=True)
    )
    inner = min(float(reading.grain[0]), grain_of(bias)) if is_exact.all() else 0.0
    return Parts(value, error, mass, numbers), inner, gradient.max(axis=0, initial=0.0)


def _run(
    reading: Reading, held: Parts, signs: Array, bias: Array, out: Array, precision: Precision,
    ways: Ways,
) -> tuple[Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """(point, dimension): what units add, how far that can be off, its mass and its count; whether
    a point is exact; and (point, dimension) the gradient, at most.
    """
    before = held.value * signs + bias  # (point, unit)
    rounding = reading.rounding(held, bias, signs)
    off = held.error + rounding
    middle, around = precision.ends(before, off)
    rounding = rounding + precision.unit * (np.abs(before) + off)
    off = off + precision.unit * (np.abs(before) + off)
    near = (np.abs(before) <= off) & (off > 0)
    on = (before > 0) & ~near
    hidden = np.maximum(before, 0)
    size = np.abs(out).T
    value = hidden @ out.T
    slope = np.abs((on * signs) @ out.T)
    error = slope * held.error
    error += (near * off + on * rounding) @ size
    if not precision.is_float32:  # each unit alone is between its ends
        apart = [np.abs(np.maximum(middle + side, 0) - hidden) for side in (-around, around)]
        error = np.minimum(error, np.maximum(*apart) @ size)
    most = np.maximum(before + off, 0)
    counted = (on | near).astype(float) @ (out != 0).T
    is_exact = (off.max(axis=1, initial=0.0) == 0) & precision.is_float32
    return value, error, most @ size, counted, is_exact, ways.of(on, near, out)
