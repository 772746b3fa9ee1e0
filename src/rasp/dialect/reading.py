"""What the readers of programs share: values case by case, and selectors seen from a query.

A reader takes an s-op apart into *cases*: a truth of the dialect, and what the s-op holds where
it is true. What it holds is an atom, or something of the dialect's own that is not yet decided
(a fraction of counts, say). A selector, seen from one query, is three truths: which keys before
it are picked, whether its own position is, which keys after it. Both keep to the meaning of the
program wherever it has a value; where it has none (an operator would fail), anything will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from rasp.atoms import Atom
from rasp.errors import RaspError
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
)
from rasp.graph.idioms import FIRST_KEY, IS_FIRST, LENGTH
from rasp.graph.reach import POSITION
from rasp.graph.sums import linear

MOST_CASES = 400
"""Different values of one s-op that are told apart."""
MOST_COMBINATIONS = 20_000
Cases: TypeAlias = tuple[tuple[Any, Any], ...]
"""Truths with what an s-op holds where they are true; at each position, one of them is."""


class NotInDialect(Exception):
    """A program is not in a dialect as it is written: where, and why."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


@dataclass(frozen=True)
class QueryRow:
    """A selector seen from the queries that a truth holds at."""

    where: Any
    """The truth of the query that this row is for."""
    earlier: Any
    """The truth of the keys before the query that are picked."""
    here: Any
    """The truth, at the query, of its own position being picked."""
    later: Any
    """The truth of the keys after the query that are picked."""


class Reader:
    """Reads s-ops of a program; each dialect says what it makes of what is not an atom.

    `at_last` asks for the value at the last position of an input alone, from which every other
    position lies before: there, looking everywhere is looking back.
    """

    def __init__(self, logic: Any, alphabet: Sequence[Atom]) -> None:
        self.logic = logic
        self.alphabet = alphabet
        self.rewrites: dict[Node, str] = {}
        """What was read as something else than what is written, and why that is the same."""
        self._cases: dict[tuple[SOp, bool], Cases] = {}
        self._rows: dict[tuple[Selector, bool], list[QueryRow]] = {}

    def cases(self, node: SOp, at_last: bool = False) -> Cases:
        """What an s-op holds, case by case."""
        key = node, at_last
        if key not in self._cases:
            cases = self._merged(self._read(node, at_last))
            if len(cases) > MOST_CASES:
                raise NotInDialect(node, f"holds more than {MOST_CASES} different values")
            self._cases[key] = cases
        return self._cases[key]

    def _read(self, node: SOp, at_last: bool) -> Iterable[tuple[Any, Any]]:
        match node:
            case Const(value):
                return [(self.logic.true, value)]
            case Tokens():
                return [(self.logic.letter(token), token) for token in self.alphabet]
            case TokensAs(kind):
                return self._converted(kind)
            case Indices():
                return [(self.logic.true, self.index())]
            case Aggregate():
                return self.aggregate(node, at_last)
            case Elementwise():
                cases = self.idiom(node, at_last)
                return self._elementwise(node, at_last) if cases is None else cases
        raise AssertionError(f"no reading of {type(node).__name__}")

    def index(self) -> Any:
        """What the dialect makes of the position."""
        raise AssertionError("each dialect says")

    def idiom(self, node: Elementwise, at_last: bool) -> Cases | None:
        """What a few operators mean together, where the dialect has a word for it."""
        return None

    def aggregate(self, node: Aggregate, at_last: bool) -> Iterable[tuple[Any, Any]]:
        """What a head gives."""
        raise AssertionError("each dialect says")

    def combine(self, node: Elementwise, contents: tuple[Any, ...]) -> list[tuple[Any, Any]]:
        """An operator on operands that are not all atoms."""
        raise AssertionError("each dialect says")

    def _converted(self, kind: str) -> Iterable[tuple[Any, Any]]:
        for token in self.alphabet:
            try:
                yield self.logic.letter(token), apply_operator(kind, (token,))
            except RaspError:
                continue  # there the program has no value

    def _elementwise(self, node: Elementwise, at_last: bool) -> Iterable[tuple[Any, Any]]:
        operands = [self.cases(operand, at_last) for operand in node.operands]
        size = 1
        for cases in operands:
            size *= len(cases)
        if size > MOST_COMBINATIONS:
            raise NotInDialect(node, "depends on too many combinations of values")
        for combination in product(*operands):
            where = self.logic.both(truth for truth, _ in combination)
            if where == self.logic.false:
                continue
            for truth, content in self._applied(node, tuple(each for _, each in combination)):
                yield self.logic.both([where, truth]), content

    def _applied(self, node: Elementwise, contents: tuple[Any, ...]) -> list[tuple[Any, Any]]:
        if node.op == "if" and is_atom(contents[0]):
            return [(self.logic.true, contents[1] if contents[0] else contents[2])]
        if not all(map(is_atom, contents)):
            return self.combine(node, contents)
        try:
            return [(self.logic.true, apply_operator(node.op, contents))]
        except RaspError:
            return []  # there the program has no value

    def _merged(self, cases: Iterable[tuple[Any, Any]]) -> Cases:
        truths: dict[Any, list[Any]] = {}
        contents: dict[Any, Any] = {}
        for truth, content in cases:
            if truth != self.logic.false:
                key = (type(content), content)
                truths.setdefault(key, []).append(truth)
                contents[key] = content
        return tuple((self.logic.either(truths[key]), contents[key]) for key in truths)

    # Selectors, seen from a query.

    def rows(self, selector: Selector, at_last: bool) -> list[QueryRow]:
        """A selector as each query sees it; the rows' truths exclude one another."""
        key = selector, at_last
        if key not in self._rows:
            self._rows[key] = self._read_selector(selector, at_last)
        return self._rows[key]

    def _read_selector(self, selector: Selector, at_last: bool) -> list[QueryRow]:
        logic = self.logic
        match selector:
            case Select():
                return self._comparison(selector, at_last)
            case SelectorNot(inner):
                return [
                    QueryRow(row.where, *map(logic.negated, (row.earlier, row.here, row.later)))
                    for row in self.rows(inner, at_last)
                ]
            case SelectorAnd(left, right) | SelectorOr(left, right):
                join = logic.both if isinstance(selector, SelectorAnd) else logic.either
                return self._joined(selector, self.rows(left, at_last), self.rows(right, at_last),
                                    join)  # fmt: skip
        raise NotInDialect(selector, "keeps only the best of what it picks")

    def _joined(
        self,
        selector: Selector,
        left: list[QueryRow],
        right: list[QueryRow],
        join: Callable[[Iterable[Any]], Any],
    ) -> list[QueryRow]:
        found = []
        for one, other in product(left, right):
            where = self.logic.both([one.where, other.where])
            if where != self.logic.false:
                found.append(
                    QueryRow(
                        where,
                        join([one.earlier, other.earlier]),
                        join([one.here, other.here]),
                        join([one.later, other.later]),
                    )
                )
        if len(found) > MOST_CASES:
            raise NotInDialect(selector, "depends on too many combinations of values")
        return found

    def _comparison(self, selector: Select, at_last: bool) -> list[QueryRow]:
        distance = index_distance(selector)
        if distance is not None:
            return [self._by_distance(selector, distance)]
        compared = Elementwise(selector.op, (selector.keys, selector.queries))
        try:
            here = self.truth_of(compared, at_last)
        except NotInDialect as refusal:  # nobody wrote this comparison: it is the selector's own
            raise NotInDialect(
                selector if refusal.node is compared else refusal.node, refusal.reason
            ) from None
        found = []
        keys = self.cases(selector.keys)
        for where, query in self.cases(selector.queries, at_last):
            for more, picked in self.picked_keys(selector, keys, query):
                found.append(QueryRow(self.logic.both([where, more]), picked, here, picked))
        return found

    def picked_keys(self, selector: Select, keys: Cases, query: Any) -> Iterable[tuple[Any, Any]]:
        """Truths of a query, each with the truth of the keys that it picks there."""
        if not is_atom(query):
            yield from self._picked_atoms(selector, keys, query)
            return
        yield (
            self.logic.true,
            self.logic.either(
                self.logic.both([where, truth])
                for where, key in keys
                for truth, holds in self._applied(_compared(selector.op), (key, query))
                if holds is True
            ),
        )

    def _picked_atoms(self, selector: Select, keys: Cases, query: Any) -> Iterable[tuple[Any, Any]]:
        """The query is no atom: decide for each atom among the keys whether it is picked."""
        if not all(is_atom(key) for _, key in keys):
            raise NotInDialect(selector, "compares a number that is counted at one position with "
                               "one that is counted at another")  # fmt: skip
        if len(keys) > 6:
            raise NotInDialect(selector, "compares too many values with a count")
        asked = [self._holds(_compared(selector.op), (key, query)) for _, key in keys]
        for answers in product((True, False), repeat=len(keys)):
            where = self.logic.both(
                truth if answer else self.logic.negated(truth)
                for truth, answer in zip(asked, answers, strict=True)
            )
            if where != self.logic.false:
                yield (
                    where,
                    self.logic.either(
                        truth for (truth, _), answer in zip(keys, answers, strict=True) if answer
                    ),
                )

    def _holds(self, node: Elementwise, contents: tuple[Any, ...]) -> Any:
        applied = self._applied(node, contents)
        return self.logic.either(truth for truth, content in applied if content is True)

    def _by_distance(self, selector: Select, distance: int) -> QueryRow:
        """Compare positions: `key - query op distance`, the same for all earlier keys."""
        logic = self.logic
        truths = []
        around = [distance - 1, distance, distance + 1]  # where the answer may change
        for nearest, side in ((-1, -1), (0, 0), (1, 1)):
            places = [nearest, *(apart for apart in around if apart * side > 0 and side)]
            answers = {apply_operator(selector.op, (apart, distance)) for apart in places}
            if len(answers) > 1:
                raise NotInDialect(selector, "asks for a position by its exact distance")
            truths.append(logic.true if answers.pop() else logic.false)
        return QueryRow(logic.true, *truths)

    def truth_of(self, node: SOp, at_last: bool) -> Any:
        """Where an s-op is true."""
        found = []
        for truth, content in self.cases(node, at_last):
            if not is_atom(content):
                content_truth = self._holds(Elementwise("bool", (node,)), (content,))
                found.append(self.logic.both([truth, content_truth]))
            elif content:
                found.append(truth)
        return self.logic.either(found)


def is_atom(content: Any) -> bool:
    """Whether a case holds an atom rather than something that is not decided yet."""
    return isinstance(content, bool | int | str | Fraction)


def _compared(op: str) -> Elementwise:
    """A comparison, for its operator alone."""
    return Elementwise(op, (Const(0), Const(0)))


def index_distance(selector: Select) -> int | None:
    """Where keys and queries are both positions plus a constant: how far apart these are."""
    (keys, ours), (queries, theirs) = linear(selector.keys), linear(selector.queries)
    apart = theirs - ours
    if keys == queries == POSITION and apart.denominator == 1:
        return int(apart)
    return None


def selector_of_width(node: SOp) -> tuple[Selector, bool] | None:
    """The selector whose width this is, as the library writes it; and whether a BOS is left out.

    >>> import rasp
    >>> hist = rasp.run("hist = histf(tokens);")["hist"]
    >>> selector_of_width(hist.node)[0] is Select(Tokens(), Tokens(), "==")
    True
    """
    match node:
        case Elementwise("+", (Elementwise("-"), Aggregate(SelectorAnd(picked)))):
            return (picked, False) if node is _width(picked, bos=False) else None
        case Elementwise(
            "-", (Elementwise("round", (Elementwise("/", (_, Aggregate(SelectorOr(picked)))),)), _)
        ):
            return (picked, True) if node is _width(picked, bos=True) else None
    return None


def is_length(node: SOp) -> bool:
    """Whether an s-op is the library's `length`.

    >>> import rasp
    >>> is_length(rasp.length.node)
    True
    """
    return node is LENGTH


def _width(picked: Selector, bos: bool) -> SOp:
    """`selector_width` of the library, node by node."""
    share = Aggregate(SelectorOr(picked, FIRST_KEY), IS_FIRST)
    counted = Elementwise("-", (Elementwise("round", (Elementwise("/", (Const(1), share)),)),
                                Const(1)))  # fmt: skip
    if bos:
        return counted
    return Elementwise("+", (counted, Aggregate(SelectorAnd(picked, FIRST_KEY), IS_FIRST)))
