"""Programs in, answers about them out, by processes that are killed when they take too long.

The server itself never runs a program: whatever one does, the editor is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable
from typing import Any

from rasp.lsp.analysis import SECONDS

Record = dict[str, Any]

GRACE = 2.0
"""Seconds after which a worker that does not hear its alarm is killed."""
STARTING = 20.0
"""Seconds that a worker may take to start on a busy machine."""
MOST_WORKERS = 3
LONGEST_ANSWER = 64 << 20


class Runner:
    """A few worker processes, started when they are first needed."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self.idle: list[asyncio.subprocess.Process] = []
        self.free = asyncio.Semaphore(MOST_WORKERS)

    async def analyse(self, request: Record, tell: Callable[[Record], None]) -> None:
        """Have a program analysed, and tell: first its mistakes, then facts about its names.

        A worker that dies or hangs on it is one more mistake of the program.
        """
        async with self.free:
            worker = await self._worker()
            told, is_whole = 0, False
            try:
                assert worker.stdin is not None
                worker.stdin.write(json.dumps(request | {"seconds": self.seconds}).encode() + b"\n")
                while told < 2:
                    answer = await _next_answer(worker, self.seconds + GRACE)
                    tell(answer)
                    told += 1
                is_whole = not answer["ran_out"]
            except (OSError, TimeoutError, ValueError):
                if not told:
                    tell({"errors": [_too_much(self.seconds)], "warnings": []})
            finally:
                if is_whole:
                    self.idle.append(worker)
                else:
                    await _kill(worker)

    async def _worker(self) -> asyncio.subprocess.Process:
        while self.idle:
            worker = self.idle.pop()
            if worker.returncode is None:
                return worker
        worker = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "rasp.lsp.worker",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=LONGEST_ANSWER,
        )  # fmt: skip
        try:
            await _next_answer(worker, STARTING)
        except BaseException:
            await _kill(worker)
            raise
        return worker

    async def close(self) -> None:
        """End the workers that wait."""
        while self.idle:
            await _kill(self.idle.pop())


async def _next_answer(worker: asyncio.subprocess.Process, seconds: float) -> Record:
    assert worker.stdout is not None
    async with asyncio.timeout(seconds):
        line = await worker.stdout.readline()
    answer: Record = json.loads(line)  # an empty line is a ValueError: it has died
    return answer


async def _kill(worker: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        worker.kill()
    await worker.wait()


def _too_much(seconds: float) -> Record:
    return {
        "kind": "limit",
        "message": f"the program needs more than {seconds:g} seconds, or more memory than it may",
        "hint": "is a loop or a list longer than it should be?",
        "start": 0,
        "end": 0,
    }
