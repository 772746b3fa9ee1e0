"""A head in, a small block of picture out: for pages and slides.

Every sequence is one row. Between keys and values is the selection: in words where it picks
nothing or everything, as one row of positions where no query picks two keys, and otherwise as a
grid with low rows, its columns under those of the keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rasp.base.atoms import Atom
from rasp.insight.drawing.glyphs import cut
from rasp.insight.drawing.head import (
    LINE,
    LONGEST_NAME,
    NAME_FONT,
    SMALL_FONT,
    caption_block,
    destinations,
    width_of,
)
from rasp.insight.drawing.picture_plan import HeadShown, Strip
from rasp.insight.drawing.strips import Cell, Window, cell_for, strip_row
from rasp.insight.drawing.svg import Fragment, below, cells, element, label, moved, number, spans

SHOWN_AT_MOST = 32
"""Tokens of an input that a compact picture shows in full."""
SHOWN_FIRST, SHOWN_LAST = 20, 8
"""Positions that it shows of a longer one."""
GRID_HEIGHT, LOWEST_ROW, HIGHEST_ROW = 168.0, 7.0, 15.0
"""Height of a grid, as far as its rows can be so high."""
LABEL_EVERY = 5


@dataclass(frozen=True)
class _Row:
    role: str
    word: str
    strip: Strip
    note: str = ""


def window_for(length: int) -> Window:
    """Choose the positions that a compact picture shows.

    >>> window_for(3)
    [0, 1, 2]
    >>> len(window_for(100)), window_for(100)[19:22]
    (29, [19, None, 92])
    """
    if length <= SHOWN_AT_MOST:
        return list(range(length))
    return [*range(SHOWN_FIRST), None, *range(length - SHOWN_LAST, length)]


def compact_head(
    head: HeadShown, heading: str, strips: Mapping[str, Strip], tokens: tuple[Atom, ...]
) -> Fragment:
    """Draw one head as rows."""
    window = window_for(len(tokens))
    above, under = list(_above(head, strips, tokens)), list(_under(head, strips))
    picks = _picks_row(head)
    rows = [*above, *([picks] if picks else []), *under]
    cell = cell_for(len(window), (row.strip for row in rows))
    indent = max((width_of(_words(row)) for row in rows), default=0) + 8
    blocks = [_row_block(row, cell, indent, window) for row in above]
    if picks:
        blocks.append(_row_block(picks, cell, indent, window))
    elif summary := selection_in_words(head):
        words = label(indent, 11, summary, "small picks-words")
        blocks.append(Fragment(indent + len(summary) * SMALL_FONT * 0.61, LINE, words))
    else:
        blocks.append(_grid_block(head, cell, indent, window))
    blocks += [_row_block(row, cell, indent, window) for row in under]
    body = below(blocks, 3)
    caption = caption_block(head, heading, body.width)
    whole = below([caption, body], 6)
    return Fragment(
        whole.width, whole.height, element("g", whole.body, class_="head", data_head=head.id)
    )


def selection_in_words(head: HeadShown) -> str:
    """Say what a selection is where it needs no grid: nothing, or everything."""
    if not any(map(any, head.picks)):
        return "no query picks anything"
    return "every query picks every key" if all(map(all, head.picks)) else ""


def _above(
    head: HeadShown, strips: Mapping[str, Strip], tokens: tuple[Atom, ...]
) -> Iterator[_Row]:
    if not head.keys and not head.queries:
        yield _Row("plain", "", Strip("", "tokens", "", tokens, 0))
    for name in head.queries:
        if name not in head.keys:
            yield _Row("queries", "queries", strips[name])
    for name in head.keys:
        word = "keys, queries" if name in head.queries else "keys"
        yield _Row("keys", word, strips[name])


def _under(head: HeadShown, strips: Mapping[str, Strip]) -> Iterator[_Row]:
    goes_to = destinations(head, strips)
    for name in dict.fromkeys(one.values for one in head.aggregates):
        yield _Row("values", "values", strips[name], goes_to.get(name, ""))
    for one in head.aggregates:
        yield _Row("result", "result", strips[one.result])


def _picks_row(head: HeadShown) -> _Row | None:
    """Return the position that each query picks, where none picks two and one picks one."""
    counts = [sum(row) for row in head.picks]
    if max(counts, default=0) != 1 or len(counts) == 1:
        return None
    picked = tuple(row.index(True) if any(row) else "·" for row in head.picks)
    return _Row("selection-row", "picks", Strip("", "position", "", picked, 0))


def _words(row: _Row) -> list[tuple[str, str]]:
    return [
        (f"{row.word} " if row.word else "", "soft small"),
        (cut(row.strip.label, LONGEST_NAME), "name"),
        (row.note, "soft small"),
    ]


def _row_block(row: _Row, cell: Cell, indent: float, window: Window) -> Fragment:
    middle = cell.height / 2 + NAME_FONT * 0.36
    text = spans(indent - 8, middle, _words(row), "end", row.strip.expression)
    drawn = strip_row(row.strip, cell, row.role, window)
    group = element("g", text, class_=row.role, data_of=row.strip.id or None)
    result_id = row.strip.id if row.role == "result" else None
    cells_there = element("g", moved(drawn, indent, 0), data_made=result_id)
    return Fragment(indent + drawn.width, cell.height, group + cells_there)


def _grid_block(head: HeadShown, cell: Cell, indent: float, window: Window) -> Fragment:
    """Draw the selection with low rows, a number beside every fifth one."""
    row = min(HIGHEST_ROW, max(LOWEST_ROW, GRID_HEIGHT / len(window)))
    width, height = len(window) * cell.width, len(window) * row
    lines = "".join(
        f"M{number(at * cell.width)} 0v{number(height)}" for at in range(1, len(window))
    )
    body = element("rect", width=width, height=height, rx=2.5, class_="grid")
    body += element("path", d=lines, class_="lines")
    names = ""
    for at, query in enumerate(window):
        if query is None:
            continue
        if query % LABEL_EVERY == 0:
            names += label(indent - 8, at * row + row / 2 + 2.5, str(query), "end soft tiny")
        picked = [(at, column) for column, key in enumerate(window)
                  if key is not None and head.picks[query][key]]  # fmt: skip
        if picked:
            path = cells(picked, cell.width, row, 1.0)
            body += element("path", d=path, class_="picked", data_query=str(query))
    sizes = f"{number(cell.width)} {number(row)}"
    grid = Fragment(width, height, element("g", body, class_="selection", data_cells=sizes))
    word = label(indent - 30, height / 2 + 4, "query", "end soft small")
    return Fragment(indent + width, height, names + word + moved(grid, indent, 0))
