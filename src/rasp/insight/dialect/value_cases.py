"""What the readers of programs share: values case by case, and selectors seen from a query.

A reader takes an s-op apart into *cases*: a truth of the dialect, and what the s-op holds where
it is true. What it holds is an atom, or something of the dialect's own that is not yet decided
(a fraction of counts, say). A selector, seen from one query, is three truths: which keys before
it are picked, whether its own position is, which keys after it. Both keep to the meaning of the
program wherever it has a value; where it has none (an operator would fail), anything will do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, Generic, TypeVar

from rasp.base.atoms import Atom, is_atom
from rasp.base.errors import RaspError, RaspLimitError
from rasp.insight.dialect.named_lines import Lines, Truth
from rasp.insight.dialect.selector_rows import (
    MOST_CASES,
    Case,
    Cases,
    LooksAhead,
    NotInDialect,
    QueryRow,
    SelectorReader,
)
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Selector,
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
)
from rasp.language.operators import COMPARISONS

MOST_COMBINATIONS = 20_000
Program = TypeVar("Program", bound=Lines)


class Reader(ABC, Generic[Program]):
    """Reads s-ops of a program; each dialect says what it makes of what is not an atom.

    `at_last` asks for the value at the last position of an input alone, from which every other
    position lies before: there, looking everywhere is looking back.
    """

    def __init__(self, program: Program, alphabet: Sequence[Atom]) -> None:
        self.program = program
        self.alphabet = alphabet
        self.rewrites: dict[Node, str] = {}
        """What was read as something else than what is written, and why that is the same."""
        self._cases: dict[tuple[SOp, bool], Cases] = {}
        self._selectors = SelectorReader(self)

    def cases(self, node: SOp, at_last: bool = False) -> Cases:
        """What an s-op holds, case by case."""
        key = node, at_last
        if key not in self._cases:
            try:
                cases = self._merged(self._read(node, at_last))
            except LooksAhead as refusal:
                raise NotInDialect(node, str(refusal)) from None
            except RecursionError:
                raise RaspLimitError(
                    "too many s-ops, each of which needs the one before, to read it as a dialect",
                    hint="make the loop that chains them shorter",
                ) from None
            if len(cases) > MOST_CASES:
                raise NotInDialect(node, f"holds more than {MOST_CASES} different values")
            self._cases[key] = cases
        return self._cases[key]

    def _read(self, node: SOp, at_last: bool) -> Iterable[Case]:
        match node:
            case Const(value):
                return [(self.program.true, value)]
            case Tokens():
                return [(self.program.letter(token), token) for token in self.alphabet]
            case TokensAs(kind):
                return self._converted(kind)
            case Indices():
                return [(self.program.true, self.index())]
            case Aggregate():
                return self.aggregate(node, at_last)
            case Elementwise():
                cases = self.idiom(node, at_last)
                return self._elementwise(node, at_last) if cases is None else cases
        raise AssertionError(f"no reading of {type(node).__name__}")

    @abstractmethod
    def index(self) -> Any:
        """What the dialect makes of the position."""

    @abstractmethod
    def idiom(self, node: Elementwise, at_last: bool) -> Cases | None:
        """What a few operators mean together, where the dialect has a word for it."""

    @abstractmethod
    def aggregate(self, node: Aggregate, at_last: bool) -> Iterable[Case]:
        """What a head gives."""

    @abstractmethod
    def some(self, selector: Selector, truth: Truth, at_last: bool) -> Truth:
        """Whether any of the picked keys has a truth."""

    @abstractmethod
    def mean(self, selector: Selector, values: Cases, at_last: bool) -> Any:
        """The mean of numbers."""

    @abstractmethod
    def compare(self, node: SOp, op: str, one: Any, other: Any) -> Truth:
        """Where two contents compare so, which are not both atoms."""

    @abstractmethod
    def arithmetic(self, node: Elementwise, contents: tuple[Any, ...]) -> Any:
        """Any other operator on operands that are not all atoms."""

    def averaged(self, node: Aggregate, values: Cases, at_last: bool) -> Iterable[Case]:
        """What a head gives that may pick several keys."""
        some = self.some(node.selector, self.program.true, at_last)
        yield self.program.negated(some), node.default
        if len(values) == 1:
            yield some, values[0][1]
        elif any(isinstance(content, bool | str) for _, content in values):
            for truth, content in values:  # only one can be picked, or there is no value
                yield self.some(node.selector, truth, at_last), content
        else:
            yield some, self.mean(node.selector, values, at_last)

    def _combined(self, node: Elementwise, contents: tuple[Any, ...]) -> list[Case]:
        """An operator on operands that are not all atoms."""
        program = self.program
        match node.op:
            case "if":
                chosen = self._is_true(node, contents[0])
                return [(chosen, contents[1]), (program.negated(chosen), contents[2])]
            case "bool" | "not" | "indicator" | "and" | "or":
                join = program.either if node.op == "or" else program.both
                joined = join(self._is_true(node, content) for content in contents)
                if node.op == "indicator":
                    return [(joined, 1), (program.negated(joined), 0)]
                return self._decided(program.negated(joined) if node.op == "not" else joined)
            case "in":
                return self._decided(
                    program.either(self._is_same(node, contents[0], item) for item in contents[1:])
                )
        if node.op in COMPARISONS:
            return self._decided(self.compare(node, node.op, *contents))
        return [(program.true, self.arithmetic(node, contents))]

    def _decided(self, truth: Truth) -> list[Case]:
        return [(truth, True), (self.program.negated(truth), False)]

    def _is_true(self, node: Elementwise, content: Any) -> Truth:
        if is_atom(content):
            return self.program.true if content else self.program.false
        return self.compare(node, "!=", content, 0)

    def _is_same(self, node: Elementwise, one: Any, other: Any) -> Truth:
        if is_atom(one) and is_atom(other):
            return self.program.true if one == other else self.program.false
        return self.compare(node, "==", one, other)

    def ordered(self, op: str, at_least: Callable[[], Truth], above: Callable[[], Truth]) -> Truth:
        """A comparison with a number, of what is at least that number, or above it."""
        if op in (">=", "<"):
            truth = at_least()
        elif op in (">", "<="):
            truth = above()
        else:
            truth = self.program.both([self.program.negated(above()), at_least()])
        return self.program.negated(truth) if op in ("<", "<=", "!=") else truth

    def _converted(self, kind: str) -> Iterable[Case]:
        for token in self.alphabet:
            try:
                yield self.program.letter(token), apply_operator(kind, (token,))
            except RaspError:
                continue  # there the program has no value

    def _elementwise(self, node: Elementwise, at_last: bool) -> Iterable[Case]:
        operands = [self.cases(operand, at_last) for operand in node.operands]
        size = 1
        for cases in operands:
            size *= len(cases)
        if size > MOST_COMBINATIONS:
            raise NotInDialect(node, "depends on too many combinations of values")
        for combination in product(*operands):
            where = self.program.both(truth for truth, _ in combination)
            if where == self.program.false:
                continue
            for truth, content in self._applied(node, tuple(each for _, each in combination)):
                yield self.program.both([where, truth]), content

    def _applied(self, node: Elementwise, contents: tuple[Any, ...]) -> list[Case]:
        if node.op == "if" and is_atom(contents[0]):
            return [(self.program.true, contents[1] if contents[0] else contents[2])]
        if not all(map(is_atom, contents)):
            return self._combined(node, contents)
        try:
            return [(self.program.true, apply_operator(node.op, contents))]
        except RaspError:
            return []  # there the program has no value

    def _merged(self, cases: Iterable[Case]) -> Cases:
        truths: dict[Any, list[Any]] = {}
        contents: dict[Any, Any] = {}
        for truth, content in cases:
            if truth != self.program.false:
                key = (type(content), content)
                truths.setdefault(key, []).append(truth)
                contents[key] = content
        return tuple((self.program.either(truths[key]), contents[key]) for key in truths)

    def rows(self, selector: Selector, at_last: bool) -> list[QueryRow]:
        """A selector as each query sees it."""
        return self._selectors.rows(selector, at_last)

    def truth_of(self, node: SOp, at_last: bool) -> Truth:
        """Where an s-op is true."""
        truths = []
        for truth, content in self.cases(node, at_last):
            if not is_atom(content):
                content_truth = self.holds(Elementwise("bool", (node,)), (content,))
                truths.append(self.program.both([truth, content_truth]))
            elif content:
                truths.append(truth)
        return self.program.either(truths)

    def holds(self, node: Elementwise, contents: tuple[Any, ...]) -> Truth:
        """Where an operator gives True on contents."""
        applied = self._applied(node, contents)
        return self.program.either(truth for truth, content in applied if content is True)
