"""Rate-limits the server's complaints: an attack must not fill the log."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import Any

PAUSE = 60.0
"""Seconds between two lines that say the same."""
MOST_KINDS = 100
LOGGERS = ("uvicorn", "uvicorn.error", "asyncio")


class Quiet(logging.Handler):
    """Prints each kind of complaint once a minute, with how often it came meanwhile."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last: dict[str, float] = {}
        self.missed: dict[str, int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        kind = str(record.msg).splitlines()[0][:200] if str(record.msg) else "complaint"
        now = time.monotonic()
        if now - self.last.get(kind, -PAUSE) < PAUSE:
            self.missed[kind] = self.missed.get(kind, 0) + 1
            return
        if len(self.last) >= MOST_KINDS:
            self.last.clear()
        self.last[kind] = now
        missed = self.missed.pop(kind, 0)
        more = f" ({missed:,} more of these since the last one)" if missed else ""
        problem = record.exc_info[1] if record.exc_info else None
        cause = f": {type(problem).__name__}: {problem}" if problem is not None else ""
        line = "".join(sign if sign.isprintable() else "�" for sign in kind + cause + more)
        print(f"rasp play: {line}", file=sys.stderr, flush=True)  # noqa: T201


def be_quiet() -> None:
    """Let the server's and the loop's complaints go through one `Quiet`."""
    handler = Quiet()
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)


def tell_quietly(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Pass on what a loop complains of, with its reason and without a traceback."""
    problem = context.get("exception")
    reason = f": {type(problem).__name__}: {problem}" if problem else ""
    logging.getLogger("asyncio").error(f"{context.get('message')}{reason}")
