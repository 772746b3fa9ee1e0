"""Every place and name that is told lies in the definition asked about.

The definitions that a text refers to are found here from the syntax tree alone: a name means
the last statement before that bound it. What the judge allows is at most too much.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rasp.base.errors import RaspError
from rasp.base.source import Source, Span
from rasp.insight.drawing import draw
from rasp.insight.schedule import explain
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import evaluate_each, pointing
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.evaluator.plain import EvaluationError
from rasp.language.graph import Const, Node, Program, Scorer, in_order
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Result, Session
from rasp.language.syntax import parse, parse_with_errors, print_expression, print_program
from rasp.language.syntax.tree import (
    Assign,
    Binary,
    Call,
    Comprehension,
    Define,
    For,
    Name,
    Parameter,
    Statement,
    Ternary,
    Tree,
    Unary,
    bound_by,
    walk,
)
from strategies import examples
from strategies.programs import LIMITS, Case, cases

MOST_OUTPUTS = 2
LARGEST = 40
"""Nodes of an output that is still explained and drawn."""
STRANGER = "stranger"


@pytest.mark.slow
@given(cases(), st.randoms(use_true_random=False))
@examples(40)
def test_places_and_names_are_those_of_the_definition_asked_about(
    case: Case, rng: random.Random
) -> None:
    try:
        statements = parse(Source("case", case.text))
    except RaspError:
        return
    told = Told(print_program(tuple(with_strangers(statements, rng))))
    outputs = [name for name, value in told.session.names().items()
               if isinstance(value, Node) and value.needs]  # fmt: skip
    for asked in outputs[-MOST_OUTPUTS:]:
        told.check(asked, case)


def with_strangers(statements: tuple[Statement, ...], rng: random.Random) -> Iterator[Statement]:
    """Repeat parts of definitions before them under other names, and bind names again."""
    for number, statement in enumerate(statements):
        if not isinstance(statement, Assign):
            yield statement
            continue
        parts = [part for part in walk(statement.value)
                 if isinstance(part, (Binary, Call, Unary, Ternary))]  # fmt: skip
        if parts and rng.random() < 0.6:
            yield from statements_of(f"{STRANGER}{number} = {print_expression(parts[0])};")
        yield statement
        if rng.random() < 0.15:
            again = statement.targets[0].name
            yield from statements_of(f"kept{number} = {again}; {again} = indices + {number};")


def statements_of(text: str) -> tuple[Statement, ...]:
    return parse(Source("strangers", text))


@dataclass
class Told:
    """A program that has run, and what may be said of its names."""

    text: str
    results: list[Result] = field(default_factory=list)

    @cached_property
    def source(self) -> Source:
        return Source("case", self.text)

    @cached_property
    def session(self) -> Session:
        session = Session(LIMITS, Loader(enabled=False))
        self.results, _ = session.check(self.source)
        return session

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return parse_with_errors(self.source, LIMITS)[0]

    def definition(self, wanted: str, before: int) -> int | None:
        """The last statement before one that binds a name."""
        for number in range(before - 1, -1, -1):
            if any(target.name == wanted for target, _ in bound_by(self.statements[number])):
                return number
        return None

    def allowed(self, number: int, before: int, found: set[int]) -> None:
        """Add the statements that one refers to; a function's body is read where it is called."""
        if number in found:
            return
        found.add(number)
        statement = self.statements[number]
        until = before if _has_function(statement) else number
        for word in set(_names_in(statement)):
            for end in {until, number}:
                if (other := self.definition(word, end)) is not None:
                    self.allowed(other, until, found)

    def check(self, asked: str, case: Case) -> None:
        own = self.definition(asked, len(self.statements))
        assert own is not None
        found: set[int] = set()
        self.allowed(own, len(self.statements), found)
        judged = Judged(self, asked, own, tuple(sorted(found)))
        judged.check_names()
        judged.check_places()
        judged.check_errors(case)
        judged.check_pictures(case)


def _has_function(statement: Statement) -> bool:
    return any(isinstance(node, Define) for node in walk(statement))


@dataclass
class Judged:
    """One name of a program, and the statements that may be cited for it."""

    told: Told
    asked: str
    own: int
    allowed: tuple[int, ...]

    @cached_property
    def node(self) -> Node:
        found = self.told.session.find(self.asked)
        assert isinstance(found, Node)
        return found

    @cached_property
    def program(self) -> Program:
        return self.told.session.program_of(self.asked)

    @cached_property
    def words(self) -> set[str]:
        """Every name in the statements that may be cited, and the library's."""
        found = set(self.told.session.library.every_name())
        for number in self.allowed:
            found.update(_names_in(self.told.statements[number]))
        return found

    @cached_property
    def inner_words(self) -> set[str]:
        """Names in functions, loops and comprehensions, which have several meanings."""
        found: set[str] = set()
        for number in self.allowed:
            for node in walk(self.told.statements[number]):
                if isinstance(node, (Define, For, Comprehension)):
                    found.update(_names_in(node))
        return found

    def check_names(self) -> None:
        """A name is one of these statements', and means that node at one of them."""
        bound: set[str] = set()
        meanings: dict[str, set[Node]] = {}
        for result in self.told.results:
            for target, value in _bindings(result.names, result.value):
                meanings.setdefault(target, set()).add(value)
        for node, name in self.program.names.items():
            if name not in self.words:
                pytest.fail(self._said(f"the name `{name}`"))
            is_bound = name in meanings and name not in self.inner_words
            if is_bound and (node not in meanings[name] or name in bound):
                pytest.fail(self._said(f"`{name}` for another node"))
            if is_bound:
                bound.add(name)
        if self.program.names.get(self.node) != self.asked:
            pytest.fail(self._said(f"`{self.program.names.get(self.node)}` for itself"))

    def check_places(self) -> None:
        for node in in_order([self.node]):
            span = self.program.origins.get(node)
            if span is not None:
                self._check_span(span, "a place")
        statement = self.told.statements[self.own]
        made_here = isinstance(statement, Assign) and isinstance(statement.value, (Binary, Unary))
        if made_here:
            span = self.program.origins[self.node]
            if not _is_inside(span, statement.span):
                pytest.fail(self._said(f"`{span.text}` ({span}), not its own definition,"))

    def check_errors(self, case: Case) -> None:
        """What fails on an input is told of these statements, whichever evaluator fails."""
        for tokens in case.inputs[:2]:
            try:
                list(evaluate_each([self.node], [tokens], self.program, LIMITS))
            except RaspError as error:
                self._check_error(error)
            try:
                evaluate_fast([self.node], [tokens], LIMITS)
            except EvaluationError as failed:
                self._check_error(pointing(failed, self.program))

    def _check_error(self, error: RaspError) -> None:
        if error.span is not None:
            self._check_span(error.span, "an error")
        for _, span in error.calls:
            self._check_span(span, "a call")
        self._check_text(str(error))

    def check_pictures(self, case: Case) -> None:
        """What `arch` and a drawing cite are these statements."""
        if isinstance(self.node, Scorer) or len(in_order([self.node])) > LARGEST:
            return
        handle = Handle(self.node, self.program, limits=LIMITS)
        self._check_text(str(explain(handle)))
        try:
            drawing = draw(handle, list(case.inputs[0]))
        except RaspError as error:
            self._check_error(error)
            return
        self._check_text(drawing.svg())

    def _check_text(self, text: str) -> None:
        lines = {line for number in self.allowed for line in self._lines(number)}
        for line in map(int, re.findall(r"\bcase:(\d+)", text)):
            if line not in lines:
                pytest.fail(self._said(f"line {line} in\n{text}\n"))
        if STRANGER not in " ".join(self.words) and STRANGER in text:
            pytest.fail(self._said(f"a stranger in\n{text}\n"))

    def _lines(self, number: int) -> range:
        span = self.told.statements[number].span
        return range(span.line, span.source.line_and_column(span.end)[0] + 1)

    def _check_span(self, span: Span, what: str) -> None:
        statements = (self.told.statements[number] for number in self.allowed)
        if not any(_is_inside(span, statement.span) for statement in statements):
            pytest.fail(self._said(f"{what} `{span.text}` ({span})"))

    def _said(self, what: str) -> str:
        return f"of `{self.asked}`, {what} is told; the program is\n{self.told.text}"


def _names_in(tree: Tree) -> Iterator[str]:
    for node in walk(tree):
        if isinstance(node, (Name, Parameter)):
            yield node.name


def _bindings(names: tuple[str, ...], value: object) -> Iterator[tuple[str, Node]]:
    values = list(value) if len(names) > 1 and isinstance(value, (list, dict)) else [value]
    for bound, each in zip(names, values, strict=False):
        if isinstance(each, Node) and not isinstance(each, Const):
            yield bound, each


def _is_inside(span: Span, outer: Span) -> bool:
    is_same = span.source.name == outer.source.name
    return is_same and outer.start <= span.start and span.end <= outer.end
