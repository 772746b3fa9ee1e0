"""Something that takes long in, a line on the terminal out that says what, and how far it is."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Self

from rasp.base.limits import Limits, within_seconds
from rasp.base.terminal_text import redraw

PATIENCE = 2.0
"""Seconds before somebody wonders whether anything happens."""
LONGEST = 70


class ProgressLine:
    """A line on the terminal that says how far we are, from the first seconds on; silent elsewhere.

    It is drawn at most ten times a second, and taken away at the end.
    """

    def __init__(self, patience: float = PATIENCE, is_on: bool = True) -> None:
        self.is_on = is_on and sys.stderr.isatty()
        self._next = time.monotonic() + patience
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.clear()

    def show(self, told: Callable[[], str]) -> None:
        """Say how far we are, if it is time to."""
        if self.is_on and time.monotonic() >= self._next:
            redraw(sys.stderr, told())
            self._next, self._is_shown = time.monotonic() + 0.1, True

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            redraw(sys.stderr)
        self._is_shown = False


def bar(share: float, width: int = 30) -> str:
    """Draw a share of the whole.

    >>> bar(0.5, 4)
    '██··'
    """
    filled = round(width * min(share, 1.0))
    return "█" * filled + "·" * (width - filled)


@contextlib.contextmanager
def working(what: str, limits: Limits | None = None) -> Iterator[None]:
    """Say on a terminal what is being done, and for how long, once it takes two seconds.

    Nothing may be printed meanwhile: the line is taken away at the end. With `limits`, it may
    take so many seconds, whether it looks at the clock or not.
    """
    with within_seconds(limits) if limits else contextlib.nullcontext(), _telling(what):
        yield


@contextlib.contextmanager
def _telling(what: str) -> Iterator[None]:
    line = ProgressLine(PATIENCE)
    if not line.is_on:
        yield
        return
    from threading import Event, Thread  # not needed to start, and starting is to be quick

    began, done = time.monotonic(), Event()

    def tell() -> None:
        while not done.wait(min(PATIENCE, 0.5)):
            line.show(lambda: f"{what[:LONGEST]}: {time.monotonic() - began:.0f} s")

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        line.clear()
