"""Selectors in, what a query sees of them out: three truths.

Which keys before it are picked, whether its own position is, and which keys after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from rasp.base.atoms import is_atom
from rasp.insight.dialect.named_lines import Truth
from rasp.language.graph import (
    Const,
    Elementwise,
    Node,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    apply_operator,
)
from rasp.language.graph.reach import index_distance

if TYPE_CHECKING:
    from rasp.insight.dialect.value_cases import Reader

MOST_CASES = 400
"""Different values of one s-op that are told apart."""
Case: TypeAlias = tuple[Truth, Any]
Cases: TypeAlias = tuple[Case, ...]
"""Truths with what an s-op holds where they are true; at each position, one of them is."""


class NotInDialect(Exception):
    """A program is not in a dialect as it is written: where, and why."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(reason)
        self.node = node
        self.reason = reason


class LooksAhead(Exception):
    """A head looks at later positions: the head is to blame, not its selector.

    The selector may be a part of another head too, one that looks back.
    """


@dataclass(frozen=True)
class QueryRow:
    """A selector seen from the queries that a truth holds at."""

    where: Truth
    """The truth of the query that this row is for."""
    earlier: Truth
    """The truth of the keys before the query that are picked."""
    here: Truth
    """The truth, at the query, of its own position being picked."""
    later: Truth
    """The truth of the keys after the query that are picked."""

    @property
    def picked(self) -> tuple[Truth, Truth, Truth]:
        return self.earlier, self.here, self.later


class SelectorReader:
    """Reads selectors, with what a reader of s-ops makes of their keys and queries."""

    def __init__(self, reader: Reader[Any]) -> None:
        self._reader, self._program = reader, reader.program
        self._rows: dict[tuple[Selector, bool], list[QueryRow]] = {}

    def rows(self, selector: Selector, at_last: bool) -> list[QueryRow]:
        """A selector as each query sees it; the rows' truths exclude one another."""
        key = selector, at_last
        if key not in self._rows:
            self._rows[key] = self._read_selector(selector, at_last)
        return self._rows[key]

    def _read_selector(self, selector: Selector, at_last: bool) -> list[QueryRow]:
        match selector:
            case Select():
                return self._comparison(selector, at_last)
            case SelectorNot(inner):
                return [QueryRow(row.where, *map(self._program.negated, row.picked))
                        for row in self.rows(inner, at_last)]  # fmt: skip
            case SelectorAnd() | SelectorOr():
                return self._joined(selector, at_last)
        raise NotInDialect(selector, "keeps only the best of what it picks")

    def _joined(self, selector: SelectorAnd | SelectorOr, at_last: bool) -> list[QueryRow]:
        join = self._program.both if isinstance(selector, SelectorAnd) else self._program.either
        rows = []
        pairs = product(self.rows(selector.left, at_last), self.rows(selector.right, at_last))
        for one, other in pairs:
            where = self._program.both([one.where, other.where])
            if where != self._program.false:
                sides = zip(one.picked, other.picked, strict=True)
                rows.append(QueryRow(where, *map(join, sides)))
        if len(rows) > MOST_CASES:
            raise NotInDialect(selector, "depends on too many combinations of values")
        return rows

    def _comparison(self, selector: Select, at_last: bool) -> list[QueryRow]:
        distance = index_distance(selector)
        if distance is not None:
            return [self._by_distance(selector, distance)]
        compared = Elementwise(selector.op, (selector.keys, selector.queries))
        try:
            here = self._reader.truth_of(compared, at_last)
        except NotInDialect as refusal:  # nobody wrote this comparison: it is the selector's own
            raise NotInDialect(
                selector if refusal.node is compared else refusal.node, refusal.reason
            ) from None
        rows = []
        keys = self._reader.cases(selector.keys)
        for where, query in self._reader.cases(selector.queries, at_last):
            for more, picked in self._picked_keys(selector, keys, query):
                rows.append(QueryRow(self._program.both([where, more]), picked, here, picked))
        return rows

    def _picked_keys(self, selector: Select, keys: Cases, query: Any) -> Iterable[Case]:
        """Truths of a query, each with the truth of the keys that it picks there."""
        if not is_atom(query):
            yield from self._picked_atoms(selector, keys, query)
            return
        compared = _compared(selector.op)
        yield (
            self._program.true,
            self._program.either(
                self._program.both([where, self._reader.holds(compared, (key, query))])
                for where, key in keys
            ),
        )

    def _picked_atoms(self, selector: Select, keys: Cases, query: Any) -> Iterable[Case]:
        """The query is not an atom: decide for each atom among the keys whether it is picked."""
        if not all(is_atom(key) for _, key in keys):
            raise NotInDialect(selector, "compares a number that is counted at one position with "
                               "one that is counted at another")  # fmt: skip
        if len(keys) > 6:
            raise NotInDialect(selector, "compares too many values with a count")
        asked = [self._reader.holds(_compared(selector.op), (key, query)) for _, key in keys]
        for answers in product((True, False), repeat=len(keys)):
            where = self._program.both(
                truth if answer else self._program.negated(truth)
                for truth, answer in zip(asked, answers, strict=True)
            )
            if where != self._program.false:
                picked = [truth for (truth, _), answer in zip(keys, answers, strict=True) if answer]
                yield where, self._program.either(picked)

    def _by_distance(self, selector: Select, distance: int) -> QueryRow:
        """Compare positions: `key - query op distance`, the same for all earlier keys."""
        program = self._program
        truths = []
        around = [distance - 1, distance, distance + 1]  # where the answer may change
        for side in (-1, 0, 1):
            places = [side, *(apart for apart in around if apart * side > 0)]
            answers = {apply_operator(selector.op, (apart, distance)) for apart in places}
            if len(answers) > 1:
                raise NotInDialect(selector, "asks for a position by its exact distance")
            truths.append(program.true if answers.pop() else program.false)
        return QueryRow(program.true, *truths)


def _compared(op: str) -> Elementwise:
    """A comparison, for its operator alone."""
    return Elementwise(op, (Const(0), Const(0)))
