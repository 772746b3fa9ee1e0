"""A request in, answers out, from one worker process; how it is started and how it is ended.

The process dies with this one, however this one dies: it ends itself when its standard input
ends, and where the system can do it (Linux) it is killed with the thread that started it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

LONGEST_ANSWER = 64 << 20
"""Bytes of one answer."""
COMMAND = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); " \
          "from rasp.teaching.sandbox.worker import main; main(sys.argv[2])"  # fmt: skip


class Broken(Exception):
    """The process has ended, or sends what is not an answer."""


class WorkerProcess:
    """One process that answers requests, one after the other."""

    def __init__(self, task: str, memory: int, warm: dict[str, Any] | None = None) -> None:
        self.settings = {"task": task, "memory": memory, "warm": warm}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it without waiting until it can work."""
        self.end()
        modules = json.dumps([os.path.abspath(folder) for folder in sys.path])
        settings = json.dumps(self.settings | {"parent": os.getpid()})
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", COMMAND, modules, settings],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def wait_until_ready(self) -> None:
        """Return when it has imported what it needs."""
        if self._line() != b"ready\n":
            raise Broken

    def ask(self, request: bytes) -> Iterator[dict[str, Any]]:
        """Send a request; give its answers as they come."""
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(request + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise Broken from None
        while (line := self._line()) not in (b"done\n", b"leaving\n"):
            try:
                yield json.loads(line)
            except ValueError:
                raise Broken from None
        if line == b"leaving\n":
            self.end()

    def _line(self) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        line = self._process.stdout.readline(LONGEST_ANSWER)
        if not line.endswith(b"\n"):
            raise Broken
        return line

    def kill(self) -> None:
        """Kill it from any thread; whoever waits for its answer sees it end."""
        process = self._process
        if process is not None:
            process.kill()

    def end(self) -> None:
        """Kill it, and take it off the system's list of processes."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what could not be sent any more
                    pipe.close()
