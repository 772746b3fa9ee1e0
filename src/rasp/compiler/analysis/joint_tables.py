"""Several s-ops as functions of variables in, one table over all their variables out.

Two weighted sums of the same things (`bar - indices` and `indices < bar`) are two inputs, though
one moves with the other: where that makes a table too large, the sums are taken apart, and the
table runs over what they are made of (`BaseVariables`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm, prod
from typing import TypeAlias

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.analysis.linear import IndexIs, Linear, TokenIs, index_values, token_values
from rasp.compiler.analysis.values import View
from rasp.compiler.analysis.variables import (
    HeadOutput,
    IndexVariable,
    SumVariable,
    TokenVariable,
    Variable,
    is_spread,
)
from rasp.compiler.settings import Settings

LARGE = 4096
"""From this many states on, it is worth while to take sums apart."""
PartsOf: TypeAlias = dict[SumVariable, tuple[Variable, ...]]


def common_inputs(views: Sequence[View]) -> tuple[Variable, ...]:
    """Everything that some of the views depend on."""
    return tuple(dict.fromkeys(variable for view in views for variable in view.inputs))


def states_of(inputs: Sequence[Variable]) -> int:
    """How many combinations of states there are."""
    return prod(len(variable.states) for variable in inputs)


def over_parts_of_sums(views: Sequence[View], base: BaseVariables, most: int) -> list[View]:
    """The same views over what sums are made of, where that takes far fewer states.

    Or where a sum has numbers that float32 cannot tell apart: 3 + 10^-14 and 3 are two states of
    what it is made of.
    """
    size = states_of(common_inputs(views))
    is_fine = any(isinstance(variable, SumVariable) and is_spread(code for _, code in
                                                                  variable.states)
                  for variable in common_inputs(views))  # fmt: skip
    if size <= LARGE and not is_fine:
        return list(views)
    parts = {
        variable: base.of(variable)
        for variable in common_inputs(views)
        if isinstance(variable, SumVariable)
    }
    if not parts or any(part is None for part in parts.values()):
        return list(views)
    parts_of = {variable: inputs for variable, inputs in parts.items() if inputs is not None}
    inner = [part for view in views for variable in view.inputs
             for part in _parts(variable, parts_of)]  # fmt: skip
    inner_size = states_of(tuple(dict.fromkeys(inner)))
    if inner_size > most or (2 * inner_size > size and not is_fine):
        return list(views)
    return [_over_parts(view, parts_of, base) for view in views]


class BaseVariables:
    """What weighted sums are made of: the token, the index, and what heads put out."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.token = TokenVariable(
            0, tuple((atom, Fraction(n)) for n, atom in enumerate(settings.vocabulary)), False
        )
        self.index = IndexVariable(
            0, tuple((place, Fraction(place)) for place in range(settings.max_length)), False
        )

    def of(self, variable: SumVariable) -> tuple[Variable, ...] | None:
        """The inputs of a sum; None where its number does not say which atom it is."""
        if len({code for _, code in variable.states}) < len(variable.states):
            return None
        return tuple(self.variables_of(variable.linear))

    def variables_of(self, linear: Linear) -> list[Variable]:
        """The inputs of a weighted sum."""
        variables: dict[Variable, None] = {}
        for coordinate in linear.parts:
            match coordinate:
                case TokenIs():
                    variables[self.token] = None
                case IndexIs():
                    variables[self.index] = None
                case HeadOutput():
                    variables[coordinate] = None
        return list(variables)

    def places(self, variable: SumVariable, parts: tuple[Variable, ...]) -> np.ndarray:
        """For each combination of the parts' states, which state the sum is in; -1 for none."""
        terms = [self._terms(variable, part) for part in parts]
        codes = [code - variable.linear.constant for _, code in variable.states]
        scale = lcm(*(number.denominator for term in (*terms, codes) for number in term))
        total: dict[int, int] = {int(code * scale): place for place, code in enumerate(codes)}
        sums = np.zeros((), object)
        for term in terms:
            sums = sums[..., None] + np.array([int(number * scale) for number in term], object)
        return np.array([total.get(number, -1) for number in sums.reshape(-1).tolist()])

    def _terms(self, variable: SumVariable, part: Variable) -> list[Fraction]:
        """What each state of a part adds."""
        match part:
            case TokenVariable():
                return token_values(variable.linear, self.settings)
            case IndexVariable():
                return index_values(variable.linear, self.settings)
        assert isinstance(part, HeadOutput)
        weight = variable.linear.parts[part]
        return [weight * code for _, code in part.states]


def _over_parts(view: View, parts_of: PartsOf, base: BaseVariables) -> View:
    """One view over the parts of its sums; None where the parts add up to nothing known."""
    inputs = tuple(dict.fromkeys(
        part for variable in view.inputs for part in _parts(variable, parts_of)
    ))  # fmt: skip
    grid = grid_of(inputs)
    place = np.zeros(grid.shape[1], int)
    missing = np.zeros(grid.shape[1], bool)
    for variable in view.inputs:
        parts = _parts(variable, parts_of)
        inner = np.zeros(grid.shape[1], int)
        for part in parts:
            inner = inner * len(part.states) + grid[inputs.index(part)]
        if isinstance(variable, SumVariable) and variable in parts_of:
            inner = base.places(variable, parts)[inner]
            missing |= inner < 0
        place = place * len(variable.states) + inner
    outcomes = [None if gone else view.outcomes[at]
                for at, gone in zip(place.tolist(), missing.tolist(), strict=True)]  # fmt: skip
    return View(inputs, outcomes)


def _parts(variable: Variable, parts_of: PartsOf) -> tuple[Variable, ...]:
    return parts_of.get(variable, (variable,)) if isinstance(variable, SumVariable) else (variable,)


def grid_of(inputs: tuple[Variable, ...]) -> np.ndarray:
    """(input, combination): the state of each input in each combination."""
    shape = tuple(len(variable.states) for variable in inputs)
    return np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), int)


def rows_of(
    views: Sequence[View], inputs: tuple[Variable, ...], grid: np.ndarray
) -> list[tuple[Atom | None, ...]]:
    """For each combination of states, what the views hold."""
    columns = []
    for view in views:
        place = np.zeros(grid.shape[1], int)
        for variable in view.inputs:
            place = place * len(variable.states) + grid[inputs.index(variable)]
        columns.append([view.outcomes[at] for at in place.tolist()])
    return list(zip(*columns, strict=True)) if columns else [()]
