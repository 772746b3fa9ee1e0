"""Functions of variables in, linear functions of the residual stream out.

What is linear already costs nothing; a function of the token alone or the index alone is a
column of an embedding table; whatever else is needed becomes a term of a feed-forward. Terms
with the same inputs form one `Group`, which reads a single number (see `feed_forward`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm, prod

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.linear import Coordinate, Linear, of_index, of_token, total
from rasp.compiler.refusals import Refusal
from rasp.compiler.together import Values
from rasp.compiler.values import ValueAnalysis
from rasp.compiler.variables import (
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

Table = Sequence[Fraction | None]


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
    is_stepped: bool = False
    """Whether everything it makes must be flat around each state."""

    @property
    def size(self) -> int:
        return prod(len(codes) for codes in self.codes)

    @property
    def is_noisy(self) -> bool:
        return any(variable.is_noisy for variable in self.inputs)


class Features:
    """Turns tables into `Linear`s, and remembers which feed-forward terms that takes."""

    def __init__(self, analysis: ValueAnalysis, layers: int) -> None:
        self.analysis = analysis
        self.layers = layers
        self.groups: dict[tuple[int, tuple[Variable, ...]], Group] = {}

    def of_values(self, values: Values, code: Callable[[Atom], Fraction], time: int) -> Linear:
        """A function of an s-op's atoms, to be read at `time` (2·layer - 1 by attention)."""
        table = [None if atom is None else code(atom) for atom in values.outcomes]
        return self.resolve(values.layer, values.inputs, table, time)

    def resolve(
        self, layer: int, inputs: tuple[Variable, ...], table: Table, time: int
    ) -> Linear:  # fmt: skip
        """A function of variables as a linear function of coordinates."""
        known = [value for value in table if value is not None]
        if not known:
            return Linear()
        if len(set(known)) == 1:
            return Linear(known[0])
        inputs, table = _relevant(inputs, table)
        if len(inputs) == 1:
            return self._of_one(layer, inputs[0], table, time)
        return total(
            self._of_one(layer, some[0], part, time)
            if len(some) == 1
            else self._term(layer, some, part, time)
            for some, part in _summands(inputs, table)
        )

    def stepped(self, layer: int, inputs: tuple[Variable, ...], table: Table, time: int) -> Linear:
        """A function of noisy variables made by a feed-forward's steps, even where it is linear."""
        inputs, table = _relevant(inputs, table)
        if not any(variable.is_noisy for variable in inputs) or len(set(table) - {None}) < 2:
            return self.resolve(layer, inputs, table, time)
        made = self._term(layer, inputs, table, time)
        for coordinate in made.of("ff"):
            coordinate[1].is_stepped = True
        return made

    def _of_one(self, layer: int, variable: Variable, table: Table, time: int) -> Linear:
        known = next(value for value in table if value is not None)
        filled = [known if value is None else value for value in table]
        match variable:
            case TokenVariable():
                return of_token(filled, self.analysis.settings)
            case IndexVariable():
                return of_index(filled, self.analysis.settings)
            case NodeVariable():
                chosen = {
                    typed(atom): value
                    for (atom, _), value in zip(variable.states, table, strict=True)
                }
                values = self.analysis.of(variable.node)
                inner = [None if atom is None else chosen.get(typed(atom))
                         for atom in values.outcomes]  # fmt: skip
                return self.resolve(values.layer, values.inputs, inner, time)
            case HeadOutput() | SumVariable():
                line = line_through(variable, table)
                if line is not None:
                    return line
        return self._term(layer, (variable,), table, time)

    def code(self, variable: Variable, time: int) -> Linear:
        """The code of a variable as it stands in the residual stream."""
        match variable:
            case SumVariable():
                return variable.linear
            case HeadOutput():
                return Linear(Fraction(0), {("out", variable): Fraction(1)})
        if isinstance(variable, CountVariable):
            return total(
                self.of_values(self.analysis.of(each), lambda atom: Fraction(bool(atom)), time)
                for each in variable.conditions
            )
        return self.resolve(
            variable.layer, (variable,), [code for _, code in variable.states], time
        )

    def _term(
        self, layer: int, inputs: tuple[Variable, ...], table: Table, time: int
    ) -> Linear:  # fmt: skip
        """A term of a feed-forward; work on the embedding waits for that of layer 1 if it can."""
        if layer == 0 and self.layers and time > 2:
            layer = 1
        if any(isinstance(variable, CountVariable) for variable in inputs):
            layer = max(layer, *(variable.layer for variable in inputs))
            if time <= 2 * layer or layer > self.layers:
                raise Refusal(
                    "it depends on too many combinations of values to be worked out at once",
                    "use a smaller length, or round and compare averages earlier",
                )
        group = self._group(layer, inputs)
        values = _by_code(group, inputs, table)
        group.tables.append(values)
        group.undefined |= {state for state, value in enumerate(values) if value is None}
        base = values[0] if values[0] is not None else next(v for v in values if v is not None)
        parts: dict[Coordinate, Fraction] = {
            ("ff", group, state): value - base
            for state, value in enumerate(values)
            if value is not None and value != base
        }
        return Linear(base, parts)

    def groups_of(self, layer: int) -> list[Group]:
        """The groups of one feed-forward that something was asked of."""
        return [each for each in self.groups.values() if each.layer == layer and each.tables]

    def _group(self, layer: int, inputs: tuple[Variable, ...]) -> Group:
        key = (layer, inputs)
        if key not in self.groups:
            codes = tuple(
                tuple(sorted({code for _, code in variable.states})) for variable in inputs
            )
            self.groups[key] = Group(layer, inputs, codes)
        return self.groups[key]


def _by_code(group: Group, inputs: tuple[Variable, ...], table: Table) -> list[Fraction | None]:
    """Merge states whose codes are equal (the int 3 and the float 3.0)."""
    if all(len(v.states) == len(c) for v, c in zip(inputs, group.codes, strict=True)):
        places = [{code: place for place, code in enumerate(codes)} for codes in group.codes]
        if all(
            [place[code] for _, code in variable.states] == list(range(len(variable.states)))
            for place, variable in zip(places, inputs, strict=True)
        ):
            return list(table)
    merged: list[Fraction | None] = [None] * group.size
    places = [{code: place for place, code in enumerate(codes)} for codes in group.codes]
    targets = [0]
    for variable, place in zip(inputs, places, strict=True):
        targets = [one * len(place) + place[code] for one in targets for _, code in variable.states]
    for target, value in zip(targets, table, strict=True):
        if value is None:
            continue
        if merged[target] is not None and merged[target] != value:
            raise Refusal(
                "it tells an int from an equal float, which are one number to a transformer",
                "convert with `int`, `round` or `float` first",
            )
        merged[target] = value
    return merged


def _relevant(inputs: tuple[Variable, ...], table: Table) -> tuple[tuple[Variable, ...], Table]:
    """Drop the inputs that make no difference."""
    numbers: dict[Fraction | None, int] = {None: -1}
    for value in table:
        numbers.setdefault(value, len(numbers) - 1)
    grid = np.array([numbers[value] for value in table]).reshape(_shape(inputs))
    axis = 0
    while axis < len(inputs) and len(inputs) > 1:
        high = grid.max(axis=axis)  # (every other input); -1 where nothing is known
        if ((grid == np.expand_dims(high, axis)) | (grid == -1)).all():
            inputs, grid = inputs[:axis] + inputs[axis + 1 :], high
        else:
            axis += 1
    values = list(numbers)[1:]
    return inputs, [None if each < 0 else values[each] for each in grid.reshape(-1).tolist()]


def _shape(inputs: tuple[Variable, ...]) -> tuple[int, ...]:
    return tuple(len(variable.states) for variable in inputs)


def _summands(
    inputs: tuple[Variable, ...], table: Table
) -> list[tuple[tuple[Variable, ...], Table]]:
    """Split a table into a sum: functions of single inputs, and one of those that do not part.

    What is unknown must be so for every state of an input that is split off.
    """
    scale = lcm(*(value.denominator for value in set(table) if value is not None))
    scaled = [0 if value is None else int(value * scale) for value in table]
    if max(map(abs, scaled)) >= 2**60:
        return [(inputs, table)]
    grid = np.array(scaled, np.int64).reshape(_shape(inputs))
    known = np.array([value is not None for value in table]).reshape(_shape(inputs))
    found: list[tuple[tuple[Variable, ...], Table]] = []
    for variable in inputs:
        axis = inputs.index(variable)
        moved, fine = np.moveaxis(grid, axis, 0), np.moveaxis(known, axis, 0)
        if grid.ndim == 1 or (fine != fine[:1]).any():
            continue
        change = (moved - moved[:1])[:, fine[0]]  # (state, what is known of the others)
        if (change == change[:, :1]).all():
            found.append(((variable,), [Fraction(int(each), scale) for each in change[:, 0]]))
            inputs, grid, known = inputs[:axis] + inputs[axis + 1 :], moved[0], fine[0]
    rest = [Fraction(int(each), scale) if fine else None
            for each, fine in zip(grid.reshape(-1), known.reshape(-1), strict=True)]  # fmt: skip
    return [*found, (inputs, rest)]
