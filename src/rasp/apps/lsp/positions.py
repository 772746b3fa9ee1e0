"""Offsets in a text in, the protocol's positions out, and back.

The protocol counts lines and, within a line, code units of the encoding that editor and server
agreed on; we count characters.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from lsprotocol.types import Position, PositionEncodingKind, Range

_LINE_END = re.compile(r"\r\n|\n|\r")
_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@dataclass(frozen=True, eq=False)
class Places:
    """Where the lines of a text begin, and how wide its characters are to the editor."""

    text: str
    encoding: PositionEncodingKind | str = "utf-16"

    @cached_property
    def starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def position(self, offset: int) -> Position:
        """Return the protocol's position of a character.

        >>> Places("a\\n𝄞b").position(3)
        1:2
        """
        line = bisect_right(self.starts, offset) - 1
        return Position(line, self._units(self.text[self.starts[line] : offset]))

    def offset(self, position: Position) -> int:
        """Return the character at a position; one outside the text is the nearest that is not.

        >>> Places("a\\n𝄞b").offset(Position(1, 2))
        3
        """
        if position.line >= len(self.starts):
            return len(self.text)
        start = self.starts[position.line]
        last = self.starts[position.line + 1] if position.line + 1 < len(self.starts) else None
        line = self.text[start:last].rstrip("\r\n")
        codec, size = self._codec
        before = line.encode(codec, "surrogatepass")[: max(0, position.character) * size]
        return start + len(before.decode(codec, "ignore"))

    def range(self, start: int, end: int) -> Range:
        """Return the protocol's range of a stretch of the text."""
        return Range(self.position(start), self.position(end))

    @property
    def _codec(self) -> tuple[str, int]:
        return _CODECS[str(getattr(self.encoding, "value", self.encoding))]

    def _units(self, text: str) -> int:
        codec, size = self._codec
        return len(text.encode(codec, "surrogatepass")) // size
