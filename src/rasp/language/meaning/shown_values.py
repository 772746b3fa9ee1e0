"""Values in, text for a person out: what the REPL, `rasp run` and the other front doors print."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from rasp.base.atoms import Atom, display, is_atom, show
from rasp.base.errors import RaspError
from rasp.language.graph import Node, expression
from rasp.language.meaning.calls import signature
from rasp.language.meaning.value_kinds import BuiltIn, Function, Value

MOST_ITEMS = 20
MOST_ROWS = 40
MOST_CHARACTERS = 20_000
"""Characters of a value that are shown; a thousand times as many where it is shown in full."""
MOST_ANSWERED = 60
"""Atoms of an answer that are shown."""
DEEPEST = 100
"""Lists inside one another that are shown."""


def show_value(value: Value, full: bool = False) -> str:
    """Write a compile-time value as RASP does; what would fill many pages is cut.

    >>> show_value([1, [2, "a"]])
    '[1, [2, "a"]]'
    """
    return _Page(full, 1_000 * MOST_CHARACTERS if full else MOST_CHARACTERS).value(value)


class _Page:
    """Room for a value's text: so many characters, so deep.

    A list may hold another one twice, and so on: few lists can be more than anybody can read.
    """

    def __init__(self, full: bool, room: float) -> None:
        self.full = full
        self.room = room
        self.depth = 0

    def value(self, value: Value) -> str:
        if self.room <= 0 or self.depth > DEEPEST:
            return "…"
        self.depth += 1
        text = self._text(value)
        self.depth -= 1
        return text

    def _text(self, value: Value) -> str:
        match value:
            case list() if value and all(isinstance(row, list) for row in value):
                rows = value if self.full else value[:MOST_ITEMS]
                cut = f",\n      … {len(value)} in all" if len(rows) < len(value) else ""
                return "[" + ",\n      ".join(self._each(rows)) + cut + "]"
            case list():
                return self.sequence(value)
            case dict():
                pairs = (f"{display(key)}: {self.value(item)}" for key, item in value.items())
                return "{" + ", ".join(self._cut(pairs)) + "}"
        text = expression(value) if isinstance(value, Node) else (
            signature(value) if isinstance(value, (Function, BuiltIn)) else display(value)
        )  # fmt: skip
        self.room -= len(text)
        return text

    def sequence(self, atoms: Sequence[Any]) -> str:
        if len(atoms) > 2 and all(_same(atom, atoms[0]) for atom in atoms):
            return f"[{self.value(atoms[0])}]*{len(atoms)}"
        shown = atoms if self.full or len(atoms) <= MOST_ITEMS else atoms[:MOST_ITEMS]
        cut = f", … {len(atoms)} in all" if len(shown) < len(atoms) else ""
        return "[" + ", ".join(self._each(shown)) + cut + "]"

    def _each(self, items: Sequence[Any]) -> Iterator[str]:
        return self._cut(map(self.value, items))

    def _cut(self, texts: Iterator[str]) -> Iterator[str]:
        """Texts while there is room."""
        for text in texts:
            yield text
            self.room -= 2
            if self.room <= 0:
                yield "…"
                return


def show_sequence(atoms: Sequence[Any], full: bool = False) -> str:
    """Write a sequence: constant ones as `[x]*n`, long ones shortened unless `full`.

    >>> show_sequence([5, 5, 5]), show_sequence([1, 2])
    ('[5]*3', '[1, 2]')
    """
    return _Page(full, inf if full else MOST_CHARACTERS).sequence(atoms)


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    is_same_kind = (
        is_atom(one) and is_atom(other) and isinstance(one, bool) is isinstance(other, bool)
    )
    return is_same_kind and bool(one == other)


def show_values(
    called: str,
    values: list[Any],
    tokens: tuple[Atom, ...],
    full: bool = False,
    indent: str = "    ",
) -> str:
    """Write what an s-op gives on an input in a line, and a selector or scorer as a grid below.

    >>> print(show_values('same("ab")', [[True, False], [False, True]], ("a", "b")))
    same("ab")
            a b
        a   1 ·
        b   · 1
    """
    if not isinstance(values[0], list):
        return f"{called} = {show_sequence(values, full)}"
    if isinstance(values[0][0], bool):
        return f"{called}\n{show_selection(values, tokens, full, indent)}"
    return f"{called}\n{show_scores(values, tokens, indent)}"


def show_selection(
    rows: list[list[bool]], tokens: tuple[Atom, ...], full: bool = False, indent: str = "    "
) -> str:
    """Write a selection as a grid: rows ask, columns answer, both labelled with the tokens.

    >>> print(show_selection([[True, False], [True, True]], ("h", "i"), indent=""))
        h i
    h   1 ·
    i   1 1
    """
    most = len(tokens) if full else MOST_ROWS
    marks = [["1" if picked else "·" for picked in row[:most]] for row in rows[:most]]
    grid = _grid(marks, tokens[:most], indent, narrow=True)
    cut = f"\n{indent}… {len(tokens)} rows and columns in all" if len(tokens) > most else ""
    return grid + cut


def show_scores(rows: list[list[Any]], tokens: tuple[Atom, ...], indent: str = "    ") -> str:
    """Write a scorer's numbers as a grid."""
    cells = [[display(score) for score in row[:MOST_ROWS]] for row in rows[:MOST_ROWS]]
    return _grid(cells, tokens[:MOST_ROWS], indent)


def _grid(cells: list[list[str]], tokens: Sequence[Atom], indent: str, narrow: bool = False) -> str:
    """Write cells under and beside the tokens; a narrow grid has one blank between columns."""
    labels = [_label(token) for token in tokens]
    width = max(map(_width, [*labels, *(cell for row in cells for cell in row)]))
    gap = " " if narrow and width == 1 else "  "
    lines = [
        f"{indent}{_pad(label, width)}   {gap.join(_pad(cell, width) for cell in row)}".rstrip()
        for label, row in zip(["", *labels], [labels, *cells], strict=True)
    ]
    return "\n".join(lines)


def _label(token: Atom) -> str:
    text = token if isinstance(token, str) else display(token)
    printable = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return printable if len(printable) <= 12 else printable[:11] + "…"


def _width(text: str) -> int:
    """Columns a text takes on a terminal: wide characters take two, combining marks none."""
    # not by `wcwidth`: the browser's edition has no packages, and these two rules need no tables
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def show_answer(answer: list[Any] | RaspError) -> str:
    """Write a sequence, a selection as rows of 1 and ·, or an error."""
    if isinstance(answer, RaspError):
        return f"fails: {answer.message}"
    if answer and isinstance(answer[0], list):
        return "rows " + " ".join("".join(_cell(cell) for cell in row) for row in answer)
    shown = [show(atom) if atom is not None else "anything" for atom in answer[:MOST_ANSWERED]]
    return "[" + ", ".join(shown) + (", …" if len(answer) > MOST_ANSWERED else "") + "]"


def _cell(cell: Any) -> str:
    return ("1" if cell else "·") if isinstance(cell, bool) else f"{show(cell)},"
