"""The command line as a person or a script uses it."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import Terminal, call
from rasp.apps.cli import COMMANDS, CommandParser, main
from rasp.apps.cli import compile as compile_command
from rasp.apps.cli.prose import in_flags
from repository import ROOT

PROGRAM = """\
# how often each token occurs
hist = selector_width(select(tokens, tokens, ==));
same = select(tokens, tokens, ==);
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "hist.rasp"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (["--causal"], "or compile without `--causal`"),
    ],
)  # fmt: skip
def test_hints_speak_of_flags(capsys: Any, program: Path, flags: list[str], hint: str) -> None:
    options = ["--alphabet", "ab", "--max-length", "3", *flags]
    code, _, told = call(capsys, "compile", program, "hist", *options)
    assert code == 2 and told.endswith(f"{hint}\n")
    code, out, _ = call(capsys, "compile", program, "hist", *options, "--json")
    assert json.loads(out)["errors"][0]["hint"].endswith(hint)


def test_options_become_flags_that_there_are() -> None:
    parser = CommandParser(prog="rasp compile", description="")
    compile_command.configure(parser)
    for words in ('`heads="split"`', '`style="compact"`', "`extra_feed_forwards=2`",
                  "with `causal=True`", "with `causal=False`", "with `sink=True`"):  # fmt: skip
        flag = in_flags(words).partition("`")[2].rstrip("`").split()[0]
        assert flag in parser.format_help()
    assert in_flags("`assume_bos=True`, `x = 1`") == "`assume_bos=True`, `x = 1`"


def test_run_prints_what_the_repl_would(capsys: Any, program: Path) -> None:
    code, out, _ = call(capsys, "run", program)
    assert code == 0
    assert 'hist("hello") = [1, 1, 2, 2, 1]' in out
    assert "selector: same" in out


def test_eval_takes_text_and_lists(capsys: Any, program: Path) -> None:
    code, out, _ = call(capsys, "eval", program, "hist", "aab", '["x", "yy", "x"]')
    assert code == 0
    assert out.splitlines() == [
        'hist("aab") = [2, 2, 1]',
        'hist(["x", "yy", "x"]) = [2, 1, 2]',
    ]


def test_eval_can_take_a_bracket_as_text(capsys: Any, program: Path) -> None:
    _, out, _ = call(capsys, "eval", program, "hist", "--text", "--json", "[1]")
    assert json.loads(out) == [1, 1, 1]


def test_eval_can_take_lines_of_brackets_as_text(
    capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('[1, 1]\n[](\n"\n'))
    _, out, _ = call(capsys, "eval", program, "hist", "--text", "--json")
    assert [json.loads(line) for line in out.splitlines()] == [[1, 2, 1, 1, 2, 1], [1, 1, 1], [1]]


@pytest.mark.parametrize("brackets", ["[]", "[[]]", '["a", {}]', "[null]"])
@pytest.mark.parametrize("as_word", [True, False])
def test_brackets_that_are_no_list_of_tokens_are_refused(
    capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch, brackets: str, as_word: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(brackets))
    code, out, error = call(capsys, "eval", program, "hist", *([brackets] if as_word else []))
    assert code == 1 and not out
    assert f"`{brackets}` is not a list of tokens" in error and "--text" in error


def test_eval_in_json_is_json(capsys: Any, program: Path) -> None:
    code, out, _ = call(capsys, "eval", program, "same", "ab", "--json")
    assert code == 0
    assert json.loads(out) == [[True, False], [False, True]]


def test_eval_reads_inputs_a_line_each(
    capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('aa\n["b", "c"]\n\n"dd"\n'))
    code, out, _ = call(capsys, "eval", program, "hist", "--json")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [[2, 2], [1, 1], [2, 2]]


def test_what_is_not_utf_8_is_refused_wherever_it_comes_from(
    capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(sent: bytes, *words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent), encoding="utf-8"))
        return call(capsys, *words)

    code, out, error = send("hé\n".encode() + b"\xff\n", "eval", program, "hist")
    assert (code, out) == (1, 'hist("hé") = [1, 1]\n')
    assert error == (
        "error: line 2: the input cannot be read: it is not UTF-8 text\nhint: send it as UTF-8\n"
        "1 of 2 inputs failed\n"
    )
    for code, out, error in (
        send(b"", "eval", program, "hist", os.fsdecode(b"\xff")),
        send(b"x = '\xff';", "run", "-"),
        send(b"x = '\xff';", "check", "-"),
    ):
        assert code in (1, 2) and not out and "it is not UTF-8 text" in error


def test_the_program_can_come_from_standard_input(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("double = indices * 2;"))
    _, out, _ = call(capsys, "eval", "-", "double", "abc")
    assert out == 'double("abc") = [0, 2, 4]\n'


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["eval", "{}", "histo", "aab"], "did you mean `hist`"),
        (["eval", "{}", "zzz", "aab"], "it defines `hist`, `same`"),
        (["eval", "{}", "selector_width", "aab"], "name something that can be applied"),
        (["eval", "{}", "hist", ""], "give at least one token"),
        (["eval", "{}", "hist", "-x"], "`--` goes before inputs that begin with `-`"),
        (["eval", "{}", "hist", "--jsno"], "did you mean `rasp eval … --json`?"),
        (["run", "/no/such/file.rasp"], "check the path"),
        (["evl", "x"], "did you mean `rasp eval`"),
        (["program.rasp"], "rasp run program.rasp"),
        (["frobnicate"], "`rasp --help` lists"),
    ],
)
def test_a_wrong_call_says_what_to_do(
    capsys: Any, program: Path, words: list[str], hint: str
) -> None:
    code, out, err = call(capsys, *[word.replace("{}", str(program)) for word in words])
    assert code == (1 if words[-1] == "" else 2)  # an input that fails, or a wrong call
    assert hint in err
    assert not out


def test_an_error_in_json_is_json(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "wrong.rasp"
    path.write_text("x = (1;\ny = tokens + indices;")
    code, out, err = call(capsys, "eval", path, "y", "ab", "--json")
    assert code == 2
    assert not err
    (error,) = json.loads(out)["errors"]
    assert error["kind"] == "syntax"
    assert (error["line"], error["column"]) == (1, 7)


def test_check_lists_mistakes_and_warnings(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "messy.rasp"
    path.write_text("x = lenght;\ny = x + 1;\nz = -2 ^ 2;\nlength = 3;\n")
    code, out, _ = call(capsys, "check", path)
    assert code == 1
    assert "`lenght` is not defined" in out
    assert "`x` is not defined" not in out, "what follows from a mistake is not a new one"
    assert "the 2021 REPL reads `-2 ^ 2` as `(-2) ^ 2`" in out
    assert "`length` hides the library's `length`" in out
    assert out.strip().endswith("1 mistake, 2 warnings")


def test_check_goes_on_after_a_file_that_cannot_be_read(capsys: Any, program: Path) -> None:
    code, out, error = call(capsys, "check", "/no/such", program, program.parent)
    assert code == 2
    assert out == f"{program}: no mistakes, no warnings\n"
    assert "`/no/such` cannot be read" in error


def test_a_models_folder_is_told_from_a_program(capsys: Any, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("{}")
    code, _, error = call(capsys, "arch", tmp_path, "hist")
    assert code == 2
    assert "is the folder of a compiled model, and this command reads programs" in error
    assert f"`rasp verify {tmp_path}`" in error


def test_the_gallery_says_that_nothing_mentions_a_word(capsys: Any) -> None:
    assert call(capsys, "gallery", "list", "zzz")[1].startswith("no program mentions `zzz`;")
    out = call(capsys, "gallery", "list", "zzz", "--dialect", "causal")[1]
    assert out.startswith("no program of causal mentions `zzz`;")


def test_check_finds_names_that_nothing_reads(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "unused.rasp"
    path.write_text("_spare = 1;\ndef f(x) { idle = 2; used = 3; return x + used; }\ny = f(1);\n")
    code, out, _ = call(capsys, "check", path, "--json")
    assert code == 0
    messages = [warning["message"] for warning in json.loads(out)["warnings"]]
    assert messages == ["`_spare` is never used", "`idle` is never used"]
    assert call(capsys, "check", path, "--strict")[0] == 1


def test_check_asks_for_a_return_where_the_last_name_of_a_function_is_unused(
    capsys: Any, tmp_path: Path
) -> None:
    path = tmp_path / "sort.rasp"
    path.write_text("def order(vals) { idle = 1; order = vals; }\n")
    _, out, _ = call(capsys, "check", path, "--json")
    hints = [warning["hint"] for warning in json.loads(out)["warnings"]]
    assert hints == ["remove it, or use it", "to give it to the caller, write `return order;`"]


def test_fmt_lays_out_in_place_and_keeps_the_mode(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "untidy.rasp"
    path.write_text("x=1;   y = x+1 ; # why\n")
    path.chmod(0o640)
    assert call(capsys, "fmt", path, "--check")[0] == 1
    assert call(capsys, "fmt", path)[0] == 0
    assert path.read_text() == "x = 1;\ny = x + 1; # why\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert call(capsys, "fmt", path, "--check")[0] == 0
    assert [each.name for each in tmp_path.iterdir()] == ["untidy.rasp"]


@pytest.mark.parametrize(
    ("text", "formatted"),
    [
        ("a;      #> 1\nbcd;    #> 2\n", "a;      #> 1\nbcd;    #> 2\n"),
        ("a=1;    # one\n\nb;\nc = 2;  # two\n", "a = 1;  # one\n\nb;\nc = 2;  # two\n"),
        ("a=1+1+1;  #> 1\nb;        #> 2\n", "a = 1 + 1 + 1; #> 1\nb;             #> 2\n"),
        ("a=1; # one\nb=2;      # two\n", "a = 1; # one\nb = 2;    # two\n"),
        ("a = 1; # one\r\nb=2;\r\n", "a = 1; # one\r\nb = 2;\r\n"),
        ("\ufeffa=1;\n", "\ufeffa = 1;\n"),
        ("for i in [1] {\n    a = i;   # in\n}\nb;   # out\n",
         "for i in [1] {\n    a = i;   # in\n}\nb;   # out\n"),
    ],
)  # fmt: skip
def test_fmt_keeps_columns_of_comments_and_the_ends_of_lines(
    capsys: Any, tmp_path: Path, text: str, formatted: str
) -> None:
    path = tmp_path / "program.rasp"
    path.write_bytes(text.encode())
    assert call(capsys, "fmt", path)[0] == 0
    assert path.read_bytes() == formatted.encode()
    assert call(capsys, "fmt", "--check", path)[0] == 0


def test_fmt_changes_nothing_in_the_programs_of_the_readme(capsys: Any, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```rasp\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    assert any("#>" in program for program in programs)
    for program in programs:
        path = tmp_path / "readme.rasp"
        path.write_text(program, encoding="utf-8")
        assert call(capsys, "fmt", "--check", path)[0] == 0, program


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_fmt_keeps_owner_group_and_mode(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "theirs.rasp"
    path.write_text("x=1;")
    path.chmod(0o604)
    os.chown(path, 1234, 2345)
    assert call(capsys, "fmt", path)[0] == 0
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o604)


def test_fmt_leaves_a_wrong_program_alone(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "wrong.rasp"
    path.write_text("x = (;")
    assert call(capsys, "fmt", path)[0] == 2
    assert path.read_text() == "x = (;"


def test_help_names_every_command(capsys: Any) -> None:
    code, out, _ = call(capsys, "--help")
    assert code == 0
    assert all(f"rasp {name}" in out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(capsys: Any, name: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: rasp {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("dyck2", "did you mean `rasp gallery show dyck2`?"),
        ("shwo", "did you mean `rasp gallery show`?"),
        ("something", "`rasp gallery` lists the programs"),
    ],
)
def test_the_gallery_says_what_was_meant(capsys: Any, word: str, meant: str) -> None:
    code, _, error = call(capsys, "gallery", word)
    assert code == 2
    assert meant in error


@pytest.mark.parametrize("command", COMMANDS)
def test_words_that_a_command_does_not_take_are_said_like_every_error(
    capsys: Any, command: str
) -> None:
    code, out, error = call(capsys, command, "--nonesuch")
    assert code == 2 and not out
    said, hint = error.strip().splitlines()
    assert said.startswith("error: ") and hint.startswith("hint: ") and f"rasp {command}" in hint


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_described_in_a_sentence(capsys: Any, command: str) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    described = capsys.readouterr().out.partition("\n\n")[2].partition("\n\n")[0]
    assert described[0].isupper() and described[-1] in ".?" and described[-2].isalpha()


def test_an_input_may_begin_with_a_dash(capsys: Any, program: Path) -> None:
    assert call(capsys, "eval", program, "hist", "--", "-x-")[1] == 'hist("-x-") = [2, 1, 2]\n'


def test_eval_without_an_input_says_on_a_terminal_that_it_waits(
    capsys: Any, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("aab\n"))
    code, out, error = call(capsys, "eval", program, "hist")
    assert code == 0
    assert out == 'hist("aab") = [2, 2, 1]\n'
    assert "type one a line" in error


def test_what_load_may_read_is_up_to_whoever_runs_the_program(
    capsys: Any, tmp_path: Path, program: Path
) -> None:
    (tmp_path / "student").mkdir()
    student = tmp_path / "student" / "own.rasp"
    student.write_text('load "../hist";')
    for words in (["run", student], ["eval", student, "hist", "ab"], ["arch", student, "hist"],
                  ["diff", program, "hist", student, "hist"]):  # fmt: skip
        code, out, error = call(capsys, *words)
        assert code == 2 and not out and "outside the program's folder" in error
        code, _, error = call(capsys, *words, "--no-load", "--load-from", tmp_path)
        assert code == 2 and "`load` is switched off here" in error
        code, _, error = call(capsys, *words, "--load-from", tmp_path)
        assert code == (2 if words[0] == "diff" else 0), error
    assert "cannot be loaded" in error
    beside = tmp_path / "beside.rasp"
    beside.write_text('load "hist";')
    code, out, error = call(capsys, "diff", beside, "hist", program, "hist")
    assert code == 2 and not out and "the program that this one is compared with" in error


def test_the_prompt_keeps_to_what_load_may_read(
    capsys: Any, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for options, said in (
        ([], "outside the program's folder"),
        (["--no-load"], "`load` is switched off here"),
        (["--load-from", str(tmp_path)], 'hist("hello") = [1, 1, 2, 2, 1]'),
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO('load "../hist";\nhist;\n'))
        main(options)
        captured = capsys.readouterr()
        assert said in captured.out + captured.err
