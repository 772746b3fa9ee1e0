"""`rasp generate` as a person or a script uses it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from command_line import call
from rasp.apps.cli import main

PROGRAM = """
bar = aggregate(select(tokens, "|", ==), indices);
made = length - 1 - bar;
copy = aggregate(select(indices, made, ==), tokens) if made < bar else "";
count = made if made < 2 else "";
endless = "x" if length > 0 else "";
fails = "x" if 1 / (length - 4) < 9 else "y";
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "copy.rasp"
    path.write_text(PROGRAM)
    return path


def generate(capsys: Any, *words: object) -> tuple[int, str, str]:
    return call(capsys, "generate", *words)


def test_letters_and_words_come_out_as_they_went_in(capsys: Any, program: Path) -> None:
    code, out, _ = generate(capsys, program, "copy", "abc|", '["New", "York", "|"]')
    assert (code, out) == (0, "abc\nNew York\n")
    assert generate(capsys, program, "copy", "--words", "New York |")[1] == "New York\n"


def test_json_holds_every_step(capsys: Any, program: Path) -> None:
    _, out, _ = generate(capsys, program, "count", "a|", "--json")
    assert json.loads(out) == {
        "input": ["a", "|"],
        "output": ["0", "1"],
        "ended": "stop",
        "steps": [
            {"step": 0, "value": 0, "token": "0"},
            {"step": 1, "value": 1, "token": "1"},
            {"step": 2, "value": "", "token": None},
        ],
    }


def test_lines_in_lines_out(capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('ab|\n\n["x y", "|"]\n"c|"\n'))
    _, out, _ = generate(capsys, program, "copy", "--json")
    assert [json.loads(line)["output"] for line in out.splitlines()] == [["a", "b"], ["x y"], ["c"]]


def test_what_does_not_stop_is_said_to_be_cut_off(capsys: Any, program: Path) -> None:
    code, out, err = generate(capsys, program, "endless", "a", "--most", "3")
    assert (code, out) == (0, "xxx\n")
    assert err == "the program did not stop: cut off after 3 tokens (`--most` changes that)\n"
    assert (
        json.loads(generate(capsys, program, "endless", "a", "--most", 2, "--json")[1])["ended"]
        == "most"
    )


def test_stop_and_at_are_taken(capsys: Any, program: Path) -> None:
    assert generate(capsys, program, "copy", "abc|", "--stop", "c")[1] == "ab\n"
    assert generate(capsys, program, "made", "abc|", "--at", "0", "--stop", "3")[1] == "012\n"
    code, _, err = generate(capsys, program, "copy", "abc|", "--at", "9")
    assert code == 1 and "there is no position 9" in err


def test_a_line_that_fails_is_told_and_the_others_are_answered(
    capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "abcdef\nabc\nabcdefg\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    code, out, err = generate(capsys, program, "fails", "--most", "2")
    assert (code, out) == (1, "xx\nxx\n")
    assert "line 2: division by zero" in err and "at step 1 of generating" in err
    assert "1 of 3 inputs failed" in err
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    _, out, _ = generate(capsys, program, "fails", "--most", "2", "--json")
    assert [next(iter(json.loads(line))) for line in out.splitlines()] == ["input", "line", "input"]


def test_an_input_that_is_a_word_fails_as_a_line_does(capsys: Any, program: Path) -> None:
    code, out, err = generate(capsys, program, "fails", "abc")
    assert (code, out) == (1, "x\n")
    assert "at step 1 of generating" in err


@pytest.mark.slow
def test_a_compiled_model_generates_as_its_program_does(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = program.read_text() + 'one_bar = selector_width(select(tokens, "|", ==)) == 1;'
    program.write_text(text)
    folder = str(tmp_path / "model")
    options = ["--alphabet", "ab|", "--max-length", "8", "--where", "one_bar", "-o", folder]
    assert main(["compile", str(program), "copy", *options]) == 0
    capsys.readouterr()
    for given in ("ab|", "b|", "abb|", "|"):
        assert main(["generate", str(program), "copy", given]) == 0
        expected = capsys.readouterr().out
        assert main(["generate", folder, "copy", given]) == 0
        assert capsys.readouterr().out == expected
    assert main(["generate", folder, "copy", "ab||"]) == 1
    assert "`one_bar` is true" in capsys.readouterr().err
    assert main(["generate", folder, "copy", "ab|", "--engine", "ray"]) == 2
    assert "in this process alone" in capsys.readouterr().err
    assert main(["generate", folder, "paste", "ab|"]) == 2
