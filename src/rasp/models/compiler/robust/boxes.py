"""A function of several variables in, a score for each of its values out, without a feed-forward.

Where a value is the function's in a box, that is wherever each variable is in one of some states,
how many variables are in theirs is a score: all of them in the box, one less at least elsewhere.
One value may be no box: it scores all of them but half a one. So `a and b` is read from a and b,
and what three tokens spell from the three. Cost: the blocks of the variables, no hidden units.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from rasp.models.compiler.analysis.variables import CountVariable, Variable
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.robust.blocks import (
    MOST_LABELS,
    Labels,
    Rows,
    StreamBlocks,
    number_labels,
)

MOST_SCORES = 20_000_000
"""The most scores, of all values in all states, that are looked at."""


def box_rows(
    blocks: StreamBlocks, inputs: tuple[Variable, ...], labels: Labels, time: int
) -> Rows | None:
    """A row for each value, the highest for the one that is right.

    None where values are not boxes, and where a feed-forward can do it as well.
    """
    kept, different, grid = number_labels(inputs, labels)
    if len(kept) == 1 and isinstance(kept[0], CountVariable):
        return _of_count(blocks, kept[0], different, grid, time)
    mixed = sum(map(blocks.has_number, kept)) > 1
    if len(kept) < 2 or (not mixed and len(different) <= MOST_LABELS):
        return None
    if grid.size * len(different) > MOST_SCORES:
        return None
    sides, rest = _boxes(grid, len(different))
    if len(rest) > 1:
        return None
    for side in sides:
        side[:, rest] = False
    rows: list[list[Row]] = [[] for _ in different]
    for variable, side in zip(kept, sides, strict=True):
        classes, which = np.unique(side, axis=0, return_inverse=True)  # (class, value)
        read = blocks.rows((variable,), which.reshape(-1).tolist(), time)
        for number, row in read.items():
            for value in np.flatnonzero(classes[number]).tolist():  # type: ignore[call-overload]
                rows[value].append(row)
    for value in rest:
        rows[value] = [Row({}, len(kept) - 0.5)]
    return {label: sum_rows(row) for label, row in zip(different, rows, strict=True)}


def _of_count(
    blocks: StreamBlocks, count: CountVariable, labels: list[Hashable], places: np.ndarray,
    time: int,
) -> Rows | None:  # fmt: skip
    """Scores of two values, one for few conditions that hold and the other for more."""
    changes = np.flatnonzero(np.diff(places)).tolist()
    if len(changes) != 1 or -1 in places:
        return None
    few, more = labels
    return {few: Row({}, changes[0] + 0.5), more: blocks.count_row(count, time)}


def _boxes(grid: np.ndarray, count: int) -> tuple[list[np.ndarray], list[int]]:
    """For each variable (state, value): whether it is on a side of the value's box; and the values
    that are not boxes.
    """
    is_value = grid[..., None] == np.arange(count)
    axes = range(grid.ndim)
    sides = [is_value.any(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    boxes = (grid[np.ix_(*(side[:, value] for side in sides))] for value in range(count))
    rest = [value for value, box in enumerate(boxes) if ((box >= 0) & (box != value)).any()]
    return sides, rest
