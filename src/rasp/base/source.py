"""Program text in, places in it out: a `Source` is a named text, a `Span` a stretch of it.

Every error that points, and every origin of a graph node, is a `Span`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

INPUT = "<input>"
"""The name of a text that was typed, or given by Python."""


@dataclass(frozen=True, eq=False)
class Source:
    """A program text and the name people know it by (a path, or `<input>`)."""

    name: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(at + 1 for at, character in enumerate(self.text) if character == "\n")
        return starts

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of a character offset.

        >>> Source("demo", "a = 1;\\nb = 2;").line_and_column(7)
        (2, 1)
        """
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


@dataclass(frozen=True)
class Span:
    """The characters `start` to `end` (exclusive) of a source."""

    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.line_and_column(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.line_and_column(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of the other."""
        return Span(self.source, self.start, other.end)

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"
