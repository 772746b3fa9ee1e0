"""Every pair of a query's row and a key's row: what selectors pick there, and what keys add.

`Lookup` is made for some picks (a selector, perhaps with a scorer of `select_best`) and for the
values that they add up. `reach` finds what these sums can be, for each row of a query and at each
length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate.claims import INDEX, Refused
from rasp.models.checker.relations import LENGTH, Array, Column, Name, Relation, TooMuch, codes_of, groups
from rasp.models.checker.sumsets import Options, Packing, Vector, sums_by_length
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

if TYPE_CHECKING:
    from rasp.models.checker.program_facts import ProgramFacts


@dataclass(frozen=True)
class Pick:
    """Selectors that must all hold, and what the best of these score by."""

    selectors: tuple[Selector, ...]
    best: Scorer | None = None

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
class Term:
    """Values that are added up over what is picked, for their sum or for their mean."""

    pick: Pick
    values: SOp
    is_sum: bool = False


@dataclass(frozen=True)
class Reached:
    """What sums can be for some queries, which pick alike."""

    rows: Array
    """The places of the queries among all."""
    by_length: list[list[Vector]]
    """For each length, the vectors of sums: for each pick how many keys, and for each term."""


class Lookup:
    """Pairs of a query and a key of one input, and the sums over keys that they make."""

    def __init__(
        self, facts: ProgramFacts, picks: Sequence[Pick], terms: Sequence[Term] = (),
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
        pairs = len(self.queries) * len(self.keys) * len(self.picks)
        if pairs > facts.limits.check_pairs:
            raise TooMuch("check_pairs", f"there are {pairs:,} pairs of a query and a key")

    # -- picks ------------------------------------------------------------------------------------

    @cached_property
    def seen(self) -> Array:
        """(query, key): whether a query sees a key at all: in a causal model, none after it."""
        if not self.facts.inputs.causal:
            return np.ones((len(self.queries), len(self.keys)), bool)
        return np.asarray(self.keys.states(INDEX)[None] <= self.queries.states(INDEX)[:, None])

    def picked(self, pick: Pick) -> Array:
        """(query, key): what all selectors of a pick hold for."""
        truth = self.seen.copy()
        for node in pick.selectors:
            truth &= self._truth(node)
        return truth

    def _truth(self, selector: Selector) -> Array:
        match selector:
            case Select(keys, queries, op):
                sent, asked = self._column(keys, self.keys), self._column(queries, self.queries)
                table = np.array([[self._holds(op, key, query) for key in sent.atoms]
                                  for query in asked.atoms], bool)  # fmt: skip
                table = table.reshape(len(asked.atoms), len(sent.atoms))
                return table[np.ix_(asked.places, sent.places)]
            case SelectorNot(inner):
                return ~self._truth(inner)
            case SelectorAnd(left, right):
                return self._truth(left) & self._truth(right)
            case SelectorOr(left, right):
                return self._truth(left) | self._truth(right)
        raise Refused("a selector is not made of comparisons")

    def _column(self, node: SOp, space: Relation) -> Column:
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
        queries, by_query = _numbered(asked)
        keys, by_key = _numbered(sent)
        table = np.zeros((len(queries), len(keys)), int)
        for place, query in enumerate(queries):
            scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
            order = {score: rank for rank, score in enumerate(sorted({*scores}))}
            table[place] = [order[score] for score in scores]
        return table[np.ix_(by_query, by_key)]

    def _numbers(self, node: SOp, space: Relation) -> list[Fraction]:
        column = self._column(node, space)
        if any(isinstance(atom, str) for atom in column.listed()):
            raise Refused("a score is a string")
        numbers = [Fraction(0) if atom is None or isinstance(atom, str) else Fraction(atom)
                   for atom in column.atoms]  # fmt: skip
        return [numbers[place] for place in column.places.tolist()]

    # -- sums -------------------------------------------------------------------------------------

    @cached_property
    def columns(self) -> list[Column]:
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

    def reach(self, fits: Callable[[Vector], bool] | None = None) -> Iterator[Reached]:
        """For queries that pick alike, everything that picks and terms can add up to: how many keys
        each pick has, and then each term, in units. What does not fit is left out.
        """
        increments = Increments(self)
        packing, longest = increments.packing, self.facts.inputs.max_length
        keeps = None if fits is None else lambda number: fits(packing.unpacked(number))
        memo: dict[object, list[list[Vector]]] = {}
        for rows in increments.alike():
            found: list[list[Vector]] = [[] for _ in range(longest)]
            for level, options, own in increments.options(int(rows[0])):
                key = level is None, tuple(options), tuple(own)
                if key not in memo:
                    sums = sums_by_length(options, own, keeps, self.facts.limits.check_sums)
                    memo[key] = [increments.reached(level, numbers) for numbers in sums]
                for every, some in zip(found, memo[key], strict=True):
                    every += some
            yield Reached(rows, found)


class Increments:
    """What each key adds to the sums of a query: a vector, packed."""

    def __init__(self, lookup: Lookup) -> None:
        self.lookup, facts = lookup, lookup.facts
        picks, keys = lookup.picks, lookup.keys
        best = [place for place, pick in enumerate(picks) if pick.best is not None]
        if len(best) > 1:
            raise Refused("two kinds of best picks are looked at together")
        self.best = best[0] if best else None
        self.patterns = np.zeros((len(lookup.queries), len(keys)), int)
        for place, pick in enumerate(picks):
            self.patterns += lookup.picked(pick).astype(int) << place
        self.ranks = lookup.worth(picks[self.best]) if self.best is not None else None
        self.classes, self.class_of = _numbered(lookup.added())
        self.term_picks = [picks.index(term.pick) for term in lookup.terms]
        added = [self._vector(number, pattern) for number in self.classes
                 for pattern in range(1 << len(picks))]  # fmt: skip
        self.packing = Packing.of(added, facts.inputs.max_length)
        self.packed = [self.packing.packed(vector) for vector in added]
        self.places = self._places()
        self.shared = [name for name in keys.names if name in lookup.queries.names]

    def _vector(self, values: tuple[int, ...], pattern: int) -> Vector:
        """What a key adds that some picks have: 1 to each of these, and its values."""
        counts = tuple(pattern >> pick & 1 for pick in range(len(self.lookup.picks)))
        terms = zip(values, self.term_picks, strict=True)
        return (*counts, *(value * counts[pick] for value, pick in terms))

    def _places(self) -> list[Array]:
        """For each position, the keys that can be there."""
        keys, longest = self.lookup.keys, self.lookup.facts.inputs.max_length
        if INDEX not in keys.names:
            return [np.arange(len(keys))] * longest
        return [np.flatnonzero(keys.states(INDEX) == place) for place in range(longest)]

    def alike(self) -> Iterator[Array]:
        """Queries that pick alike, and have the same key of their own."""
        (own,) = codes_of(self.lookup.queries.columns(self.shared))
        tables = [self.patterns, own[:, None], *([] if self.ranks is None else [self.ranks])]
        table = np.ascontiguousarray(np.hstack(tables))
        kind = np.dtype((np.void, table.dtype.itemsize * table.shape[1]))
        yield from groups(np.unique(table.view(kind).reshape(-1), return_inverse=True)[1])

    def options(self, query: int) -> Iterator[tuple[int | None, list[Options], list[Options]]]:
        """What each position can add, and what the query's own can; with `select_best`, once for
        each score that the best can have (-1: nothing is picked)."""
        mine = self.lookup.queries.columns(self.shared)[query]
        own = (self.lookup.keys.columns(self.shared) == mine).all(axis=1)
        patterns = self.patterns[query]
        if self.best is None or self.ranks is None:
            yield None, *self._options(patterns, own, np.ones(len(own), bool))
            return
        ranks, is_picked = self.ranks[query], patterns >> self.best & 1 == 1
        for level in (-1, *np.unique(ranks[is_picked]).tolist()):
            possible = ~is_picked | (ranks <= level)  # a better one would be picked instead
            lesser = is_picked & (ranks < level)
            yield level, *self._options(patterns - (lesser << self.best), own, possible)

    def _options(
        self, patterns: Array, own: Array, possible: Array
    ) -> tuple[list[Options], list[Options]]:
        kinds = (self.class_of << len(self.lookup.picks)) + patterns
        every, mine = [], []
        for place, at in enumerate(self.places):
            if place and at is self.places[place - 1]:
                every.append(every[-1])
                mine.append(mine[-1])
                continue
            at = at[possible[at]]
            every.append(self._added(kinds[at]))
            mine.append(self._added(kinds[at[own[at]]]))
        return every, mine

    def _added(self, kinds: Array) -> Options:
        return frozenset(self.packed[kind] for kind in np.unique(kinds).tolist())

    def reached(self, level: int | None, numbers: set[int]) -> list[Vector]:
        """The vectors of sums; where some key is the best, those in which one is picked."""
        vectors = [self.packing.unpacked(number) for number in numbers]
        if level is None or level < 0 or self.best is None:
            return vectors
        return [vector for vector in vectors if vector[self.best]]


def _numbered(rows: Sequence[tuple[Any, ...]]) -> tuple[list[tuple[Any, ...]], Array]:
    """The different rows, and which of them each row is."""
    numbering: dict[tuple[Any, ...], int] = {}
    which = [numbering.setdefault(row, len(numbering)) for row in rows]
    return [*numbering], np.array(which, int)
