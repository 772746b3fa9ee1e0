"""Help inside the page: every line of the cheat sheet runs, and an applied hint helps."""

from pathlib import Path

import pytest

from rasp.apps.playground.cheat_sheet import SHEET
from rasp.apps.playground.page_answers import answer
from rasp.apps.playground.requests import run_text

ERRORS = sorted((Path(__file__).parents[2] / "errors").glob("*.rasp"))
LINES = [code for _, _, _, lines in SHEET for code, _ in lines]


def test_every_line_of_the_cheat_sheet_runs() -> None:
    ran = run_text("\n".join(LINES))
    assert ran.errors == []
    assert [page for _, page, _, _ in SHEET if not page.endswith(".html")] == []


@pytest.mark.parametrize(
    ("program", "fixed"),
    [
        ("x = indices", "x = indices;"),
        ("x = indicse + 1;", "x = indices + 1;"),
        ("x = (indices + 1;", "x = (indices + 1);"),
        ("é = '😀'; x = tokenz;", "é = '😀'; x = tokens;"),
        ("x = indices ** 2;", "x = indices ^ 2;"),
    ],
)
def test_a_hint_is_applied(program: str, fixed: str) -> None:
    [error] = answer({"kind": "run", "program": program, "example": "ab"})["errors"]
    units = program.encode("utf-16-le")
    start, end = (2 * error["fix"][side] for side in ("start", "end"))
    changed = units[:start] + error["fix"]["text"].encode("utf-16-le") + units[end:]
    assert changed.decode("utf-16-le") == fixed


@pytest.mark.slow
def test_an_applied_hint_never_adds_a_mistake() -> None:
    applied = 0
    for path in ERRORS:
        text = path.read_text(encoding="utf-8")
        told = answer({"kind": "run", "program": text, "example": "ab"})
        for error in told.get("errors", []):
            if error["fix"]:
                units, fix = text.encode("utf-16-le"), error["fix"]
                words = fix["text"].encode("utf-16-le")
                changed = units[: 2 * fix["start"]] + words + units[2 * fix["end"] :]
                after = answer({"kind": "run", "program": changed.decode("utf-16-le"),
                                "example": "ab"})  # fmt: skip
                syntax = [each for each in after["errors"] if each["kind"] == "syntax"]
                before = [each for each in told["errors"] if each["kind"] == "syntax"]
                assert len(syntax) <= len(before), path.name
                applied += 1
    assert applied > 5
