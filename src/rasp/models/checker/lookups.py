"""Every pair of a query's row and a key's row: what selectors pick there, and what keys add.

`Lookup` is made for some picks (a selector, perhaps with a scorer of `select_best`) and for the
values that they add up. `reach` finds what these sums can be, for each row of a query and at each
length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate.claims import INDEX, Refused
from rasp.models.checker.relations import Array, Column, Name, Relation, TooMuch, codes_of, groups
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
class Term:
    """Values that are added up over what is picked, for their sum or for their mean."""

    pick: Pick
    values: SOp
    is_sum: bool = False


Case: TypeAlias = tuple[int | None, list[Options], list[Options]]
"""The best score, and what each position can add, and the query's own."""


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
        self.sides = sides

    def check_pairs(self) -> None:
        """Refuse more pairs than there is room for."""
        pairs = len(self.queries) * len(self.keys) * len(self.picks)
        if pairs > self.facts.limits.check_pairs:
            raise TooMuch("check_pairs", f"there are {pairs:,} pairs of a query and a key")

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
        alike: dict[tuple[object, ...], list[Array]] = {}
        for rows, cases in increments.cases():
            keys = []
            for level, options, own in cases:
                key = level is None or level < 0, tuple(options), tuple(own)
                if key not in memo:
                    sums = sums_by_length(options, own, keeps, self.facts.limits.check_sums)
                    memo[key] = [increments.reached(level, numbers) for numbers in sums]
                keys.append(key)
            alike.setdefault(tuple(dict.fromkeys(keys)), []).append(rows)
        for keys_of_kind, parts in alike.items():
            found: list[list[Vector]] = [[] for _ in range(longest)]
            for key in keys_of_kind:
                for every, some in zip(found, memo[key], strict=True):
                    every += some
            yield Reached(np.concatenate(parts), found)


class Increments:
    """What each key adds to the sums of a query: a vector, packed."""

    def __init__(self, whole: Lookup) -> None:
        picks = whole.picks
        best = [place for place, pick in enumerate(picks) if pick.best is not None]
        if len(best) > 1:
            raise Refused("two kinds of best picks are looked at together")
        self.best = best[0] if best else None
        self.classes, classes = _numbered(whole.added())
        asked, sent = self._kinds(whole, classes)
        self.kind_of, self.class_of = asked[0], classes[sent[1]]
        self.lookup = lookup = whole.among(asked[1], sent[1])
        self.patterns = np.zeros((len(lookup.queries), len(lookup.keys)), int)
        for place, pick in enumerate(picks):
            self.patterns += lookup.picked(pick).astype(int) << place
        self.ranks = lookup.worth(picks[self.best]) if self.best is not None else None
        self.term_picks = [picks.index(term.pick) for term in lookup.terms]
        added = [self._vector(number, pattern) for number in self.classes
                 for pattern in range(1 << len(picks))]  # fmt: skip
        self.packing = Packing.of(added, lookup.facts.inputs.max_length)
        self.packed = [self.packing.packed(vector) for vector in added]
        self.places = self._places()

    def _kinds(self, whole: Lookup, classes: Array) -> list[tuple[Array, Array]]:
        """Queries, and keys, that are alike for all that is asked here: see `row_ids`.

        A query's own key has the same states. Where these decide it, queries are told apart by the
        kind of their own key; else by the states. Where that would be too many, it may be any key.
        """
        asked, sent = whole.compared()
        index = whole.keys.columns([INDEX] if INDEX in whole.keys.names else [])
        keys = np.hstack([sent, index, classes[:, None]])
        shared = [name for name in whole.keys.names if name in whole.queries.names]
        if len(shared) == len(whole.keys.names):
            kinds = row_ids(keys)
            own = np.append(kinds[0], -1)[whole.queries.places(whole.keys)]
            queries = row_ids(np.hstack([asked, own[:, None]]))
            self.mine, self.theirs = own[queries[1]], np.arange(len(kinds[1]))
            return [queries, kinds]
        for names in (shared, []):
            mine, theirs = codes_of(whole.queries.columns(names), whole.keys.columns(names))
            kinds = row_ids(np.hstack([keys, theirs[:, None]]))
            queries = row_ids(np.hstack([asked, mine[:, None]]))
            if len(queries[1]) * len(kinds[1]) * len(whole.picks) <= whole.facts.limits.check_pairs:
                break
        self.mine, self.theirs = mine[queries[1]], theirs[kinds[1]]
        return [queries, kinds]

    def _vector(self, values: tuple[int, ...], pattern: int) -> Vector:
        """What a key adds that some picks have: 1 to each of these, and its values."""
        counts = tuple(pattern >> pick & 1 for pick in range(len(self.lookup.picks)))
        terms = zip(values, self.term_picks, strict=True)
        return (*counts, *(value * counts[pick] for value, pick in terms))

    def _places(self) -> list[Array]:
        """For each position, or for all, the keys that can be there."""
        keys, longest = self.lookup.keys, self.lookup.facts.inputs.max_length
        if INDEX not in keys.names:
            return [np.arange(len(keys))]
        return [np.flatnonzero(keys.states(INDEX) == place) for place in range(longest)]

    def cases(self) -> Iterator[tuple[Array, list[Case]]]:
        """Queries that get the same, and what each position can add there, and their own; with
        `select_best`, once for each score that the best can have (-1: nothing is picked)."""
        if self.ranks is not None:
            yield from self._cases_of_best()
            return
        kinds = (self.class_of << len(self.lookup.picks)) + self.patterns
        bits = [self._bits(kinds, at) for at in self.places]
        for alike in groups(row_ids(np.hstack(bits))[0]):
            every, own_ones = self._decoded([part[alike[0]] for part in bits])
            yield self._rows(alike), [(None, every, own_ones)]

    def _rows(self, kinds: Array) -> Array:
        """The queries of some kinds."""
        return np.flatnonzero(np.isin(self.kind_of, kinds))

    def _bits(self, kinds: Array, at: Array) -> Array:
        """(query, bit): which increments some key at a position has, and the query's own."""
        count = len(self.packed)
        table = np.zeros((len(kinds), 2 * count), bool)
        table[np.arange(len(kinds))[:, None], kinds[:, at]] = True
        asked, sent = np.nonzero(self.mine[:, None] == self.theirs[at][None])
        table[asked, count + kinds[asked, at[sent]]] = True
        return np.packbits(table, axis=1)

    def _decoded(self, bits: Sequence[Array]) -> tuple[list[Options], list[Options]]:
        """The options that such bits stand for, at each position."""
        every, own = [], []
        for part in bits:
            table = np.unpackbits(part)[: 2 * len(self.packed)].reshape(2, -1)
            one, other = (frozenset(self.packed[kind] for kind in np.flatnonzero(row).tolist())
                          for row in table)  # fmt: skip
            every.append(one)
            own.append(other)
        return self._at_all(every), self._at_all(own)

    def _at_all(self, options: list[Options]) -> list[Options]:
        """Options for each position, where all positions may have the same."""
        return options * (self.lookup.facts.inputs.max_length // len(options))

    def _cases_of_best(self) -> Iterator[tuple[Array, list[Case]]]:
        assert self.ranks is not None and self.best is not None
        table = np.hstack([self.patterns, self.mine[:, None], self.ranks])
        for alike in groups(row_ids(table)[0]):
            query, cases = int(alike[0]), list[Case]()
            patterns, ranks, own = (
                self.patterns[query],
                self.ranks[query],
                self.theirs == self.mine[query],
            )
            is_picked = patterns >> self.best & 1 == 1
            for level in (-1, *np.unique(ranks[is_picked]).tolist()):
                possible = ~is_picked | (ranks <= level)  # a better one would be picked instead
                lesser = is_picked & (ranks < level)
                options = self._options(patterns - (lesser << self.best), own, possible)
                cases.append((level, *options))
            yield self._rows(alike), cases

    def _options(
        self, patterns: Array, own: Array, possible: Array
    ) -> tuple[list[Options], list[Options]]:
        kinds = (self.class_of << len(self.lookup.picks)) + patterns
        every, mine = [], []
        for place in self.places:
            at = place[possible[place]]
            every.append(self._added(kinds[at]))
            mine.append(self._added(kinds[at[own[at]]]))
        return self._at_all(every), self._at_all(mine)

    def _added(self, kinds: Array) -> Options:
        return frozenset(self.packed[kind] for kind in np.unique(kinds).tolist())

    def reached(self, level: int | None, numbers: set[int]) -> list[Vector]:
        """The vectors of sums; where some key is the best, those in which one is picked."""
        vectors = [self.packing.unpacked(number) for number in numbers]
        if level is None or level < 0 or self.best is None:
            return vectors
        return [vector for vector in vectors if vector[self.best]]


def _firsts(places: Array, numbers: Numbers) -> Array:
    """(row,): whether it is the first of those that are alike and that an input can have."""
    at = np.flatnonzero(numbers.there)
    table = np.hstack([numbers.value, numbers.wrong, places])[at]
    kept = np.zeros(len(numbers.there), bool)
    kept[at[row_ids(table)[1]]] = True
    return kept


def row_ids(table: Array) -> tuple[Array, Array]:
    """(row,): a number for each different row; and the first row of each."""
    table = np.ascontiguousarray(table)
    if not table.shape[1]:
        return np.zeros(len(table), int), np.zeros(min(1, len(table)), int)
    kind = np.dtype((np.void, table.dtype.itemsize * table.shape[1]))
    _, first, which = np.unique(
        table.view(kind).reshape(-1), return_index=True, return_inverse=True
    )
    return which.reshape(-1), first


def _numbered(rows: Sequence[tuple[Any, ...]]) -> tuple[list[tuple[Any, ...]], Array]:
    """The different rows, and which of them each row is."""
    numbering: dict[tuple[Any, ...], int] = {}
    which = [numbering.setdefault(row, len(numbering)) for row in rows]
    return [*numbering], np.array(which, int)
