"""Make the standard streams fit for a command, whatever they are connected to.

Anything can be printed: what a terminal would obey is shown instead, and what an encoding lacks is
written as a code. An output that takes no more ends the command.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from rasp.base.errors import RaspError, RaspLimitError
from rasp.base.terminal_text import Shown


class OutputLost(Exception):
    """Standard output takes no more; `reason` says why, None where its reader has just gone."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.reason: RaspError | None = None
        if not isinstance(error, BrokenPipeError):
            why = (error.strerror or "unknown reason").lower()
            self.reason = RaspLimitError(
                f"the output cannot be written: {why}", hint="make room and try again"
            )


class Output(Shown):
    """A standard stream; that it takes no more is an error of its own."""

    def send(self, text: str) -> None:
        try:
            super().send(text)
        except OSError as error:
            raise OutputLost(error) from None

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise OutputLost(error) from None


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Make the streams fit for a command, for as long as it runs."""
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = before[0] or open(os.devnull)  # noqa: SIM115  # None: it is closed
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # whoever reads says what is not text
    sys.stdout, sys.stderr = (_output(stream) for stream in before[1:])
    try:
        yield
        if not sys.stdout.closed:  # the language server closes it when it ends
            sys.stdout.flush()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def _output(stream: Any) -> Any:
    stream = stream or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # any token can be printed anywhere
    return Output(stream)


def give_up_output() -> None:
    """Send what is still in the outputs' buffers nowhere, or Python would complain at the end."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                os.dup2(nothing, stream.fileno())
    os.close(nothing)
