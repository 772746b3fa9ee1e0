"""A head in, a block of picture out.

As the paper's figures draw `select` and `aggregate`: keys along the top, queries down the left,
the selection between them, values along the bottom and results down the right. So the picks of a
query lie in one line with its result, and in one column with what they contribute.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rasp.base.atoms import Atom
from rasp.insight.drawing.glyphs import cut, in_title
from rasp.insight.drawing.picture_plan import HeadShown, Strip
from rasp.insight.drawing.strips import Cell, cell_for, strip_column, strip_row
from rasp.insight.drawing.svg import (
    Fragment,
    below,
    cells,
    element,
    label,
    moved,
    number,
    spans,
    text_width,
    title,
)

NAME_FONT = 12.0
SMALL_FONT = 10.5
LINE = 16.0
"""Height of a line of caption."""
GAP = 7.0
LONGEST_NAME = 24
MOST_KEYS_NAMED = 12
"""Picks of one query that its tooltip lists."""


@dataclass(frozen=True)
class _Column:
    """A sequence down the side of the grid, with its name on the stairs above."""

    strip: Strip
    cell: Cell
    text: str


def head_block(
    head: HeadShown, heading: str, strips: Mapping[str, Strip], tokens: tuple[Atom, ...]
) -> Fragment:
    """Draw one head. Where only constants are compared, the tokens are along the edges."""
    plain = Strip("", "tokens", "", tokens, 0)
    keys = [strips[name] for name in head.keys] or [plain]
    queries = [strips[name] for name in head.queries] or [plain]
    values = [strips[name] for name in dict.fromkeys(one.values for one in head.aggregates)]
    cell = cell_for(len(tokens), [*keys, *values])
    left = [_column(strip, cell) for strip in queries]
    right = [_column(strips[one.result], cell) for one in head.aggregates]
    stairs_left = _stairs(left, "queries" if head.queries else "", -1)
    stairs_right = _stairs(right, "result", 1)
    top = _captioned(keys, "keys" if head.keys else "", cell, {})
    bottom = _captioned(values, "values", cell, destinations(head, strips))
    grid_x = max(_width(left), stairs_left.width)
    grid_y = max(top.height, stairs_left.height, stairs_right.height) + 3
    grid = grid_block(head, cell, queries[0])
    # names of results that are as high as those of keys begin to the right of them
    is_beside = len(right) > 1
    right_x = grid_x + (max(grid.width, top.width) if is_beside else grid.width)
    caption = caption_block(head, heading, right_x + max(60, stairs_right.width))
    parts = [
        moved(top, grid_x, grid_y - 3 - top.height),
        moved(grid, grid_x, grid_y),
        moved(stairs_left, grid_x - stairs_left.width, grid_y - 3 - stairs_left.height),
        moved(stairs_right, right_x, grid_y - 3 - stairs_right.height),
        moved(bottom, grid_x, grid_y + grid.height + 3),
    ]
    role = "queries" if head.queries else "plain"
    parts += _columns(left, role, grid_x - _width(left), grid_y)
    parts += _columns(right, "result", right_x + GAP, grid_y)
    width = max(right_x + _width(right), right_x + stairs_right.width,
                grid_x + top.width, grid_x + bottom.width)  # fmt: skip
    height = grid_y + grid.height + (3 + bottom.height if bottom.height else 0)
    whole = below([caption, Fragment(width, height, "".join(parts))], 6)
    return replace(whole, body=element("g", whole.body, class_="head", data_head=head.id))


def _columns(side: Sequence[_Column], role: str, x: float, y: float) -> list[str]:
    """Draw the sequences down one side of the grid; results are marked as what the head made."""
    parts = []
    for column in side:
        drawn = moved(strip_column(column.strip, column.cell, role), x, y)
        is_result = role == "result"
        parts.append(element("g", drawn, data_made=column.strip.id) if is_result else drawn)
        x += column.cell.width + GAP
    return parts


def _width(side: Sequence[_Column]) -> float:
    """How much room the sequences down one side take, with a gap beside each."""
    return sum(column.cell.width + GAP for column in side)


def grid_block(head: HeadShown, cell: Cell, queries: Strip) -> Fragment:
    """Draw the selection: a row for each query, a column for each key, each pick a filled cell."""
    count = len(head.picks)
    width, height = count * cell.width, count * cell.height
    lines = "".join(f"M{number(at * cell.width)} 0v{number(height)}" for at in range(1, count))
    lines += "".join(f"M0 {number(at * cell.height)}h{number(width)}" for at in range(1, count))
    body = element("rect", width=width, height=height, rx=2.5, class_="grid")
    body += element("path", d=lines, class_="lines") if lines else ""
    for query, row in enumerate(head.picks):
        picked = [key for key, is_picked in enumerate(row) if is_picked]
        if picked:
            path = cells([(query, key) for key in picked], cell.width, cell.height, cell.gap)
            tip = title(_row_tip(query, queries, picked))
            body += element("path", tip, d=path, class_="picked", data_query=str(query))
    sizes = f"{number(cell.width)} {number(cell.height)}"
    return Fragment(width, height, element("g", body, class_="selection", data_cells=sizes))


def _row_tip(query: int, queries: Strip, picked: Sequence[int]) -> str:
    listed = ", ".join(map(str, picked[:MOST_KEYS_NAMED]))
    more = "" if len(picked) <= MOST_KEYS_NAMED else f" and {len(picked) - MOST_KEYS_NAMED} more"
    keys = "key" if len(picked) == 1 else "keys"
    return f"query {query} ({in_title(queries.values[query])}) picks {keys} {listed}{more}"


def _column(strip: Strip, cell: Cell) -> _Column:
    own = cell_for(len(strip.values), [strip])
    wide = replace(own, width=min(max(own.width, cell.height), 60))
    return _Column(strip, wide, cut(strip.label, LONGEST_NAME))


def _stairs(side: Sequence[_Column], role: str, way: int) -> Fragment:
    """Write the names of the columns beside a grid, one line each, with leaders down to them.

    The name of the column farthest from the grid is lowest, so that no leader crosses a name.
    """
    if not side:
        return Fragment(0, 0, "")
    centres, at = [], GAP
    inner_first = list(reversed(side)) if way < 0 else list(side)
    for column in inner_first:
        centres.append(at + column.cell.width / 2)
        at += column.cell.width + GAP
    height = LINE * len(side) + 5
    right_edges = [centre + 4 for centre in centres]
    reach = [centre - 4 + text_width(f"{role} {column.text}", NAME_FONT)
             for centre, column in zip(centres, inner_first, strict=True)]  # fmt: skip
    width = max(at - GAP, *reach, *right_edges)
    parts = []
    for step, (column, centre) in enumerate(zip(inner_first, centres, strict=True)):
        x = centre if way > 0 else width - centre
        y = step * LINE + 11
        words = [("" if step or not role else f"{role} ", "soft small"), (column.text, "name")]
        leader = f"M{number(x)} {number(y + 4)}V{number(height)}"
        anchor = "" if way > 0 else "end"
        words_there = spans(x - 4 * way, y, words, anchor, column.strip.expression)
        line = element("path", d=leader, class_="rule")
        parts.append(element("g", line + words_there, data_of=column.strip.id or None))
    return Fragment(width, height, element("g", "".join(parts), class_=role or "plain"))


def _captioned(
    strips: Sequence[Strip], role: str, cell: Cell, destinations: Mapping[str, str]
) -> Fragment:
    """Draw sequences along the grid, each under its name; as wide as the longer of the two."""
    parts, y = [], 0.0
    width = 0.0
    for number_, strip in enumerate(strips):
        words = [("" if number_ or not role else f"{role} ", "soft small"),
                 (cut(strip.label, 2 * LONGEST_NAME), "name"),
                 (destinations.get(strip.id, ""), "soft small")]  # fmt: skip
        own = role or "plain"
        caption = spans(0, y + 11, words, "", strip.expression)
        row = strip_row(strip, cell, own)
        of = strip.id or None
        parts.append(element("g", caption, class_=own, data_of=of) + moved(row, 0, y + LINE))
        y += LINE + cell.height + 4
        width = max(width, row.width, width_of(words))
    return Fragment(width, max(0.0, y - 4), "".join(parts))


def width_of(words: Sequence[tuple[str, str]]) -> float:
    """Return how wide texts of the given classes are, one after the other."""
    return sum(
        text_width(text, SMALL_FONT if "small" in class_ else NAME_FONT) for text, class_ in words
    )


def destinations(head: HeadShown, strips: Mapping[str, Strip]) -> dict[str, str]:
    """Where a head has several results, say which values become which."""
    if len(head.aggregates) < 2:
        return {}
    results_of: dict[str, list[str]] = {}
    for one in head.aggregates:
        results_of.setdefault(one.values, []).append(cut(strips[one.result].label, LONGEST_NAME))
    return {values: f" → {', '.join(results)}" for values, results in results_of.items()}


def caption_block(head: HeadShown, heading: str, width: float) -> Fragment:
    """Write the head's selector, broken into lines that fit."""
    room = max(36, int(width / (SMALL_FONT * 0.61)))
    first = f"{heading} " if heading else ""
    name = f"{cut(head.label, LONGEST_NAME)} = " if head.label else ""
    lines = textwrap.wrap(
        head.expression,
        room,
        initial_indent=" " * len(first + name),
        max_lines=4,
        placeholder=" …",
        break_on_hyphens=False,
    ) or [""]
    opening = [(first, "soft small"), (name, "small strong"), (lines[0].strip(), "small")]
    parts = [spans(0, 11, opening, "", head.place)]
    parts += [label(0, 11 + step * 14, line, "small") for step, line in enumerate(lines[1:], 1)]
    longest = max(text_width(line, SMALL_FONT) for line in lines)
    return Fragment(longest, 14 * len(lines), "".join(parts))
