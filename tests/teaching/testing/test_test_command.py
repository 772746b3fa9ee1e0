"""`rasp test`: `#>` lines that hold, those that do not, and those that belong to nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rasp.apps.cli import main
from rasp.base.source import Source
from rasp.teaching.testing import check_program

ROOT = Path(__file__).parents[3]
HIST = 'hist = histf(tokens);\nhist("aab"); #> [2, 2, 1]\n#> heads per layer: hist 2\n'


def call(capsys: Any, *words: object) -> tuple[int, str]:
    code = main(["test", *map(str, words)])
    return code, capsys.readouterr().out


def test_lines_that_hold_are_counted(capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "hist.rasp").write_text(HIST)
    (tmp_path / "bare.rasp").write_text("x = (;")  # no promises: not found in a folder
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "page.md").write_text("```rasp\n# hist.rasp\n" + HIST + "```\n")
    assert call(capsys, tmp_path) == (0, "2 files: 4 lines right, 0 wrong\n")


def test_a_wrong_line_shows_both_values_and_where_they_part(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "hist.rasp"
    path.write_text(HIST.replace("2, 1]", "2, 3]").replace("hist 2\n", "hist 1 1\n"))
    code, out = call(capsys, path)
    assert code == 1
    assert out == (
        f'{path}:2:1: hist("aab")\n'
        "  expected: [2, 2, 3]\n"
        "  got:      [2, 2, 1]\n"
        "                   ^\n\n"
        f"{path}:3:1: heads per layer: hist\n"
        "  expected: 1 1\n"
        "  got:      2\n"
        "            ^\n\n"
        "1 file: 0 lines right, 2 wrong\n"
    )
    code, out = call(capsys, path, "--json")
    record = json.loads(out)
    assert code == 1 and record["held"] == 0
    assert record["failures"][0]["got"] == "[2, 2, 1]" and record["failures"][1]["line"] == 3


@pytest.mark.parametrize(
    "text",
    [
        'tokens("ab");\n#> ["a", "b"]\n',
        'select(tokens, tokens, ==)("ab");\n#> [[True, False],\n#> [False, True]]\n',
        'length("abc"); #> [3]*3\nlength("abc"); #> [3, 3, 3]\n',
        'x = [1, 2]; #> [1, 2]\n"a # b"; #> "a # b"\n',
    ],
)
def test_values_are_compared_however_they_are_written(text: str) -> None:
    report = check_program(Source("demo", text))
    assert report.held and not report.failures


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = tokens; #> 3", "this has no value to compare with `#> 3`"),
        ("for i in [1] {\n i; #> 1\n}", "`#> 1` is after nothing that has a value"),
        ("#> [1]\nx = 1;", "`#> [1]` is after nothing that has a value"),
        ("1 / 0; #> 1", "division by zero"),
        ("#> heads per layer: nothing 1", "`nothing` is not defined"),
        ("x = 3;\n#> heads per layer: x 1", "which has no heads"),
        ("x = tokens;\n#> heads per layer: x 1", "expected: 1\n  got:      no heads"),
        ("1 + ; #> 1", "expected"),
        ("2 * 1.5; #> 4", "demo:1:1: 2 * 1.5"),
    ],
)
def test_no_line_is_passed_over(text: str, said: str) -> None:
    report = check_program(Source("demo", text))
    assert not report.held
    assert any(said in str(failure) for failure in report.failures)


def test_files_that_cannot_be_read_are_failures_and_no_files_an_error(
    capsys: Any, tmp_path: Path
) -> None:
    good = tmp_path / "hist.rasp"
    good.write_text(HIST)
    code, out = call(capsys, tmp_path / "missing.rasp", good)
    assert code == 1 and "cannot be read" in out and "2 files: 2 lines right, 1 wrong" in out
    good.unlink()
    assert main(["test", str(tmp_path)]) == 2
    assert "there is nothing to test" in capsys.readouterr().err


def test_a_page_with_a_mistake_that_is_none(capsys: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```rasp\n# mistaken.rasp\nx = 1;\n```\n\n```rasp\n1; #> 2\n```\n")
    code, out = call(capsys, page)
    assert code == 1 and f"{page}:1: there is no mistake here" in out and f"{page}:7:1" in out


def test_readme_and_the_docs_hold(capsys: Any) -> None:
    code, out = call(capsys, ROOT / "README.md", ROOT / "docs")
    assert code == 0, out
