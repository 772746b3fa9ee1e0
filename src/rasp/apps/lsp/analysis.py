"""A program text in, its mistakes and then the facts about its names out, as plain records.

This is the part of the language server that runs programs, so it runs in the worker process.
Mistakes come first, in an answer of their own: an editor should not wait for layers and heads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from textwrap import dedent
from typing import Any

from rasp.apps.shown_results import show_named
from rasp.base.atoms import kind_name, read_input
from rasp.base.errors import RaspError, RaspLimitError, Warned
from rasp.base.limits import Limits, alarm
from rasp.base.source import Source, Span
from rasp.insight.schedule import schedule
from rasp.language.graph import Node, Program, Selector, SOp
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.mistakes import check
from rasp.language.meaning.session import DisplaySettings, Result, Session
from rasp.language.meaning.value_kinds import BROKEN, Value
from rasp.language.syntax import parse_with_errors
from rasp.language.syntax.tree import For, Load, Name, Statement, bound_by, walk
from rasp.teaching.gallery.gallery_files import gallery_program

SECONDS = 3.0
"""How long a program may run, and how long its values, layers and heads may take."""
LIMITS = Limits(input_length=1_000, plain_cells=1_000_000, dense_cells=40_000, memory=400_000_000)
"""For the example that an editor shows beside a program."""
LONGEST_SHOWN = 4_000
Record = dict[str, Any]


class OutOfTime(Exception):
    """The alarm went off."""


@dataclass(frozen=True)
class BoundName:
    """A name that a statement of the main program bound, and what examples were then."""

    key: str
    name: str
    value: Value
    settings: DisplaySettings
    program: Program


@dataclass
class WatchedSession(Session):
    """A session that remembers every binding, and turns the alarm into a mistake in the program."""

    seconds: float = SECONDS
    bound: list[BoundName] = field(default_factory=list)
    failed: dict[int, Statement] = field(default_factory=dict)
    """Which statement was being run when an error (by its identity) was raised."""
    ran_out: bool = False

    def execute(self, statement: Statement) -> Result:
        before = dict(self.scope.names) if isinstance(statement, Load) else {}
        try:
            result = super().execute(statement)
        except OutOfTime:
            self.ran_out = True
            raise RaspLimitError(
                f"the program has run for more than {self.seconds:g} seconds",
                statement.span,
                "is a loop or a recursion longer than it should be?",
            ) from None
        except RaspError as error:
            self.failed[id(error)] = statement
            raise
        names = set(result.names)
        if isinstance(statement, For):
            names = {name.name for name, _ in bound_by(statement)}
        elif isinstance(statement, Load):
            now = self.scope.names.items()
            names = {name for name, value in now if before.get(name) is not value}
        for name in sorted(names & self.scope.names.keys()):
            value = self.scope.names[name]
            key, settings = f"{statement.span.start}:{name}", replace(self.settings)
            self.bound.append(BoundName(key, name, value, settings, self.program_of(name)))
        return result


def analyse(request: Record) -> Iterator[Record]:
    """Check a program, then find out about its names; two answers.

    >>> answers = list(analyse({"name": "demo", "text": "hist = histf(tokens);"}))
    >>> answers[1]["facts"]["0:hist"]["value"]
    'hist("hello") = [1, 1, 2, 2, 1]  (ints)'
    """
    source = Source(request["name"], request["text"])
    seconds = float(request.get("seconds", SECONDS))
    session = WatchedSession(loader=Loader(elsewhere=gallery_program), seconds=seconds)
    _set_example(session, request.get("example"))
    with alarm(seconds, OutOfTime):
        errors, warnings = check(source, session)
    yield {
        "errors": [_error_record(error, source, session) for error in errors],
        "warnings": [_warning_record(warned) for warned in warnings],
    }
    facts: dict[str, Record] = {}
    ran_out = session.ran_out
    try:
        with alarm(seconds, OutOfTime):
            for key, fact in _facts(source, session):
                facts[key] = fact
    except OutOfTime:
        ran_out = True
    yield {"facts": facts}
    if ran_out:
        raise OutOfTime  # the alarm may have left anything half done: another process goes on


def _set_example(session: Session, example: object) -> None:
    """Take the editor's running example, if it is one."""
    if example is None:
        return
    try:
        tokens = read_input(example, LIMITS)
    except RaspError:
        return
    session.settings.s_op_example = session.settings.selector_example = tokens


def _facts(source: Source, session: WatchedSession) -> Iterator[tuple[str, Record]]:
    session.limits = LIMITS
    for bound in session.bound:
        if bound.value is not BROKEN:
            yield bound.key, _fact(bound, session)
    statements, _ = parse_with_errors(source)
    used = {node.name for one in statements for node in walk(one) if isinstance(node, Name)}
    for name in sorted(used):
        value = session.library.find(name)
        if isinstance(value, Node):
            bound = BoundName(
                f"library:{name}", name, value, session.settings, session.program_of(name)
            )
            yield bound.key, _fact(bound, session)


def _fact(bound: BoundName, session: Session) -> Record:
    """Say what a name is: its kind, what it gives on the example, and its layers and heads."""
    value = bound.value
    if isinstance(value, DrawRequest):
        return {"kind": "picture"}
    session.settings = replace(bound.settings, show_s_op_examples=True, show_selector_examples=True)
    shown = show_named(bound.name, value, session, bound.program)[:LONGEST_SHOWN]
    fact: Record = {"kind": kind_name(value)}
    if not isinstance(value, Node):
        return fact | {"value": shown.strip()}
    _, _, example = shown.partition("\n")
    first, _, rest = example.strip().partition("\n")
    grid = "\n" + dedent(rest) if rest else ""
    fact["value"] = first.removeprefix("example: ") + grid
    if isinstance(value, (SOp, Selector)):
        placed = schedule(value)
        fact |= {"layers": placed.layers, "width": placed.width, "needs": str(placed)}
        fact |= {"layer": placed.layer_of.get(value, placed.layers), "exact": placed.exact}
    return fact


def _error_record(error: RaspError, source: Source, session: WatchedSession) -> Record:
    """Write a mistake down; one in a file that was loaded is shown where it was loaded."""
    record: Record = {"kind": error.kind, "message": error.message, "hint": error.hint}
    span = error.span
    if span is None:
        return record | {"start": 0, "end": 0}
    if span.source is source:
        return record | _place(span)
    record["elsewhere"] = {"file": span.source.name, "text": span.source.text} | _place(span)
    record["message"] = f"in {span}: {error.message}"
    here = session.failed.get(id(error))
    return record | (_place(here.span) if here else {"start": 0, "end": 0})


def _warning_record(warned: Warned) -> Record:
    return {"message": warned.message, "hint": warned.hint} | _place(warned.span)


def _place(span: Span) -> Record:
    return {"start": span.start, "end": span.end}
