"""`rasp gallery` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rasp.apps.cli import main
from rasp.teaching.gallery import entries, source

pytestmark = pytest.mark.slow

Captured = pytest.CaptureFixture[str]


def call(capsys: Captured, *words: object) -> tuple[int, str]:
    code = main(["gallery", *map(str, words)])
    return code, capsys.readouterr().out


def test_it_lists_every_program_with_its_heads(capsys: Captured) -> None:
    code, out = call(capsys)
    assert code == 0
    for each in entries():
        heads = " ".join(map(str, each.heads_per_layer)) or "-"
        assert f"  {each.name:28}{heads:16}{each.summary}\n" in out
    assert out == call(capsys, "list")[1]


def test_a_word_narrows_the_list(capsys: Captured) -> None:
    _, out = call(capsys, "list", "dyck-2")
    assert "dyck2_pure" in out
    assert "reverse" not in out
    assert "logic and inference" not in out, "a family without a match is left out"


def test_the_list_in_json_is_json(capsys: Captured) -> None:
    _, out = call(capsys, "list", "reverse the input.", "--json")
    assert json.loads(out) == {
        "name": "reverse",
        "family": "the paper's tasks",
        "summary": "Reverse the input.",
        "example": "abc",
        "heads_per_layer": [1, 1],
        "dialects": {},
    }


def test_it_shows_a_program(capsys: Captured) -> None:
    assert call(capsys, "show", "median") == (0, source("median"))


def test_it_runs_a_program_on_its_example_or_on_inputs(capsys: Captured) -> None:
    assert call(capsys, "run", "reverse") == (0, 'reverse("abc") = ["c", "b", "a"]\n')
    _, out = call(capsys, "run", "rank", "[30, 10]", "[1]", "--json")
    assert [json.loads(line) for line in out.splitlines()] == [[1, 0], [0]]
    _, out = call(capsys, "run", "hist", "--text", "[]", "--json")
    assert json.loads(out) == [1, 1]


def test_it_draws_a_program(capsys: Captured, tmp_path: Path) -> None:
    code, out = call(capsys, "draw", "reverse")
    assert code == 0
    assert 'reverse on "abc"' in out
    picture = tmp_path / "reverse.svg"
    assert call(capsys, "draw", "reverse", "hey", "-o", picture)[0] == 0
    assert picture.read_text(encoding="utf-8").lstrip().startswith("<svg")


def test_it_checks_programs(capsys: Captured) -> None:
    code, out = call(capsys, "check", "reverse", "--count", "5")
    assert code == 0
    assert out.splitlines()[-1] == "1 programs, 0 of them wrong"


def test_a_name_that_is_not_there_says_what_to_do(capsys: Captured) -> None:
    for action in ("show", "run", "draw", "check"):
        assert main(["gallery", action, "revers"]) == 2
        assert "did you mean `reverse`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["show"], ["run"], ["draw", "hist", "a", "b"], ["list", "a", "b"]]
)
def test_too_few_or_too_many_words_say_how_to_write_it(capsys: Captured, words: list[str]) -> None:
    assert main(["gallery", *words]) == 2
    assert f"write `rasp gallery {words[0]} " in capsys.readouterr().err
