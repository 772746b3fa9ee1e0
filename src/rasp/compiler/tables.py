"""Functions of variables as tables in, simpler ones out: fewer inputs, or a sum of several.

A table runs over the states of its inputs, the last one fastest. Most tables hold few different
numbers very often, so they are numbered once and looked at as arrays of small integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import numpy as np

from rasp.compiler.variables import Variable

Table: TypeAlias = Sequence[Fraction | None]
"""None where the value does not matter."""
LARGEST = 2**60
"""Whole numbers below it are added in int64 without care."""


def numbered(table: Table) -> tuple[list[Fraction | None], np.ndarray]:
    """The different values, None first, and for each entry the place of its value among them.

    >>> one = Fraction(1)
    >>> values, places = numbered([one, None, one])
    >>> values[1:], places.tolist()
    ([Fraction(1, 1)], [1, 0, 1])
    """
    objects = {id(value): value for value in table}  # far fewer than entries, and quicker to hash
    known: dict[Fraction | None, int] = {None: 0}
    places = {key: known.setdefault(value, len(known)) for key, value in objects.items()}
    return list(known), np.array([places[id(value)] for value in table], int)


def relevant(inputs: tuple[Variable, ...], table: Table) -> tuple[tuple[Variable, ...], Table]:
    """Drop the inputs that make no difference."""
    values, places = numbered(table)
    grid = places.reshape(_shape(inputs))
    axis = 0
    while axis < len(inputs) and len(inputs) > 1:
        high = grid.max(axis=axis)  # (every other input); 0 where nothing is known
        if ((grid == np.expand_dims(high, axis)) | (grid == 0)).all():
            inputs, grid = inputs[:axis] + inputs[axis + 1 :], high
        else:
            axis += 1
    return inputs, [values[each] for each in grid.reshape(-1).tolist()]


def summands(
    inputs: tuple[Variable, ...], table: Table
) -> list[tuple[tuple[Variable, ...], Table]]:
    """Split a table into a sum: functions of single inputs, and one of those that do not part.

    What is unknown must be so for every state of an input that is split off.
    """
    values, places = numbered(table)
    scale = lcm(*(value.denominator for value in values if value is not None))
    scaled = [0 if value is None else int(value * scale) for value in values]
    if max(map(abs, scaled)) >= LARGEST:
        return [(inputs, table)]
    grid = np.array(scaled, np.int64)[places].reshape(_shape(inputs))
    known = (places > 0).reshape(_shape(inputs))
    found: list[tuple[tuple[Variable, ...], Table]] = []
    for variable in inputs:
        axis = inputs.index(variable)
        moved, fine = np.moveaxis(grid, axis, 0), np.moveaxis(known, axis, 0)
        if grid.ndim == 1 or (fine != fine[:1]).any():
            continue
        change = (moved - moved[:1])[:, fine[0]]  # (state, what is known of the others)
        if (change == change[:, :1]).all():
            found.append(((variable,), _shrunk(change[:, 0], scale)))
            inputs, grid, known = inputs[:axis] + inputs[axis + 1 :], moved[0], fine[0]
    fine = known.reshape(-1)
    rest = [value if each else None
            for value, each in zip(_shrunk(grid, scale), fine.tolist(), strict=True)]  # fmt: skip
    return [*found, (inputs, rest)]


def _shrunk(scaled: np.ndarray, scale: int) -> list[Fraction]:
    """Whole numbers as fractions again; equal ones are one object."""
    different, places = np.unique(scaled, return_inverse=True)
    values = [Fraction(each, scale) for each in different.tolist()]
    return [values[place] for place in places.reshape(-1).tolist()]


def _shape(inputs: tuple[Variable, ...]) -> tuple[int, ...]:
    return tuple(len(variable.states) for variable in inputs)
