"""The standard streams in, streams that any command can use out, whatever they are connected to.

Anything can be printed: what a terminal would obey is shown instead, and what an encoding lacks is
written as a code. A closed input, or an output with no room left, is an error in words.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.terminal_text import Shown


class OutputLost(Exception):
    """Standard output takes no more; `reason` says why, None where its reader has just gone."""

    def __init__(self, reason: RaspError | None) -> None:
        super().__init__(reason)
        self.reason = reason


class Output(Shown):
    """A standard stream; that it takes no more is an error of its own."""

    def send(self, text: str) -> None:
        try:
            super().send(text)
        except OSError as error:
            raise _lost(error) from None

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _lost(error) from None


def _lost(error: OSError) -> OutputLost:
    if isinstance(error, BrokenPipeError):
        return OutputLost(None)
    why = (error.strerror or "unknown reason").lower()
    return OutputLost(
        RaspLimitError(f"the output cannot be written: {why}", hint="make room and try again")
    )


class NoInput(io.TextIOBase):
    """Standard input where there is none: whoever reads it is told."""

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError("standard input is closed")

    def _refuse(self, *_: object) -> NoReturn:
        raise RaspValueError(
            "standard input is closed", hint="name a file, or send something through a pipe"
        )

    read = readline = __next__ = _refuse

    @property
    def buffer(self) -> Any:
        return self._refuse()


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Make the streams fit for a command, for as long as it runs."""
    before = sys.stdin, sys.stdout, sys.stderr
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)  # takes its number, which no file of ours should get
        sys.stdin = NoInput()
    elif isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # whoever reads says what is not text
    sys.stdout, sys.stderr = (_output(stream) for stream in before[1:])
    try:
        yield
        if not sys.stdout.closed:  # the language server closes it when it ends
            sys.stdout.flush()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def _output(stream: Any) -> Any:
    if stream is None:
        return io.TextIOWrapper(io.BytesIO())  # nobody reads it
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # any token can be printed anywhere
    return Output(stream)


def give_up_output() -> None:
    """Send what is still in the output's buffer nowhere, or Python would complain at the end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
            continue
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nothing, stream.fileno())
    os.close(nothing)
