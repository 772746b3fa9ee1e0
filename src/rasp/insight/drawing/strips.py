"""Strips in, rows and columns of cells out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rasp.insight.drawing.glyphs import columns, in_cells, in_title
from rasp.insight.drawing.picture_plan import Strip
from rasp.insight.drawing.svg import ADVANCE, Fragment, element, label, number, title

Window: TypeAlias = Sequence[int | None]
"""The positions that are shown, in order; None is a gap."""
GAP_SIGN = "⋯"


@dataclass(frozen=True)
class Cell:
    """The size of one cell, and of the letters in it."""

    width: float
    height: float
    font: float

    @property
    def room(self) -> int:
        return max(1, int((self.width - 3) / (self.font * ADVANCE)))

    @property
    def gap(self) -> float:
        """The space between two picked cells; tiny cells touch, which keeps files small."""
        return min(3.0, self.height / 6) if self.height > 12 else 0.0


def cell_for(length: int, strips: Iterable[Strip]) -> Cell:
    """Choose the size of cells: smaller in longer inputs, wider for longer values."""
    height, font, widest = next(sizes for most, *sizes in _SIZES if length <= most)
    texts = (text for strip in strips for text in in_cells(strip.values, 7))
    longest = max(map(columns, texts), default=1)
    return Cell(min(widest, max(height, longest * font * ADVANCE + 7)), height, font)


_SIZES: tuple[tuple[int, float, float, float], ...] = (
    (16, 22, 12, 52), (30, 18, 10.5, 34), (48, 15, 9, 24), (64, 13, 8, 18),
    (110, 10, 6, 13), (10**9, 7, 4.2, 9),
)  # fmt: skip


def strip_row(strip: Strip, cell: Cell, role: str, window: Window | None = None) -> Fragment:
    """Draw a sequence as a row of cells."""
    window = range(len(strip.values)) if window is None else window
    return _cells(strip, cell, role, window, (cell.width, 0))


def strip_column(strip: Strip, cell: Cell, role: str) -> Fragment:
    """Draw a sequence as a column of cells."""
    return _cells(strip, cell, role, range(len(strip.values)), (0, cell.height))


def _cells(
    strip: Strip, cell: Cell, role: str, window: Window, step: tuple[float, float]
) -> Fragment:
    """Draw cells one after the other; `step` is how far the next one is, across and down."""
    (across, down), count = step, len(window) - 1
    width, height = cell.width + count * across, cell.height + count * down
    line = f"v{number(height)}" if across else f"h{number(width)}"
    rules = "".join(
        f"M{number(at * across)} {number(at * down)}{line}" for at in range(1, count + 1)
    )
    body = element("rect", width=width, height=height, rx=2.5, class_="cell")
    body += element("path", d=rules, class_="rule") if rules else ""
    texts, baseline = in_cells(strip.values, cell.room), cell.height / 2 + cell.font * 0.36
    body += "".join(
        _value(strip, position, texts, at * across + cell.width / 2, at * down + baseline)
        for at, position in enumerate(window)
    )
    tip = f"{strip.label} = {strip.expression}" if strip.expression else strip.label
    if strip.place:
        tip += f"\n{strip.place}"
    group = element(
        "g",
        title(tip) + body,
        class_=f"{role} mid strip",
        font_size=cell.font,
        data_strip=strip.id or None,
        data_way="row" if across else "column",
        data_cell=number(across or down),
    )
    return Fragment(width, height, group)


def _value(strip: Strip, at: int | None, texts: Sequence[str], x: float, y: float) -> str:
    if at is None:
        return label(x, y, GAP_SIGN, "soft")
    atom, shown = strip.values[at], texts[at]
    full = in_title(atom)
    if at in strip.defaulted:
        return label(x, y, shown, "soft slanted", f"{full}: nothing picked, so the default")
    says_it_all = isinstance(atom, bool) or full in (shown, f'"{shown}"')
    return label(x, y, shown, "soft" if atom is False else "", "" if says_it_all else full)
