"""Standard input as it comes: nothing waits for more, nothing is lost, progress is told."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from rasp.apps.cli.streams import LinesProgress, waiting

PROGRAM = "hist = histf(tokens); less = tokens_int - 1; inverse = 1 / less;"


def test_items_are_given_while_the_producer_waits() -> None:
    more = Event()

    def items() -> Iterator[int]:
        yield 1
        more.wait(10)
        yield from range(2, 5000)

    chunks = waiting(items())
    assert next(chunks) == [1]
    more.set()
    assert [item for chunk in chunks for item in chunk] == list(range(2, 5000))


def test_an_error_comes_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield from (1, 2)
        raise ValueError("no third")

    found: list[int] = []
    with pytest.raises(ValueError, match="no third"):
        found.extend(item for chunk in waiting(items()) for item in chunk)
    assert found == [1, 2]


def test_the_progress_line_says_how_many_and_how_far(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LinesProgress(io.StringIO())
    progress.total = 200
    list(progress.counting(["x" * 50] * 2))
    for _ in range(3):
        progress.advance()
    assert "50% 3 inputs" in progress.text(progress.began + 1)
    assert "3 a second" in progress.text(progress.began + 1)
    assert capsys.readouterr().err == ""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.rasp"
    path.write_text(PROGRAM)
    return path


def rasp_eval(program: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rasp", "eval", str(program), *words],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def test_json_lines_in_json_lines_out(program: Path) -> None:
    done = rasp_eval(program, "hist", "--json", given='"aab"\n[1, 2]\n' * 500)
    assert done.stdout == "[2, 2, 1]\n[1, 1]\n" * 500


def test_several_names_share_a_line(program: Path) -> None:
    done = rasp_eval(program, "hist,less", "--json", given="22\n")
    assert done.stdout == '{"hist": [2, 2], "less": [1, 1]}\n'


def test_answers_before_and_after_a_failing_line_are_given(program: Path) -> None:
    done = rasp_eval(program, "inverse", "--json", given="2\n3\n1\n5\n")
    assert done.returncode == 1
    first, second, failed, last = done.stdout.splitlines()
    assert [first, second, last] == ["[1.0]", "[0.5]", "[0.25]"]
    assert '"line": 3' in failed and "division by zero" in failed


def test_a_plan_needs_no_input(program: Path) -> None:
    done = rasp_eval(program, "hist", "--explain-plan")
    assert "groups          tokens == tokens" in done.stdout
