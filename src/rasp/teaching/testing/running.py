"""A program with `#>` lines in, a `Report` out: how many hold, and each that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from rasp.base.atoms import describe
from rasp.base.errors import RaspError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source, Span
from rasp.base.terminal_text import visibly
from rasp.insight.schedule.schedule import schedule
from rasp.language.graph import Node
from rasp.language.meaning.loader import Loader, read_source
from rasp.language.meaning.session import Session
from rasp.language.meaning.shown_values import show_value
from rasp.language.meaning.value_kinds import BuiltIn, Function
from rasp.language.syntax import parse_with_errors
from rasp.teaching.testing.expectation_lines import (
    StatedHeads,
    StatedValue,
    StrayLine,
    expected_lines,
)

PAGE = ".md"
NO_HEADS = "no heads"
"""In the place of numbers, where an s-op needs no attention."""


@visibly
@dataclass(frozen=True)
class Failure:
    """A `#>` line that does not hold, or an error on the way.

    >>> report = check_program(Source("demo", 'tokens("ab"); #> ["a", "c"]'))
    >>> print(report.failures[0])
    demo:1:1: tokens("ab")
      expected: ["a", "c"]
      got:      ["a", "b"]
                       ^
    """

    span: Span | None
    about: str
    expected: str = ""
    got: str = ""

    def __str__(self) -> str:
        if not self.expected and not self.got:
            return self.about
        lines = [f"{self.span}: {self.about}", f"  expected: {self.expected}"]
        lines.append(f"  got:      {self.got}")
        pairs = zip(self.expected, self.got, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return "\n".join([*lines, " " * (12 + same) + "^"])


@dataclass
class Report:
    """What came of one file: how many `#>` lines hold, and which do not.

    >>> report = check_program(Source("demo", 'tokens("ab"); #> ["a", "b"]'))
    >>> report.held, report.failures, bool(report)
    (1, [], True)
    """

    name: str
    held: int = 0
    failures: list[Failure] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.failures

    def note(self, failure: Failure | None) -> None:
        """Count a line that holds, or keep the failure.

        >>> report = Report("demo")
        >>> report.note(None)
        >>> report.held
        1
        """
        if failure is None:
            self.held += 1
        else:
            self.failures.append(failure)


def check_file(path: str, limits: Limits = DEFAULT_LIMITS, loader: Loader | None = None) -> Report:
    """Run a program file, or the programs of a Markdown page, and compare its `#>` lines.

    >>> check_file("no such file.rasp")
    Traceback (most recent call last):
    ...
    rasp.base.errors.RaspValueError: error: `no such file.rasp` cannot be read: no such file or
    directory hint: check the path and the file's permissions
    """
    source = read_source(path, limits)
    if path.endswith(PAGE):
        from rasp.teaching.testing.pages import check_page

        return check_page(source, limits, loader)
    return check_program(source, Session(limits, loader or Loader()))


def check_program(source: Source, session: Session | None = None) -> Report:
    """Run a program and compare what it gives with its `#>` lines; mistakes are failures too.

    >>> text = "first = aggregate(select(indices, 0, ==), tokens);\\n#> heads per layer: first 2"
    >>> print(check_program(Source("demo", text)).failures[0])
    demo:2:1: heads per layer: first
      expected: 2
      got:      1
                ^
    """
    session = session or Session()
    report = Report(source.name)
    statements, _ = parse_with_errors(source, session.limits)
    results, errors = session.check(source)
    values = {result.statement.span.start: result.value for result in results}
    report.failures += [Failure(error.span, str(error)) for error in errors]
    for expected in expected_lines(source, statements):
        match expected:
            case StatedHeads(name, stated, span):
                report.note(_heads_failure(name, stated, span, session))
            case StrayLine(stated, span):
                report.note(_stray(span, stated))
            case StatedValue(statement, stated) if statement.span.start in values:
                value = values[statement.span.start]
                report.note(_value_failure(statement.span, stated, value))
            case StatedValue(statement, stated) if not errors:  # an error is in the report already
                report.note(_stray(statement.span, stated))
    return report


def _stray(span: Span, stated: str) -> Failure:
    return Failure(span, f"{span}: `#> {stated}` is after nothing that has a value")


def _value_failure(span: Span, stated: str, value: Any) -> Failure | None:
    if value is None or isinstance(value, (Node, Function, BuiltIn)):
        what = f"{span}: this has no value to compare with `#> {stated}`: apply it to an input"
        return Failure(span, what)
    about = span.text.rstrip().removesuffix(";")
    shown = _in_a_line(value)
    if stated == shown or _read_value(stated) == shown:
        return None
    return Failure(span, about, stated, shown)


def _heads_failure(name: str, stated: str, span: Span, session: Session) -> Failure | None:
    try:
        node = session.find(name)
        if not isinstance(node, Node):
            return Failure(span, f"{span}: `{name}` is {describe(node)}, which has no heads")
        scheduled = " ".join(map(str, schedule(node).heads_per_layer)) or NO_HEADS
    except RaspError as error:
        return Failure(span, str(error.located(span)))
    stated = stated or NO_HEADS
    if scheduled == stated:
        return None
    return Failure(span, f"heads per layer: {name}", stated, scheduled)


def _read_value(stated: str) -> str | None:
    """Read a stated value as RASP, and write it in one way; None where it is not RASP."""
    session = Session(loader=Loader(enabled=False))
    try:
        value = session.run(Source("expected", stated + ";"))[0].value
    except (RaspError, IndexError):
        return None
    return _in_a_line(value)


def _in_a_line(value: Any) -> str:
    """Write a value as the prompt does: 1 and 1.0 are one number, 1 and True are not."""
    return show_value(value, full=True).replace("\n      ", " ")
