"""docs/playground.md is true: its snippet runs, and what it counts is counted."""

import re
from pathlib import Path

import pytest

from rasp.apps.cli import COMMANDS
from rasp.apps.playground.budgets import LONG, QUICK
from rasp.apps.playground.exercises import EXERCISES

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parents[3] / "docs" / "playground.md").read_text(encoding="utf-8")


def test_the_snippet_runs() -> None:
    [snippet] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    exec(compile(snippet, "docs/playground.md", "exec"), {})


def test_what_is_counted_is_so() -> None:
    assert "play" in COMMANDS
    assert len(EXERCISES) == 12 and "twelve exercises" in TEXT
    assert (QUICK.seconds, LONG.seconds) == (2, 20)
    assert "after two seconds (twenty for" in TEXT
