"""Requests in, answers out: worker processes with limits, and a thread that waits for each."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from typing import Any, Self

from rasp.base.atoms import to_python
from rasp.base.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from rasp.teaching.sandbox.job import WITHDRAWN, Job
from rasp.teaching.sandbox.no_answer import (
    BROKEN,
    CLOSED,
    NO_WORKER,
    TOO_BUSY,
    Answer,
    our_own,
    too_slow,
)
from rasp.teaching.sandbox.process import Broken, WorkerProcess
from rasp.teaching.sandbox.turns import Turns

STARTING = 30.0
"""Seconds that a worker may take to start on a busy machine."""


class Sandbox:
    """Worker processes that run programs of strangers; plain data goes in and comes out.

    A program that takes too long, fills its memory or crashes its process is answered with an
    `error` like any other mistake, and the next request gets a fresh process.

    >>> with Sandbox(workers=1, seconds=5) as box:
    ...     box.run("hist = histf(tokens);", "hello")["values"]["hist"]
    [1, 1, 2, 2, 1]
    """

    def __init__(
        self,
        workers: int = 2,
        *,
        seconds: float = 10.0,
        memory: int = 512 * MEGABYTE,
        limits: Limits = DEFAULT_LIMITS,
        task: str = "rasp.teaching.sandbox.program_answers:run_program",
        warm: dict[str, Any] | None = None,
        most_waiting: int = 1_000,
        most_of_one: int = 100,
        patience: float = 60.0,
    ) -> None:
        """Open a sandbox; processes are started when they are first needed, or by `start`.

        `seconds` and `memory` (bytes) bound the process for each request, `limits` the program
        in it. `task` names the function that answers requests, as `module:function`; `warm` is
        a request that makes it import what it needs. `most_waiting` requests wait at most, and
        `most_of_one` of one client, each for `patience` seconds. Of several workers, the last free
        one is for clients with nothing under way.
        """
        self.seconds, self.limits, self.patience = seconds, limits, patience
        self._turns: Turns[Job] = Turns(workers, most_waiting, most_of_one)
        self._changed = threading.Condition()
        self._is_closed = False
        self._running: set[Job] = set()
        self._processes = [WorkerProcess(task, memory, warm) for _ in range(workers)]
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def start(self) -> None:
        """Start every process now, so that the first requests need not wait for them.

        >>> with Sandbox(workers=1) as box:
        ...     box.start()
        """
        with self._changed:
            while len(self._threads) < len(self._processes):
                self._add_worker()

    def run(
        self,
        text: str,
        given: Any = None,
        *,
        names: list[str] | None = None,
        folder: str | None = None,
        client: str = "",
        seconds: float | None = None,
    ) -> Answer:
        """Run a program's text on an input: `values` by name, and `errors`, a list of records.

        Without `names`, the values of every s-op that the program defines. `load` reads files
        in `folder`, and nothing without one.

        >>> with Sandbox(workers=1, seconds=1) as box:
        ...     told = box.run("x = 1; for i in range(300000) { x = x * 3; }")
        >>> told["errors"][0]["kind"]
        'limit'
        """
        limits = {name: value for name, value in asdict(self.limits).items()
                  if value != getattr(DEFAULT_LIMITS, name)}  # fmt: skip
        request = {"text": text, "given": _plain(given), "names": names, "folder": folder}
        told = self.ask(request | {"limits": limits}, client, seconds)
        return {"values": {}, "errors": [told["error"]]} if "error" in told else told

    def ask(self, request: Answer, client: str = "", seconds: float | None = None) -> Answer:
        """Send a request to the task, and wait for its last answer.

        >>> with Sandbox(workers=1) as box:
        ...     box.ask({"text": "x = 1;"})
        {'values': {}, 'errors': []}
        """
        job = self.submit(request, client, seconds)
        try:
            return job.result()
        except BaseException:  # Ctrl-C while we wait
            job.withdraw()
            raise

    def submit(
        self,
        request: Answer,
        client: str = "",
        seconds: float | None = None,
        tell: Callable[[Answer], None] | None = None,
    ) -> Job:
        """Send a request without waiting. `tell` is called with each answer, in another thread.

        Turns are fair between clients, so `client` should be something that a stranger cannot
        make up at will, such as where the request came from.

        >>> with Sandbox(workers=1, seconds=5) as box:
        ...     job = box.submit({"text": "x = histf(tokens);"}, client="a student")
        ...     job.withdraw()
        ...     job.result()
        {'withdrawn': True}
        """
        job = Job(json.dumps(request).encode(), seconds or self.seconds, tell)
        with self._changed:
            if self._is_closed:
                job.finish(CLOSED)
            elif not self._turns.add(client, job):
                job.finish(TOO_BUSY)
            else:
                job.leave_queue = lambda: self._remove(client, job)
                if len(self._turns) + self._turns.running.total() > len(self._threads):
                    self._add_worker()
                self._changed.notify_all()
        return job

    def close(self) -> None:
        """End every process; what still waits or runs is answered with an error.

        >>> box = Sandbox(workers=1)
        >>> box.close()
        >>> box.run("x = 1;")["errors"][0]["message"]
        'the sandbox was closed'
        """
        with self._changed:
            self._is_closed = True
            for job in self._turns.drain():
                job.finish(CLOSED)
            for job in self._running:
                job.stop(CLOSED)
            for process in self._processes:  # also those that are only starting
                process.kill()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _add_worker(self) -> None:
        """Start one more thread, and its process, if there may be more."""
        if len(self._threads) < len(self._processes):
            process = self._processes[len(self._threads)]
            thread = threading.Thread(target=self._serve, args=[process], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _remove(self, client: str, job: Job) -> None:
        """Answer a withdrawn request at once where it still waits."""
        with self._changed:
            if self._turns.remove(client, job):
                job.finish(WITHDRAWN)

    def _serve(self, process: WorkerProcess) -> None:
        """Work until the sandbox is closed; a process that was ended is started again at once."""
        _start(process)
        while (taken := self._take()) is not None:
            client, job = taken
            try:
                answer = self._work(process, job)
            except Exception as error:  # a mistake of ours: nobody should wait for ever
                process.end()
                answer = our_own(error)
            with self._changed:
                self._running.discard(job)
                self._turns.finish(client)
                self._changed.notify_all()
            job.finish(answer)
            if not process.is_alive and not self._is_closed:
                _start(process)
        process.end()

    def _take(self) -> tuple[str, Job] | None:
        """Wait for the next request for a worker; None where there will be no more."""
        with self._changed:
            while not self._is_closed:
                taken = self._turns.take()
                if taken is not None:
                    self._running.add(taken[1])
                    return taken
                self._changed.wait()
        return None

    def _work(self, process: WorkerProcess, job: Job) -> Answer:
        """Have one request answered in time, or end its process."""
        if time.monotonic() - job.asked_at > self.patience:
            return TOO_BUSY
        if not process.is_alive and not _start(process):
            return NO_WORKER
        if not job.begin(process.kill):
            return WITHDRAWN
        timer = threading.Timer(job.seconds, job.stop, [too_slow(job.seconds)])
        timer.start()
        answer = BROKEN
        try:
            for answer in process.ask(job.request):
                if job.tell is not None:
                    job.tell(answer)
        except Broken:
            process.end()
            answer = BROKEN
        finally:
            timer.cancel()
            if job.is_stopped():
                process.end()
        return answer


def _start(process: WorkerProcess) -> bool:
    """Start a process, and wait until it can work; one that cannot is ended."""
    process.start()
    timer = threading.Timer(STARTING, process.kill)
    timer.start()
    try:
        process.wait_until_ready()
    except Broken:
        process.end()
        return False
    finally:
        timer.cancel()
    return True


def _plain(given: Any) -> Any:
    """An input as JSON holds it."""
    if given is None or isinstance(given, str):
        return given
    items = given.tolist() if hasattr(given, "tolist") else given
    return [to_python(item) if isinstance(item, Fraction) else item for item in items]
