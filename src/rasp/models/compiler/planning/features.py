"""Functions of variables in, linear functions of the residual stream out.

What is linear already costs nothing; a function of the token alone or the index alone is a
column of an embedding table; whatever else is needed becomes a term of a feed-forward. Terms
with the same inputs form one `Group`, which reads a single number (see `mixed_radix`).

Where one input of a large table chooses between others, the table is a sum of smaller ones.
`a if c else b` is a function of three inputs, but for each `c` one of fewer: it is the sum of a
function of `c` and `a` that is 0 where `c` is false, and of one of `c` and `b` that is 0 where
it is true. So `a` and `b` need not be looked at together. Cost: a group of hidden units for each
of the smaller tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from math import prod
from typing import ClassVar, TypeAlias

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.compiler.analysis.linear import Coordinate, Linear, total
from rasp.models.compiler.analysis.tables import NumberedTable, Table, over_codes
from rasp.models.compiler.analysis.times import feed_forward_time
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    NodeVariable,
    SumVariable,
    Variable,
    linear_in,
    typed,
)
from rasp.models.compiler.compile_refusals import Refusal

LARGE = 128
"""From this many states on, it is worth while to look for a choice."""
MOST_CHOICES = 64
"""The most states of an input that chooses between others."""
ZERO = Fraction(0)
Branches: TypeAlias = dict[tuple[Variable, ...], dict[int, NumberedTable]]
"""For inputs that matter in some states of a choice: what these make of the table there."""


@dataclass(frozen=True, eq=False)
class Reached(Coordinate):
    """1 where the input of a group has got as far as a state, else 0; see `Group.reached`."""

    group: Group = field(repr=False)
    state: int
    order: ClassVar[int] = 0


@dataclass(eq=False, repr=False)
class Group:
    """The terms of one feed-forward that depend on the same inputs.

    A state is a combination of codes, one per input, the last input fastest.
    """

    layer: int
    inputs: tuple[Variable, ...]
    tables: list[np.ndarray] = field(default_factory=list)
    """(state,): what each term is there; NaN where that does not matter."""
    _steps: dict[int, Reached] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Group of layer {self.layer}: {prod(map(len, self.codes))} states>"

    def reached(self, state: int) -> Reached:
        """The coordinate that is 1 from a state on."""
        return self._steps.setdefault(state, Reached(self, state))

    @cached_property
    def codes(self) -> list[list[Fraction]]:
        """The different codes of each input."""
        return [sorted(set(variable.codes_of_states)) for variable in self.inputs]

    @property
    def is_inexact(self) -> bool:
        return any(variable.is_inexact for variable in self.inputs)

    def merged(self, places: np.ndarray) -> np.ndarray:
        """(state,): a numbered table where inputs with equal codes are one."""
        return over_codes(places, self._code_of_state, nothing=0).reshape(-1)

    @cached_property
    def _code_of_state(self) -> list[np.ndarray]:
        """For each input, (state of it,): the place of its code."""
        codes = (np.array(variable.codes_of_states, object) for variable in self.inputs)
        return [np.unique(of_states, return_inverse=True)[1] for of_states in codes]


class Features:
    """Turns tables into `Linear`s, and remembers which feed-forward terms that takes."""

    def __init__(self, values: ValueAnalysis, layers: int) -> None:
        self.values, self.layers = values, layers
        self.groups: dict[tuple[int, tuple[Variable, ...]], Group] = {}

    def of_values(
        self, values: Values, code: Callable[[Atom], Fraction | None], time: int
    ) -> Linear:
        """A function of an s-op's atoms, to be read at a time (see `analysis.times`)."""
        table = [None if atom is None else code(atom) for atom in values.outcomes]
        return self.resolve(values.layer, values.inputs, table, time)

    def resolve(self, layer: int, inputs: tuple[Variable, ...], table: Table, time: int) -> Linear:
        """A function of variables as a linear function of coordinates."""
        return self._resolve(layer, NumberedTable.of(inputs, table), time)

    def _resolve(self, layer: int, grid: NumberedTable, time: int) -> Linear:
        _, *values = grid.values
        if len(values) < 2:
            return Linear(values[0]) if values and values[0] is not None else Linear()
        return total(self._of_part(layer, part, time) for part in grid.relevant().summands())

    def _of_part(self, layer: int, grid: NumberedTable, time: int) -> Linear:
        """A function that is not a sum: one term, or several where some input is a choice."""
        if len(grid.inputs) == 1:
            return self._of_one(layer, grid, time)
        parts = branches(grid)
        if len(parts) == 1:
            return self._term(layer, grid, time)
        return total(self._resolve(layer, part, time) for part in parts)

    def _of_one(self, layer: int, grid: NumberedTable, time: int) -> Linear:
        (variable,), table = grid.inputs, grid.table
        line = linear_in(variable, table, self.values.settings)
        if line is not None:
            return line
        if not isinstance(variable, NodeVariable):
            return self._term(layer, grid, time)
        atoms = [typed(atom) for atom, _ in variable.states]
        chosen = dict(zip(atoms, table, strict=True))
        values = self.values.of(variable.node)
        if values.choice is not None:
            return self._of_choice(values, chosen, time)
        return self.of_values(values, lambda atom: chosen.get(typed(atom)), time)

    def _of_choice(
        self, values: Values, chosen: Mapping[tuple[type, Atom], Fraction | None], time: int
    ) -> Linear:
        """A function of one of several s-ops: for each of them what it adds where it is the one."""
        assert values.choice is not None
        joints, choice, parts = self.values.joints, values.choice, []
        constant = [ZERO] * len(choice.leaves)
        for place, leaf in enumerate(choice.leaves):
            view = joints.view(leaf, values.layer)
            table = [None if atom is None else chosen.get(typed(atom)) for atom in view.outcomes]
            if not view.inputs:
                constant[place] = table[0] or ZERO
                continue
            gate = joints.node_variable(choice.gate(place))
            gated = [value for (is_it, _) in gate.states
                     for value in (table if is_it else [ZERO] * len(table))]  # fmt: skip
            parts.append(self.resolve(values.layer, (gate, *view.inputs), gated, time))
        which = self.values.of(choice.which)
        parts.append(self.of_values(which, lambda atom: constant[int(atom)], time))
        return total(parts)

    def code(self, variable: Variable, time: int) -> Linear:
        """The code of a variable as it is in the residual stream."""
        match variable:
            case SumVariable() | HeadOutput():
                return variable.linear
            case CountVariable():
                conditions = map(self.values.of, variable.conditions)
                return total(self.of_values(condition, lambda atom: Fraction(bool(atom)), time)
                             for condition in conditions)  # fmt: skip
        table = variable.codes_of_states
        return self.resolve(variable.layer, (variable,), table, time)

    def _term(self, layer: int, grid: NumberedTable, time: int) -> Linear:
        """A term of a feed-forward; work on the embedding waits for that of layer 1 if it can."""
        if layer == 0 and self.layers and time > feed_forward_time(1):
            layer = 1
        if any(isinstance(variable, CountVariable) for variable in grid.inputs):
            layer = max(layer, *(variable.layer for variable in grid.inputs))
            if time <= feed_forward_time(layer) or layer > self.layers:
                raise Refusal(
                    "it depends on too many combinations of values to be worked out at once",
                    self.values.settings.way_out,
                )
        group = self.groups.setdefault((layer, grid.inputs), Group(layer, grid.inputs))
        places = group.merged(grid.places)
        group.tables.append(np.array(grid.values, float)[places])
        first, changes = _changes(grid.values, places)
        return Linear(first, {group.reached(state): change for state, change in changes.items()})

    def groups_of(self, layer: int) -> list[Group]:
        """The groups of one feed-forward that something was asked of."""
        return [group for group in self.groups.values() if group.layer == layer and group.tables]


def _changes(
    values: Sequence[Fraction | None], places: np.ndarray
) -> tuple[Fraction, dict[int, Fraction]]:
    """The first value of a numbered table, and how much is added from which state on; unknown
    ones change nothing.

    >>> _changes([None, Fraction(2), Fraction(5)], np.array([0, 1, 0, 2]))
    (Fraction(2, 1), {3: Fraction(3, 1)})
    """
    numbers = [value or ZERO for value in values]
    at = np.flatnonzero(places)
    changed = np.flatnonzero(np.diff(places[at]))
    steps = zip(places[at[changed]].tolist(), places[at[changed + 1]].tolist(), strict=True)
    difference = cache(lambda before, after: numbers[after] - numbers[before])
    changes = {state: difference(*step)
               for state, step in zip(at[changed + 1].tolist(), steps, strict=True)}  # fmt: skip
    return numbers[places[at[0]]], changes


def branches(grid: NumberedTable) -> list[NumberedTable]:
    """Split a table by the input that makes the parts smallest; the table itself if none does."""
    best, size = None, grid.places.size
    if len(grid.inputs) >= 3 and size >= LARGE:
        for axis, variable in enumerate(grid.inputs):
            if len(variable.states) <= MOST_CHOICES:
                parts = _by_choice(grid, axis)
                needed = len(variable.states) * sum(
                    prod(len(other.states) for other in inputs) for inputs in parts
                )
                if 2 * needed <= size:
                    best, size = (variable, parts), needed
    return [grid] if best is None else _joined(*best)


def _by_choice(grid: NumberedTable, axis: int) -> Branches:
    """The parts of a table, if the input of an axis is the choice."""
    others = grid.inputs[:axis] + grid.inputs[axis + 1 :]
    parts: Branches = {}
    for state, places in enumerate(np.moveaxis(grid.places, axis, 0)):
        if places.any():
            for part in NumberedTable(others, grid.values, places).relevant().summands():
                parts.setdefault(part.inputs, {})[state] = part
    return parts


def _joined(choice: Variable, parts: Branches) -> list[NumberedTable]:
    """The parts for all states of a choice together; 0 where there is none."""
    joined = []
    for inputs, by_state in parts.items():
        nothing: Table = [ZERO] * prod(len(variable.states) for variable in inputs)
        tables = [by_state[state].table if state in by_state else nothing
                  for state in range(len(choice.states))]  # fmt: skip
        whole = [value for table in tables for value in table]
        joined.append(NumberedTable.of((choice, *inputs), whole))
    return joined
