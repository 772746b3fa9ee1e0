"""A large table in, a sum of smaller ones out, where one of its inputs chooses between others.

`a if c else b` is a function of three inputs, but for each `c` one of fewer: it is the sum of a
function of `c` and `a` that is 0 where `c` is false, and of one of `c` and `b` that is 0 where
it is true. So `a` and `b` need not be looked at together.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np

from rasp.compiler.analysis.tables import Table, numbered, relevant, summands
from rasp.compiler.analysis.variables import Variable

LARGE = 128
"""From this many states on, it is worth while to look for a choice."""
MOST_CHOICES = 64
"""The most states of an input that chooses between others."""
ZERO: Fraction | None = Fraction(0)

Part = tuple[tuple[Variable, ...], Table]


def branches(inputs: tuple[Variable, ...], table: Table) -> list[Part]:
    """Split a table by the input that makes the parts smallest; the table itself if none does."""
    best: list[Part] = [(inputs, table)]
    if len(inputs) < 3 or len(table) < LARGE:
        return best
    values, places = numbered(table)
    grid = places.reshape([len(variable.states) for variable in inputs])
    for axis, variable in enumerate(inputs):
        if len(variable.states) <= MOST_CHOICES:
            others = inputs[:axis] + inputs[axis + 1 :]
            parts = _by_choice(variable, others, np.moveaxis(grid, axis, 0), values)
            if 2 * _size(parts) <= _size(best):
                best = parts
    return best


def _by_choice(
    choice: Variable, others: tuple[Variable, ...], grid: np.ndarray,
    values: list[Fraction | None],
) -> list[Part]:  # fmt: skip
    """The parts of a table, each over the choice and what matters for some of its states."""
    tables: dict[tuple[Variable, ...], list[Fraction | None]] = {}
    for state, places in enumerate(grid):
        if not places.any():
            continue
        chosen = [values[place] for place in places.reshape(-1).tolist()]
        for inputs, part in summands(*relevant(others, chosen)):
            size = len(part)
            whole_table = tables.setdefault(inputs, [ZERO] * size * len(choice.states))
            whole_table[state * size : (state + 1) * size] = part
    return [((choice, *inputs), whole_table) for inputs, whole_table in tables.items()]


def _size(parts: list[Part]) -> int:
    return sum(prod(len(variable.states) for variable in inputs) for inputs, _ in parts)
