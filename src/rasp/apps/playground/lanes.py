"""Ask worker processes for tabs: a newer request of a tab ends its older one of the same kind."""

from __future__ import annotations

import asyncio
from typing import Any

from rasp.apps.playground.budgets import Budget
from rasp.teaching.sandbox import WITHDRAWN, Sandbox
from rasp.teaching.sandbox.job import Job

REPLACED: dict[str, Any] = {"replaced": True}
"""The answer to a request whose tab has asked something else meanwhile."""
MOST_OF_ONE = 300
"""Requests of one address that wait."""
WARMING = {"kind": "run", "program": "x = length;", "example": "ab"}


class Lanes:
    """Workers of one budget, and what each tab waits for."""

    def __init__(self, workers: int, budget: Budget) -> None:
        self.sandbox = Sandbox(
            workers, seconds=budget.seconds, memory=budget.memory,
            task="rasp.apps.playground.page_answers:answer", warm=WARMING, most_of_one=MOST_OF_ONE,
        )  # fmt: skip
        self._running: dict[tuple[str, str], Job] = {}

    async def ask(self, request: dict[str, Any], address: str, tab: str = "") -> dict[str, Any]:
        """Have a request answered; an older one of the same tab is given up."""
        job = self.sandbox.submit(request, client=address)
        if tab:
            older = self._running.get((address, tab))
            self._running[address, tab] = job
            if older is not None:
                older.withdraw()
        try:
            answer = await asyncio.wrap_future(job.future)
            return REPLACED if answer is WITHDRAWN else answer
        except asyncio.CancelledError:  # whoever asked has gone
            job.withdraw()
            raise
        finally:
            if self._running.get((address, tab)) is job:
                del self._running[address, tab]
