"""Lines in as they come, lists of them out: as many at a time as are waiting, and how far we are.

Slow producers get each answer at once; fast ones are answered in large batches.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from queue import Queue
from threading import Thread
from typing import IO, Any

from rasp.base.progress import ProgressLine, bar

MOST_AT_ONCE = 4096


def waiting(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Give what is there, at least one item at a time; an error comes after the items before it."""
    queue: Queue[tuple[str, Any]] = Queue(MOST_AT_ONCE)

    def read() -> None:
        try:
            for item in items:
                queue.put(("item", item))
        except Exception as error:
            queue.put(("error", error))
        queue.put(("end", None))

    Thread(target=read, daemon=True).start()
    chunk: list[Any] = []
    while True:
        what, item = queue.get()
        if what == "item":
            chunk.append(item)
        if chunk and (what != "item" or queue.empty() or len(chunk) == MOST_AT_ONCE):
            yield chunk
            chunk = []
        if what == "error":
            raise item
        if what == "end":
            return


class LinesProgress(ProgressLine):
    """A line on the terminal that says how many inputs are done, and what share of a file."""

    def __init__(self, read: IO[str]) -> None:
        super().__init__(0.1, not read.isatty() and not sys.stdout.isatty())
        self.total = _file_size(read) if self.is_on else 0
        self.inputs = self.characters = 0
        self.began = time.monotonic()

    def counting(self, lines: Iterable[str]) -> Iterator[str]:
        """Pass lines on, and count what has been read."""
        for line in lines:
            self.characters += len(line)
            yield line

    def advance(self) -> None:
        """Count an input that is done."""
        self.inputs += 1
        self.show(lambda: self.text(time.monotonic()))

    def text(self, now: float) -> str:
        """What the line says."""
        rate = self.inputs / max(now - self.began, 1e-6)
        told = f"{self.inputs:,} inputs, {rate:,.0f} a second"
        share = self.characters / self.total if self.total else 0
        return f"{bar(share)} {min(share, 1.0):4.0%} {told}" if share else told


def _file_size(stream: IO[str]) -> int:
    """How long a file is, where the stream is one; else 0."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
