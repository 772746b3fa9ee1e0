"""Strips in, rows and columns of cells out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rasp.atoms import Atom
from rasp.drawing.glyphs import columns, in_cell, in_title
from rasp.drawing.plan import Strip
from rasp.drawing.svg import ADVANCE, Block, element, label, number, title


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


def cell_for(length: int, atoms: Iterable[Atom]) -> Cell:
    """Choose the size of cells: smaller in longer inputs, wider for longer values."""
    height, font, widest = next(sizes for most, *sizes in _SIZES if length <= most)
    longest = max((columns(in_cell(atom, 7)) for atom in atoms), default=1)
    return Cell(min(widest, max(height, longest * font * ADVANCE + 7)), height, font)


_SIZES: tuple[tuple[int, float, float, float], ...] = (
    (16, 22, 12, 52), (30, 18, 10.5, 34), (48, 15, 9, 24), (64, 13, 8, 18),
    (110, 10, 6, 13), (10**9, 7, 4.2, 9),
)  # fmt: skip


def strip_row(strip: Strip, cell: Cell, role: str) -> Block:
    """Draw a sequence as a row of cells."""
    count = len(strip.values)
    width, height = count * cell.width, cell.height
    rules = "".join(f"M{number(at * cell.width)} 0v{number(height)}" for at in range(1, count))
    body = element("rect", width=width, height=height, rx=2.5, class_="cell")
    body += element("path", d=rules, class_="rule") if rules else ""
    body += "".join(
        _value(strip, at, (at + 0.5) * cell.width, _baseline(cell), cell) for at in range(count)
    )
    return Block(width, height, _strip_group(strip, cell, role, "row", body))


def strip_column(strip: Strip, cell: Cell, role: str) -> Block:
    """Draw a sequence as a column of cells."""
    count = len(strip.values)
    width, height = cell.width, count * cell.height
    rules = "".join(f"M0 {number(at * cell.height)}h{number(width)}" for at in range(1, count))
    body = element("rect", width=width, height=height, rx=2.5, class_="cell")
    body += element("path", d=rules, class_="rule") if rules else ""
    body += "".join(
        _value(strip, at, width / 2, at * cell.height + _baseline(cell), cell)
        for at in range(count)
    )
    return Block(width, height, _strip_group(strip, cell, role, "column", body))


def _strip_group(strip: Strip, cell: Cell, role: str, way: str, body: str) -> str:
    tip = f"{strip.label} = {strip.expression}" if strip.expression else strip.label
    if strip.place:
        tip += f"\n{strip.place}"
    return element(
        "g",
        title(tip) + body,
        class_=f"{role} mid strip",
        font_size=cell.font,
        data_strip=strip.id or None,
        data_way=way,
        data_cell=number(cell.width if way == "row" else cell.height),
    )


def _baseline(cell: Cell) -> float:
    return cell.height / 2 + cell.font * 0.36


def _value(strip: Strip, at: int, x: float, y: float, cell: Cell) -> str:
    atom = strip.values[at]
    shown, full = in_cell(atom, cell.room), in_title(atom)
    if at in strip.defaulted:
        return label(x, y, shown, "soft slanted", f"{full}: nothing picked, so the default")
    says_it_all = isinstance(atom, bool) or full in (shown, f'"{shown}"')
    return label(x, y, shown, "soft" if atom is False else "", "" if says_it_all else full)
