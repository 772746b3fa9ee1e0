"""Requests of tabs in, answers out: a newer request of a lane ends the older one.

A tab has a lane for each kind of request, so typing on stops what is not wanted any more.
"""

from __future__ import annotations

import asyncio
from typing import Any

from rasp.apps.playground.budgets import Budget
from rasp.teaching.sandbox import WITHDRAWN, Sandbox
from rasp.teaching.sandbox.job import Job

REPLACED: dict[str, Any] = {"replaced": True}
"""The answer to a request whose tab has asked something else meanwhile."""
MOST_OF_ONE = 1_000
"""Requests of one tab that wait; all tabs that do not say who they are count as one."""
WARMING = {"kind": "run", "program": "x = length;", "example": "ab"}


class Lanes:
    """Workers of one budget, and what each tab waits for."""

    def __init__(self, workers: int, budget: Budget, reserved: int = 1) -> None:
        self.sandbox = Sandbox(
            workers, seconds=budget.seconds, memory=budget.memory,
            task="rasp.apps.playground.page_answers:answer", warm=WARMING, most_of_one=MOST_OF_ONE,
            reserved=reserved,
        )  # fmt: skip
        self._running: dict[str, Job] = {}

    async def ask(self, request: dict[str, Any], tab: str, lane: str = "") -> dict[str, Any]:
        """Have a request answered; one of the same lane that is still under way is given up."""
        if lane in self._running:
            self._running[lane].withdraw()
        job = self.sandbox.submit(request, client=tab)
        if lane:
            self._running[lane] = job
        try:
            answer = await asyncio.wrap_future(job.future)
            return REPLACED if answer is WITHDRAWN else answer
        except asyncio.CancelledError:  # whoever asked has gone
            job.withdraw()
            raise
        finally:
            if self._running.get(lane) is job:
                del self._running[lane]
