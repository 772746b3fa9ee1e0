"""What a script or a person in a hurry types: expressions, the gallery, folders, standard input."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import call
from rasp.apps.cli import COMMANDS
from rasp.apps.repl import talk

HIST = "hist = selector_width(select(tokens, tokens, ==));\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "hist.rasp"
    path.write_text(HIST)
    return path


@pytest.mark.parametrize(("expression", "told"), [
    ("histf(tokens)", 'histf(tokens)("hello") = [1, 1, 2, 2, 1]'),
    ("x = histf(tokens); x + 1", '(x + 1)("hello") = [2, 2, 3, 3, 2]'),
    ("x = indices;", 'x("hello") = [0, 1, 2, 3, 4]'),
    ('load "gallery:reverse"; reverse', 'reverse("hello") = ["o", "l", "l", "e", "h"]'),
])  # fmt: skip
def test_an_expression_is_applied(capsys: Any, expression: str, told: str) -> None:
    assert call(capsys, "eval", "-e", expression, "hello") == (0, f"{told}\n", "")


def test_all_words_beside_an_expression_are_inputs(capsys: Any) -> None:
    _, out, _ = call(capsys, "eval", "--json", "ab", "-e", "length", "abc", "a")
    assert [json.loads(line) for line in out.splitlines()] == [[2] * 2, [3] * 3, [1]]


@pytest.mark.parametrize(("expression", "told"), [
    ("3", "`3` is the int 3, not an s-op"), ("", "`` is not a program"),
    ("histf(", "expected"), ("nothing", "`nothing` is not defined"),
])  # fmt: skip
def test_what_is_no_s_op_is_refused(capsys: Any, expression: str, told: str) -> None:
    code, out, error = call(capsys, "eval", "-e", expression, "hello")
    assert code == 2 and not out and told in error and "hint:" in error


def test_a_program_without_a_name_is_asked_for_one(capsys: Any, program: Path) -> None:
    for words in ([], [program]):
        code, _, error = call(capsys, "eval", *words)
        assert code == 2 and "rasp eval -e" in error


@pytest.mark.parametrize("command", [
    "run gallery:hist", "eval gallery:hist hist ab", "arch gallery:hist hist",
    "fit gallery:hist hist --layers 2", "dialect gallery:hist hist", "check gallery:hist",
    "draw gallery:hist hist ab", "fmt --check gallery:hist", "test gallery:hist",
    "diff gallery:hist hist gallery:hist hist", "generate gallery:hist hist ab --most 1",
])  # fmt: skip
def test_the_gallery_is_named_wherever_a_file_is(capsys: Any, command: str) -> None:
    code, out, error = call(capsys, *command.split())
    assert code == 0, out + error


def test_the_prompt_loads_from_the_gallery(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('load "gallery:reverse"\nreverse("ab")\n'))
    assert talk(file="gallery:hist") == 0
    out = capsys.readouterr().out
    assert "from gallery:hist" in out and '["b", "a"]' in out


def test_a_program_that_the_gallery_lacks_is_told_by_name(capsys: Any) -> None:
    code, _, error = call(capsys, "run", "gallery:revers")
    assert code == 2 and "did you mean `reverse`?" in error


def test_load_is_off_for_the_gallery_too(capsys: Any) -> None:
    code, _, error = call(capsys, "eval", "--no-load", "-e", 'load "gallery:hist"; hist', "a")
    assert code == 2 and "switched off" in error


@pytest.mark.parametrize("words", ["eval - hist", "eval - hist -", "eval - hist ab -",
                                   "generate - hist", "diff - a - b"])  # fmt: skip
def test_standard_input_cannot_be_read_twice(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(HIST))
    code, out, error = call(capsys, *words.split())
    assert code == 2 and not out
    assert "cannot both come from standard input" in error


def test_an_input_that_fails_is_told_and_the_others_are_answered(
    capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, error = call(capsys, "eval", program, "hist", "aa", "[", "b")
    assert code == 1
    assert out.splitlines() == ['hist("aa") = [2, 2]', 'hist("b") = [1]']
    assert error.startswith("error: input 2: `[` begins like a list")
    code, out, _ = call(capsys, "eval", program, "hist", "aa", "[", "b", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 1 and [lines[0], lines[2]] == [[2, 2], [1]] and lines[1]["input"] == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("aa\n[\nb\n"))
    assert call(capsys, "eval", program, "hist", "--json")[0] == 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name, text in {"a": "x=1;", "b": "x=1+", "sub/c": "x=2;", ".hidden/d": "x=(;"}.items():
        (tmp_path / f"{name}.rasp").write_text(text)
    return tmp_path


def test_check_goes_through_a_folder(capsys: Any, folder: Path) -> None:
    code, out, _ = call(capsys, "check", folder, "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [Path(record["file"]).name for record in records] == ["a.rasp", "b.rasp", "c.rasp"]
    assert [len(record["errors"]) for record in records] == [0, 1, 0]


def test_fmt_goes_on_after_a_file_that_cannot_be_read(capsys: Any, folder: Path) -> None:
    code, out, error = call(capsys, "fmt", folder)
    assert code == 2 and "b.rasp:1:4" in error
    assert out.count("formatted") == 2
    texts = [(folder / name).read_text() for name in ("a.rasp", "b.rasp", "sub/c.rasp")]
    assert texts == ["x = 1;\n", "x=1+", "x = 2;\n"]


def test_fmt_shows_what_would_change(capsys: Any, folder: Path) -> None:
    path = folder / "a.rasp"
    code, out, _ = call(capsys, "fmt", "--diff", path)
    assert code == 0 and "-x=1;\n+x = 1;\n" in out
    assert path.read_text() == "x=1;"
    assert call(capsys, "fmt", "--diff", "--check", path)[0] == 1
    assert call(capsys, "fmt", "--diff", "gallery:hist") == (0, "", "")


def test_a_folder_without_programs_is_told(capsys: Any, tmp_path: Path) -> None:
    for command in ("check", "fmt"):
        code, _, error = call(capsys, command, tmp_path)
        assert code == 2 and "there is no `.rasp` file" in error


@pytest.mark.parametrize("command", COMMANDS)
def test_help_explains_a_command(capsys: Any, command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        call(capsys, "help", command)
    assert ended.value.code == 0
    assert f"usage: rasp {command}" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_every_command_and_flag(capsys: Any, shell: str) -> None:
    pytest.importorskip("shtab", reason="needs the extra `completion`")
    code, out, _ = call(capsys, "completion", shell)
    assert code == 0
    assert all(command in out for command in COMMANDS)
    assert "max-length" in out and "json" in out


def test_a_run_can_be_had_as_json(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "some.rasp"
    path.write_text(
        'hist = histf(tokens);\nhist("aab");\n1 / 2;\n[hist];\ndef f(x) { return x; }\n'
    )
    code, out, _ = call(capsys, "run", path, "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [(record["line"], record["kind"]) for record in records] == [
        (1, "s-op"), (2, "list"), (3, "float"), (4, "list"), (5, "function"),
    ]  # fmt: skip
    assert [records[1]["value"], records[2]["value"]] == [[2, 2, 1], 0.5]
    assert records[0]["names"] == ["hist"] and "hist" in records[0]["value"]
