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

from rasp.compiler.analysis.variables import Variable
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
    gate: Gate
    most: float = 0.0
    """How far y is from 0, at most, where it is above; 0 where it reads no number."""
    pieces: Mapping[int, int] = field(default_factory=dict)
    """For each dimension: in which piece of the line it is 1, which begins or ends here."""

    @property
    def units(self) -> list[tuple[Row, Row]]:
        """What each unit reads, and what it adds."""
        factor = max(1.0, sqrt(self.row.largest)) if self.most else 1.0
        return [(sum_rows([self.row, Row({}, shift)]).times(1 / factor),
                 Row(self.out).times(sign * factor))
                for shift, sign in ((0.5, 1.0), (-0.5, -1.0))]  # fmt: skip


@dataclass(frozen=True, eq=False)
class FeatureSteps:
    """The steps that write a feature, and what they are functions of."""

    feature: Feature
    variables: list[Variable]
    steps: list[Step]
    effort: int = 0
    """How many numbers the checker has to look at, about: a million a second."""


def find_steps(blocks: StreamBlocks, feature: Feature) -> FeatureSteps:
    """Find the steps of a feature; asks for the blocks and numbers that they read."""
    grid = Grid(blocks, feature)
    steps: list[Step] = []
    for gate, table in grid.cubes():
        steps += _steps(grid, gate, table, len(steps))
        if 2 * len(steps) > MOST_UNITS:
            raise Refusal(
                f"the feed-forward of layer {feature.layer} would need {MOST_UNITS} hidden units "
                "or more", blocks.values.settings.smaller,
            )  # fmt: skip
    steps = _share_dimensions(blocks, feature, steps)
    dims = sum(len(blocks.copies_of(dim)[0]) for dim in feature.dims)
    effort = grid.cases * (len(steps) + 4 * dims)
    if effort > MOST_EFFORT:
        raise Refusal(
            f"{2 * len(steps)} hidden units of the feed-forward of layer {feature.layer} would "
            f"have to be checked in {grid.cases} cases",
            blocks.values.settings.smaller,
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


def _steps(grid: Grid, gate: Gate, table: np.ndarray, first_piece: int) -> list[Step]:
    """The steps of one cube: the value half-way, and what changes at each threshold.

    A step above the middle rises to the right, one below it to the left, so that hidden units are
    on where they are small: what they add up to is rounded less, and weak gates close them.
    """
    dims = grid.feature.dims
    always = _gated(gate, Row({}, STEEP), 2 * STEEP)
    line, levels, places = deciding_line(grid.lines, table)
    if line is None:
        return [Step(always, {dims[int(places[0])]: 1.0}, gate)]
    low, high = (float(end) * line.unit for end in (line.totals.min(), line.totals.max()))
    changes = np.flatnonzero(np.diff(places)).tolist()
    thresholds = [float(levels[change] + levels[change + 1]) / 2 * line.unit for change in changes]
    middle = sum(threshold < (low + high) / 2 for threshold in thresholds)
    base = dims[int(places[changes[middle] if middle < len(changes) else -1])]
    steps = [Step(always, {base: 1.0}, gate, pieces={base: first_piece + middle})]
    least_divisor, most_divisor = line.divisors
    for piece, (change, threshold) in enumerate(zip(changes, thresholds, strict=True), first_piece):
        gap = float(levels[change + 1] - levels[change]) * line.unit
        slope = STEEP / (gap / 2 / most_divisor)
        sign, end = (-1.0, low) if piece < first_piece + middle else (1.0, high)
        most = slope * (abs(end - threshold) / least_divisor)
        row = _gated(gate, line.row_above(threshold).times(sign * slope), most + STEEP)
        old, new = dims[int(places[change])], dims[int(places[change + 1])]
        steps.append(Step(row, {old: -sign, new: sign}, gate, most, {old: piece, new: piece + 1}))
        line.note_fineness(gap)
    return steps


def _gated(gate: Gate, row: Row, widest: float) -> Row:
    """A row that is up to `widest` above 0 as one that is so only where all of a gate holds."""
    conditions = [condition.times(widest) for condition in gate]
    return sum_rows([row, *conditions, Row({}, -widest * len(gate))])
