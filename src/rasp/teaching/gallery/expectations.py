"""A program text in, what it says of itself out: its summary and its `#>` lines.

    # Reverse the input.
    reverse("abc"); #> ["c", "b", "a"]
    #> heads per layer: reverse 1 1

What the `#>` lines mean is in `rasp.teaching.testing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rasp.base.atoms import plain_lists
from rasp.base.errors import RaspValueError
from rasp.base.source import Source
from rasp.language.meaning.session import Session
from rasp.language.syntax import parse
from rasp.language.syntax.tree import Call, Evaluate, Statement
from rasp.teaching.testing.expectation_lines import (
    MARK,
    Expected,
    StatedHeads,
    StatedValue,
    expected_lines,
)


@dataclass(frozen=True)
class Expectations:
    """What a program's file says of it."""

    source: Source
    lines: tuple[Expected, ...]

    @property
    def summary(self) -> str:
        """The first line of the file: what the program computes."""
        return self.source.text.partition("\n")[0].lstrip("# ")

    @cached_property
    def heads(self) -> dict[str, tuple[int, ...]]:
        """The heads in each layer that the file states, for each s-op it states them of."""
        return {
            line.name: tuple(map(int, line.stated.split()))
            for line in self.lines
            if isinstance(line, StatedHeads)
        }

    @cached_property
    def answers(self) -> tuple[Statement, ...]:
        """The expressions whose value the file states."""
        return tuple(line.statement for line in self.lines if isinstance(line, StatedValue))

    @cached_property
    def example(self) -> str | list[Any]:
        """The input of the first application whose value the file states."""
        for answer in self.answers:
            call = answer.expression if isinstance(answer, Evaluate) else None
            if isinstance(call, Call) and len(call.arguments) == 1:
                session = Session()
                given = session.elaborator.evaluate(call.arguments[0].value, session.scope)
                return given if isinstance(given, str) else plain_lists(given)
        raise RaspValueError(
            f"`{self.source.name}` shows no example",
            hint=f'add a line such as `reverse("abc"); {MARK} ["c", "b", "a"]`',
        )


def read_expectations(source: Source) -> Expectations:
    """Read what a program's text says of it."""
    return Expectations(source, tuple(expected_lines(source, parse(source))))
