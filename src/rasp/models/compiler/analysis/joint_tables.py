"""Several s-ops as functions of variables in, one table over all their variables out.

Two weighted sums of the same things (`bar - indices` and `indices < bar`) are two inputs, though
one moves with the other: where that makes a table too large, the sums are taken apart, and the
table runs over what they are made of (`BaseVariables`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm, prod
from typing import TypeAlias

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate.claims import INDEX, TOKEN
from rasp.models.compiler.analysis.linear import ZERO, Coordinate, GroundIs, Linear, ground_is
from rasp.models.compiler.analysis.values import View
from rasp.models.compiler.analysis.variables import (
    GroundVariable,
    HeadOutput,
    SumVariable,
    Variable,
    is_spread,
)
from rasp.models.compiler.settings import Settings

LARGE = 4096
"""From this many states on, it is worth while to take sums apart."""
PartsOf: TypeAlias = dict[Variable, Sequence[Variable]]
Grid: TypeAlias = Mapping[Variable, np.ndarray]
"""(combination,): for each variable, its state in each combination of states."""


def common_inputs(views: Sequence[View]) -> tuple[Variable, ...]:
    """Everything that some of the views depend on."""
    return tuple(dict.fromkeys(variable for view in views for variable in view.inputs))


def states_of(inputs: Iterable[Variable]) -> int:
    """How many combinations of states there are."""
    return prod(len(variable.states) for variable in inputs)


def over_parts_of_sums(views: Sequence[View], base: BaseVariables, most: int) -> Sequence[View]:
    """The same views over what sums are made of, where that takes far fewer states.

    Or where a sum has numbers that float32 cannot tell apart: 3 + 10^-14 and 3 are two states of
    what it is made of.
    """
    inputs = common_inputs(views)
    size = states_of(inputs)
    sums = [variable for variable in inputs if isinstance(variable, SumVariable)]
    codes = [variable.codes_of_states for variable in sums]
    is_fine = any(map(is_spread, codes))
    if not sums or (size <= LARGE and not is_fine):
        return views
    if any(len(set(numbers)) < len(numbers) for numbers in codes):
        return views  # a number that does not say which atom it is
    parts_of: PartsOf = {variable: (variable,) for variable in inputs}
    parts_of |= {variable: base.variables_of(variable.linear) for variable in sums}
    inner_size = states_of({part for parts in parts_of.values() for part in parts})
    if inner_size > most or (2 * inner_size > size and not is_fine):
        return views
    return [_over_parts(view, parts_of, base) for view in views]


class BaseVariables:
    """What weighted sums are made of: the token, the index, and what heads put out."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        numbered = [tuple((atom, Fraction(place)) for place, atom in enumerate(atoms))
                    for atoms in (settings.vocabulary, range(settings.max_length))]  # fmt: skip
        self.token = GroundVariable(0, numbered[0], False, TOKEN)
        self.index = GroundVariable(0, numbered[1], False, INDEX)

    def variables_of(self, linear: Linear) -> list[Variable]:
        """The inputs of a weighted sum."""
        return list(dict.fromkeys(map(self.variable_of, linear.parts)))

    def variable_of(self, coordinate: Coordinate) -> Variable:
        """The input whose state decides a coordinate."""
        if isinstance(coordinate, GroundIs):
            return self.token if coordinate.ground == TOKEN else self.index
        assert isinstance(coordinate, HeadOutput)
        return coordinate

    def terms(self, linear: Linear, part: Variable) -> list[Fraction]:
        """What each state of one of its inputs adds to a weighted sum."""
        if isinstance(part, GroundVariable):
            places = range(len(part.states))
            return [linear.parts.get(ground_is(part.ground, place), ZERO) for place in places]
        assert isinstance(part, HeadOutput)
        return [linear.parts[part] * code for _, code in part.states]

    def states_of_sum(self, variable: SumVariable, grid: Grid) -> np.ndarray:
        """(combination,): which state a sum is in, given those of its inputs; -1 for none."""
        linear, parts = variable.linear, self.variables_of(variable.linear)
        terms = [[linear.constant], *(self.terms(linear, part) for part in parts)]
        numbers, unit = all_sums(terms)
        state_of = {code * unit: state for state, (_, code) in enumerate(variable.states)}
        states = np.array([state_of.get(number, -1) for number in numbers.tolist()])
        return np.asarray(states[places_in(parts, grid)])


def _over_parts(view: View, parts_of: PartsOf, base: BaseVariables) -> View:
    """One view over the parts of its sums; None where the parts add up to nothing known."""
    grid = grid_of(dict.fromkeys(part for variable in view.inputs for part in parts_of[variable]))
    outcomes = [*view.outcomes, None]
    return View(tuple(grid), [outcomes[at] for at in places_of(view.inputs, grid, base).tolist()])


def places_of(inputs: Sequence[Variable], grid: Grid, base: BaseVariables) -> np.ndarray:
    """(combination,): where a table over variables has them, though some sums of them are not in
    the grid, but what they are made of; -1 where the parts add up to nothing known.
    """
    states = {variable: base.states_of_sum(variable, grid)
              if isinstance(variable, SumVariable) and variable not in grid else grid[variable]
              for variable in inputs}  # fmt: skip
    is_known = np.all([states[variable] >= 0 for variable in inputs], axis=0)
    return np.where(is_known, places_in(inputs, states), -1)


def grid_of(inputs: Iterable[Variable]) -> Grid:
    """The state of each input in each combination, the last one fastest."""
    variables = tuple(inputs)
    shape = [len(variable.states) for variable in variables]
    return dict(zip(variables, np.indices(shape).reshape(len(shape), prod(shape)), strict=True))


def places_in(inputs: Iterable[Variable], states: Grid) -> np.ndarray:
    """(combination,): where a table over some of the variables has what they are in."""
    place = np.zeros_like(next(iter(states.values()), [0]), int)
    for variable in inputs:
        place = place * len(variable.states) + states[variable]
    return place


def rows_of(views: Sequence[View], grid: Grid) -> list[tuple[Atom | None, ...]]:
    """For each combination of states, what the views hold."""
    columns = [[view.outcomes[place] for place in places_in(view.inputs, grid).tolist()]
               for view in views]  # fmt: skip
    return list(zip(*columns, strict=True)) if columns else [()]


def all_sums(digits: Sequence[Sequence[Fraction]]) -> tuple[np.ndarray, int]:
    """(combination,): the sums of one number of each list, the last list fastest, in whole units;
    and how many units make 1.

    >>> all_sums([[Fraction(0), Fraction(1, 2)], [Fraction(0), Fraction(1)]])
    (array([0, 2, 1, 3], dtype=object), 2)
    """
    unit = lcm(*(digit.denominator for row in digits for digit in row))
    whole = (np.array([int(digit * unit) for digit in row], object) for row in digits)
    return reduce(np.add.outer, whole).reshape(-1), unit
