"""docs/programs.md is true: its snippets give what it shows, and its tables list the gallery."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from rasp.apps.cli import main
from rasp.teaching.gallery import entries, families, names, source
from repository import script

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parents[3] / "docs" / "programs.md").read_text(encoding="utf-8")
[CONSOLE] = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"^\$ rasp (.*)\n((?:(?!\$ ).*\n)*)", CONSOLE, re.MULTILINE)


def test_the_table_lists_every_program_with_its_heads_and_dialects() -> None:
    rows = [line for line in script("generated_pages").gallery().splitlines() if "| `" in line]
    assert [re.findall(r"`(\w+)`", row)[0] for row in rows] == [
        entry.name for members in families().values() for entry in members
    ]
    (reverse,) = (row for row in rows if row.startswith("| `reverse`"))
    assert reverse == "| `reverse` | 1 1 |  | Reverse the input. |"
    assert f"comes with {len(names())} programs" in TEXT


def test_every_program_the_page_names_is_there() -> None:
    ideas = TEXT.partition("## How programs")[2].partition("## What the paper")[0]
    shown = re.findall(r"`(\w+)`", "".join(re.findall(r"\| ([^|]*) \|\n", ideas)))
    assert len(shown) > 30
    assert set(shown) <= set(names())


def test_the_file_it_shows_is_the_file() -> None:
    assert f"```\n{source('reverse')}```" in TEXT


def test_the_python_it_shows_runs() -> None:
    found = doctest.DocTestParser().get_doctest(TEXT, {}, "programs.md", "programs.md", 0)
    assert len(found.examples) >= 8
    assert doctest.DocTestRunner(verbose=False).run(found).failed == 0


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[each[0] for each in COMMANDS])
def test_a_command_prints_what_the_page_shows(
    command: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command, comments=True)
    assert main([word.replace("1000", "10") for word in words]) == 0
    assert shown in capsys.readouterr().out


def test_the_page_counts_what_is_there() -> None:
    assert len(COMMANDS) == 5
    assert len(entries()) == len(names())
