"""Something that takes long in, a line on the terminal out that says what and for how long."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from rasp.limits import Limits, within_seconds
from rasp.visible import redraw

PATIENCE = 2.0
"""Seconds before somebody wonders whether anything happens."""
LONGEST = 70


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
    if not sys.stderr.isatty():
        yield
        return
    from threading import Event, Thread  # not needed to start, and starting is to be quick

    done, is_shown = Event(), Event()

    def tell() -> None:
        began = time.monotonic()
        while not done.wait(PATIENCE if time.monotonic() - began < PATIENCE else 0.5):
            is_shown.set()
            redraw(sys.stderr, f"{what[:LONGEST]}: {time.monotonic() - began:.0f} s")

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        if is_shown.is_set():
            redraw(sys.stderr)
