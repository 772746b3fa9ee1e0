"""How far a long job is: one line on the terminal, with a bar and the time left.

Work reports its progress by calling a function of the type `Progress`, and does not know what
becomes of it. `ProgressBar` shows it to people, from the third second on; `ignore` does nothing.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import IO, Self, TypeAlias

from rasp.base.terminal_text import redraw

Progress: TypeAlias = Callable[[float, str], None]
"""Called now and then with the share that is done, from 0 to 1, and with what is being done.

The first call is made when the work begins: with 0, or where a job that was interrupted goes on.
"""

PATIENCE = 2.0
"""Seconds before somebody wonders whether anything happens."""
TICK = 0.5
"""Seconds after which a line is drawn again that nothing was reported for."""


def ignore(share: float, doing: str = "") -> None:
    """Take a report, and show it to nobody: the default of functions that take a `Progress`.

    >>> ignore(0.5, "planning")
    """


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Return a progress for one stage of a job: its 0 to 1 are `start` to `end` of the whole.

    >>> scheduling = part_of(lambda share, doing: print(f"{share:.2f} {doing}"), 0.2, 0.6)
    >>> scheduling(0.5, "scheduling")
    0.40 scheduling
    """
    return lambda share, doing: progress(start + (end - start) * share, doing)


def bar(share: float, width: int = 30) -> str:
    """Draw a share of the whole.

    >>> bar(0.5, 4)
    '██··'
    """
    filled = round(width * min(share, 1.0))
    return "█" * filled + "·" * (width - filled)


def duration(seconds: float) -> str:
    """Say how long something takes.

    >>> duration(12.4), duration(83), duration(7000)
    ('12 s', '1:23 min', '1:56 h')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
    return f"{minutes // 60}:{minutes % 60:02} h"


class ProgressLine:
    """A line on the terminal that says how far we are, from the first seconds on; silent elsewhere.

    It is drawn at most ten times a second, and taken away at the end.
    """

    def __init__(self, patience: float | None = None, is_on: bool = True) -> None:
        self.is_on = is_on and sys.stderr.isatty()
        self._next = time.monotonic() + (PATIENCE if patience is None else patience)
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.clear()

    def show(self, line: Callable[[], str]) -> None:
        """Say how far we are, if it is time to."""
        if self.is_on and time.monotonic() >= self._next:
            redraw(sys.stderr, line())
            self._next, self._is_shown = time.monotonic() + 0.1, True

    def clear(self) -> None:
        """Take the line away."""
        if self._is_shown:
            redraw(sys.stderr)
        self._is_shown = False


class ProgressBar:
    """A `Progress` that people see: a line on the terminal that is taken away at the end.

    The line appears after two seconds, and the clock in it goes on while nothing is reported.
    Nothing else may be printed meanwhile. Where there is no terminal, nothing is shown, or, with
    `lines_every`, a line every so many seconds.

    >>> with ProgressBar("compiling") as progress:
    ...     progress(0, "reading")
    ...     progress(0.5, "planning heads")
    """

    def __init__(
        self,
        what: str,
        lines_every: float | None = None,
        is_on: bool = True,
        out: IO[str] | None = None,
    ) -> None:
        self.what, self.lines_every, self.out = what, lines_every, out or sys.stderr
        self.is_on = is_on and (self.out.isatty() or lines_every is not None)
        self._on_terminal = self.out.isatty()
        self._share, self._doing = 0.0, ""
        self._lock, self._done, self._is_shown = Lock(), Event(), False
        self._started()

    def _started(self) -> None:
        self._began = self._reported = time.monotonic()
        self._first: float | None = None
        self._next = self._began + (PATIENCE if self._on_terminal else self.lines_every or 0)

    def __enter__(self) -> Self:
        self._started()
        self._clock: Thread | None = None
        if self.is_on and self._on_terminal:
            self._clock = Thread(target=self._tick, daemon=True)
            self._clock.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._done.set()
        if self._clock is not None:
            self._clock.join()
        if self._is_shown:
            redraw(self.out)

    def __call__(self, share: float, doing: str = "") -> None:
        with self._lock:
            self._share, self._doing, self._reported = share, doing, time.monotonic()
            if self._first is None:  # a job that goes on begins in the middle
                self._first = share
        self._show()

    def _tick(self) -> None:
        while not self._done.wait(min(PATIENCE, TICK)):
            self._show()

    def _show(self) -> None:
        with self._lock:
            now = time.monotonic()
            if not self.is_on or now < self._next:
                return
            if self._on_terminal:
                redraw(self.out, self.line()[: shutil.get_terminal_size().columns - 1])
                self._next, self._is_shown = now + 0.1, True
            else:
                self.out.write(self.line() + "\n")
                self.out.flush()
                self._next = now + (self.lines_every or 0)

    def line(self) -> str:
        """Say how far it is: the bar and the time left, or only the time that has passed.

        >>> ProgressBar("verifying").line()
        'verifying: 0 s'
        """
        passed = time.monotonic() - self._began
        doing = f", {self._doing}" if self._doing else ""
        left = self._seconds_left()
        if left is None:
            return f"{self.what}: {duration(passed)}{doing}"
        drawn = f"{bar(self._share, 20)} " if self._on_terminal else ""
        percent = f"{100 * self._share:.0f} %"
        return f"{self.what}: {drawn}{percent}, {duration(left)} left{doing}"

    def _seconds_left(self) -> float | None:
        """What is left at the speed so far; None before anything was done."""
        if self._first is None or self._share <= self._first:
            return None
        speed = (self._share - self._first) / max(self._reported - self._began, 1e-6)
        since = time.monotonic() - self._reported
        return max(0.0, (1 - self._share) / speed - since)
