"""A feature in, hidden units out that write its block: steps that are flat around every value.

A step is two units, relu(y + 1/2) - relu(y - 1/2): 0 for y <= -1/2 and 1 for y >= 1/2. A function
of blocks alone is split into cubes: in each, some variables are in some of their states and the
function has one value. The step of a cube of k conditions has y = 4 (how many hold - k + 1/2),
which is ±2 or further. Where a number z is involved, the cubes of the other variables are gates:
in each, the function of z changes at thresholds, and the step of a threshold has

    y = s u + G (how many hold - k),    u of the sign of z - t, s |u| >= 2, G >= s |u| + 2,

so that noise in the stream moves nothing as long as it changes y by less than 3/2. A unit's factor
is shared between its two sides, √ each: no weight is larger than it must be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import ceil, lcm, prod, sqrt

import numpy as np

from rasp.compiler.analysis.linear import index_values, token_values
from rasp.compiler.analysis.variables import (
    HeadOutput,
    IndexVariable,
    SumVariable,
    TokenVariable,
    Variable,
    mixture,
)
from rasp.compiler.refusals import Refusal
from rasp.compiler.robust.blocks import Blocks, Feature, by_codes
from rasp.compiler.robust.lines import deciding_line, lines_of
from rasp.compiler.robust.readings import Row, added

STEEP = 2.0
"""How far from a threshold a step is, at least, in units of half its rise: flat from 1/2 on."""
MOST_CELLS = 4_000_000
MOST_UNITS = 30_000
MOST_EFFORT = 55_000_000
"""The most numbers that the checker may have to look at for one feature: a minute's work."""
UNIT = 2.0**-24
MOST_ROUNDING = 0.15
"""How far what steps add up to may be rounded."""
Gate = tuple[Row, ...]
"""Rows that are 1 where a condition holds, and 0 elsewhere."""


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
        found = []
        for shift, sign in ((0.5, 1.0), (-0.5, -1.0)):
            inside = added([self.row, Row({}, shift)]).times(1 / self.factor)
            found.append((inside, {dim: sign * self.factor * weight
                                   for dim, weight in self.out.items()}))  # fmt: skip
        return found


@dataclass(eq=False)
class Written:
    """The steps that write a feature, and what they are functions of."""

    feature: Feature
    variables: list[Variable]
    steps: list[Step]
    effort: int = 0
    """How many numbers the checker has to look at, about: a million a second."""

    def reads(self, output: HeadOutput, blocks: Blocks) -> bool:
        """Whether the steps read a sum from its head, and not from a block."""
        is_sum = output.head in blocks.shares and output in blocks.sums
        return is_sum and output.layer == self.feature.layer


def write(blocks: Blocks, feature: Feature) -> Written:
    """Find the steps of a feature; asks for the blocks and numbers that they read."""
    grid = _Grid(blocks, feature)
    steps = []
    for gate, table in grid.cubes():
        steps += _steps(grid, gate, table)
        if 2 * len(steps) > MOST_UNITS:
            raise Refusal(
                f"the feed-forward of layer {feature.layer} would need {MOST_UNITS} hidden units "
                "or more", 'use a smaller vocabulary or length, or `style="compact"`',
            )  # fmt: skip
    steps = _spread(blocks, feature, steps)
    dims = sum(len(blocks.copies.get(dim, [dim])) for dim in feature.dims)
    effort = grid.cases * (len(steps) + 4 * dims)
    if effort > MOST_EFFORT:
        raise Refusal(
            f"{2 * len(steps)} hidden units of the feed-forward of layer {feature.layer} would "
            f"have to be checked in {grid.cases} cases",
            'use a smaller vocabulary or length, or `style="compact"`',
        )
    return Written(feature, grid.variables, steps, effort)


def _spread(blocks: Blocks, feature: Feature, steps: list[Step]) -> list[Step]:
    """Let several dimensions share what many long steps add to one, where rounding would tell.

    So many terms of so large a sum are rounded by up to a unit in the last place each; a dimension
    that has the steps of one in k pieces of the line is off by a k²-th of that.
    """
    renamed: dict[tuple[int, int], int] = {}
    for dim in feature.dims:
        mine = [step for step in steps if dim in step.pieces]
        together = [[step.most for step in mine if step.gate == gate]
                    for gate in {step.gate for step in mine}]  # fmt: skip
        rounding = max((UNIT * len(some) * sum(some) for some in together), default=0.0)
        count = min(len(mine), ceil(rounding / MOST_ROUNDING))
        if count > 1:
            dims = blocks.copies[dim] = [dim, *blocks.new(count - 1)]
            pieces = sorted({step.pieces[dim] for step in mine})
            renamed |= {(dim, piece): dims[place * count // len(pieces)]
                        for place, piece in enumerate(pieces)}  # fmt: skip
    return [replace(step, out={renamed.get((dim, step.pieces.get(dim, -1)), dim): weight
                               for dim, weight in step.out.items()})
            for step in steps]  # fmt: skip


class _Grid:
    """A feature as a table over blocks and numbers."""

    def __init__(self, blocks: Blocks, feature: Feature) -> None:
        self.blocks, self.feature = blocks, feature
        self.asked: list[dict[HeadOutput, Fraction]] = []
        """Weighted sums of outputs that the program asks for."""
        bases: dict[Variable, None] = {}
        for variable in feature.inputs:
            bases |= dict.fromkeys(self._parts(variable))
        self.numbers = [each for each in bases if blocks.is_number(each, feature.layer)]
        self.categories = [each for each in bases if each not in self.numbers]
        self.table = self._table([*self.categories, *self.numbers])
        self.variables: list[Variable] = [*self.categories, *self.numbers]
        self.rows: list[list[Row]] = []
        self.pieces = 0
        outputs = [each for each in self.numbers if isinstance(each, HeadOutput)]
        self.lines = lines_of(blocks, outputs, self.states, self.asked)

    def _parts(self, variable: Variable) -> list[Variable]:
        """A sum as what it is made of, unless an earlier feed-forward can tell what it is."""
        if not isinstance(variable, SumVariable) or 0 < variable.layer < self.feature.layer:
            return [variable]
        parts = self.blocks.analysis.variables_of(variable.linear)
        line = {each: variable.linear.parts[each] for each in parts
                if isinstance(each, HeadOutput)
                and self.blocks.is_number(each, self.feature.layer)}  # fmt: skip
        if line:
            self.asked.append(line)
        return parts

    def _table(self, bases: list[Variable]) -> np.ndarray:
        """(states of each category…, joint state of the numbers): the place of the value."""
        codes = {base: list(dict.fromkeys(code for _, code in base.states)) for base in bases}
        shape = [len(codes[base]) for base in bases]
        if prod(shape) > MOST_CELLS:
            raise Refusal(
                f"it depends on {prod(shape)} combinations of values, and the limit is "
                f"{MOST_CELLS}", 'use a smaller length, or `style="compact"`',
            )  # fmt: skip
        grid = np.indices(shape).reshape(len(shape), -1)
        inner = by_codes(self.feature.inputs, self.feature.table)
        places = []
        for variable in self.feature.inputs:
            if variable in codes:
                places.append(grid[bases.index(variable)])
            else:
                assert isinstance(variable, SumVariable)
                places.append(self._sums(variable, bases, codes, grid))
        fine = np.all([place >= 0 for place in places], axis=0) & self._possible(bases, codes, grid)
        table = np.full(grid.shape[1], -1)
        table[fine] = inner[tuple(place[fine] for place in places)]
        return self._joined(table.reshape(shape), [codes[each] for each in self.numbers])

    def _sums(
        self, variable: SumVariable, bases: list[Variable],
        codes: dict[Variable, list[Fraction]], grid: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """(combination,): the place of a sum's code; -1 where no input has such a sum."""
        linear, settings = variable.linear, self.blocks.analysis.settings
        terms: list[tuple[int, list[Fraction]]] = []
        for part in self.blocks.analysis.variables_of(linear):
            match part:
                case TokenVariable():
                    worth = token_values(linear, settings)
                case IndexVariable():
                    worth = index_values(linear, settings)
                case HeadOutput():
                    worth = [linear.parts[part] * code for code in codes[part]]
            terms.append((bases.index(part), worth))
        known = list(dict.fromkeys(code for _, code in variable.states))
        scale = lcm(*(each.denominator for _, worth in terms for each in worth),
                    *(each.denominator for each in known), linear.constant.denominator)  # fmt: skip
        total = np.full(grid.shape[1], int(linear.constant * scale))
        for base, worth in terms:
            total = total + np.array([int(each * scale) for each in worth])[grid[base]]
        places = {int(code * scale): place for place, code in enumerate(known)}
        different, where = np.unique(total, return_inverse=True)
        return np.array([places.get(each, -1) for each in different.tolist()])[where]

    def _possible(
        self, bases: list[Variable], codes: dict[Variable, list[Fraction]], grid: np.ndarray
    ) -> np.ndarray:
        """(combination,): whether an input can have it, as far as is easy to tell."""
        analysis = self.blocks.analysis
        fine = np.ones(grid.shape[1], bool)
        index = grid[bases.index(analysis.index)] if analysis.index in bases else None
        if index is not None and analysis.settings.bos is not None and analysis.token in bases:
            is_bos = grid[bases.index(analysis.token)] == len(analysis.settings.vocabulary) - 1
            fine &= is_bos == (index == 0)
        for base in bases:
            if index is not None and isinstance(base, HeadOutput) and base.is_length:
                length = np.array([int(code) for code in codes[base]])[grid[bases.index(base)]]
                fine &= length > index
        if len({each.head for each in self.numbers if isinstance(each, HeadOutput)}) == 1:
            rows = analysis._together(tuple(self.numbers))  # type: ignore[arg-type]
            if rows is not None:
                held = [np.array(codes[each], object)[grid[bases.index(each)]]
                        for each in self.numbers]  # fmt: skip
                fine &= np.array([row in rows for row in zip(*held, strict=True)], bool)
        return fine

    def _joined(self, table: np.ndarray, codes: list[list[Fraction]]) -> np.ndarray:
        """All numbers as one last axis, of those joint states alone that occur."""
        count = len(self.categories)
        flat = table.reshape(*table.shape[:count], -1)
        occurs = np.asarray((flat >= 0).reshape(-1, flat.shape[-1]).any(axis=0))
        states = list(product(*codes))
        self.states = [state for state, there in zip(states, occurs.tolist(), strict=True) if there]
        return flat[..., occurs]

    def new_pieces(self, count: int) -> int:
        """Numbers for pieces of a line."""
        self.pieces += count
        return self.pieces - count

    @property
    def cases(self) -> int:
        """In how many cases the steps are checked, about: sums are read beside how many keys were
        picked, which other numbers of their heads tell, or not.
        """
        blocks, cases = self.blocks, self.table.size
        sums = [each for each in self.numbers
                if isinstance(each, HeadOutput) and each.head.mode == "sum"]  # fmt: skip
        for head in dict.fromkeys(output.head for output in sums):
            whole = mixture({each: Fraction(1) for each in sums if each.head is head})
            if len(blocks.analysis.of(whole).atoms) > 1:
                cases *= max(1, blocks.analysis.settings.max_length // 2)
        return cases

    # -- cubes ------------------------------------------------------------------------------------

    def cubes(self) -> Iterator[tuple[Gate, np.ndarray]]:
        """Conditions on the categories, and the function of the numbers where they hold."""
        table = self.table
        for axis, variable in enumerate(self.categories):
            classes, table = _merged(table, axis)
            codes = dict.fromkeys(code for _, code in variable.states)
            label = dict(zip(codes, classes, strict=True))
            rows = self.blocks.rows(variable.layer, (variable,),
                                    [label[code] for _, code in variable.states],
                                    self.feature.layer)  # fmt: skip
            self.rows.append([rows[place] for place in range(table.shape[axis])])
        yield from self._split(table, [list(range(size)) for size in table.shape[:-1]])

    def _split(self, table: np.ndarray, left: list[list[int]]) -> Iterator[tuple[Gate, np.ndarray]]:
        """Take the axis of fewest different slices apart, until none makes a difference."""
        best: tuple[int, int, list[int], np.ndarray] | None = None
        for axis in range(len(left)):
            classes, merged = _merged(table, axis)
            count = merged.shape[axis]
            if count > 1 and (best is None or count < best[0]):
                best = count, axis, classes, merged
        if best is None:
            if (table >= 0).any():
                yield (), table.reshape(-1, table.shape[-1]).max(axis=0)
            return
        _, axis, classes, merged = best
        for place in range(merged.shape[axis]):
            mine = [state for state, each in zip(left[axis], classes, strict=True) if each == place]
            inner = np.take(merged, [place], axis=axis)
            condition = added([self.rows[axis][state] for state in mine])
            rest = [[0] if other == axis else some for other, some in enumerate(left)]
            for gate, found in self._split(inner, rest):
                yield (condition, *gate), found


def _merged(table: np.ndarray, axis: int) -> tuple[list[int], np.ndarray]:
    """Join the slices of an axis that agree wherever both matter; which class each is in."""
    moved = np.moveaxis(table, axis, 0)
    classes: list[int] = []
    joined: list[np.ndarray] = []
    for layer in moved:
        for place, known in enumerate(joined):
            if not ((layer >= 0) & (known >= 0) & (layer != known)).any():
                joined[place] = np.maximum(layer, known)
                classes.append(place)
                break
        else:
            classes.append(len(joined))
            joined.append(layer)
    return classes, np.moveaxis(np.array(joined), 0, axis)


def _steps(grid: _Grid, gate: Gate, table: np.ndarray) -> list[Step]:
    """The steps of one cube: the value half-way, and what changes at each threshold.

    A step above the middle rises to the right, one below it to the left, so that hidden units are
    on where they are small: what they add up to is rounded less, and weak gates close them.
    """
    dims = grid.feature.dims
    line, levels, places = deciding_line(grid.lines, table)
    if line is None:
        return [_gated(gate, Row(), 0.0, {dims[int(places[0])]: 1.0})]
    low, high = (float(end) * line.unit for end in (line.totals.min(), line.totals.max()))
    changes = np.flatnonzero(np.diff(places)).tolist()
    thresholds = [float(levels[each] + levels[each + 1]) / 2 * line.unit for each in changes]
    middle = sum(threshold < (low + high) / 2 for threshold in thresholds)
    base = dims[int(places[changes[middle] if middle < len(changes) else -1])]
    piece = grid.new_pieces(len(changes) + 1)
    steps = [_gated(gate, Row(), 0.0, {base: 1.0}, {base: piece + middle})]
    for number, (change, threshold) in enumerate(zip(changes, thresholds, strict=True)):
        gap = float(levels[change + 1] - levels[change]) * line.unit
        slope = STEEP / line.distance(gap / 2)
        sign, end = (-1.0, low) if number < middle else (1.0, high)
        row = line.above(threshold).times(sign * slope)
        most = slope * line.reach(abs(end - threshold))
        old, new = dims[int(places[change])], dims[int(places[change + 1])]
        pieces = {old: piece + number, new: piece + number + 1}
        step = _gated(gate, row, most + STEEP, {old: -sign, new: sign}, pieces)
        steps.append(replace(step, most=most))
        line.note(gap)
    return steps


def _gated(
    gate: Gate, row: Row, widest: float, out: Mapping[int, float],
    pieces: Mapping[int, int] | None = None,
) -> Step:  # fmt: skip
    """A step that can rise only where all conditions of a gate hold."""
    factor = 1.0
    if row.weights:
        y = added([row, *(each.times(widest) for each in gate), Row({}, -widest * len(gate))])
        factor = max(1.0, sqrt(y.largest))
    elif gate:  # nothing but the gate: half-way between all of them and one less
        y = added([*(each.times(2 * STEEP) for each in gate),
                   Row({}, 2 * STEEP * (0.5 - len(gate)))])  # fmt: skip
    else:
        y = Row({}, STEEP)
    return Step(y, out, factor, 0.0, pieces or {}, gate)
