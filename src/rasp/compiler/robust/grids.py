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
from itertools import product
from math import lcm, prod

import numpy as np

from rasp.compiler.analysis.linear import index_values, token_values
from rasp.compiler.analysis.times import feed_forward_time
from rasp.compiler.analysis.variables import (
    HeadOutput,
    IndexVariable,
    SumVariable,
    TokenVariable,
    Variable,
    mixture,
)
from rasp.compiler.emitting.rows import Row, sum_rows
from rasp.compiler.refusals import Refusal
from rasp.compiler.robust.blocks import Feature, StreamBlocks, by_codes, codes_in
from rasp.compiler.robust.lines import lines_of

MOST_CELLS = 4_000_000
Gate = tuple[Row, ...]
"""Rows that are 1 where a condition holds, and 0 elsewhere."""


class Grid:
    """A feature as a table over blocks and numbers."""

    def __init__(self, blocks: StreamBlocks, feature: Feature) -> None:
        self.blocks, self.feature = blocks, feature
        self.asked: list[dict[HeadOutput, Fraction]] = []
        """Weighted sums of outputs that the program asks for."""
        bases: dict[Variable, None] = {}
        for variable in feature.inputs:
            bases |= dict.fromkeys(self._parts(variable))
        self.numbers = [base for base in bases if blocks.is_number(base, feature.layer)]
        self.categories = [base for base in bases if base not in self.numbers]
        self.table = self._table([*self.categories, *self.numbers])
        self.variables: list[Variable] = [*self.categories, *self.numbers]
        self.pieces = 0
        outputs = [variable for variable in self.numbers if isinstance(variable, HeadOutput)]
        self.lines = lines_of(blocks, outputs, self.states, self.asked)

    def _parts(self, variable: Variable) -> list[Variable]:
        """A sum as what it is made of, unless an earlier feed-forward can tell what it is."""
        if not isinstance(variable, SumVariable) or 0 < variable.layer < self.feature.layer:
            return [variable]
        parts = self.blocks.values.variables_of(variable.linear)
        line = {part: variable.linear.parts[part] for part in parts
                if isinstance(part, HeadOutput)
                and self.blocks.is_number(part, self.feature.layer)}  # fmt: skip
        if line:
            self.asked.append(line)
        return parts

    def _table(self, bases: list[Variable]) -> np.ndarray:
        """(states of each category…, joint state of the numbers): the place of the value."""
        codes = {base: codes_in(base) for base in bases}
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
        is_possible = np.all([place >= 0 for place in places], axis=0) & self._possible(
            bases, codes, grid
        )
        table = np.full(grid.shape[1], -1)
        table[is_possible] = inner[tuple(place[is_possible] for place in places)]
        return self._join_numbers(
            table.reshape(shape), [codes[variable] for variable in self.numbers]
        )

    def _sums(
        self, variable: SumVariable, bases: list[Variable],
        codes: dict[Variable, list[Fraction]], grid: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """(combination,): the place of a sum's code; -1 where no input has such a sum."""
        linear, settings = variable.linear, self.blocks.analysis.settings
        terms: list[tuple[int, list[Fraction]]] = []
        for part in self.blocks.values.variables_of(linear):
            match part:
                case TokenVariable():
                    worth = token_values(linear, settings)
                case IndexVariable():
                    worth = index_values(linear, settings)
                case HeadOutput():
                    worth = [linear.parts[part] * code for code in codes[part]]
            terms.append((bases.index(part), worth))
        own_codes = codes_in(variable)
        scale = lcm(*(number.denominator for _, worth in terms for number in worth),
                    *(code.denominator for code in own_codes),
                    linear.constant.denominator)  # fmt: skip
        total = np.full(grid.shape[1], int(linear.constant * scale))
        for base, worth in terms:
            total = total + np.array([int(number * scale) for number in worth])[grid[base]]
        places = {int(code * scale): place for place, code in enumerate(own_codes)}
        different, where = np.unique(total, return_inverse=True)
        return np.array([places.get(number, -1) for number in different.tolist()])[where]

    def _possible(
        self, bases: list[Variable], codes: dict[Variable, list[Fraction]], grid: np.ndarray
    ) -> np.ndarray:
        """(combination,): whether an input can have it, as far as is easy to tell."""
        values, settings = self.blocks.values, self.blocks.values.settings
        possible = np.ones(grid.shape[1], bool)
        index = grid[bases.index(values.index)] if values.index in bases else None
        if index is not None and settings.bos is not None and values.token in bases:
            is_bos = grid[bases.index(values.token)] == len(settings.vocabulary) - 1
            possible &= is_bos == (index == 0)
        for base in bases:
            if index is not None and isinstance(base, HeadOutput) and base.is_length:
                length = np.array([int(code) for code in codes[base]])[grid[bases.index(base)]]
                possible &= length > index
        heads = {output.head for output in self.numbers if isinstance(output, HeadOutput)}
        if len(heads) == 1:
            rows = values.joints.possible.rows(tuple(self.numbers))
            if rows is not None:
                held = [np.array(codes[variable], object)[grid[bases.index(variable)]]
                        for variable in self.numbers]  # fmt: skip
                possible &= np.array([row in rows for row in zip(*held, strict=True)], bool)
        return possible

    def _join_numbers(self, table: np.ndarray, codes: list[list[Fraction]]) -> np.ndarray:
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
        sums = [output for output in self.numbers
                if isinstance(output, HeadOutput) and output.head.mode == "sum"]  # fmt: skip
        for head in dict.fromkeys(output.head for output in sums):
            whole = mixture({output: Fraction(1) for output in sums if output.head is head})
            if len(blocks.values.of(whole).atoms) > 1:
                cases *= max(1, blocks.analysis.settings.max_length // 2)
        return cases

    def cubes(self) -> Iterator[tuple[Gate, np.ndarray]]:
        """Conditions on the categories, and the function of the numbers where they hold."""
        table, rows_of_axes = self.table, []
        for axis, variable in enumerate(self.categories):
            classes, table = _merge_slices(table, axis)
            label = dict(zip(codes_in(variable), classes, strict=True))
            rows = self.blocks.rows(variable.layer, (variable,),
                                    [label[code] for _, code in variable.states],
                                    feed_forward_time(self.feature.layer))  # fmt: skip
            rows_of_axes.append([rows[place] for place in range(table.shape[axis])])
        yield from _split(table, rows_of_axes)


def _split(table: np.ndarray, rows: list[list[Row]]) -> Iterator[tuple[Gate, np.ndarray]]:
    """Take the axis of fewest different slices apart, until none makes a difference.

    `rows` has for each axis the row of each of its states.
    """
    best: tuple[int, int, list[int], np.ndarray] | None = None
    for axis in range(len(rows)):
        classes, merged = _merge_slices(table, axis)
        count = merged.shape[axis]
        if count > 1 and (best is None or count < best[0]):
            best = count, axis, classes, merged
    if best is None:
        if (table >= 0).any():
            yield (), table.reshape(-1, table.shape[-1]).max(axis=0)
        return
    _, axis, classes, merged = best
    for place in range(merged.shape[axis]):
        members = [row for row, number in zip(rows[axis], classes, strict=True) if number == place]
        condition = sum_rows(members)
        inner = [
            [condition] if other == axis else axis_rows for other, axis_rows in enumerate(rows)
        ]
        for gate, values in _split(np.take(merged, [place], axis=axis), inner):
            yield (condition, *gate), values


def _merge_slices(table: np.ndarray, axis: int) -> tuple[list[int], np.ndarray]:
    """Join the slices of an axis that agree wherever both matter; which class each is in."""
    moved = np.moveaxis(table, axis, 0)
    classes: list[int] = []
    joined: list[np.ndarray] = []
    for layer in moved:
        for place, earlier in enumerate(joined):
            if not ((layer >= 0) & (earlier >= 0) & (layer != earlier)).any():
                joined[place] = np.maximum(layer, earlier)
                classes.append(place)
                break
        else:
            classes.append(len(joined))
            joined.append(layer)
    return classes, np.moveaxis(np.array(joined), 0, axis)
