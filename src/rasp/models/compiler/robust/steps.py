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

from dataclasses import replace
from itertools import pairwise
from math import ceil

import numpy as np

from rasp.models.compiler.compile_refusals import Refusal, TooMuchToCheck
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.robust.blocks import NOWHERE, Feature, StreamBlocks
from rasp.models.compiler.robust.grids import Grid
from rasp.models.compiler.robust.lines import deciding_line
from rasp.models.compiler.robust.numbers import width_of
from rasp.models.compiler.robust.plan_parts import Step, rounding_of

STEEP = 2.0
"""How far from a threshold a step is, at least, in units of half its rise: flat from 1/2 on."""
MOST_EFFORT = 55_000_000
"""The most numbers that the checker may have to look at for one feature: a minute's work."""
MOST_STEPS = 10_000
"""The most steps for one feature."""
MOST_ROUNDING = 0.15
"""How far what steps add up to may be rounded."""


def find_steps(blocks: StreamBlocks, feature: Feature) -> None:
    """Find the hidden units of a feature; asks for the blocks and numbers that they read."""
    grid, settings = Grid(blocks, feature), blocks.values.settings
    cases = grid.cases()
    for cube, (gate, table) in enumerate(grid.cubes()):
        feature.steps += [replace(step, cube=cube) for step in _steps(grid, gate, table)]
        feature.effort = cases * (len(feature.steps) + 4 * len(feature.dims))
        if feature.effort > MOST_EFFORT and not settings.tested:
            raise TooMuchToCheck(
                f"{2 * len(feature.steps)} hidden units or more of the feed-forward of layer "
                f"{feature.layer} would have to be checked in {cases} cases",
                settings.smaller,
            )
        if len(feature.steps) > MOST_STEPS:
            raise Refusal(
                f"{2 * len(feature.steps)} hidden units or more of the feed-forward of layer "
                f"{feature.layer} would be needed", settings.smaller,
            )  # fmt: skip
    for step in feature.steps:
        step.out.pop(NOWHERE, None)
    feature.steps[:] = [step for step in feature.steps if step.out]
    # sums are read beside how many keys were picked
    widths = [width_of(blocks, output.head) for output in grid.numbers
              if output.head.mode == "sum" and output in blocks.number_dims]  # fmt: skip
    feature.variables = list(dict.fromkeys([*grid.read, *widths]))


def share_rounding(blocks: StreamBlocks) -> None:
    """Let several dimensions share what many long steps add to one, where rounding would tell.

    So many terms of so large a sum are rounded by up to a unit in the last place each; a dimension
    that has a k-th of the steps is off by a k²-th of that.
    """
    by_dim: dict[int, list[Step]] = {}
    for feature in blocks.features.values():
        for step in feature.steps:
            for dim in step.out:
                by_dim.setdefault(dim, []).append(step)
    for dim, own in by_dim.items():
        count = min(len(own), ceil(rounding_of(own) / MOST_ROUNDING))
        if count > 1:
            dims = [dim, *blocks.new(count - 1)]
            blocks.repeated[dim] = dims, 1.0
            for place, step in enumerate(own):
                step.out[dims[place * count // len(own)]] = step.out.pop(dim)


def _steps(grid: Grid, gate: Row, table: np.ndarray) -> list[Step]:
    """The steps of one cube: the value half-way, and what changes at each threshold.

    A step above the middle rises to the right, one below it to the left, so that hidden units are
    on where they are small: what they add up to is rounded less, and weak gates close them.
    """
    dims = grid.feature.dims
    always = sum_rows([Row({}, STEEP), gate.times(2 * STEEP)])
    line, levels, places = deciding_line(grid.lines, table)
    if line is None:
        return [Step(always, {dims[int(places[0])]: 1.0})]
    low, high = (float(end) * line.unit for end in (line.totals.min(), line.totals.max()))
    changes = np.flatnonzero(np.diff(places)).tolist()
    thresholds = [float(levels[change] + levels[change + 1]) / 2 * line.unit for change in changes]
    pieces = [dims[place] for place in places[[*changes, -1]].tolist()]
    middle = (low + high) / 2
    steps = [Step(always, {pieces[sum(threshold < middle for threshold in thresholds)]: 1.0})]
    for change, threshold, (old, new) in zip(changes, thresholds, pairwise(pieces), strict=True):
        below, beyond = (float(level) * line.unit for level in levels[change : change + 2])
        gap = beyond - below
        slope = STEEP * 2 / gap * max(line.divisor_at(below)[1], line.divisor_at(beyond)[1])
        sign, end = (-1.0, low) if threshold < middle else (1.0, high)
        most = slope * (abs(end - threshold) / line.divisor_at(end)[0])
        above = line.row_above(threshold).times(sign * slope)
        row = sum_rows([above, gate.times(most + STEEP)])
        steps.append(Step(row, {old: -sign, new: sign}, most))
        line.note_fineness(gap)
    return steps
