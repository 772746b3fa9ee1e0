"""A feature in; a table over blocks and numbers out, and the cubes that it is made of.

A function of blocks alone is split into cubes: in each, some variables are in some of their states,
and the function has one value. Where numbers are involved, each cube of the other variables is a
gate, and the function of the numbers behind it is a table over their joint states. The variable of
fewest different slices is split first. Cost: 2 hidden units for each cube, and 2 more for each
change along the numbers behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, compress, product
from math import lcm, prod

import numpy as np

from rasp.models.compiler.analysis.joint_tables import grid_of, places_of
from rasp.models.compiler.analysis.times import feed_forward_time
from rasp.models.compiler.analysis.variables import HeadOutput, SumVariable, Variable, mixture
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.robust.blocks import Feature, StreamBlocks, by_codes, code_places
from rasp.models.compiler.robust.lines import Line, lines_of

MOST_CELLS = 4_000_000
MANY = 300
"""From so many combinations of states on, a sum of what is in blocks is looked at as a number."""
MOST_TOTALS = 2000
"""The most different numbers of such a sum."""


class Grid:
    """A feature as a table over blocks and numbers."""

    def __init__(self, blocks: StreamBlocks, feature: Feature) -> None:
        self.blocks, self.feature = blocks, feature
        bases = dict.fromkeys(chain.from_iterable(map(self._parts, feature.inputs)))
        self.numbers = [base for base in bases if blocks.is_number(base, feature.layer)]
        self.total = None if self.numbers else self._total_of_blocks()
        """A sum of what is in blocks that is looked at as a number."""
        if self.total is not None:
            others = (each for each in feature.inputs if each is not self.total)
            bases = dict.fromkeys([*chain.from_iterable(map(self._parts, others)), self.total])
        self.categories = [base for base in bases
                           if base not in self.numbers and base is not self.total]  # fmt: skip
        self.variables: list[Variable] = [*self.categories, *self.numbers]
        self.variables += [] if self.total is None else [self.total]
        self.sums = [variable for variable in feature.inputs
                     if isinstance(variable, SumVariable) and variable not in bases]  # fmt: skip
        """Those that are taken apart."""
        table = self._table()
        table = table.reshape(*table.shape[: len(self.categories)], -1)
        occurs = np.asarray((table >= 0).reshape(-1, table.shape[-1]).any(axis=0))
        self.table = table[..., occurs]
        """(code of each category…, joint state of the numbers): the place of the value."""
        self.lines = self._lines(occurs)

    @property
    def read(self) -> list[Variable]:
        """What its hidden units are functions of."""
        summed = [] if self.total is None else self.blocks.values.variables_of(self.total.linear)
        return list(dict.fromkeys([*self.categories, *self.numbers, *summed]))

    def _total_of_blocks(self) -> SumVariable | None:
        """The sum of most numbers, where a cube for each of its parts' states would be too many."""
        values = self.blocks.values
        sums = [variable for variable in self.feature.inputs if isinstance(variable, SumVariable)]
        if not sums:
            return None
        most = max(sums, key=lambda variable: len(variable.states))
        parts = values.variables_of(most.linear)
        is_large = prod(len(part.states) for part in parts) >= MANY and len(parts) > 1
        return most if is_large and len(most.states) <= MOST_TOTALS else None

    def _parts(self, variable: Variable) -> list[Variable]:
        """A sum as what it is made of, unless an earlier feed-forward can tell what it is."""
        if not isinstance(variable, SumVariable) or 0 < variable.layer < self.feature.layer:
            return [variable]
        return self.blocks.values.variables_of(variable.linear)

    def _table(self) -> np.ndarray:
        """(code of each variable): the place of the value; -1 where no input has these codes."""
        inputs = self.feature.inputs
        combinations = prod(len(set(base.codes_of_states)) for base in self.variables)
        if combinations > MOST_CELLS:
            raise Refusal(
                f"it depends on {combinations} combinations of values, and the limit is "
                f"{MOST_CELLS}", 'use a smaller length, or `style="compact"`',
            )  # fmt: skip
        grid, joints = grid_of(self.variables), self.blocks.values.joints
        by_state = by_codes(inputs, self.feature.table)[np.ix_(*map(code_places, inputs))]
        places = places_of(inputs, grid, joints.base)
        is_possible = joints.possible.of(grid) & (places >= 0)
        table = np.where(is_possible, by_state.reshape(-1)[places], -1)
        shape = [len(variable.states) for variable in self.variables]
        return by_codes(self.variables, table.reshape(shape))

    def _lines(self, occurs: np.ndarray) -> list[Line]:
        """The weighted sums to try, in those joint states of the numbers that occur."""
        if self.total is not None:
            return self._line_of_total(self.total, occurs)
        codes = [dict.fromkeys(output.codes_of_states) for output in self.numbers]
        asked = [{output: weight for output, weight in total.linear.of(HeadOutput).items()
                  if output in self.numbers} for total in self.sums]  # fmt: skip
        columns = zip(*compress(product(*codes), occurs), strict=True)
        states = dict(zip(self.numbers, columns, strict=False))  # nothing where nothing occurs
        return lines_of(self.blocks, states, [line for line in asked if line])

    def _line_of_total(self, total: SumVariable, occurs: np.ndarray) -> list[Line]:
        """A sum of what is in blocks, read from these."""
        time, rows = feed_forward_time(self.feature.layer), [Row({}, float(total.linear.constant))]
        base = self.blocks.values.joints.base
        for part in base.variables_of(total.linear):
            numbers = base.terms(total.linear, part)
            read = self.blocks.rows((part,), numbers, time)
            rows += [row.times(float(number)) for number, row in read.items()]  # type: ignore[arg-type]
            if isinstance(part, HeadOutput):
                self.blocks.note_fineness(part.head, 4 * float(max(numbers) - min(numbers)))
        codes = list(dict.fromkeys(total.codes_of_states))
        whole = lcm(*(code.denominator for code in codes))
        units = np.array([int(code * whole) for code in codes], np.int64)[occurs]
        return [Line(self.blocks, {}, units, 1 / whole, row=sum_rows(rows))]

    def cases(self) -> int:
        """In how many cases the steps are checked, about: sums are read beside how many keys were
        picked, which other numbers of their heads tell, or not.
        """
        blocks, cases = self.blocks, self.table.size
        sums = [output for output in self.numbers if output.head.mode == "sum"]
        for head in dict.fromkeys(output.head for output in sums):
            whole = mixture({output: Fraction(1) for output in sums if output.head is head})
            if len(blocks.values.of(whole).atoms) > 1:
                cases *= max(1, blocks.analysis.settings.max_length // 2)
        return cases

    def cubes(self) -> Iterator[tuple[Row, np.ndarray]]:
        """Gates, rows that are 0 where all conditions on the categories hold and one less for each
        that does not; and the function of the numbers where they do.
        """
        table, rows_of_axes = self.table, []
        for axis, variable in enumerate(self.categories):
            classes, slices = _merge_slices(table, axis)
            labels = np.array(classes)[code_places(variable)].tolist()
            time = feed_forward_time(self.feature.layer)
            rows = self.blocks.rows((variable,), labels, time)
            rows_of_axes.append([rows[place] for place in range(len(slices))])
            table = np.stack(slices, axis)
        yield from _split(table, rows_of_axes)


def _split(table: np.ndarray, rows: list[list[Row]]) -> Iterator[tuple[Row, np.ndarray]]:
    """Take the axis of fewest different slices apart, until none makes a difference.

    `rows` has for each axis the row of each of its states.
    """
    merged = [_merge_slices(table, axis) for axis in range(len(rows))]
    counts = {axis: len(slices) for axis, (_, slices) in enumerate(merged) if len(slices) > 1}
    if not counts:
        if (table >= 0).any():
            yield Row(), table.reshape(-1, table.shape[-1]).max(axis=0)
        return
    axis = min(counts, key=counts.__getitem__)
    classes, slices = merged[axis]
    for place, inner in enumerate(slices):
        condition = sum_rows(
            row for row, number in zip(rows[axis], classes, strict=True) if number == place
        )
        for gate, values in _split(inner, rows[:axis] + rows[axis + 1 :]):
            yield sum_rows([condition, gate, Row({}, -1.0)]), values


def _merge_slices(table: np.ndarray, axis: int) -> tuple[list[int], list[np.ndarray]]:
    """Join the slices of an axis that agree wherever both matter; which class each is in."""
    classes: list[int] = []
    joined: list[np.ndarray] = []
    for layer in np.moveaxis(table, axis, 0):
        for place, earlier in enumerate(joined):
            if not ((layer >= 0) & (earlier >= 0) & (layer != earlier)).any():
                joined[place] = np.maximum(layer, earlier)
                classes.append(place)
                break
        else:
            classes.append(len(joined))
            joined.append(layer)
    return classes, joined
