"""Functions of variables as tables in, simpler ones out: fewer inputs, or a sum of several.

A table runs over the states of its inputs, the last one fastest. Most tables hold few different
numbers very often, so they are numbered once and looked at as arrays of small integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import numpy as np

from rasp.models.compiler.analysis.variables import Variable
from rasp.models.compiler.compile_refusals import Refusal

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


@dataclass(frozen=True, eq=False)
class NumberedTable:
    """A table as an array, with one axis for each input."""

    inputs: tuple[Variable, ...]
    values: Sequence[Fraction | None]
    """What may be in it; the first is None."""
    places: np.ndarray  # (state of each input): which of the values there is

    @classmethod
    def of(cls, inputs: tuple[Variable, ...], table: Table) -> NumberedTable:
        values, places = numbered(table)
        return cls(inputs, values, places.reshape([len(each.states) for each in inputs]))

    @property
    def table(self) -> Table:
        return [self.values[place] for place in self.places.reshape(-1).tolist()]

    def relevant(self) -> NumberedTable:
        """The same without the inputs that make no difference."""
        inputs, places = self.inputs, self.places
        axis = 0
        while axis < len(inputs) and len(inputs) > 1:
            high = places.max(axis=axis)  # (every other input); 0 where nothing is known
            if ((places == np.expand_dims(high, axis)) | (places == 0)).all():
                inputs, places = inputs[:axis] + inputs[axis + 1 :], high
            else:
                axis += 1
        return replace(self, inputs=inputs, places=places)

    def summands(self) -> list[NumberedTable]:
        """A sum that this is: functions of single inputs, and one of those that do not part.

        What does not matter is taken to be whatever lets an input be split off.
        """
        unit = lcm(*(value.denominator for value in self.values if value is not None))
        whole = [0 if value is None else int(value * unit) for value in self.values]
        if max(map(abs, whole)) >= LARGEST:
            return [self]
        inputs, numbers, is_known = self.inputs, np.array(whole)[self.places], self.places > 0
        apart: list[NumberedTable] = []
        for variable in self.inputs:
            axis = inputs.index(variable)
            arrays = (np.moveaxis(array, axis, 0) for array in (numbers, is_known))
            split = _split(*arrays) if len(inputs) > 1 else None
            if split is not None:
                change, numbers, is_known = split
                apart.append(_of_numbers((variable,), change, np.ones(len(change), bool), unit))
                inputs = inputs[:axis] + inputs[axis + 1 :]
        return [*apart, _of_numbers(inputs, numbers, is_known, unit)] if apart else [self]


def _split(
    numbers: np.ndarray, is_known: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """How much each state of the first axis adds, whatever the others are; what is left for the
    others, and where that is known. None where it varies.

    States are compared with the one of which most is known.
    """
    rows, fine = (array.reshape(len(array), -1) for array in (numbers, is_known))
    base = int(fine.sum(axis=1).argmax())
    both = fine & fine[base]
    if not both.any(axis=1).all():
        return None
    somewhere = both.argmax(axis=1)
    change = rows[np.arange(len(rows)), somewhere] - rows[base, somewhere]
    aligned = rows - change[:, None]
    left = aligned[fine.argmax(axis=0), np.arange(aligned.shape[1])]
    if ((aligned != left) & fine).any():
        return None
    others = numbers.shape[1:]
    return change, left.reshape(others), np.logical_or.reduce(fine).reshape(others)


def _of_numbers(
    inputs: tuple[Variable, ...], numbers: np.ndarray, is_known: np.ndarray, unit: int
) -> NumberedTable:
    """A table of numbers in whole units."""
    different, places = np.unique(numbers, return_inverse=True)
    values = [None, *(Fraction(number, unit) for number in different.tolist())]
    return NumberedTable(inputs, values, (places.reshape(numbers.shape) + 1) * is_known)


def over_codes(table: np.ndarray, codes: Sequence[np.ndarray], nothing: int) -> np.ndarray:
    """A numbered table over the states of its inputs as one over their codes.

    `codes` says for each input which code each state has; `nothing`, the least of the numbers, is
    where the value does not matter. The int 3 and the float 3.0 are two states with one code.

    >>> over_codes(np.array([0, 1, -1]), [np.array([0, 1, 1])], nothing=-1).tolist()
    [0, 1]
    """
    for axis, places in enumerate(codes):
        by_state = np.moveaxis(table, axis, 0)
        by_code = np.full((places.max() + 1, *by_state.shape[1:]), nothing)
        np.maximum.at(by_code, places, by_state)
        if ((by_state > nothing) & (by_state != by_code[places])).any():
            raise Refusal(
                "it tells an int from an equal float, which are one number to a transformer",
                "convert with `int`, `round` or `float` first",
            )
        table = np.moveaxis(by_code, 0, axis)
    return table
