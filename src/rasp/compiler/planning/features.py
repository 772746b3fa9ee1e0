"""Functions of variables in, linear functions of the residual stream out.

What is linear already costs nothing; a function of the token alone or the index alone is a
column of an embedding table; whatever else is needed becomes a term of a feed-forward. Terms
with the same inputs form one `Group`, which reads a single number (see `mixed_radix`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.analysis.linear import Coordinate, Linear, of_index, of_token, total
from rasp.compiler.analysis.tables import NumberedTable, Table, numbered
from rasp.compiler.analysis.times import feed_forward_time
from rasp.compiler.analysis.value_analysis import ValueAnalysis
from rasp.compiler.analysis.values import Values
from rasp.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    IndexVariable,
    NodeVariable,
    SumVariable,
    TokenVariable,
    Variable,
    line_through,
    typed,
)
from rasp.compiler.planning.branches import branches
from rasp.compiler.refusals import Refusal

ZERO = Fraction(0)


@dataclass(frozen=True, eq=False, repr=False)
class Reached(Coordinate):
    """1 where the input of a group has got as far as a state, else 0; see `Group.reached`."""

    group: Group
    state: int
    order: ClassVar[int] = 0

    def __repr__(self) -> str:
        return f"Reached(state={self.state})"


@dataclass(eq=False, repr=False)
class Group:
    """The terms of one feed-forward that depend on the same inputs.

    A state is a combination of codes, one per input, the last input fastest.
    """

    layer: int
    inputs: tuple[Variable, ...]
    codes: tuple[tuple[Fraction, ...], ...]
    undefined: set[int] = field(default_factory=set)
    tables: list[Table] = field(default_factory=list)
    _steps: dict[int, Reached] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Group of layer {self.layer}: {self.size} states>"

    def reached(self, state: int) -> Reached:
        """The coordinate that is 1 from a state on."""
        return self._steps.setdefault(state, Reached(self, state))

    @property
    def size(self) -> int:
        return prod(len(codes) for codes in self.codes)

    @property
    def is_noisy(self) -> bool:
        return any(variable.is_noisy for variable in self.inputs)

    @cached_property
    def places(self) -> list[int]:
        """The state for each combination of its inputs' states; equal codes are one."""
        states = [0]
        for variable, codes in zip(self.inputs, self.codes, strict=True):
            place = {code: number for number, code in enumerate(codes)}
            inner = [place[code] for _, code in variable.states]
            states = [state * len(codes) + number for state in states for number in inner]
        return states


class Features:
    """Turns tables into `Linear`s, and remembers which feed-forward terms that takes."""

    def __init__(self, values: ValueAnalysis, layers: int) -> None:
        self.values = values
        self.layers = layers
        self.groups: dict[tuple[int, tuple[Variable, ...]], Group] = {}

    def of_values(self, values: Values, code: Callable[[Atom], Fraction], time: int) -> Linear:
        """A function of an s-op's atoms, to be read at a time (see `analysis.times`)."""
        table = [None if atom is None else code(atom) for atom in values.outcomes]
        return self.resolve(values.layer, values.inputs, table, time)

    def resolve(
        self, layer: int, inputs: tuple[Variable, ...], table: Table, time: int
    ) -> Linear:  # fmt: skip
        """A function of variables as a linear function of coordinates."""
        return self._resolve(layer, NumberedTable.of(inputs, table), time)

    def _resolve(self, layer: int, grid: NumberedTable, time: int) -> Linear:
        _, *values = grid.values
        if len(values) < 2:
            return Linear(values[0]) if values and values[0] is not None else Linear()
        return total(
            self._of_one(layer, part.inputs[0], part.table, time)
            if len(part.inputs) == 1
            else self._term_or_branches(layer, part, time)
            for part in grid.relevant().summands()
        )

    def _term_or_branches(self, layer: int, grid: NumberedTable, time: int) -> Linear:
        """A function that is no sum: one term, or several where some input is a choice."""
        parts = branches(grid)
        if len(parts) == 1:
            return self._term(layer, grid.inputs, grid.table, time)
        return total(self._resolve(layer, part, time) for part in parts)

    def _of_one(self, layer: int, variable: Variable, table: Table, time: int) -> Linear:
        any_value = next(value for value in table if value is not None)
        filled = [any_value if value is None else value for value in table]
        match variable:
            case TokenVariable():
                return of_token(filled, self.values.settings)
            case IndexVariable():
                return of_index(filled, self.values.settings)
            case NodeVariable():
                chosen = {
                    typed(atom): value
                    for (atom, _), value in zip(variable.states, table, strict=True)
                }
                values = self.values.of(variable.node)
                if values.choice is not None:
                    return self._of_choice(values, chosen, time)
                inner = [None if atom is None else chosen.get(typed(atom))
                         for atom in values.outcomes]  # fmt: skip
                return self.resolve(values.layer, values.inputs, inner, time)
            case HeadOutput() | SumVariable():
                line = line_through(variable, table)
                if line is not None:
                    return line
        return self._term(layer, (variable,), table, time)

    def _of_choice(
        self, values: Values, chosen: Mapping[tuple[type, Atom], Fraction | None], time: int
    ) -> Linear:
        """A function of one of several s-ops: for each of them what it adds where it is the one."""
        assert values.choice is not None
        analysis, choice, parts = self.values, values.choice, []
        which = analysis.of(choice.which)
        constant = [ZERO] * len(choice.leaves)
        for place, leaf in enumerate(choice.leaves):
            view = analysis.joints.view(leaf, analysis.of(leaf), values.layer)
            table = [None if atom is None else chosen.get(typed(atom)) for atom in view.outcomes]
            if not view.inputs:
                constant[place] = table[0] or ZERO
                continue
            gate = choice.gate(place)
            variable = analysis.joints.node_variable(gate, analysis.of(gate))
            gated = [value for (is_it, _) in variable.states
                     for value in (table if is_it else [ZERO] * len(table))]  # fmt: skip
            parts.append(self.resolve(values.layer, (variable, *view.inputs), gated, time))
        table = [None if atom is None else constant[int(atom)] for atom in which.outcomes]
        return total([*parts, self.resolve(which.layer, which.inputs, table, time)])

    def code(self, variable: Variable, time: int) -> Linear:
        """The code of a variable as it is in the residual stream."""
        match variable:
            case SumVariable():
                return variable.linear
            case HeadOutput():
                return Linear(Fraction(0), {variable: Fraction(1)})
        if isinstance(variable, CountVariable):
            return total(
                self.of_values(self.values.of(condition), lambda atom: Fraction(bool(atom)), time)
                for condition in variable.conditions
            )
        return self.resolve(
            variable.layer, (variable,), [code for _, code in variable.states], time
        )

    def _term(
        self, layer: int, inputs: tuple[Variable, ...], table: Table, time: int
    ) -> Linear:  # fmt: skip
        """A term of a feed-forward; work on the embedding waits for that of layer 1 if it can."""
        if layer == 0 and self.layers and time > feed_forward_time(1):
            layer = 1
        if any(isinstance(variable, CountVariable) for variable in inputs):
            layer = max(layer, *(variable.layer for variable in inputs))
            if time <= feed_forward_time(layer) or layer > self.layers:
                raise Refusal(
                    "it depends on too many combinations of values to be worked out at once",
                    self.values.settings.way_out,
                )
        group = self._group(layer, inputs)
        values = _by_code(group, table)
        group.tables.append(values)
        group.undefined |= {state for state, value in enumerate(values) if value is None}
        first, changes = _changes(values)
        parts: dict[Coordinate, Fraction] = {
            group.reached(state): change for state, change in changes.items()
        }
        return Linear(first, parts)

    def groups_of(self, layer: int) -> list[Group]:
        """The groups of one feed-forward that something was asked of."""
        return [group for group in self.groups.values() if group.layer == layer and group.tables]

    def _group(self, layer: int, inputs: tuple[Variable, ...]) -> Group:
        key = (layer, inputs)
        if key not in self.groups:
            codes = tuple(
                tuple(sorted({code for _, code in variable.states})) for variable in inputs
            )
            self.groups[key] = Group(layer, inputs, codes)
        return self.groups[key]


def _changes(table: Table) -> tuple[Fraction, dict[int, Fraction]]:
    """The first value, and how much is added from which state on; unknown ones change nothing.

    >>> _changes([None, Fraction(2), None, Fraction(5)])
    (Fraction(2, 1), {3: Fraction(3, 1)})
    """
    values, places = numbered(table)
    at = np.flatnonzero(places)
    changed = np.flatnonzero(np.diff(places[at]))
    steps = zip(places[at[changed]].tolist(), places[at[changed + 1]].tolist(), strict=True)
    differences: dict[tuple[int, int], Fraction] = {}
    changes = {}
    for state, step in zip(at[changed + 1].tolist(), steps, strict=True):
        if step not in differences:
            before, after = values[step[0]], values[step[1]]
            assert before is not None and after is not None
            differences[step] = after - before
        changes[state] = differences[step]
    first = values[places[at[0]]]
    assert first is not None
    return first, changes


def _by_code(group: Group, table: Table) -> list[Fraction | None]:
    """Merge states whose codes are equal (the int 3 and the float 3.0)."""
    if group.places == list(range(group.size)):
        return list(table)
    merged: list[Fraction | None] = [None] * group.size
    for target, value in zip(group.places, table, strict=True):
        if value is None:
            continue
        if merged[target] is not None and merged[target] != value:
            raise Refusal(
                "it tells an int from an equal float, which are one number to a transformer",
                "convert with `int`, `round` or `float` first",
            )
        merged[target] = value
    return merged
