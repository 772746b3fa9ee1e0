"""`rasp diff`: exit codes, options, and a bar for those who wait."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rasp.apps.cli import main

PROGRAMS = """
reverse = aggregate(select(indices, length - 1 - indices, ==), tokens);
turned = aggregate(select(length - 1 - indices, indices, ==), tokens);
same = select(tokens, tokens, ==);
hist = selector_width(same);
hist_bos = selector_width(same, assume_bos=True);
halves = indices / 2;
fifths = indices / 5;
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "demo.rasp"
    path.write_text(PROGRAMS, encoding="utf-8")
    return str(path)


def diff(program: str, one: str, other: str, *options: str) -> int:
    return main(["diff", program, one, program, other, *options])


@pytest.mark.parametrize(
    ("one", "other", "options", "code"),
    [
        ("reverse", "reverse", [], 0),
        ("reverse", "turned", [], 3),
        ("reverse", "turned", ["--random", "0"], 0),
        ("hist", "hist_bos", [], 1),
        ("hist", "hist_bos", ["--bos", "§"], 3),
        ("halves", "fifths", ["--max-length", "1", "--random", "0"], 0),
        ("halves", "fifths", [], 1),
        ("hist", "same", [], 2),
        ("hist", "nothing", [], 2),
        ("hist", "hist_bos", ["--max-length", "40"], 2),
    ],
)
def test_the_exit_code_is_the_verdict(
    program: str, one: str, other: str, options: list[str], code: int
) -> None:
    assert diff(program, one, other, *options) == code


def test_json_says_everything(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    def record(*arguments: str) -> dict[str, Any]:
        diff(program, *arguments, "--json")
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    same = record("reverse", "turned", "--alphabet", "ab", "--max-length", "4", "--random", "7")
    assert same["same"] is True and same["verdict"] == "tested"
    assert (same["alphabet"], same["all_up_to"], same["tested"]) == (["a", "b"], 4, 30)
    assert same["at_random"] == 7
    assert same["any_alphabet"] is False
    different = record("hist", "hist_bos")
    assert different["difference"] == {
        "input": "a", "first": [1], "second": [0], "shortest": True,
    }  # fmt: skip
    numbers = record("hist", "hist_bos", "--alphabet", "[1, 2]")
    assert numbers["difference"]["input"] == [1]


def test_a_missing_file_is_an_error_with_a_hint(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", program, "hist", "no_such_file.rasp", "hist"]) == 2
    assert "hint:" in capsys.readouterr().err


def test_a_terminal_gets_a_bar_and_loses_it_again(program: str) -> None:
    ours, theirs = pty.openpty()
    code = (
        "import rasp.apps.cli.diff as diff; diff.PATIENCE = 0\n"
        "import sys; from rasp.apps.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = ["diff", program, "reverse", program, "turned", "--max-length", "5"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command], stdout=subprocess.PIPE, stderr=theirs, check=False
    )
    os.close(theirs)
    drawn = os.read(ours, 100_000).decode()
    os.close(ours)
    assert re.search("[█·]{30}", drawn)
    assert "inputs" in drawn
    assert drawn.endswith("\r\x1b[K")
    assert "█" not in done.stdout.decode()
