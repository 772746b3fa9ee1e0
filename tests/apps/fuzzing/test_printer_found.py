"""What fuzzing has found in the printer stays fixed."""

from __future__ import annotations

import pytest

from fuzzing.bare_trees import bare
from rasp.apps.fuzzing.trees import binary, call, literal, name, ternary
from rasp.base.source import Source
from rasp.language.syntax import parse, print_program
from rasp.language.syntax.tree import Assign

pytestmark = pytest.mark.slow

LONG = call("aggregate", name("a" * 50), name("b" * 50))


@pytest.mark.parametrize(
    "value",
    [
        binary("+", LONG, ternary(literal(0), name("x"), name("y"))),
        binary("<=", ternary(literal(0), name("x"), name("y")), LONG),
        binary("-", LONG, binary("-", name("x"), name("y"))),
        binary("^", binary("^", LONG, literal(2)), literal(3)),
        binary("*", binary("+", LONG, literal(2)), literal(3)),
        call(binary("+", name("f"), name("g")), LONG),
    ],
)
def test_a_long_line_that_is_broken_keeps_the_brackets_it_needs(value) -> None:
    statements = (Assign((name("x"),), value, span=name("x").span),)
    text = print_program(statements)
    assert text.count("\n") > 1
    assert bare(parse(Source("again", text))) == statements
