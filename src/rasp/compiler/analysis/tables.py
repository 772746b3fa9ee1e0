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

from rasp.compiler.analysis.variables import Variable

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
    keys = list(map(id, table))
    objects = dict(zip(keys, table, strict=True))  # far fewer than entries, and quicker to hash
    different: dict[Fraction | None, int] = {None: 0}
    places = {key: different.setdefault(value, len(different)) for key, value in objects.items()}
    return list(different), np.array(list(map(places.__getitem__, keys)), int)


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
    return inputs, [values[place] for place in grid.reshape(-1).tolist()]


def summands(
    inputs: tuple[Variable, ...], table: Table
) -> list[tuple[tuple[Variable, ...], Table]]:
    """Split a table into a sum: functions of single inputs, and one of those that do not part.

    What does not matter is taken to be whatever lets an input be split off.
    """
    values, places = numbered(table)
    scale = lcm(*(value.denominator for value in values if value is not None))
    scaled = [0 if value is None else int(value * scale) for value in values]
    if max(map(abs, scaled)) >= LARGEST:
        return [(inputs, table)]
    grid = np.array(scaled, np.int64)[places].reshape(_shape(inputs))
    is_known = (places > 0).reshape(_shape(inputs))
    apart: list[tuple[tuple[Variable, ...], Table]] = []
    for variable in inputs:
        axis = inputs.index(variable)
        moved, defined = np.moveaxis(grid, axis, 0), np.moveaxis(is_known, axis, 0)
        change = _change(moved, defined) if grid.ndim > 1 else None
        if change is not None:
            apart.append(((variable,), _as_fractions(change, scale)))
            grid, is_known = _without_change(moved, defined, change)
            inputs = inputs[:axis] + inputs[axis + 1 :]
    if not apart:
        return [(inputs, table)]
    entries = zip(_as_fractions(grid, scale), is_known.reshape(-1).tolist(), strict=True)
    return [*apart, (inputs, [value if fine else None for value, fine in entries])]


def _without_change(
    moved: np.ndarray, defined: np.ndarray, change: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What is left for the other inputs, and where it is known, without the first axis."""
    aligned = (moved.T - change).T
    first = np.expand_dims(defined.argmax(axis=0), 0)  # some state in which it is known
    left = np.take_along_axis(aligned, first, 0)[0]
    return left, np.any(defined, axis=0, keepdims=True)[0]


def _change(moved: np.ndarray, fine: np.ndarray) -> np.ndarray | None:
    """How much each state of the first axis adds, whatever the others are; None where that varies.

    States are compared with the one of which most is known.
    """
    base = int(fine.reshape(len(fine), -1).sum(axis=1).argmax())
    both = fine & fine[base]
    if not both.reshape(len(both), -1).any(axis=1).all():
        return None
    change = np.array([(row - moved[base])[defined][0]
                       for row, defined in zip(moved, both, strict=True)])  # fmt: skip
    aligned = (moved.T - change).T
    low = np.where(fine, aligned, LARGEST * 4).min(axis=0)
    high = np.where(fine, aligned, -LARGEST * 4).max(axis=0)
    if (low < high).any():
        return None
    return change


def _as_fractions(scaled: np.ndarray, scale: int) -> list[Fraction]:
    """Whole numbers as fractions again; equal ones are one object."""
    different, places = np.unique(scaled, return_inverse=True)
    values = [Fraction(number, scale) for number in different.tolist()]
    return [values[place] for place in places.reshape(-1).tolist()]


def _shape(inputs: tuple[Variable, ...]) -> tuple[int, ...]:
    return tuple(len(variable.states) for variable in inputs)
