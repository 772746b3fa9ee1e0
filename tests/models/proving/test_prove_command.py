"""`rasp prove`, `rasp verify` and `rasp train` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rasp.apps.cli import main

PROGRAM = """
same = select(tokens, tokens, ==);
hist = selector_width(same);
often = hist if hist < 3 else 2;
no_b = tokens != "b";
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("counts.rasp").write_text(PROGRAM, encoding="utf-8")
    assert call(capsys, "compile counts.rasp hist --alphabet ab --max-length 4 -o model")[0] == 0
    return tmp_path


def call(capsys: Any, words: str, *more: str) -> tuple[int, str, str]:
    code = main([*words.split(), *more])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_proof_a_difference_and_their_exit_codes(folder: Path, capsys: Any) -> None:
    code, out, _ = call(capsys, "prove model counts.rasp hist -o proof.json --draw margins.svg")
    assert code == 0 and out.startswith("proved: ") and "(30 inputs)" in out
    assert {"proof.json", "margins.svg"} <= {path.name for path in folder.iterdir()}
    code, out, _ = call(capsys, "prove model counts.rasp often --draw there.html")
    assert code == 1 and out.startswith('different on "aaa" at positions 0, 1, 2')
    assert Path("there.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    code, _, err = call(capsys, "prove model counts.rasp same")
    assert code == 2 and "this is a selector" in err


@pytest.mark.parametrize(
    ("words", "verdict", "inputs"),
    [
        ("counts.rasp hist", "proved", 30),
        ("counts.rasp hist --up-to 2", "proved", 6),
        ("counts.rasp hist --alphabet b", "proved", 4),
        ("counts.rasp hist --where no_b", "proved", 4),
        ("counts.rasp hist --where-regex (ab)*", "proved", 2),
        ("counts.rasp hist --run", "run", 30),
        ("counts.rasp hist --samples 10 --seed 3", "tested", None),
        ("gallery:hist", "proved", 30),
        ("gallery:hist hist", "proved", 30),
        ("spec.py counted", "proved", 30),
        ("counts.rasp hist --adapter adapter.json", "different", None),
    ],
)
def test_every_way_to_ask(
    words: str, verdict: str, inputs: int | None, folder: Path, capsys: Any
) -> None:
    Path("spec.py").write_text("def counted(tokens):\n    return [tokens.count(t) for t in tokens]")
    swapped = {"tokens": "ab", "ids": [1, 0], "before": [2], "answers": [4, 3, 2, 1], "longest": 4}
    Path("adapter.json").write_text(json.dumps(swapped), encoding="utf-8")
    code, out, _ = call(capsys, f"prove model {words} --json")
    told = json.loads(out)
    assert (told["verdict"], code) == (verdict, {"different": 1, "tested": 3}.get(verdict, 0))
    assert inputs in (None, told["inputs"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("prove model", "give one program"),
        ("prove model counts.rasp", "no name was given"),
        ("prove model counts.rasp hist --regex (ab)*", "give one program"),
        ("prove nowhere counts.rasp hist", "there is no `nowhere`"),
        ("prove model counts.rasp hist --up-to 9", "at most 4 tokens"),
        ("prove model counts.rasp hist --alphabet xy", 'no token "x"'),
        ("prove model spec.py other", "has no `other`"),
        ("prove model counts.rasp hist --adapter counts.json", "does not describe an adapter"),
        ("verify model --program counts.rasp", "names no s-op"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(
    words: str, told: str, folder: Path, capsys: Any
) -> None:
    Path("spec.py").write_text("x = 1")
    Path("counts.json").write_text("{}")
    code, _, err = call(capsys, words)
    assert code == 2 and told in err and "hint: " in err


def test_verify_runs_every_input_and_compares_programs(folder: Path, capsys: Any) -> None:
    code, out, _ = call(capsys, "verify model")
    assert code == 0 and "also run on all 30 inputs, in float32" in out
    assert "the program:\n  same = select(tokens, tokens, ==);" in out
    code, out, _ = call(capsys, "verify model --most-inputs 29 --program counts.rasp:hist")
    assert code == 0 and "not run on every input: there are more than 29" in out
    assert "the two are one graph" in out
    code, out, _ = call(capsys, "verify model --program counts.rasp:often")
    assert code == 1 and 'different on "aaa"' in out
    code, out, _ = call(capsys, "verify model --json")
    assert json.loads(out)["run_everywhere"]["hist"]["verdict"] == "run"


@pytest.mark.slow
def test_a_trained_model_says_how_far_it_is_its_program(folder: Path, capsys: Any) -> None:
    pytest.importorskip("torch")
    Path("first.rasp").write_text("first = aggregate(select(indices, 0, ==), tokens);")
    code, out, _ = call(
        capsys, "train first.rasp first --alphabet ab --min-length 1 --max-length 4 --epochs 12 "
        "--width 16 --feed-forward 32 --train 2000 --run-name mine",
    )  # fmt: skip
    assert code == 0
    assert "proved: the model answers as the program does" in out or "different on" in out
    code, again, _ = call(capsys, "prove results:mine first.rasp first --json")
    told = json.loads(again)
    assert told["statement"] in out and told["up_to"] <= 4
    code, _, err = call(capsys, "prove results:yours first.rasp first")
    assert code == 2 and "no run `yours`" in err
