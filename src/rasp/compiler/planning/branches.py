"""A large table in, a sum of smaller ones out, where one of its inputs chooses between others.

`a if c else b` is a function of three inputs, but for each `c` one of fewer: it is the sum of a
function of `c` and `a` that is 0 where `c` is false, and of one of `c` and `b` that is 0 where
it is true. So `a` and `b` need not be looked at together. Cost: a group of hidden units for each
of the smaller tables.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import TypeAlias

import numpy as np

from rasp.compiler.analysis.tables import NumberedTable
from rasp.compiler.analysis.variables import Variable

LARGE = 128
"""From this many states on, it is worth while to look for a choice."""
MOST_CHOICES = 64
"""The most states of an input that chooses between others."""
ZERO: Fraction | None = Fraction(0)
Branches: TypeAlias = dict[tuple[Variable, ...], dict[int, NumberedTable]]
"""For inputs that matter in some states of a choice: what these make of the table there."""


def branches(grid: NumberedTable) -> list[NumberedTable]:
    """Split a table by the input that makes the parts smallest; the table itself if none does."""
    best, size = None, grid.size
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
        nothing = [ZERO] * prod(len(variable.states) for variable in inputs)
        tables = [by_state[state].table if state in by_state else nothing
                  for state in range(len(choice.states))]  # fmt: skip
        whole = [value for table in tables for value in table]
        joined.append(NumberedTable.of((choice, *inputs), whole))
    return joined
