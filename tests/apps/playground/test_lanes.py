"""Lanes: a newer request of a tab ends the older one, and other tabs go on."""

import asyncio
from typing import Any

import pytest

from rasp.apps.playground.budgets import Budget
from rasp.apps.playground.lanes import REPLACED, Lanes
from rasp.base.limits import MEGABYTE

pytestmark = pytest.mark.slow

RUN = {"kind": "run", "program": "x = indices;", "example": "ab"}
LATE = {
    "kind": "run",
    "program": "x = 3 ^ 8000;\nfor n in range(90000) { y = x % (n + 7); }",
    "example": "ab",
}


def asked(budget: Budget, *requests: tuple[dict[str, Any], str]) -> list[dict[str, Any]]:
    """Ask everything of one worker at once; return the answers."""

    async def ask() -> list[dict[str, Any]]:
        lanes = Lanes(1, budget)
        with lanes.sandbox:
            tasks = []
            for request, tab in requests:
                tasks.append(asyncio.create_task(lanes.ask(request, f"address of {tab}", tab)))
                await asyncio.sleep(0.05)
            return await asyncio.gather(*tasks)

    return asyncio.run(ask())


def test_a_late_request_is_refused_as_the_page_shows_it() -> None:
    late, fine = asked(Budget(0.3, 512 * MEGABYTE), (LATE, "one"), (RUN, "other"))
    assert "longer than 0.3 seconds" in late["error"]["message"]
    assert late["error"]["message"] in late["error"]["text"]
    assert fine["errors"] == []


def test_a_newer_request_of_the_same_tab_ends_the_older() -> None:
    old, new = asked(Budget(20, 512 * MEGABYTE), (LATE, "tab"), (RUN, "tab"))
    assert old == REPLACED and new["errors"] == []
