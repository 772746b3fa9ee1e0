"""Workers: they are killed when late or too large, and others take over."""

import asyncio
from typing import Any

import pytest

from rasp.limits import MEGABYTE
from rasp.playground.budgets import Budget
from rasp.playground.pool import REPLACED, Pool

RUN = {"kind": "run", "program": "x = indices;", "example": "ab"}
LATE = {
    "kind": "run",
    "program": "x = 3 ^ 8000;\nfor n in range(90000) { y = x % (n + 7); }",
    "example": "ab",
}
LARGE = {
    "kind": "run",
    "program": 'x = "a" * 90000;\ny = [x + "b" * n for n in range(20000)];',
    "example": "ab",
}


def asked(budget: Budget, *requests: tuple[dict[str, Any], str]) -> list[dict[str, Any]]:
    """Ask everything of one worker at once; return the answers."""

    async def ask() -> list[dict[str, Any]]:
        pool = Pool(1, budget)
        await pool.start()
        try:
            tasks = []
            for request, tab in requests:
                tasks.append(asyncio.create_task(pool.ask(request, tab)))
                await asyncio.sleep(0.05)
            return await asyncio.gather(*tasks)
        finally:
            await pool.stop()

    return asyncio.run(ask())


def test_a_late_worker_is_killed_and_the_next_request_is_answered() -> None:
    late, fine = asked(Budget(0.3, 512 * MEGABYTE), (LATE, "one"), (RUN, "other"))
    assert "longer than 0.3 seconds" in late["error"]["message"]
    assert fine["errors"] == []


def test_memory_has_a_limit() -> None:
    pytest.importorskip("resource", reason="this system bounds no process's memory")
    large, fine = asked(Budget(20, 200 * MEGABYTE), (LARGE, ""), (RUN, ""))
    assert "memory" in large["error"]["message"] or "used up" in large["error"]["message"]
    assert fine["errors"] == []


def test_a_newer_request_of_the_same_tab_ends_the_older() -> None:
    old, new = asked(Budget(20, 512 * MEGABYTE), (LATE, "tab"), (RUN, "tab"))
    assert old == REPLACED and new["errors"] == []
