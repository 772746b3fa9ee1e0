"""`rasp arch` and `rasp fit`: what they print, their JSON, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rasp.apps.cli import main

from .paper_programs import DYCK_PURE, REVERSE


@pytest.fixture
def dyck(tmp_path: Path) -> str:
    path = tmp_path / "dyck.rasp"
    path.write_text(DYCK_PURE)
    return str(path)


@pytest.fixture
def reverse(tmp_path: Path) -> str:
    path = tmp_path / "reverse.rasp"
    path.write_text(REVERSE)
    return str(path)


def test_arch_prints_the_explanation(dyck: str, capsys: pytest.CaptureFixture[str]):
    assert main(["arch", dyck, "dyck"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("dyck: 4 layers, heads per layer: 1 2 1 1\n")
    assert f"{dyck}:14" in out


def test_arch_json_has_the_same_facts(dyck: str, capsys: pytest.CaptureFixture[str]):
    assert main(["arch", dyck, "dyck", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["layers"] == 4
    assert record["heads_per_layer"] == [1, 2, 1, 1]
    assert record["exact"] is True
    assert [len(layer["heads"]) for layer in record["layer_list"]] == [1, 2, 1, 1]
    made = record["layer_list"][0]["heads"][0]["aggregates"]
    assert [each["line"] for each in made] == [7, 8]
    assert [each["line"] for each in record["chain"]] == [7, 14, 18, 21]
    assert record["front"][-1] == {"layers": 5, "heads_per_layer": [1, 1, 1, 1, 1]}
    assert record["suggestions"][0]["heads_per_layer"] == [1, 1, 1, 1]


def test_fit_answers_with_its_exit_code(dyck: str, capsys: pytest.CaptureFixture[str]):
    assert main(["fit", dyck, "dyck", "--layers", "4", "--heads", "2"]) == 0
    assert capsys.readouterr().out == "4 layers of 2 heads: yes\n  heads per layer: 1 2 1 1\n"
    assert main(["fit", dyck, "dyck", "--layers", "3"]) == 1
    assert capsys.readouterr().out.startswith("3 layers: no\n  4 layers are needed")


def test_fit_shows_both_answers(reverse: str, capsys: pytest.CaptureFixture[str]):
    assert main(["fit", reverse, "reverse", "--attention", "causal", "--alphabet", "xy"]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        '  reverse("xy") = ["y", "x"]',
        '  under the pattern it gives ["x", "x"]',
        "  (no shorter input over {x, y} shows a difference)",
    ]


def test_fit_json_has_the_counterexample(reverse: str, capsys: pytest.CaptureFixture[str]):
    words = ["fit", reverse, "reverse", "--attention", "causal", "--alphabet", "[1, 2]", "--json"]
    assert main(words) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["fits"] is False
    assert record["verdicts"][0]["counterexample"] == {
        "input": [1, 2],
        "meant": [2, 1],
        "got": [1, 1],
        "error": None,
        "is_shortest": True,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--order", "sfq"], "`sfq` has `q` in it"),
        (["--attention", "sliding:3"], "there is no attention pattern `sliding:3`"),
        ([], "No architecture is given"),
        (["--layers", "2", "--order", "sfsf"], "says itself how many layers"),
    ],
)
def test_what_cannot_be_asked_ends_with_code_2(
    reverse: str, capsys: pytest.CaptureFixture[str], options: list[str], message: str
):
    assert main(["fit", reverse, "reverse", *options]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "hint: " in err


def test_a_name_that_the_program_lacks_ends_with_code_2(
    reverse: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["arch", reverse, "revers"]) == 2
    assert "the program has no `revers`" in capsys.readouterr().err
