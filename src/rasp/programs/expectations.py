"""A program text in, what it says of itself out: its summary and its `#>` lines.

    # Reverse the input.
    reverse("abc"); #> ["c", "b", "a"]
    #> heads per layer: reverse 1 1

A `#>` comment after an expression is the value it should have; on a line of its own it states
the heads in each layer of an s-op (none, where it takes no attention at all).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rasp.atoms import display
from rasp.errors import RaspValueError
from rasp.frontend.handles import plain_lists
from rasp.frontend.session import Session
from rasp.graph import Node
from rasp.source import Source
from rasp.syntax import parse
from rasp.syntax.tree import Call, Evaluate, Remark, Statement

MARK = "#>"
HEADS = "heads per layer:"


@dataclass(frozen=True)
class Expectations:
    """What a program's file says of it."""

    source: Source
    statements: tuple[Statement, ...]

    @property
    def summary(self) -> str:
        """The first line of the file: what the program computes."""
        return self.source.text.partition("\n")[0].lstrip("# ")

    @cached_property
    def heads(self) -> dict[str, tuple[int, ...]]:
        """The heads in each layer that the file states, for each s-op it states them of."""
        stated: dict[str, tuple[int, ...]] = {}
        for statement in self.statements:
            if isinstance(statement, Remark) and statement.text.startswith(MARK):
                text = statement.text.removeprefix(MARK).strip()
                name, *counts = text.removeprefix(HEADS).split()
                stated[name] = tuple(map(int, counts))
        return stated

    @cached_property
    def answers(self) -> tuple[Evaluate, ...]:
        """The expressions whose value the file states."""
        return tuple(
            statement
            for statement in self.statements
            if isinstance(statement, Evaluate) and (statement.trailing or "").startswith(MARK)
        )

    @cached_property
    def example(self) -> str | list[Any]:
        """The input of the first application whose value the file states."""
        for answer in self.answers:
            call = answer.expression
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
    return Expectations(source, parse(source))


def failed_answers(expectations: Expectations) -> list[str]:
    """Run a program and say, for each value that is not as its file states, what it is.

    >>> text = 'reverse = tokens; reverse("ab"); #> ["b", "a"]'
    >>> failed_answers(read_expectations(Source("demo", text)))
    ['demo:1:19: `reverse("ab")` is ["a", "b"], not ["b", "a"]']
    """
    session, stating = Session(), Session()
    failed: list[str] = []
    for statement in expectations.statements:
        got = session.execute(statement).value
        if statement in expectations.answers and statement.trailing:
            stated = statement.trailing.removeprefix(MARK).strip()
            wanted = stating.run(Source("expected", stated + ";"))[0].value
            if _written(got) != _written(wanted):
                where, what = statement.span, statement.span.text.partition(";")[0]
                failed.append(f"{where}: `{what}` is {_written(got)}, not {_written(wanted)}")
    return failed


def _written(value: Any) -> str:
    """Write a value as the prompt does: 1 and 1.0 are one number, 1 and True are not."""
    if isinstance(value, list):
        return f"[{', '.join(_written(item) for item in value)}]"
    return repr(value) if isinstance(value, Node) or value is None else display(value)
