"""The rule `reach`: everything that picks and their values can add up to, for every query.

For queries that get the same, positions are gone through one after another (see `sumsets`). At each
there may be any key that can be there, and at one of them is the query's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rasp.models.certificate.claims import INDEX, Refused
from rasp.models.checker.lookups import Lookup
from rasp.models.checker.relations import Array, codes_of, groups, numbered, row_ids
from rasp.models.checker.sumsets import Options, Packing, Vector, sums_by_length

Case: TypeAlias = tuple[int | None, list[Options], list[Options]]
"""The best score, and what each position can add, and the query's own."""


@dataclass(frozen=True)
class ReachedSums:
    """What sums can be for some queries, which pick alike."""

    rows: Array
    """The places of the queries among all."""
    by_length: list[list[Vector]]
    """For each length, the vectors of sums: for each pick how many keys, and for each term."""


def reach(lookup: Lookup, fits: Callable[[Vector], bool] | None) -> Iterator[ReachedSums]:
    """For queries that pick alike, everything that picks and terms can add up to: how many keys
    each pick has, and then each term, in units. What does not fit is left out.
    """
    increments = Increments(lookup)
    packing, longest = increments.packing, lookup.facts.inputs.max_length
    keeps = None if fits is None else lambda number: fits(packing.unpacked(number))
    memo: dict[object, list[list[Vector]]] = {}
    alike: dict[tuple[object, ...], list[Array]] = {}
    for rows, cases in increments.cases():
        keys: list[object] = []
        for level, options, own in cases:
            key: object = (level is None or level < 0, tuple(options), tuple(own))
            if key not in memo:
                sums = sums_by_length(options, own, keeps, lookup.facts.budget.sums)
                memo[key] = [increments.reached(level, numbers) for numbers in sums]
            keys.append(key)
        alike.setdefault(tuple(dict.fromkeys(keys)), []).append(rows)
    for keys_of_kind, parts in alike.items():
        found: list[list[Vector]] = [[] for _ in range(longest)]
        for known in keys_of_kind:
            for every, some in zip(found, memo[known], strict=True):
                every += some
        yield ReachedSums(np.concatenate(parts), found)


class Increments:
    """What each key adds to the sums of a query: a vector, packed."""

    def __init__(self, whole: Lookup) -> None:
        picks = whole.picks
        best = [place for place, pick in enumerate(picks) if pick.best is not None]
        if len(best) > 1:
            raise Refused("two kinds of best picks are looked at together")
        self.best = best[0] if best else None
        self.classes, classes = numbered(whole.added())
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
            if len(queries[1]) * len(kinds[1]) * len(whole.picks) <= whole.facts.budget.pairs:
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
