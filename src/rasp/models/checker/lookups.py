"""Every pair of a query's row and a key's row: what selectors pick there, and what keys add.

`Lookup` is made for some picks (a selector, perhaps with a scorer of `select_best`) and for the
values that they add up. `reach` finds what these sums can be, for each row of a query and at each
length.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import (
    Score,
    Scorer,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    score_terms,
    selectors_in,
)
from rasp.language.operators import COMPARE
from rasp.models.certificate.claims import INDEX, Refused
from rasp.models.checker.relations import (
    Array,
    ColumnOfAtoms,
    Name,
    Relation,
    TooMuch,
    numbered,
    row_ids,
)

if TYPE_CHECKING:
    from rasp.models.checker.program_spaces import ProgramSpaces
    from rasp.models.checker.slots import Numbers


@dataclass(frozen=True)
class Pick:
    """Selectors that must all hold, and what the best of these score by."""

    selectors: tuple[Selector, ...]
    best: Scorer | None = None
    is_causal: bool = False
    """Whether no key after the query is picked: so it is of heads of a causal model."""

    @property
    def compared(self) -> list[Select]:
        """The comparisons that the selectors are made of."""
        parts = dict.fromkeys(part for node in self.selectors for part in selectors_in(node))
        return [part for part in parts if isinstance(part, Select)]

    @property
    def products(self) -> list[Score]:
        """What the best ones score by: the sum of these."""
        return [] if self.best is None else list(score_terms(self.best))

    @property
    def sides(self) -> list[Select | Score]:
        return [*self.compared, *self.products]


@dataclass(frozen=True)
class SumTerm:
    """Values that are added up over what is picked, for their sum or for their mean."""

    pick: Pick
    values: SOp
    is_sum: bool = False


class Lookup:
    """Pairs of a query and a key of one input, and the sums over keys that they make."""

    def __init__(
        self, facts: ProgramSpaces, picks: Sequence[Pick], terms: Sequence[SumTerm] = (),
        asked: Sequence[Name] = (), sent: Sequence[Name] = (),
    ) -> None:  # fmt: skip
        """`asked` and `sent` are more variables by which queries, and keys, are told apart."""
        self.facts, self.picks, self.terms = facts, list(picks), list(terms)
        inputs, sides = facts.inputs, [side for pick in picks for side in pick.sides]
        queries = {*asked, *(v for side in sides for v in facts.over(side.queries))}
        keys = {*sent, *(v for term in terms for v in facts.over(term.values))}
        keys |= {v for side in sides for v in facts.over(side.keys)}
        if inputs.causal:
            queries |= {INDEX}
        if inputs.causal or inputs.bos is not None:
            keys |= {INDEX}
        self.queries = facts.with_values([side.queries for side in sides], facts.space(queries))
        self.keys = facts.with_values([side.keys for side in sides], facts.space(keys))
        self.sides = sides

    def check_pairs(self) -> None:
        """Refuse more pairs than there is room for."""
        pairs = len(self.queries) * len(self.keys) * len(self.picks)
        if pairs > self.facts.budget.pairs:
            raise TooMuch("pairs", f"there are {pairs:,} pairs of a query and a key")

    def thin(self, queries: Numbers, keys: Numbers) -> tuple[Numbers, Numbers]:
        """Leave out queries, and keys, that compare and score as others do: the numbers that are
        left, which are read on the relations that are left."""
        asked, sent = self.compared()
        kept_queries, kept_keys = _firsts(asked, queries), _firsts(sent, keys)
        self.queries, self.keys = self.queries.where(kept_queries), self.keys.where(kept_keys)
        return queries.where(kept_queries), keys.where(kept_keys)

    def compared(self) -> tuple[Array, Array]:
        """(query, side) and (key, side): what picks depend on."""
        asked = [self._column(side.queries, self.queries).places for side in self.sides]
        sent = [self._column(side.keys, self.keys).places for side in self.sides]
        if self.facts.inputs.causal:
            asked, sent = [*asked, self.queries.states(INDEX)], [*sent, self.keys.states(INDEX)]
        return (np.array(asked, int).reshape(len(asked), len(self.queries)).T,
                np.array(sent, int).reshape(len(sent), len(self.keys)).T)  # fmt: skip

    def different(self) -> Lookup:
        """The same of queries, and keys, that picks tell apart."""
        asked, sent = self.compared()
        return self.among(row_ids(asked)[1], row_ids(sent)[1])

    def among(self, queries: Array, keys: Array) -> Lookup:
        """The same of some queries and keys."""
        other = copy(self)
        other.queries = Relation(self.queries.names, self.queries.rows[queries])
        other.keys = Relation(self.keys.names, self.keys.rows[keys])
        for name in ("columns", "units"):
            vars(other).pop(name, None)
        return other

    # -- picks ------------------------------------------------------------------------------------

    def seen(self, pick: Pick) -> Array:
        """(query, key): whether a query sees a key at all: in a causal model, none after it."""
        if not pick.is_causal:
            return np.ones((len(self.queries), len(self.keys)), bool)
        return np.asarray(self.keys.states(INDEX)[None] <= self.queries.states(INDEX)[:, None])

    def picked(self, pick: Pick) -> Array:
        """(query, key): what all selectors of a pick hold for."""
        self.check_pairs()
        truth = self.seen(pick)
        for node in pick.selectors:
            truth &= self._truth(node)
        return truth

    def _truth(self, selector: Selector) -> Array:
        """(query, key): what a selector holds for; each part of it is looked at once."""
        truth: dict[Selector, Array] = {}
        for part in selectors_in(selector):
            match part:
                case Select():
                    truth[part] = self._compared(part)
                case SelectorNot(inner):
                    truth[part] = ~truth[inner]
                case SelectorAnd(left, right):
                    truth[part] = truth[left] & truth[right]
                case SelectorOr(left, right):
                    truth[part] = truth[left] | truth[right]
                case _:
                    raise Refused("a selector is not made of comparisons")
        return truth[selector]

    def _compared(self, node: Select) -> Array:
        sent, asked = self._column(node.keys, self.keys), self._column(node.queries, self.queries)
        table = np.array([[self._holds(node.op, key, query) for key in sent.atoms]
                          for query in asked.atoms], bool)  # fmt: skip
        table = table.reshape(len(asked.atoms), len(sent.atoms))
        return np.asarray(table[np.ix_(asked.places, sent.places)])

    def _column(self, node: SOp, space: Relation) -> ColumnOfAtoms:
        return self.facts.column(node, space)

    def _holds(self, op: str, key: Atom | None, query: Atom | None) -> bool:
        """A comparison; a string and a number, which the program cannot compare, are only equal or
        not."""
        if key is None or query is None:
            return False
        if isinstance(key, str) != isinstance(query, str):
            self.facts.partial |= op not in ("==", "!=")
            return op == "!="
        return bool(COMPARE[op](key, query))

    def worth(self, pick: Pick) -> Array:
        """(query, key): which of its query's different scores a key has, from the lowest."""
        sides = [(self._numbers(term.queries, self.queries), self._numbers(term.keys, self.keys))
                 for term in pick.products]  # fmt: skip
        asked, sent = (list(zip(*side, strict=True)) for side in zip(*sides, strict=True))
        queries, by_query = numbered(asked)
        keys, by_key = numbered(sent)
        table = np.zeros((len(queries), len(keys)), int)
        for place, query in enumerate(queries):
            scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
            order = {score: rank for rank, score in enumerate(sorted({*scores}))}
            table[place] = [order[score] for score in scores]
        return np.asarray(table[np.ix_(by_query, by_key)])

    def _numbers(self, node: SOp, space: Relation) -> list[Fraction]:
        column = self._column(node, space)
        if any(isinstance(atom, str) for atom in column.listed()):
            raise Refused("a score is a string")
        numbers = [Fraction(0) if atom is None or isinstance(atom, str) else Fraction(atom)
                   for atom in column.atoms]  # fmt: skip
        return [numbers[place] for place in column.places.tolist()]

    # -- sums -------------------------------------------------------------------------------------

    @cached_property
    def columns(self) -> list[ColumnOfAtoms]:
        """The values of each term, at keys."""
        return [self.facts.column(term.values, self.keys) for term in self.terms]

    def is_odd(self, term: int) -> bool:
        """Whether values are strings, or bools that have no mean. Numbers stand for them."""
        odd = str if self.terms[term].is_sum else (str, bool)
        return any(isinstance(atom, odd) for atom in self.columns[term].listed())

    @cached_property
    def units(self) -> list[int]:
        """How many units of a term make 1; 0 where numbers only stand for atoms."""
        return [0 if self.is_odd(place) else
                lcm(*(Fraction(atom).denominator for atom in column.listed()))
                for place, column in enumerate(self.columns)]  # fmt: skip

    def whole(self, term: int) -> list[int]:
        """(atom,): the values of a term in whole units, or what stands for them."""
        unit, atoms = self.units[term], self.columns[term].atoms
        return [place if not unit else 0 if atom is None else int(Fraction(atom) * unit)
                for place, atom in enumerate(atoms)]  # fmt: skip

    def added(self) -> list[tuple[int, ...]]:
        """(key,): what each key adds to each term, if it is picked."""
        numbers = []
        for term, column in enumerate(self.columns):
            whole = self.whole(term)
            numbers.append([whole[place] for place in column.places.tolist()])
        return [*zip(*numbers, strict=True)] if numbers else [()] * len(self.keys)


def _firsts(places: Array, numbers: Numbers) -> Array:
    """(row,): whether it is the first of those that are alike and that an input can have."""
    at = np.flatnonzero(numbers.there)
    table = np.hstack([numbers.value, numbers.wrong, places])[at]
    kept = np.zeros(len(numbers.there), bool)
    kept[at[row_ids(table)[1]]] = True
    return kept
