"""Escapes control characters, so that a terminal shows them.

A program, a token or a file's name can hold ESC and change the terminal's colours, its title or
even its keys; marks for writing from right to left can make a line read as another one. Such
characters are shown as `\\u001b`, as JSON writes them. A front door prints through `Shown`, so that
nothing is forgotten; our own progress lines go through `redraw`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import wraps
from typing import IO, Any, TypeVar

AnyClass = TypeVar("AnyClass", bound=type)

# Control characters but tab and newline, marks of direction, and separators of lines.
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)  # fmt: skip


def shown(text: str) -> str:
    """Return a text in which nothing steers a terminal; lines and tabs stay.

    >>> print(shown("red: \\x1b[31m!"))
    red: \\u001b[31m!
    """
    return STEERING.sub(lambda steering: f"\\u{ord(steering.group()):04x}", text)


def visibly(kind: AnyClass) -> AnyClass:
    """Let what the objects of a class print as, in Python, steer no terminal.

    >>> @visibly
    ... class Red:
    ...     def __str__(self):
    ...         return "\\x1b[31m"
    >>> print(Red())
    \\u001b[31m
    """
    for name in ("__str__", "__repr__"):
        if name in vars(kind):
            setattr(kind, name, _shown_by(vars(kind)[name]))
    return kind


def _shown_by(method: Callable[[Any], str]) -> Callable[[Any], str]:
    @wraps(method)
    def show(self: Any) -> str:
        return shown(method(self))

    return show


class Shown(io.TextIOBase):
    """A stream that shows what is written to it; everything else is the stream's behind it."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.send(shown(text))
        return len(text)

    def send(self, text: str) -> None:
        """Write a text as it is."""
        self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()

    @property
    def closed(self) -> bool:
        return self.stream.closed

    def fileno(self) -> int:
        return self.stream.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def behind(stream: IO[str]) -> IO[str]:
    """The stream itself, for whoever steers a terminal on purpose."""
    return stream.stream if isinstance(stream, Shown) else stream


def redraw(stream: IO[str], line: str = "") -> None:
    """Write a line over the last one on a terminal; without a line, take that one away."""
    _send(stream, f"\r{shown(line)}\x1b[K")
    stream.flush()


def write_exactly(stream: IO[str], text: str) -> None:
    """Write a text for another program: as it is, unless a terminal is what reads it."""
    if stream.isatty():
        stream.write(text)
    else:
        _send(stream, text)


def _send(stream: IO[str], text: str) -> None:
    if isinstance(stream, Shown):
        stream.send(text)
    else:
        stream.write(text)
