"""Requests in, answers out, by processes that are killed when they take too long.

A request from a tab replaces the one that the tab still waits for, so a runaway program holds
one worker for its time budget at most, and typing on stops it at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from typing import Any

from rasp.errors import RaspError, RaspLimitError
from rasp.playground.answers import broken, too_slow
from rasp.playground.budgets import Budget
from rasp.playground.records import error_record

LONGEST_ANSWER = 64 << 20
"""Bytes of one answer."""
STARTING = 30.0
"""Seconds that a worker may take to start on a busy machine."""
WAITING = 60.0
"""Seconds that a request waits for a worker before it is told that there is none."""
REPLACED: dict[str, Any] = {"replaced": True}
"""The answer to a request whose tab has asked something else meanwhile."""


class Worker:
    """One process; it answers one request at a time."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process, and wait until it can work."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "rasp.playground.worker", str(self.memory),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, limit=LONGEST_ANSWER,
        )  # fmt: skip
        assert self.process.stdout is not None
        async with asyncio.timeout(STARTING):
            if not await self.process.stdout.readline():
                raise RuntimeError("a worker of the playground cannot start")

    async def ask(self, request: bytes, seconds: float) -> dict[str, Any]:
        """Have a request answered in time, or kill the process and say so."""
        try:
            if self.process is None or self.process.returncode is not None:
                await self.start()
            async with asyncio.timeout(seconds):
                line = await self._exchange(request)
        except TimeoutError:
            await self.kill()
            return _refusal(too_slow(seconds))
        except (OSError, RuntimeError, ValueError):  # it has died, or answers too much
            line = b""
        except asyncio.CancelledError:
            await self.kill()
            raise
        if not line.endswith(b"\n"):
            await self.kill()
            return _refusal(broken())
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _exchange(self, request: bytes) -> bytes:
        assert self.process and self.process.stdin and self.process.stdout
        self.process.stdin.write(request + b"\n")
        await self.process.stdin.drain()
        return await self.process.stdout.readline()

    async def kill(self) -> None:
        """End the process, whatever it is doing."""
        process, self.process = self.process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


class Pool:
    """Workers of one budget, and the requests that wait for one."""

    def __init__(self, size: int, budget: Budget) -> None:
        self.budget = budget
        self.workers = [Worker(budget.memory) for _ in range(size)]
        self.idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        self.running: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self.restarts: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start every worker; each takes requests as soon as it can."""
        await asyncio.gather(*(self._start(worker) for worker in self.workers))

    async def ask(self, request: dict[str, Any], tab: str) -> dict[str, Any]:
        """Have a request answered; one from the same tab that is still under way is given up."""
        if tab in self.running:
            self.running[tab].cancel()
        task = asyncio.create_task(self._ask(json.dumps(request).encode()))
        if tab:
            self.running[tab] = task
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and self.running.get(tab) is not task:
                return REPLACED
            task.cancel()
            raise
        finally:
            if self.running.get(tab) is task:
                del self.running[tab]

    async def _ask(self, request: bytes) -> dict[str, Any]:
        try:
            async with asyncio.timeout(WAITING):
                worker = await self.idle.get()
        except TimeoutError:
            return _refusal(_too_busy())
        try:
            return await worker.ask(request, self.budget.seconds)
        finally:
            if worker.process is None:  # killed: the next request should not wait for the start
                restart = asyncio.create_task(self._start(worker))
                self.restarts.add(restart)
                restart.add_done_callback(self.restarts.discard)
            else:
                self.idle.put_nowait(worker)

    async def _start(self, worker: Worker) -> None:
        try:
            await worker.start()
        except (OSError, RuntimeError, TimeoutError):
            await worker.kill()  # it is tried again with the next request
        finally:
            self.idle.put_nowait(worker)

    async def stop(self) -> None:
        """End everything."""
        for restart in list(self.restarts):
            restart.cancel()
        for worker in self.workers:
            await worker.kill()


def _refusal(error: RaspError) -> dict[str, Any]:
    return {"error": error_record(error)}


def _too_busy() -> RaspError:
    return RaspLimitError(
        "the playground is busy with other programs", hint="wait a moment, and type on"
    )
