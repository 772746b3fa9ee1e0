"""Odd but legal texts are read as plain ones; trees are equal, hash and print by what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from rasp.base.errors import RaspSyntaxError
from rasp.base.source import Source
from rasp.base.spelling import closest
from rasp.language.syntax import parse, parse_with_errors, print_program
from rasp.language.syntax.parser import MOST_MISTAKES
from rasp.language.syntax.tree import Assign, Command, Evaluate, Literal, Load, Tree

TEXTS = [path.read_text() for path in (Path(__file__).parents[2] / "programs").rglob("*.rasp")]


def read(text: str) -> tuple[Tree, ...]:
    return parse(Source("demo", text))


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        ("x = 1, 2,;", "x = 1, 2;"),
        ('load "other.rasp"', 'load "other.rasp";'),
        ("for i in [] {}", "for i in [] { }"),
        ("def f() { for i in [1] {} return 2; }", "def f() {\n for i in [1] {\n}\n return 2; }"),
    ],
)
def test_odd_layouts_are_the_plain_ones(odd: str, plain: str) -> None:
    assert read(odd) == read(plain)
    assert read(print_program(read(odd))) == read(plain)


def test_a_load_is_printed_as_it_is_read() -> None:
    [load] = read('load "a \\"b\\".rasp";')
    assert isinstance(load, Load)
    assert load.path == 'a "b".rasp'
    assert read(print_program((load,))) == (load,)


def test_a_command_s_words_end_before_a_value() -> None:
    [command] = read("examples on True")
    assert isinstance(command, Command)
    assert command.words == ("examples", "on")
    [value] = read("True;")
    assert isinstance(value, Evaluate)
    assert command.argument == value.expression


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [i for i in y;", "`[`"),
        ("x = {i: 1 for i in y;", "`{`"),
        ('x = 1 "' + "long " * 20 + '";', "a string"),
        ("x = 1 " + "y" * 80 + ";", "y" * 30 + "…`"),
        ("x = (1", "the end of the program"),
    ],
)
def test_what_is_wrong_is_told_shortly(text: str, message: str) -> None:
    with pytest.raises(RaspSyntaxError) as caught:
        read(text)
    assert message in caught.value.message
    assert len(caught.value.message) < 150


def test_a_body_full_of_mistakes_is_given_up() -> None:
    _, errors = parse_with_errors(Source("demo", "def f() {" + " 1 2;" * 200 + "}"))
    assert len(errors) == MOST_MISTAKES


def test_equal_trees_have_equal_hashes_and_looks() -> None:
    for text in TEXTS:
        first, again = read(text), read("\n\n" + text)
        assert first == again
        assert list(map(hash, first)) == list(map(hash, again)), text
        assert list(map(repr, first)) == list(map(repr, again))
        assert len({*first, *again}) == len(set(first)), text


def test_trees_of_different_kinds_are_different() -> None:
    [one] = read("x = 1;")
    [true] = read("x = True;")
    assert isinstance(one, Assign) and isinstance(true, Assign)
    assert one != true
    assert one != one.value
    assert one != "x = 1;"
    assert isinstance(one.value, Literal) and isinstance(true.value, Literal)
    assert hash(one.value) == hash(true.value)  # as 1 and True have in Python
    assert repr(one.targets[0]) == "Name('x')"
    assert repr(one.value) in repr(one)


def test_no_name_is_close_to_a_very_long_one() -> None:
    assert closest("length" * 11, ["length" * 11]) is None
    assert closest("indicess", ["indices", "tokens"]) == "indices"
