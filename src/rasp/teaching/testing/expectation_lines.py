"""A program's statements in, what its `#>` lines expect of it out.

A `#>` comment after an expression, or on lines of its own below it, is the value that it should
have. On a line of its own, `#> heads per layer: NAME 2 1` states the heads in each layer of an
s-op (none, where it takes no attention at all).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rasp.base.source import Source, Span
from rasp.language.syntax.lexer import lex
from rasp.language.syntax.tree import Assign, Command, Evaluate, Remark, Statement

MARK = "#>"
HEADS = "heads per layer:"


@dataclass(frozen=True)
class StatedValue:
    """The value that a statement should have."""

    statement: Statement
    stated: str


@dataclass(frozen=True)
class StatedHeads:
    """The heads that an s-op should have in each layer."""

    name: str
    stated: str
    span: Span


@dataclass(frozen=True)
class StrayLine:
    """A `#>` comment that belongs to no value."""

    stated: str
    span: Span


Expected = StatedValue | StatedHeads | StrayLine


def expected_lines(source: Source, statements: Iterable[Statement]) -> list[Expected]:
    """Read every `#>` comment of a text, in order.

    >>> from rasp.language.syntax import parse
    >>> source = Source("demo", 'hist("aa"); #> [2, 2]')
    >>> [line.stated for line in expected_lines(source, parse(source))]
    ['[2, 2]']
    """
    expected = list(_read(statements))
    told = {_line(line) for line in expected} | {
        statement.span.line for statement in statements if isinstance(statement, Remark)
    }
    for comment in lex(source).comments:
        span = Span(source, comment.start, comment.end)
        if comment.text.startswith(MARK) and span.line not in told:
            expected.append(StrayLine(_stated(comment.text), span))
    return expected


def _read(statements: Iterable[Statement]) -> Iterator[Expected]:
    above: Statement | None = None
    below: list[str] = []
    for statement in statements:
        if isinstance(statement, Remark) and statement.text.startswith(MARK):
            text = _stated(statement.text)
            if text.startswith(HEADS):
                name, _, heads = text.removeprefix(HEADS).strip().partition(" ")
                yield StatedHeads(name, " ".join(heads.split()), statement.span)
            elif above is not None:
                below.append(text)
            else:
                yield StrayLine(text, statement.span)
            continue
        if above is not None and below:
            yield StatedValue(above, " ".join(below))
        above, below = None, []
        if isinstance(statement, (Evaluate, Assign, Command)):  # a name may be a REPL's word
            if statement.trailing and statement.trailing.startswith(MARK):
                yield StatedValue(statement, _stated(statement.trailing))
            else:
                above = statement
    if above is not None and below:
        yield StatedValue(above, " ".join(below))


def _line(expected: Expected) -> int:
    if not isinstance(expected, StatedValue):
        return expected.span.line
    span = expected.statement.span
    return span.source.text.count("\n", 0, span.end) + 1


def _stated(comment: str) -> str:
    return comment.removeprefix(MARK).strip()
