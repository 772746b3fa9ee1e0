"""Numbers from 0 to 1 in, heat maps out: attention weights as shades, side by side.

A selection is the case in which all numbers are 0 or 1; a trained or compiled model's attention
has everything in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

from rasp.base.atoms import from_python
from rasp.base.errors import RaspLimitError, RaspTypeError, RaspValueError
from rasp.insight.drawing.flow import heading_block
from rasp.insight.drawing.glyphs import columns as columns_of
from rasp.insight.drawing.glyphs import cut, in_cell, printable
from rasp.insight.drawing.picture_plan import HeatMap, HeatMaps
from rasp.insight.drawing.planning import LONGEST_INPUT
from rasp.insight.drawing.strips import Cell, cell_for
from rasp.insight.drawing.svg import (
    ADVANCE,
    Fragment,
    below,
    beside,
    cells,
    element,
    framed,
    label,
    moved,
    number,
    text_width,
    title,
)

SHADES = 32
PER_ROW = 4
"""Columns beside one another before a new row begins."""
LONGEST_LABEL = 12
LONGEST_TITLE = 26
SLACK = 1e-6
"""Rounding that weights made by a model may have beyond 0 and 1."""


def plan_heat_map(
    matrix: Any, row_labels: Sequence[object], column_labels: Sequence[object], name: str = ""
) -> HeatMap:
    """Check a matrix `[query][key]` of numbers from 0 to 1 and its labels.

    >>> plan_heat_map([[0, 1], [0.5, 0.5]], "ab", "ab", "demo").weights
    ((0.0, 1.0), (0.5, 0.5))
    """
    rows = matrix.tolist() if hasattr(matrix, "tolist") else matrix
    if not isinstance(rows, (list, tuple)) or not all(
        isinstance(row, (list, tuple)) for row in rows
    ):
        raise RaspTypeError(
            "a heat map needs a list of rows of numbers",
            hint="give `matrix[query][key]`, such as [[1, 0], [0.5, 0.5]]",
        )
    if len(rows) != len(row_labels) or any(len(row) != len(column_labels) for row in rows):
        raise RaspValueError(
            f"the labels name {len(row_labels)} rows and {len(column_labels)} columns, but the "
            f"matrix has {len(rows)} rows of {_lengths(rows)} numbers",
            hint="give one label for each row and each column",
        )
    if max(len(row_labels), len(column_labels), 1) > LONGEST_INPUT:
        raise RaspLimitError(
            f"a heat map has at most {LONGEST_INPUT} rows and columns", hint="draw a shorter input"
        )
    weights = tuple(tuple(_weight(value) for value in row) for row in rows)
    return HeatMap(printable(name), _labels(row_labels), _labels(column_labels), weights)


def _lengths(rows: Sequence[Sequence[object]]) -> str:
    return " or ".join(map(str, sorted({len(row) for row in rows}))) or "no"


def _labels(labels: Sequence[object]) -> tuple[str, ...]:
    return tuple(in_cell(from_python(one), 24) for one in labels)


def _weight(value: object) -> float:
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise RaspValueError(
            f"a heat map shows numbers from 0 to 1, and {value!r} is not one",
            hint="replace what is missing before drawing",
        )
    if not -SLACK <= value <= 1 + SLACK:
        raise RaspValueError(
            f"a heat map shows numbers from 0 to 1, but {value!r} is among these",
            hint="divide by the largest one first",
        )
    return min(1.0, max(0.0, float(value)))


def heat_block(plan: HeatMaps) -> Fragment:
    """Draw columns of heat maps beside one another, a few in each row."""
    maps = iter(_map_block(one) for one in plan.maps)
    sizes = plan.columns or (1,) * len(plan.maps)
    columns = [framed(below(list(islice(maps, size)), 14), "box", 12) for size in sizes]
    rows = [beside(columns[at : at + PER_ROW], 14) for at in range(0, len(columns), PER_ROW)]
    parts = ([heading_block(plan.title)] if plan.title else []) + rows
    return below([*parts, _scale()], 12)


def _map_block(heat: HeatMap) -> Fragment:
    cell = cell_for(max(len(heat.rows), len(heat.columns)), ())
    longest = max(map(columns_of, heat.rows), default=1)
    left = min(longest, LONGEST_LABEL) * cell.font * ADVANCE + 6
    top, turned = _column_labels(heat, cell)
    grid = _grid(heat, cell)
    body = element("g", moved(turned, left, 0), font_size=cell.font)
    middle = cell.height / 2 + cell.font * 0.36
    side = "".join(
        label(left - 5, row * cell.height + middle, cut(text, LONGEST_LABEL), "end", _tip(text))
        for row, text in enumerate(heat.rows)
    )
    body += element("g", moved(Fragment(left, grid.height, side), 0, top), font_size=cell.font)
    body += moved(grid, left, top)
    map_ = Fragment(left + grid.width, top + grid.height, body)
    if not heat.title:
        return map_
    words = cut(heat.title, max(LONGEST_TITLE, int(map_.width / (12 * ADVANCE))))
    return below(
        [Fragment(text_width(words, 12), 16, label(0, 12, words, "strong", heat.title)), map_], 4
    )


def _tip(text: str) -> str:
    return text if columns_of(text) > LONGEST_LABEL else ""


def _column_labels(heat: HeatMap, cell: Cell) -> tuple[float, Fragment]:
    """Write the columns' names: upright where they fit, else turned."""
    longest = max(map(columns_of, heat.columns), default=1)
    if longest <= cell.room:
        words = "".join(
            label((at + 0.5) * cell.width, cell.height - 6, text, "mid")
            for at, text in enumerate(heat.columns)
        )
        return cell.height, Fragment(0, cell.height, words)
    height = min(longest, LONGEST_LABEL) * cell.font * ADVANCE + 8
    words = ""
    for at, text in enumerate(heat.columns):
        x, y = number((at + 0.5) * cell.width + cell.font * 0.36), number(height - 5)
        turned = label(0, 0, cut(text, LONGEST_LABEL), "", _tip(text))
        words += f'<g transform="translate({x} {y}) rotate(-90)">{turned}</g>'
    return height, Fragment(0, height, words)


def _grid(heat: HeatMap, cell: Cell) -> Fragment:
    width, height = len(heat.columns) * cell.width, len(heat.rows) * cell.height
    shades: dict[int, list[tuple[int, int]]] = {}
    for row, weights in enumerate(heat.weights):
        for column, weight in enumerate(weights):
            shade = max(1, round(weight * SHADES)) if weight > 0 else 0
            if shade:
                shades.setdefault(shade, []).append((row, column))
    body = element("rect", width=width, height=height, rx=2.5, class_="grid")
    for shade, places in sorted(shades.items()):
        path = cells(places, cell.width, cell.height, cell.gap)
        opacity = None if shade == SHADES else number(shade / SHADES)
        body += element("path", d=path, class_="picked", fill_opacity=opacity)
    sizes = f"{number(cell.width)} {number(cell.height)}"
    group = element("g", title(heat.title) + body, data_heat=sizes)
    return Fragment(width, height, group)


def _scale() -> Fragment:
    """Draw the shades from 0 to 1."""
    body = label(0, 10, "0", "soft small")
    for step in range(9):
        body += element(
            "rect", x=12 + step * 14, y=0, width=14, height=12, class_="picked",
            fill_opacity=number(step / 8) if step < 8 else None,
        )  # fmt: skip
    body += element("rect", x=12, y=0, width=126, height=12, class_="rule")
    return Fragment(160, 14, body + label(143, 10, "1", "soft small"))
