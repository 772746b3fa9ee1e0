"""One way to write a list of tokens, behind every door."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rasp
from command_line import call
from rasp.apps.cli import COMMANDS, CommandParser
from rasp.base.atoms import read_input
from rasp.base.input_text import read_alphabet, read_tokens, write_tokens

PROGRAM = "same = tokens; first = indices == 0; bad = 1 / indices;"


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "same.rasp"
    path.write_text(PROGRAM)
    return str(path)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello", "hello"),
        ("hello, world", "hello, world"),
        ("a,b", "a,b"),
        ("[1, 2]", [1, 2]),
        ("[True, 'a b']", [True, "a b"]),
        ("[true, 2.5]", [True, 2.5]),
        ('"[]"', "[]"),
        ("0..3", [0, 1, 2, 3]),
        ("-1..1", [-1, 0, 1]),
        ("x..z", ["x", "y", "z"]),
        ("x..z ", "x..z "),
        ("a..zA..Z", "a..zA..Z"),
        ("...", "..."),
        ("1..2..3", "1..2..3"),
    ],
)
def test_an_input_is_characters_a_list_or_a_range(text: str, tokens: object) -> None:
    assert read_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "alphabet"),
    [
        ("0..9", tuple(range(10))),
        ("a..d", ("a", "b", "c", "d")),
        ("a..c,x..z", ("a", "b", "c", "x", "y", "z")),
        ("one,two", ("one", "two")),
        ("a,b,c", ("a", "b", "c")),
        ("(),", ("(", ")", ",")),
        ("a..bA..B0..1_", ("a", "b", "A", "B", "0", "1", "_")),
        ("a..b ", ("a", "b", " ")),
        ("x..y.", ("x", "y", ".")),
        ('["a", "b"]', ("a", "b")),
        ("abba", ("a", "b")),
    ],
)
def test_an_alphabet_holds_each_token_once(text: str, alphabet: tuple[object, ...]) -> None:
    assert read_alphabet(text) == alphabet


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[1,2", "begins like a list but is not one", "characters that begin with `[`"),
        ("[]()", "begins like a list but is not one", 'go in quotes, as in "[]"'),
        ('"ab', "begins like a list but is not one", "go in quotes"),
        ("[[]]", "is not a list of tokens", "at least one bool, number or string"),
        (f"[{'1' * 5000}]", "a number of 5000 digits is over the limit", "smaller numbers"),
        ("[1e400]", "`1e400` is too large: a float ends at about 1.8e308", "smaller numbers"),
        ("9..0", "the range `9..0` is empty", "the smaller end first"),
        ("0..99999999999", "has more than", "write a shorter one"),
        ("a,b", "can be read in two ways", 'ab, or ["a", "b", ","] with the comma'),
        ("a..z,.", "can be read in two ways", "in a row, a..zA..Z_, or a JSON list"),
        ("a..b..c", "can be read in two ways", "in a row"),
        ("0..45..9", "can be read in two ways", "a JSON list"),
        ("a..zZ..A", "the range `Z..A` is empty", "the smaller end first"),
        ("1,2", "can be read in two ways", '[1, 2] for numbers, ["1", "2"] for words'),
        ("", "the alphabet is empty", "list every token"),
        ('[1, "a"]', "strings or numbers, not both", "a list such as [1, 2, 3]"),
    ],
)
def test_what_can_be_misread_is_refused(text: str, message: str, hint: str) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        read_alphabet(text)
    assert message in caught.value.message and hint in (caught.value.hint or "")


ATOMS = st.one_of(st.text(min_size=1, max_size=3), st.characters(categories=["P", "N", "L"]))


@given(st.one_of(st.lists(ATOMS, min_size=1), st.lists(st.integers() | st.booleans(), min_size=1)))
def test_what_is_written_reads_back(tokens: list[Any]) -> None:
    atoms = read_input(tokens)
    assert read_input(read_tokens(write_tokens(atoms))) == atoms


@given(st.text(alphabet="[]\"'0123456789.,- abTrue\\\\{}:", max_size=30))
def test_any_text_is_read_or_refused_in_our_words(text: str) -> None:
    for read in (read_tokens, read_alphabet):
        with contextlib.suppress(rasp.RaspError):
            assert len(read(text, rasp.Limits(input_length=1000))) <= 1000


def test_a_range_of_endless_numbers_is_no_range() -> None:
    assert isinstance(read_tokens("0.." + "9" * 5000), str)


def test_malformed_json_is_an_error_on_the_command_line(capsys: Any, program: str) -> None:
    code, out, error = call(capsys, "eval", program, "same", "[1,2")
    assert (code, out) == (1, "")
    assert "`[1,2` begins like a list but is not one" in error and "`--text`" in error
    assert call(capsys, "eval", program, "same", "[1,2", "--text", "--json")[1] == (
        '["[", "1", ",", "2"]\n'
    )


def test_compile_certifies_the_numbers_of_a_range(
    capsys: Any, program: str, tmp_path: Path
) -> None:
    folder = str(tmp_path / "model")
    words = ("compile", program, "same,first", "--alphabet", "0..9", "--max-length", "3",
             "-o", folder)  # fmt: skip
    assert call(capsys, *words)[0] == 0
    code, out, _ = call(capsys, "eval", folder, "same first", "[9, 0]", "7..8")
    assert code == 0
    assert out.splitlines() == [
        "same([9, 0]) = [9, 0]", "first([9, 0]) = [True, False]",
        "same([7, 8]) = [7, 8]", "first([7, 8]) = [True, False]",
    ]  # fmt: skip
    assert "not in the vocabulary" in call(capsys, "eval", folder, "same", "789")[2]
    assert "it computes `same`, `first`" in call(capsys, "eval", folder, "hist", "7..8")[2]
    assert call(capsys, "eval", folder, "same", "--explain-plan")[0] == 2


def test_python_reads_an_alphabet_as_the_command_line_does() -> None:
    model = rasp.compile(rasp.tokens, alphabet="0..3", max_length=2)
    assert model.settings.vocabulary == (0, 1, 2, 3)
    verdict = rasp.equivalent(rasp.tokens, rasp.tokens + 0, alphabet="0..1", max_length=2)
    assert verdict.inputs.alphabet == (0, 1)
    with pytest.raises(rasp.RaspTypeError, match="alphabet"):
        rasp.compile(rasp.tokens, max_length=2)


@pytest.mark.parametrize("names", [["same,first"], ["same first"], ["same", "first"]])
def test_outputs_are_named_with_commas_or_blanks(
    capsys: Any, program: str, names: list[str]
) -> None:
    assert call(capsys, "arch", program, *names)[0] == 0
    assert call(capsys, "fit", program, *names, "--layers", "1")[0] == 0
    options = ("--alphabet", "ab", "--max-length", "2")
    assert "same, first" not in call(capsys, "compile", program, *names, *options)[2]
    if len(names) == 1:
        _, out, _ = call(capsys, "eval", program, *names, "ab", "--json")
        assert json.loads(out) == {"same": ["a", "b"], "first": [True, False]}


def test_eval_goes_on_after_a_line_that_fails_and_says_which(
    capsys: Any, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "ab\n[1,2\n\n" + "cd\n" * 50 + '"ok"\n'
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    code, out, error = call(capsys, "eval", program, "same", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 1 and len(lines) == 53
    assert lines[1]["line"] == 2 and "begins like a list" in lines[1]["errors"][0]["message"]
    assert lines[0] == ["a", "b"] and lines[-1] == ["o", "k"]
    assert error == "1 of 53 inputs failed\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO("ab\ncd\n"))
    code, out, error = call(capsys, "eval", program, "bad,same")
    assert code == 1 and not out
    assert "error: line 1: division by zero" in error and "line 2: division" in error
    assert "in input" not in error


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_fits_a_terminal_and_names_every_default(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    import importlib

    monkeypatch.setenv("COLUMNS", "100")
    parser = CommandParser(f"rasp {command}", "")
    importlib.import_module(f"rasp.apps.cli.{command}").configure(parser)
    assert max(map(len, parser.format_help().splitlines())) <= 100
    for action in parser._actions:
        if action.option_strings and action.nargs != 0 and not action.required:
            told = parser._get_formatter()._get_help_string(action)  # type: ignore[attr-defined]
            assert "default:" in told, action.option_strings
