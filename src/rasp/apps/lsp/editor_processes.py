"""Programs in, answers about them out, by processes that are ended when they take too long.

The server itself never runs a program: whatever one does, the editor is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rasp.apps.lsp.analysis import SECONDS, Record
from rasp.base.limits import MEGABYTE
from rasp.teaching.sandbox import WITHDRAWN, Sandbox

GRACE = 2.0
"""Seconds after which a worker that does not hear its alarm is killed."""
MOST_WORKERS = 3
TOO_MUCH: Record = {
    "kind": "limit",
    "message": f"the program needs more than {SECONDS:g} seconds, or more memory than it may",
    "hint": "is a loop or a list longer than it should be?",
    "start": 0,
    "end": 0,
}


class Runner:
    """A few worker processes, started when they are first needed."""

    def __init__(self) -> None:
        self.sandbox = Sandbox(
            MOST_WORKERS, seconds=2 * SECONDS + GRACE, memory=1024 * MEGABYTE,
            task="rasp.apps.lsp.analysis:analyse", warm={"name": "", "text": "x = length;"},
        )  # fmt: skip

    async def analyse(self, request: Record, tell: Callable[[Record], None]) -> None:
        """Have a program analysed, and tell: first its mistakes, then facts about its names.

        A worker that dies or hangs on it is one more mistake of the program.
        """
        loop, told = asyncio.get_running_loop(), []

        def pass_on(answer: Record) -> None:
            if "error" not in answer:
                told.append(answer)
                loop.call_soon_threadsafe(tell, answer)

        client = str(request.get("name"))
        job = self.sandbox.submit(request | {"seconds": SECONDS}, client, tell=pass_on)
        try:
            answer = await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:  # the text has changed
            job.withdraw()
            raise
        if not told and answer is not WITHDRAWN:
            tell({"errors": [TOO_MUCH], "warnings": []})

    async def close(self) -> None:
        """End the workers."""
        await asyncio.to_thread(self.sandbox.close)
