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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import lcm, prod, sqrt

import numpy as np

from rasp.compiler.analysis.linear import index_values, token_values
from rasp.compiler.analysis.variables import (
    Head,
    HeadOutput,
    IndexVariable,
    SumVariable,
    TokenVariable,
    Variable,
)
from rasp.compiler.refusals import Refusal
from rasp.compiler.robust.blocks import Blocks, Feature, by_codes
from rasp.compiler.robust.numbers import above, distance, reach
from rasp.compiler.robust.readings import Row, added

STEEP = 2.0
"""How far from a threshold a step is, at least, in units of half its rise: flat from 1/2 on."""
MOST_CELLS = 4_000_000
MOST_UNITS = 30_000
MOST_UNITS_OF_A_SUM = 2**60
Gate = tuple[Row, ...]
"""Rows that are 1 where a condition holds, and 0 elsewhere."""


@dataclass(frozen=True, eq=False)
class Step:
    """Two hidden units: `row` is y, and `out` what is added where it is above 0."""

    row: Row
    out: Mapping[int, float]
    factor: float

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
    return Written(feature, grid.variables, steps)


class _Grid:
    """A feature as a table over blocks, and the numbers of one head at most."""

    def __init__(self, blocks: Blocks, feature: Feature) -> None:
        self.blocks, self.feature = blocks, feature
        self.lines: list[dict[HeadOutput, Fraction]] = []
        """Weighted sums of outputs that the program asks for."""
        bases: dict[Variable, None] = {}
        for variable in feature.inputs:
            bases |= dict.fromkeys(self._parts(variable))
        self.numbers = [each for each in bases if self._is_number(each)]
        self.categories = [each for each in bases if each not in self.numbers]
        heads = {each.head for each in self.numbers if isinstance(each, HeadOutput)}
        if len(heads) > 1:
            raise Refusal(
                "it depends on averages or counts of several heads at once",
                'round or compare each of them first, or use `style="compact"`',
            )
        self.head: Head | None = next(iter(heads), None)
        self.table = self._table([*self.categories, *self.numbers])
        self.variables: list[Variable] = [*self.categories, *self.numbers]
        self.rows: list[list[Row]] = []
        outputs = [each for each in self.numbers if isinstance(each, HeadOutput)]
        self.all_lines = [self._line(each, outputs) for each in _lines(self, outputs)]

    def _line(self, weights: dict[HeadOutput, Fraction], outputs: list[HeadOutput]) -> _Line:
        """A weighted sum in every joint state of the numbers."""
        parts = [weights.get(output, Fraction(0)) for output in outputs]
        scale = lcm(*(part.denominator for part in parts),
                    *(code.denominator for state in self.states for code in state))  # fmt: skip
        whole = lcm(*(part.denominator for part in parts))
        inner = scale // whole * whole
        codes = np.array([[int(code * inner) for code in state] for state in self.states], object)
        totals = codes @ np.array([int(part * whole) for part in parts], object)
        if max(map(abs, totals.tolist()), default=0) >= MOST_UNITS_OF_A_SUM:
            raise Refusal("its numbers have too many digits", "work with smaller numbers")
        return _Line(weights, totals.astype(np.int64), 1 / (inner * whole))

    def _is_number(self, variable: Variable) -> bool:
        return (isinstance(variable, HeadOutput) and not self.blocks.is_picked(variable)
                and variable.layer == self.feature.layer)  # fmt: skip

    def _parts(self, variable: Variable) -> list[Variable]:
        """A sum as what it is made of, unless an earlier feed-forward can tell what it is."""
        if not isinstance(variable, SumVariable) or 0 < variable.layer < self.feature.layer:
            return [variable]
        parts = self.blocks.analysis.variables_of(variable.linear)
        line = {each: variable.linear.parts["out", each] for each in parts
                if isinstance(each, HeadOutput) and self._is_number(each)}  # fmt: skip
        if line:
            self.lines.append(line)
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
                case _:
                    worth = [linear.parts["out", part] * code for code in codes[part]]
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
        if len(self.numbers) > 1 and self.head is not None:
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
    """The steps of one cube: its first value, and what changes at each threshold."""
    dims = grid.feature.dims
    line, levels, places = _levels(grid, table)
    first = {dims[int(places[0])]: 1.0}
    steps = [_gated(gate, Row(), 0.0, first) if gate else Step(Row({}, STEEP), first, 1.0)]
    if line is None:
        return steps
    output, blocks = next(iter(line.weights)), grid.blocks
    for change in np.flatnonzero(np.diff(places)).tolist():
        before, after = (int(levels[place]) * line.unit for place in (change, change + 1))
        threshold = (before + after) / 2
        slope = STEEP / distance(blocks, output, (after - before) / 2)
        most = max(int(line.totals.max()) * line.unit - threshold,
                   threshold - int(line.totals.min()) * line.unit)  # fmt: skip
        row = above(blocks, line.weights, threshold).times(slope)
        widest = slope * reach(blocks, output, most) + STEEP  # whatever the gate
        old, new = dims[int(places[change])], dims[int(places[change + 1])]
        steps.append(_gated(gate, row, widest, {old: -1.0, new: 1.0}))
    return steps


def _gated(gate: Gate, row: Row, widest: float, out: Mapping[int, float]) -> Step:
    """A step that can rise only where all conditions of a gate hold."""
    if not row.weights:  # nothing but the gate: half-way between all of them and one less
        y = added([*(each.times(2 * STEEP) for each in gate),
                   Row({}, 2 * STEEP * (0.5 - len(gate)))])  # fmt: skip
        return Step(y, out, 1.0)
    y = added([row, *(each.times(widest) for each in gate), Row({}, -widest * len(gate))])
    return Step(y, out, max(1.0, sqrt(y.largest)))


@dataclass(frozen=True, eq=False)
class _Line:
    """A weighted sum of the numbers, in each of their joint states: whole numbers of a unit."""

    weights: dict[HeadOutput, Fraction]
    totals: np.ndarray  # (state,)
    unit: float


def _levels(grid: _Grid, table: np.ndarray) -> tuple[_Line | None, np.ndarray, np.ndarray]:
    """A weighted sum of the numbers that decides the value, its levels, and the value at each."""
    there = table >= 0
    if len(np.unique(table[there])) == 1:
        return None, np.zeros(1, int), table[there][:1]
    best: tuple[float, _Line, np.ndarray, np.ndarray] | None = None
    for line in grid.all_lines:
        levels, firsts, where = np.unique(
            line.totals[there], return_index=True, return_inverse=True
        )
        places = table[there][firsts]
        if (places[where] != table[there]).any():
            continue
        gap = float(np.diff(levels)[np.diff(places) != 0].min()) * line.unit
        gap /= sum(abs(float(weight)) for weight in line.weights.values())
        if best is None or gap > best[0]:
            best = gap, line, levels, places
    if best is None:
        raise Refusal(
            "it depends on several averages or counts of one head, in no single order",
            'round or compare each of them first, or use `style="compact"`',
        )
    return best[1:]


def _lines(grid: _Grid, outputs: Sequence[HeadOutput]) -> Iterator[dict[HeadOutput, Fraction]]:
    """Sums to try: what the program asks for, each number alone, and all of them as digits."""
    yield from grid.lines
    for output in outputs:
        yield {output: Fraction(1)}
    if len(outputs) > 1:
        for order in (outputs, outputs[::-1]):
            digits: dict[HeadOutput, Fraction] = {}
            unit = Fraction(1)
            for output in order:
                digits[output] = unit
                codes = sorted({code for _, code in output.states})
                gap = min((high - low for low, high in pairwise(codes)), default=Fraction(1))
                digits[output] = unit / gap
                unit *= (codes[-1] - codes[0]) / gap + 1
            yield digits
