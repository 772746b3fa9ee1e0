"""A running piece of Python in, the place in its source out: where a handle was made.

Python tells which characters an instruction was compiled from, so an error about a program
built in Python can point at the expression, as one about a text does. Only the code and the
instruction are noted when a handle is made; the file is read when somebody asks.
"""

from __future__ import annotations

import dis
import linecache
import os
import sys
from itertools import islice
from types import CodeType
from typing import NamedTuple

from rasp.base.source import Source, Span


class Place(NamedTuple):
    """One instruction of somebody's Python code."""

    code: CodeType
    instruction: int

    @property
    def operation(self) -> str:
        """The name of the instruction, such as `CONTAINS_OP`."""
        return dis.opname[self.code.co_code[self.instruction]]

    @property
    def span(self) -> Span | None:
        """The expression in its file, or None where the file cannot be read."""
        return SpanReader().span(self)


def calling_place() -> Place | None:
    """Return the place outside this package that is running now."""
    frame = sys._getframe(1)
    while frame is not None:
        module: str = frame.f_globals.get("__name__", "")
        if not module.startswith("rasp.") and module != "rasp":
            return Place(frame.f_code, frame.f_lasti)
        frame = frame.f_back  # type: ignore[assignment]
    return None


class SpanReader:
    """Finds the expressions at many places, reading each file and each place once."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}
        self.spans: dict[tuple[int, int], Span | None] = {}

    def span(self, place: Place) -> Span | None:
        key = (id(place.code), place.instruction)
        if key not in self.spans:
            self.spans[key] = self._read(place)
        return self.spans[key]

    def _read(self, place: Place) -> Span | None:
        file = place.code.co_filename
        if file not in self.sources:
            self.sources[file] = Source(_short(file), "".join(linecache.getlines(file)))
        source = self.sources[file]
        position = next(islice(place.code.co_positions(), place.instruction // 2, None), None)
        line, last_line, column, last_column = position or (None,) * 4
        if not source.text or line is None or (last_line or line) > len(source.line_starts):
            return None
        if column is None or last_line is None or last_column is None:
            start = source.line_starts[line - 1]
            return Span(source, start, start + len(source.line_text(line)))
        return Span(source, _offset(source, line, column), _offset(source, last_line, last_column))


def _offset(source: Source, line: int, column: int) -> int:
    """Python counts columns in bytes."""
    before = source.line_text(line).encode()[:column].decode(errors="replace")
    return source.line_starts[line - 1] + len(before)


def _short(file: str) -> str:
    here = os.getcwd() + os.sep
    return file.removeprefix(here)
