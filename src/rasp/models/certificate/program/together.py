"""Combinations of states in; those left that an input can have, or more, out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from rasp.language.graph import SOp
from rasp.models.certificate.claims import INDEX, TOKEN, ClaimedNode, ClaimedOutput, Refused
from rasp.models.certificate.program.linear import in_units
from rasp.models.certificate.program.outputs import longest
from rasp.models.certificate.program.reach import Row, joint_sums, whole_sums
from rasp.models.certificate.program.tables import (
    Array,
    ExactSum,
    Space,
    joint_places,
    places_among,
)

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues

MOST_LISTED = 10_000_000
"""How many combinations are ticked off at once."""


def restricted(values: ProvedValues, variables: tuple[int, ...], grid: Array) -> Array:
    """Leave out what no input has: a BOS elsewhere than at index 0; outputs of one head that
    do not go together; something picked at an index where nothing can be; an index from the
    length on; a sum or an s-op that is not what the others make it.
    """
    fine = np.ones(grid.shape[1], bool)
    row_of = dict(zip(variables, grid, strict=True))
    if values.inputs.bos is not None and {TOKEN, INDEX} <= row_of.keys():
        is_bos = row_of[TOKEN] == len(values.inputs.vocabulary) - 1
        fine &= is_bos == (row_of[INDEX] == 0)
    for outputs in _by_head(values, variables):
        rows = [row_of[variable] for variable in outputs]
        possible = values.together(tuple(outputs)) if len(outputs) > 1 else None
        if possible is not None:
            fine &= places_among(rows, possible.T, values.sizes(outputs)) >= 0
        if INDEX in row_of:
            fine &= _fits_index(values, outputs, rows, row_of[INDEX])
    grid = np.asarray(grid[:, fine])
    for place, variable in enumerate(variables):
        others = variables[:place] + tuple({TOKEN, INDEX} & set(variables[place:]))
        grid = _decided(values, variable, others, variables, grid)
        grid = _following(values, variable, variables, grid)
    return grid


def _fits_index(values: ProvedValues, outputs: list[int], rows: list[Array], index: Array) -> Array:
    """Where a query's index lets it pick nothing, every output is its default, or 0; and an index
    is below the length that an output tells.
    """
    head, fine = values.head(outputs[0]), np.ones(len(index), bool)
    never = values.picks.never_picks(head.selectors)
    for variable, row in zip(outputs, rows, strict=True):
        if head.mode != "share":
            base = values.output(variable).base
            gives = np.array([number == base for number in values.numbers(variable)])
            fine &= ~never[index] | gives[row]
        last = longest(values, variable)
        if last is not None:
            fine &= index < last[row]
    return fine


def _following(
    values: ProvedValues, variable: int, variables: tuple[int, ...], grid: Array
) -> Array:
    """Leave out what variables are not together, as functions of one number, or of what an s-op is
    a function of: 0, and that it is above 0; or both that and that it is 0.
    """
    claimed = values.claims.variables[variable]
    over: tuple[int, ...] = (variable,)
    if isinstance(claimed, ClaimedNode) and claimed.node not in values.claims.choices:
        over = values.over(claimed.node)
    elif not values.is_number(variable):
        return grid
    if len(variables) < 2:
        return grid
    inner = values.space(over)
    mine = [other for other in variables if values.has(other, inner)]
    sizes = values.sizes(mine)
    if len(mine) < 2 or prod(sizes) > MOST_LISTED:
        return grid
    rows = np.array([values.states_on(other, inner) for other in mine])
    held = [grid[variables.index(other)] for other in mine]
    listed = rows[:, (rows >= 0).all(axis=0)]
    return np.asarray(grid[:, places_among(held, listed, sizes) >= 0])


# -- sums that others decide ----------------------------------------------------------------------


def _decided(
    values: ProvedValues,
    variable: int,
    others: tuple[int, ...],
    variables: tuple[int, ...],
    grid: Array,
) -> Array:
    """Leave out combinations in which a sum is not what the others make it.

    2·i - n and 2·i + 1 - n are two variables, but the one decides the other.
    """
    linear = _as_sum_of(values, variable, others) if values.is_number(variable) else None
    if linear is None:
        return grid
    difference = linear.plus(ExactSum.of(variable), Fraction(-1))
    whole, _ = in_units(values, difference, Space(variables, grid))
    return np.asarray(grid[:, whole == 0])


def _as_sum_of(values: ProvedValues, variable: int, others: tuple[int, ...]) -> ExactSum | None:
    """A number as a weighted sum of others, and of the token and the index if they are here."""
    free = {TOKEN, INDEX} & {*others}
    rest = values.linear_of(variable)
    weights = ExactSum()
    rows = [(values.linear_of(other), ExactSum.of(other))
            for other in others if values.is_number(other)]  # fmt: skip
    while rows:  # eliminate one part after the other
        line, source = rows.pop()
        part = next((part for part in line.parts if part.variable not in free), None)
        if part is None:
            continue
        for place, (other, other_source) in enumerate(rows):
            factor = other.parts.get(part, Fraction(0)) / line.parts[part]
            rows[place] = other.plus(line, -factor), other_source.plus(source, -factor)
        factor = rest.parts.get(part, Fraction(0)) / line.parts[part]
        rest, weights = rest.plus(line, -factor), weights.plus(source, factor)
    return None if any(part.variable not in free for part in rest.parts) else rest.plus(weights)


# -- outputs of one head --------------------------------------------------------------------------


def _by_head(values: ProvedValues, variables: Sequence[int]) -> list[list[int]]:
    by_head: dict[tuple[int, int], list[int]] = {}
    for variable in variables:
        claimed = values.claims.variables[variable]
        if isinstance(claimed, ClaimedOutput):
            by_head.setdefault((claimed.layer, claimed.head), []).append(variable)
    return list(by_head.values())


def find_together(values: ProvedValues, outputs: Sequence[int]) -> Array | None:
    """(row, output): the states that outputs of one head can be in at once.

    All of them are sums (or means) over the same keys, so what a key adds is a row.
    """
    head = values.head(outputs[0])
    claimed = [values.output(variable) for variable in outputs]
    if head.mode == "share" or not all(output.is_plain for output in claimed):
        return None
    try:
        rows = rows_held(values, [output.values for output in claimed])
    except Refused:
        return None
    if head.mode == "sum":
        return _as_sums(values, outputs, rows)
    held: list[Row] | None = list(rows)
    if not values.picks.picks_one(head):
        held = joint_sums(rows, values.inputs.max_length, by_count=True)
    if held is None:
        return None
    empty = [] if head.never_empty else [tuple(output.base for output in claimed)]
    return _as_states(values, outputs, [*held, *empty])


def rows_held(values: ProvedValues, nodes: Sequence[SOp]) -> set[Row]:
    """The numbers that several s-ops hold at once."""
    space = values.space([variable for node in nodes for variable in values.over(node)])
    columns = [values.column(node, space) for node in nodes]
    _, places = joint_places([(column.places, len(column.atoms)) for column in columns])
    rows: set[Row] = set()
    for place in places:
        atoms = [column.atoms[at] for column, at in zip(columns, place, strict=True)]
        if any(isinstance(atom, str) for atom in atoms):
            raise Refused("a string has no number that stands for it")
        if None not in atoms:
            rows.add(tuple(Fraction(atom) for atom in atoms))  # type: ignore[arg-type]
    return rows


def _as_sums(values: ProvedValues, outputs: Sequence[int], rows: set[Row]) -> Array | None:
    """(row, output): the states of sums of such rows. Every number of a sum is one state."""
    sums = whole_sums(rows, values.inputs.max_length)
    if sums is None:
        return None
    whole, units = sums[0][:, 1:], sums[1]
    states = np.empty_like(whole)
    for place, (variable, unit) in enumerate(zip(outputs, units, strict=True)):
        numbers = [number * unit for number in values.numbers(variable)]
        order = [at for _, at in sorted((number, at) for at, number in enumerate(numbers)
                                        if number.denominator == 1)]  # fmt: skip
        listed = np.array([int(numbers[at]) for at in order])
        at = np.clip(np.searchsorted(listed, whole[:, place]), 0, len(listed) - 1)
        states[:, place] = np.where(listed[at] == whole[:, place], np.array(order)[at], -1)
    return states[(states >= 0).all(axis=1)]


def _as_states(values: ProvedValues, outputs: Sequence[int], rows: Sequence[Row]) -> Array:
    """Rows of numbers as rows of states: where several states have a number, each of them."""
    places: list[dict[Fraction, list[int]]] = [{} for _ in outputs]
    for variable, by_number in zip(outputs, places, strict=True):
        for at, number in enumerate(values.numbers(variable)):
            by_number.setdefault(number, []).append(at)
    combinations: list[tuple[int, ...]] = []
    for row in rows:
        states = [by_number.get(number, []) for number, by_number in zip(row, places, strict=True)]
        combinations += product(*states)
    return np.array(combinations, int).reshape(-1, len(outputs))
