"""What fuzzing has found in the parser stays fixed."""

from __future__ import annotations

import pytest

from rasp.base.errors import RaspSyntaxError
from rasp.base.source import Source
from rasp.language.syntax import parse
from rasp.language.syntax.tree import Command, Evaluate, ListDisplay

pytestmark = pytest.mark.slow


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
