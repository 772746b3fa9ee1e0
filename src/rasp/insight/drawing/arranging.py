"""The boxes of a flow in, one block out: in a column, or in the columns that fill a page best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rasp.insight.drawing.svg import (
    Fragment,
    below,
    element,
    framed,
    label,
    moved,
    number,
    text_width,
)

HEADING_LINE = 16.0
HEADING_LETTERS = 12.0
MOST_COLUMNS = 4
PAD = 12.0
BETWEEN = 30.0
"""Between one box of the flow and the next: room for an arrow."""


@dataclass(frozen=True)
class Box:
    """A part of the flow, and its heading: the input, one layer, the output."""

    heading: str
    inside: Fragment

    @property
    def width(self) -> float:
        return max(self.inside.width, text_width(self.heading, HEADING_LETTERS))

    @property
    def height(self) -> float:
        return self.inside.height + HEADING_LINE + 4 + 2 * PAD


def in_columns(boxes: Sequence[Box], count: int) -> Fragment:
    """Put boxes into columns of about the same height, each read from top to bottom."""
    columns = [_column(part) for part in split_evenly(boxes, count)]
    parts, x = [], 0.0
    for at, column in enumerate(columns):
        parts.append(moved(column, x, 0))
        x += column.width
        if at + 1 < len(columns):
            parts.append(_arrow_right(x + 3, x + BETWEEN - 3, 30))
            x += BETWEEN
    return Fragment(x, max(column.height for column in columns), "".join(parts))


def split_evenly(boxes: Sequence[Box], count: int) -> list[Sequence[Box]]:
    """Split boxes into as many runs, so that the highest run is as low as possible."""
    heights = [0.0, *accumulate(box.height + BETWEEN for box in boxes)]
    total = len(boxes)
    # best[end]: the height of the highest run, and where runs begin, for the boxes before `end`
    best = {end: (heights[end], [0]) for end in range(1, total + 1)}
    for runs in range(2, count + 1):
        best = {
            end: min(
                (max(best[start][0], heights[end] - heights[start]), [*best[start][1], start])
                for start in range(runs - 1, end)
            )
            for end in range(runs, total + 1)
        }
    starts = best[total][1]
    return [boxes[start:end] for start, end in zip(starts, [*starts[1:], total], strict=True)]


def best_for(
    room: tuple[float, float], heading: Fragment, ways: Sequence[Sequence[Box]]
) -> Fragment:
    """Choose among ways to draw the boxes, and numbers of columns, what can be largest."""
    candidates = [
        below([heading, in_columns(boxes, count)], 12)
        for boxes in ways
        for count in range(1, min(MOST_COLUMNS, len(boxes)) + 1)
    ]
    return max(candidates, key=lambda whole: min(room[0] / whole.width, room[1] / whole.height))


def narrowest_under(width: float, heading: Fragment, ways: Sequence[Sequence[Box]]) -> Fragment:
    """Choose the lowest way to draw the boxes that fits a width, or else the narrowest."""
    candidates = [below([heading, in_columns(boxes, 1)], 12) for boxes in ways]
    fitting = [picture for picture in candidates if picture.width <= width]
    if fitting:
        return min(fitting, key=lambda picture: picture.height)
    return min(candidates, key=lambda picture: picture.width)


def _column(boxes: Sequence[Box]) -> Fragment:
    width = max(box.width for box in boxes)
    frames = [framed(_headed(box, width), "box", PAD) for box in boxes]
    parts, y = [], 0.0
    for at, frame in enumerate(frames):
        parts.append(moved(frame, 0, y))
        y += frame.height
        if at + 1 < len(frames):
            parts.append(_arrow_down((width + 2 * PAD) / 2, y + 3, y + BETWEEN - 3))
            y += BETWEEN
    return Fragment(width + 2 * PAD, y, "".join(parts))


def _headed(box: Box, width: float) -> Fragment:
    """Put a heading at the left over a block in the middle."""
    words = Fragment(width, HEADING_LINE, label(0, 12, box.heading, "soft strong"))
    return below([words, box.inside], 4, centred=True)


def _arrow_down(x: float, start: float, end: float) -> str:
    shaft = element("path", d=f"M{number(x)} {number(start)}V{number(end - 7)}", class_="arrow")
    tip = f"M{number(x - 6)} {number(end - 8)}h12L{number(x)} {number(end)}z"
    return shaft + element("path", d=tip, class_="tip")


def _arrow_right(start: float, end: float, y: float) -> str:
    shaft = element("path", d=f"M{number(start)} {number(y)}H{number(end - 7)}", class_="arrow")
    tip = f"M{number(end - 8)} {number(y - 6)}v12L{number(end)} {number(y)}z"
    return shaft + element("path", d=tip, class_="tip")
