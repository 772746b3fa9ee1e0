"""A feature in, hidden units out that write its block: steps that are flat around every value.

A step is two units, relu(y + 1/2) - relu(y - 1/2): 0 for y <= -1/2 and 1 for y >= 1/2. The step of
a cube of k conditions (see `grids`) has y = 4 (how many hold - k + 1/2), which is ±2 or further.
Where a number z is involved, the function of z changes at thresholds in each cube, and the step of
a threshold has

    y = s u + G (how many hold - k),    u of the sign of z - t, s |u| >= 2, G >= s |u| + 2,

so that noise in the stream moves nothing as long as it changes y by less than 3/2. A unit's factor
is shared between its two sides, √ each: no weight is larger than it must be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, sqrt

import numpy as np

from rasp.compiler.analysis.variables import HeadOutput, Variable
from rasp.compiler.emitting.rows import Row, sum_rows
from rasp.compiler.refusals import Refusal
from rasp.compiler.robust.blocks import Feature, StreamBlocks
from rasp.compiler.robust.grids import Gate, Grid
from rasp.compiler.robust.lines import deciding_line

STEEP = 2.0
"""How far from a threshold a step is, at least, in units of half its rise: flat from 1/2 on."""
MOST_UNITS = 30_000
MOST_EFFORT = 55_000_000
"""The most numbers that the checker may have to look at for one feature: a minute's work."""
UNIT = 2.0**-24
MOST_ROUNDING = 0.15
"""How far what steps add up to may be rounded."""


@dataclass(frozen=True, eq=False)
class Step:
    """Two hidden units: `row` is y, and `out` what is added where it is above 0."""

    row: Row
    out: Mapping[int, float]
    factor: float
    most: float = 0.0
    """How far y is from 0, at most, where it is above."""
    pieces: Mapping[int, int] = field(default_factory=dict)
    """For each dimension: in which piece of the line it is 1, which begins or ends here."""
    gate: Gate = ()

    @property
    def units(self) -> list[tuple[Row, dict[int, float]]]:
        units = []
        for shift, sign in ((0.5, 1.0), (-0.5, -1.0)):
            inside = sum_rows([self.row, Row({}, shift)]).times(1 / self.factor)
            units.append((inside, {dim: sign * self.factor * weight
                                   for dim, weight in self.out.items()}))  # fmt: skip
        return units


@dataclass(eq=False)
class FeatureSteps:
    """The steps that write a feature, and what they are functions of."""

    feature: Feature
    variables: list[Variable]
    steps: list[Step]
    effort: int = 0
    """How many numbers the checker has to look at, about: a million a second."""

    def reads(self, output: HeadOutput, blocks: StreamBlocks) -> bool:
        """Whether the steps read a sum from its head, and not from a block."""
        is_sum = output.head in blocks.share_dims and output in blocks.number_dims
        return is_sum and output.layer == self.feature.layer


def find_steps(blocks: StreamBlocks, feature: Feature) -> FeatureSteps:
    """Find the steps of a feature; asks for the blocks and numbers that they read."""
    grid = Grid(blocks, feature)
    steps = []
    for gate, table in grid.cubes():
        steps += _steps(grid, gate, table)
        if 2 * len(steps) > MOST_UNITS:
            raise Refusal(
                f"the feed-forward of layer {feature.layer} would need {MOST_UNITS} hidden units "
                "or more", 'use a smaller vocabulary or length, or `style="compact"`',
            )  # fmt: skip
    steps = _share_dimensions(blocks, feature, steps)
    dims = sum(len(blocks.copies_of(dim)[0]) for dim in feature.dims)
    effort = grid.cases * (len(steps) + 4 * dims)
    if effort > MOST_EFFORT:
        raise Refusal(
            f"{2 * len(steps)} hidden units of the feed-forward of layer {feature.layer} would "
            f"have to be checked in {grid.cases} cases",
            'use a smaller vocabulary or length, or `style="compact"`',
        )
    return FeatureSteps(feature, grid.variables, steps, effort)


def _share_dimensions(blocks: StreamBlocks, feature: Feature, steps: list[Step]) -> list[Step]:
    """Let several dimensions share what many long steps add to one, where rounding would tell.

    So many terms of so large a sum are rounded by up to a unit in the last place each; a dimension
    that has the steps of one in k pieces of the line is off by a k²-th of that.
    """
    renamed: dict[tuple[int, int], int] = {}
    for dim in feature.dims:
        own = [step for step in steps if dim in step.pieces]
        together = [[step.most for step in own if step.gate == gate]
                    for gate in {step.gate for step in own}]  # fmt: skip
        rounding = max((UNIT * len(sizes) * sum(sizes) for sizes in together), default=0.0)
        count = min(len(own), ceil(rounding / MOST_ROUNDING))
        if count > 1:
            dims = [dim, *blocks.new(count - 1)]
            blocks.repeated[dim] = dims, 1.0
            pieces = sorted({step.pieces[dim] for step in own})
            renamed |= {(dim, piece): dims[place * count // len(pieces)]
                        for place, piece in enumerate(pieces)}  # fmt: skip
    return [replace(step, out={renamed.get((dim, step.pieces.get(dim, -1)), dim): weight
                               for dim, weight in step.out.items()})
            for step in steps]  # fmt: skip


def _steps(grid: Grid, gate: Gate, table: np.ndarray) -> list[Step]:
    """The steps of one cube: the value half-way, and what changes at each threshold.

    A step above the middle rises to the right, one below it to the left, so that hidden units are
    on where they are small: what they add up to is rounded less, and weak gates close them.
    """
    dims = grid.feature.dims
    line, levels, places = deciding_line(grid.lines, table)
    if line is None:
        return [_gated_step(gate, Row(), 0.0, {dims[int(places[0])]: 1.0})]
    low, high = (float(end) * line.unit for end in (line.totals.min(), line.totals.max()))
    changes = np.flatnonzero(np.diff(places)).tolist()
    thresholds = [float(levels[change] + levels[change + 1]) / 2 * line.unit for change in changes]
    middle = sum(threshold < (low + high) / 2 for threshold in thresholds)
    base = dims[int(places[changes[middle] if middle < len(changes) else -1])]
    piece = grid.new_pieces(len(changes) + 1)
    steps = [_gated_step(gate, Row(), 0.0, {base: 1.0}, {base: piece + middle})]
    for number, (change, threshold) in enumerate(zip(changes, thresholds, strict=True)):
        gap = float(levels[change + 1] - levels[change]) * line.unit
        slope = STEEP / line.distance(gap / 2)
        sign, end = (-1.0, low) if number < middle else (1.0, high)
        row = line.row_above(threshold).times(sign * slope)
        most = slope * line.reach(abs(end - threshold))
        old, new = dims[int(places[change])], dims[int(places[change + 1])]
        pieces = {old: piece + number, new: piece + number + 1}
        step = _gated_step(gate, row, most + STEEP, {old: -sign, new: sign}, pieces)
        steps.append(replace(step, most=most))
        line.note_fineness(gap)
    return steps


def _gated_step(
    gate: Gate, row: Row, widest: float, out: Mapping[int, float],
    pieces: Mapping[int, int] | None = None,
) -> Step:  # fmt: skip
    """A step that can rise only where all conditions of a gate hold."""
    factor = 1.0
    if row.weights:
        y = sum_rows(
            [row, *(condition.times(widest) for condition in gate), Row({}, -widest * len(gate))]
        )
        factor = max(1.0, sqrt(y.largest))
    elif gate:  # nothing but the gate: half-way between all of them and one less
        y = sum_rows([*(condition.times(2 * STEEP) for condition in gate),
                   Row({}, 2 * STEEP * (0.5 - len(gate)))])  # fmt: skip
    else:
        y = Row({}, STEEP)
    return Step(y, out, factor, 0.0, pieces or {}, gate)
