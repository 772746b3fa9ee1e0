"""What random programs have found in the parser, the printer and the grammar stays fixed."""

from __future__ import annotations

import lark
import pytest

from rasp.base.errors import RaspSyntaxError
from rasp.base.source import Source
from rasp.language.syntax import parse, print_program
from rasp.language.syntax.tree import Command, Evaluate, ListDisplay
from repository import ROOT

from .test_round_trip import without_brackets

LONG = f"aggregate({'a' * 50}, {'b' * 50})"


@pytest.mark.parametrize("after", ["(0);", "[0];", "-0;", "+ 0;"])
def test_a_command_ends_with_its_line(after: str) -> None:
    command, evaluated = parse(Source("it", f'set example "ab"\n{after}'))
    assert isinstance(command, Command)
    assert isinstance(evaluated, Evaluate)


def test_a_command_goes_on_where_a_bracket_is_open() -> None:
    command, _ = parse(Source("it", 'set example ["a",\n  "b"]\n0;'))
    assert isinstance(command, Command)
    assert isinstance(command.argument, ListDisplay)


def test_a_command_with_half_a_value_is_refused() -> None:
    with pytest.raises(RaspSyntaxError):
        parse(Source("it", "set example 1 +\nx = 2;"))


@pytest.mark.parametrize(
    "value",
    [
        f"{LONG} + (x if 0 else y)",
        f"(x if 0 else y) <= {LONG}",
        f"{LONG} - (x - y)",
        f"({LONG} ^ 2) ^ 3",
        f"({LONG} + 2) * 3",
        f"(f + g)({LONG})",
    ],
)
def test_a_long_line_that_is_broken_keeps_the_brackets_it_needs(value: str) -> None:
    bare = without_brackets(parse(Source("it", f"x = {value};")))
    text = print_program(bare)
    assert text.count("\n") > 1
    assert without_brackets(parse(Source("again", text))) == bare


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["x, x;", "x, y + 1;", "a, b = 1, 2;", "a # so\n, b = f(x=1);", "def f(a) { return a, a; }"],
)
def test_names_with_commas_are_values_unless_an_equals_sign_follows(text: str) -> None:
    grammar = (ROOT / "src/rasp/language/syntax/grammar.lark").read_text(encoding="utf-8")
    assert parse(Source("it", text))
    lark.Lark(grammar, parser="lalr", lexer="contextual").parse(text)
