"""A head's queries and keys in; how the scores of what it must pick and of all else lie, out.

A score is Σ query · key over the head's columns. Queries and keys are constants plus functions of
different variables, so the score falls into parts, one for each set of conditions that look at
the same variables of the key. Each part is tried on every pair of a query's state and a key's:
where the conditions hold it is a match. A key that the selector picks is a match in every part;
any other fails in one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from rasp.certificate.arrays import HeadArrays
from rasp.certificate.cases import compared, comparisons, holds
from rasp.certificate.claims import INDEX, Conjunct, HeadClaim, Refused
from rasp.certificate.precision import Precision
from rasp.certificate.reading import DOUBLE, EXACT, SLACK, UNIT, Parts, Reading, grains, located
from rasp.certificate.stream import Stream
from rasp.certificate.tables import Array, Column, Space
from rasp.certificate.values import Values
from rasp.graph import Select, SOp, score_terms

AT_ONCE = 2_000_000
MOST_PAIRS = 100_000_000
FAR = 1e30


@dataclass(frozen=True, eq=False)
class Side:
    """What a head reads of its queries, or of its keys: a constant and functions."""

    constant: Array  # (column,)
    error: Array  # (column,)
    pieces: list[tuple[Space, Array, Array, Array]]
    """(combination, column): values, counted from the first, and errors; and whether an input
    has the combination."""
    grain: Array  # (column,)
    most: Array  # (column,): the largest size

    def largest(self, weights: Array) -> float:
        """The largest Σ |number| · weight over what it can be, its own errors aside."""
        if len(self.pieces) == 1:
            ((_, value, _, _),) = self.pieces
            return float((np.abs(value + self.constant) @ weights).max())
        total = float(np.abs(self.constant) @ weights)
        for _, value, _, _ in self.pieces:
            total += float((np.abs(value) @ weights).max(initial=0.0))
        return total

    def of(self, values: Values, space: Space, chosen: Sequence[int]) -> tuple[Array, Array, Array]:
        """Some of the pieces over a space: values, errors, and whether an input has that."""
        total, error = np.zeros((2, space.size, len(self.constant)))
        there = np.ones(space.size, bool)
        for number in chosen:
            inner, value, off, known = self.pieces[number]
            places = located(values, inner, space)
            total, error = total + value[places], error + off[places]
            there &= (places >= 0) & known[places]
        return total, error, there


def rounded(side: Side, precision: Precision) -> Side:
    """What a side is as numbers of a coarser precision, column by column.

    Where a column is a function of one piece, that is rounded state by state, with all that it may
    be off; elsewhere it counts as off by what rounding can change.
    """
    if precision.is_float32:
        return side
    active = np.array([value.any(axis=0) | off.any(axis=0) for _, value, off, _ in side.pieces])
    count = active.sum(axis=0) if len(active) else np.zeros(len(side.constant), int)
    wrong = side.error + sum(off.max(axis=0, initial=0.0) for _, _, off, _ in side.pieces)
    error = side.error + precision.unit * (side.most + wrong)
    constant, pieces = side.constant.copy(), []
    alone = count == 0
    constant[alone], error[alone] = precision.ends(side.constant[alone], side.error[alone])
    for number, (space, value, off, there) in enumerate(side.pieces):
        mine = (count == 1) & active[number]
        middle, around = precision.ends(side.constant + value, side.error + off)
        first = middle[np.flatnonzero(there)[0]]
        constant[mine], error[mine] = first[mine], 0.0
        pieces.append((space, np.where(mine, middle - first, value), np.where(mine, around, off),
                       there))  # fmt: skip
    most = np.abs(constant) + sum(np.abs(value).max(axis=0, initial=0.0)
                                  for _, value, _, _ in pieces)  # fmt: skip
    return Side(constant, error, pieces, np.zeros_like(side.grain), most)


def side_of(reading: Reading, bias: Array) -> Side:
    """A reading with its bias; rounding is looked at state by state where one piece is all."""
    constant, error = reading.base.value[0] + bias, reading.base.error[0]
    pieces, most = [], np.zeros_like(constant)
    if len(reading.pieces) == 1:
        (piece,) = reading.pieces
        whole = reading.within(reading.base.plus(piece.parts))
        off = [piece.parts.error + reading.rounding(whole, bias)]
    else:
        mass = reading.base.mass + sum(piece.parts.mass.max(axis=0) for piece in reading.pieces)
        count = reading.base.count + sum(piece.parts.count.max(axis=0) for piece in reading.pieces)
        worst = reading.within(Parts(np.full_like(mass, np.inf), reading.base.error, mass, count))
        error = error + reading.rounding(worst, bias)[0]
        off = [piece.parts.error for piece in reading.pieces]
    for piece, wrong in zip(reading.pieces, off, strict=True):
        there = ~np.isnan(piece.parts.value).any(axis=1)
        if not there.any():
            raise Refused("no input has any of the states that are claimed")
        first = piece.parts.value[np.flatnonzero(there)[0]]
        constant = constant + first
        value = np.nan_to_num(piece.parts.value - first)
        pieces.append((piece.space, value, wrong, there))
        most = most + np.abs(value).max(axis=0)
    most = most + np.abs(constant)
    grain = np.where(bias != 0, np.minimum(reading.grain, grains(bias)), reading.grain)
    exact = (error == 0) & np.all([(part == 0).all(axis=0) for _, _, part, _ in pieces], axis=0)
    return Side(
        constant, error, pieces, np.where(exact & (most <= EXACT * grain), grain, 0.0), most
    )


@dataclass(frozen=True, eq=False)
class Part:
    """One part of the scores, by the query's state."""

    space: Space
    there: Array  # (query,): whether the program has a value there
    low: Array  # (query,): the lowest match; nan where there is none
    high: Array  # (query,): the highest score of all
    fail: Array  # (query,): the highest score of what does not match
    fall: float
    """How far below the lowest match any key scores, at most."""
    depth: float
    """How far below the lowest match every other key scores, at least."""
    spread: float
    """How far matches of one query are apart, at most."""
    error: float
    match_error: float
    step: float = FAR
    """How far apart matches of different worth to `select_best` are, at least."""
    tie: float = 0.0
    """How far apart matches of the same worth are, at most."""
    mass: float = 0.0
    match_mass: float = 0.0
    count: float = 0.0
    """How many numbers are added up at once, at most."""


@dataclass(frozen=True)
class Shares:
    """How a head that gives shares scores, counted from a match that is not at position 0."""

    picked: tuple[float, float]
    """Position 0 where it matches, at least and at most."""
    others: tuple[float, float]
    """Position 0 where it does not."""
    depth: float
    spread: float
    error: float
    mass: float


@dataclass(frozen=True)
class Scores:
    """How a head's scores lie; all of it holds for every query."""

    depth: float
    spread: float
    error: float
    match_error: float
    above_sink: tuple[float, float]
    """How far the lowest match scores above the sink, at least and at most."""
    sink_above: float
    """How far the sink scores above all keys, where none of them is picked."""
    sink_error: float
    step: float
    """How far apart picks of different worth to `select_best` are at least, and those of the same
    worth at most, with whatever other conditions add to them."""
    tie: float
    stand_in: float
    """How far keys that stand in for a sink score above those that fail another condition."""


class Scorer:
    """Looks at the scores of one head."""

    def __init__(self, stream: Stream, claim: HeadClaim, head: HeadArrays) -> None:
        self.values, self.claim = stream.values, claim
        asked = [v for conjunct in claim.conjuncts for v in conjunct.queries]
        sent = [v for conjunct in claim.conjuncts for v in conjunct.keys]
        sent += [INDEX] if claim.mode == "share" else []
        self.precision = stream.precision
        queries = stream.read(head.query, [*asked, *claim.best_queries])
        keys = stream.read(head.key, [*sent, *claim.best_keys])
        self.queries = rounded(side_of(queries, head.query_bias), self.precision)
        self.keys = rounded(side_of(keys, head.key_bias), self.precision)
        self.groups = self._shared()
        self.owner = self._owners()
        self.common = self._common_error()

    def _owners(self) -> Array:
        """(column,): the part that alone has to do with a column of keys; -1 where none has."""
        found = np.full(len(self.keys.constant), -1)
        for part, (_, pieces) in enumerate(self.groups):
            for number in pieces:
                _, value, off, _ = self.keys.pieces[number]
                used = value.any(axis=0) | off.any(axis=0)
                found[used] = np.where((found[used] == -1) | (found[used] == part), part, -2)
        return found

    def _common_error(self) -> float:
        """What is wrong with scores by errors that depend on neither state."""
        asked, sent = self.queries, self.keys
        wrong = asked.error + sum(part.max(axis=0, initial=0.0) for _, _, part, _ in asked.pieces)
        constant = np.where(self.owner >= 0, 0.0, np.abs(sent.constant))
        return float((constant * wrong + wrong * sent.error).sum()) + asked.largest(sent.error)

    def scores(self, sink: Array | None, sink_off: Array | float = 0.0) -> Scores:
        """Try every part; `sink` is what the head reads of the sink as a key, off by so much."""
        parts = [self._part(conjuncts, pieces) for conjuncts, pieces in self.groups]
        used = [number for _, pieces in self.groups for number in pieces]
        common = self.common + self._unclaimed(used)
        rounding = self._rounding([(part.mass, part.count) for part in parts], sink)
        matches = self._rounding([(part.match_mass, part.count) for part in parts], sink)
        spread = sum(part.spread for part in parts)
        beside = sum(part.spread for part, (conjuncts, _) in zip(parts, self.groups, strict=True)
                     if None not in conjuncts)  # fmt: skip
        depth = min((part.depth - (spread - part.spread) for part in parts), default=FAR)
        above, gap, sink_error = (FAR, FAR), FAR, 0.0
        if sink is not None:
            above, gap = self._against_sink(parts, sink)
            wrong = self.queries.error + sum(part.max(axis=0, initial=0.0)
                                             for _, _, part, _ in self.queries.pieces)  # fmt: skip
            sink_error = float((np.abs(sink) * wrong).sum()) + matches
            off = np.broadcast_to(sink_off, wrong.shape)
            sink_error += self.queries.largest(off) + float(wrong @ off)
        return Scores(
            depth, spread,
            common + rounding + sum(part.error for part in parts),
            common + matches + sum(part.match_error for part in parts),
            above, gap, sink_error,
            min((part.step for part in parts), default=FAR) - beside,
            sum(part.tie for part in parts) + beside,
            self._stand_ins(parts),
        )  # fmt: skip

    def _stand_ins(self, parts: Sequence[Part]) -> float:
        """Keys that stand in for a sink fall by so much together, others by so much each."""
        mine = {self.claim.conjuncts[place] for place in self.claim.stand_ins}
        fall, depth = 0.0, FAR
        for part, (conjuncts, _) in zip(parts, self.groups, strict=True):
            if mine.isdisjoint(conjuncts):
                depth = min(depth, part.depth)
            elif mine.issuperset(conjuncts):
                fall += part.fall
            else:
                return -FAR
        return depth - fall - sum(part.spread for part in parts)

    def _rounding(self, masses: Sequence[tuple[float, float]], sink: Array | None) -> float:
        """The rounding of the sum over columns: those of parts (mass, count), and all others."""
        asked, sent = self.queries, self.keys
        loose = np.where(self.owner >= 0, 0.0, asked.most * np.abs(sent.constant))
        mass = float(loose.sum()) + sum(mass for mass, _ in masses)
        count = int((loose > 0).sum()) + sum(count for _, count in masses)
        used = (asked.most > 0) & (sent.most > 0)
        grain = float((asked.grain * sent.grain)[used].min(initial=2.0**20))
        if sink is not None:
            own = asked.most * np.abs(sink)
            grain = min(grain, float((asked.grain * grains(sink))[own > 0].min(initial=2.0**20)))
            mass, count = max(mass, float(own.sum())), max(count, int((own > 0).sum()))
        if grain and mass <= EXACT * grain:
            return 0.0
        return float((SLACK * UNIT * max(1, count) + self.precision.stored) * mass)

    def _shared(self) -> list[tuple[list[Conjunct | None], list[int]]]:
        """Conditions that look at the same variables of keys, and the pieces of these."""
        groups: list[tuple[list[Conjunct | None], list[int]]] = []
        wanted: list[tuple[Conjunct | None, tuple[int, ...]]] = [
            (conjunct, conjunct.keys) for conjunct in self.claim.conjuncts
        ]
        if self.claim.best is not None:
            wanted.append((None, self.claim.best_keys))
        for conjunct, keys in wanted:
            mine = [number for number, (space, value, _, _) in enumerate(self.keys.pieces)
                    if set(space.variables) & set(keys) and value.any()]  # fmt: skip
            joined: tuple[list[Conjunct | None], list[int]] = ([conjunct], mine)
            rest = []
            for group in groups:
                if set(group[1]) & set(joined[1]):
                    joined = (group[0] + joined[0], list(dict.fromkeys(group[1] + joined[1])))
                else:
                    rest.append(group)
            groups = [*rest, joined]
        return groups

    def _unclaimed(self, used: Sequence[int]) -> float:
        """What keys score by functions that no condition is about."""
        total = 0.0
        for number, (_, value, off, _) in enumerate(self.keys.pieces):
            if number not in used:
                most = np.abs(value).max(axis=0, initial=0.0) + off.max(axis=0, initial=0.0)
                total += float((self.queries.most + self.queries.error) @ most)
        return total

    # -- one part ---------------------------------------------------------------------------------

    def _part(self, conjuncts: list[Conjunct | None], pieces: list[int]) -> Part:
        return self._pairs(conjuncts, pieces, ()).part()

    def _pairs(
        self, conjuncts: list[Conjunct | None], pieces: list[int], more: tuple[int, ...]
    ) -> _Pairs:
        """Every pair in one part; keys are also told apart by the variables in `more`."""
        asked, sent = self.queries, self.keys
        columns = np.zeros(len(sent.constant), bool)
        for number in pieces:
            columns |= sent.pieces[number][1].any(axis=0) | sent.pieces[number][2].any(axis=0)
        crossing = [number for number, (_, value, off, _) in enumerate(asked.pieces)
                    if (value[:, columns].any() or off[:, columns].any())]  # fmt: skip
        query_names = [v for number in crossing for v in asked.pieces[number][0].variables]
        key_names = [v for number in pieces for v in sent.pieces[number][0].variables]
        for conjunct in conjuncts:
            query_names += conjunct.queries if conjunct else self.claim.best_queries
            key_names += conjunct.keys if conjunct else self.claim.best_keys
        spaces = self.values.space(query_names), self.values.space([*key_names, *more])
        given, given_off, asked_there = asked.of(self.values, spaces[0], crossing)
        others = [number for number in range(len(asked.pieces)) if number not in crossing]
        rest = sum((np.abs(asked.pieces[n][1]).max(axis=0) for n in others), np.zeros(len(columns)))
        rest_off = sum((asked.pieces[n][2].max(axis=0) for n in others), np.zeros(len(columns)))
        held, held_off, sent_there = sent.of(self.values, spaces[1], pieces)
        return _Pairs(
            self, conjuncts, spaces, (asked_there, sent_there),
            (given + asked.constant)[:, columns], (given_off + asked.error + rest_off)[:, columns],
            held[:, columns], held_off[:, columns],
            np.where(self.owner >= 0, sent.constant, 0.0)[columns], rest[columns], bool(more),
        )  # fmt: skip

    def shares(self) -> Shares:
        """How far position 0 scores above other matches, where it matches and where it does not."""
        pieces = [number for number, (_, value, _, _) in enumerate(self.keys.pieces) if value.any()]
        found = self._pairs([*self.claim.conjuncts], pieces, (INDEX,)).shares()
        wrong = self.common + self._unclaimed(pieces)
        wrong += self._rounding([(found.mass, float(len(self.keys.constant)))], None)
        return replace(found, error=found.error + wrong)

    # -- the sink ---------------------------------------------------------------------------------

    def _against_sink(
        self, parts: Sequence[Part], sink: Array
    ) -> tuple[tuple[float, float], float]:
        """How far matches score above the sink, and the sink above keys where nothing matches.

        Both are sums of functions of the query, looked at for each set of variables at once.
        """
        factor = self.keys.constant - sink
        constant = float(self.queries.constant @ factor)
        low = high = constant
        tops, fails = [], []
        for space, some, numbers in self._components(parts):
            base, there = np.zeros(space.size), np.ones(space.size, bool)
            for number in numbers:
                inner, value, _, known = self.queries.pieces[number]
                place = located(self.values, inner, space)
                base += (value @ factor)[place]
                there &= (place >= 0) & known[place]
            places = [located(self.values, part.space, space) for part in some]
            for part, place in zip(some, places, strict=True):
                there &= (place >= 0) & part.there[place]
            lows = base + sum(part.low[place] for part, place in zip(some, places, strict=True))
            highs = base + sum(part.high[place] for part, place in zip(some, places, strict=True))
            worst = np.full(space.size, -FAR)
            for part, place in zip(some, places, strict=True):
                worst = np.maximum(worst, highs - part.high[place] + part.fail[place])
            if not there.any():
                continue
            matched = there & ~np.isnan(lows)
            low += float(lows[matched].min(initial=FAR))
            high += float(lows[matched].max(initial=-FAR))
            tops.append(float(highs[there].max()))
            fails.append(float(worst[there].max()))
        above = [sum(tops) - top + fail for top, fail in zip(tops, fails, strict=True)]
        return (low, high), -(constant + max(above, default=-FAR))

    def _components(self, parts: Sequence[Part]) -> list[tuple[Space, list[Part], list[int]]]:
        groups: list[tuple[set[int], list[Part], list[int]]] = []
        items: list[tuple[set[int], list[Part], list[int]]] = [
            (set(part.space.variables), [part], []) for part in parts
        ]
        items += [(set(space.variables), [], [number])
                  for number, (space, *_) in enumerate(self.queries.pieces)]  # fmt: skip
        for names, some, numbers in items:
            mine = [group for group in groups if group[0] & names]
            joined = (names.union(*(group[0] for group in mine)),
                      some + [part for group in mine for part in group[1]],
                      numbers + [number for group in mine for number in group[2]])  # fmt: skip
            groups = [group for group in groups if all(group is not other for other in mine)]
            groups.append(joined)
        return [
            (self.values.space(sorted(names)), some, numbers) for names, some, numbers in groups
        ]


class _Pairs:
    """Every pair of a query's state and a key's, in one part of the scores."""

    def __init__(
        self, scorer: Scorer, conjuncts: list[Conjunct | None], spaces: tuple[Space, Space],
        there: tuple[Array, Array], given: Array, given_off: Array, held: Array, held_off: Array,
        constant: Array, rest: Array, by_index: bool,
    ) -> None:  # fmt: skip
        self.by_index = by_index or scorer.values.inputs.causal
        self.values, self.claim = scorer.values, scorer.claim
        self.selectors = [conjunct.selector for conjunct in conjuncts if conjunct is not None]
        self.best = self.claim.best if None in conjuncts else None
        self.query_space, self.key_space = spaces
        queries, keys = self._nodes()
        self.asked = {node: self.values.column(node, spaces[0]) for node in queries}
        self.sent = {node: self.values.column(node, spaces[1]) for node in keys}
        self.rows, self.row_of = self._different(spaces[0], there[0], given, given_off, self.asked)
        self.columns, _ = self._different(spaces[1], there[1], held, held_off, self.sent)
        self.given, self.given_off = given[self.rows], given_off[self.rows]
        self.held, self.held_off = held[self.columns], held_off[self.columns]
        self.whole = np.abs(self.held + constant)
        self.rest = rest
        if len(self.rows) * len(self.columns) > MOST_PAIRS:
            raise Refused("too many pairs of a query's and a key's values")

    def _nodes(self) -> tuple[list[SOp], list[SOp]]:
        literals = list(comparisons(self.selectors))
        queries, keys = [node.queries for node in literals], [node.keys for node in literals]
        for term in score_terms(self.best) if self.best is not None else ():
            queries, keys = [*queries, term.queries], [*keys, term.keys]
        return list(dict.fromkeys(queries)), list(dict.fromkeys(keys))

    def _different(
        self, space: Space, there: Array, value: Array, off: Array, columns: dict[SOp, Column]
    ) -> tuple[Array, Array]:
        """Combinations that differ in what is read or compared: the first of each, and which
        each of them is; -1 where the program has no value.
        """
        parts = [value, off, *(column.places[:, None] for column in columns.values())]
        if self.by_index and INDEX in space.variables:
            parts.append(space.row(INDEX)[:, None])
        table = np.ascontiguousarray(np.hstack(parts, dtype=float) + 0.0)
        fine = there.copy()
        for column in columns.values():
            known = np.array([atom is not None for atom in column.atoms], bool)
            fine &= known[column.places]
        kind = np.dtype((np.void, table.dtype.itemsize * table.shape[1]))
        keys = table.view(kind).reshape(-1) if table.shape[1] else np.zeros(space.size)
        places = np.flatnonzero(fine)
        _, first, inverse = np.unique(keys[places], return_index=True, return_inverse=True)
        number = np.full(space.size, -1)
        number[places] = inverse.reshape(-1)
        return places[first], number

    def truth(self, rows: Array) -> Array:
        found = np.ones((len(rows), len(self.columns)), bool)
        for selector in self.selectors:
            found &= holds(selector, lambda node: self._compared(node, rows))
        return found

    def _compared(self, node: Select, rows: Array) -> Array:
        asked, sent = self.asked[node.queries], self.sent[node.keys]
        table = compared(sent.atoms, asked.atoms, node.op)
        return np.asarray(table[np.ix_(asked.places[rows], sent.places[self.columns])])

    def _seen(self, rows: Array) -> Array | None:
        """Which keys a causal query sees."""
        both = INDEX in self.query_space.variables and INDEX in self.key_space.variables
        if not self.values.inputs.causal or not both:
            return None
        index = [space.row(INDEX)
                 for space in (self.query_space, self.key_space)]  # fmt: skip
        return np.asarray(index[1][self.columns][None, :] <= index[0][rows][:, None])

    def part(self) -> Part:
        low, high, fails = np.full((3, max(1, len(self.rows))), np.nan)
        depth, spread, error, match_error, step, tie, mass = FAR, 0.0, 0.0, 0.0, FAR, 0.0, 0.0
        match_mass = count = fall = 0.0
        at_once = max(1, AT_ONCE // max(1, len(self.columns)))
        for first in range(0, len(self.rows), at_once):
            some = slice(first, min(first + at_once, len(self.rows)))
            rows = self.rows[some]
            score = self.given[some] @ self.held.T
            sizes = (np.abs(self.given[some]) + self.rest) @ self.whole.T
            off = (np.abs(self.given[some]) + self.rest) @ self.held_off.T + DOUBLE * sizes
            off += self.given_off[some] @ (self.whole + self.held_off).T
            truth, seen = self.truth(rows), self._seen(rows)
            others = ~truth
            if seen is not None:
                truth, others = truth & seen, others & seen
            lowest = np.where(truth, score, np.inf).min(axis=1, initial=np.inf)
            highest = np.where(truth, score, -np.inf).max(axis=1, initial=-np.inf)
            fail = np.where(others, score, -np.inf).max(axis=1, initial=-np.inf)
            has = np.isfinite(lowest)
            low[some] = np.where(has, lowest, np.nan)
            top = np.maximum(highest, fail)
            high[some] = np.where(np.isfinite(top), top, 0.0)
            fails[some] = np.maximum(fail, -FAR)
            spread = max(spread, float((highest - lowest)[has].max(initial=0.0)))
            depth = min(depth, float((lowest - fail)[has].min(initial=FAR)))
            seen_pairs = truth | others
            deepest = np.where(others, score, np.inf).min(axis=1, initial=np.inf)
            fall = max(fall, float((lowest - deepest)[has & np.isfinite(deepest)].max(initial=0.0)))
            error = max(error, float(np.where(seen_pairs, off, 0.0).max(initial=0.0)))
            match_error = max(match_error, float(np.where(truth, off, 0.0).max(initial=0.0)))
            mass = max(mass, float(np.where(seen_pairs, sizes, 0.0).max(initial=0.0)))
            match_mass = max(match_mass, float(np.where(truth, sizes, 0.0).max(initial=0.0)))
            reads = ((self.given[some] != 0) | (self.rest != 0)).astype(np.float32)
            count = max(
                count, float((reads @ (self.whole != 0).T.astype(np.float32)).max(initial=0.0))
            )
            if self.best is not None:
                apart, alike = self._ranked(rows, score, truth)
                step, tie = min(step, apart), max(tie, alike)
        there = self.row_of >= 0
        of = self.row_of
        return Part(self.query_space, there, low[of], high[of], fails[of], fall, depth, spread,
                    error, match_error, step, tie, mass, match_mass, count)  # fmt: skip

    def shares(self) -> Shares:
        """Score position 0 against other matches."""
        index = self.key_space.row(INDEX)[self.columns]
        first = index == 0
        picked, others, depth, spread = [FAR, -FAR], [FAR, -FAR], FAR, 0.0
        error = mass = 0.0
        at_once = max(1, AT_ONCE // max(1, len(self.columns)))
        for start in range(0, len(self.rows), at_once):
            some = slice(start, start + at_once)
            score = self.given[some] @ self.held.T
            sizes = (np.abs(self.given[some]) + self.rest) @ self.whole.T
            off = (np.abs(self.given[some]) + self.rest) @ self.held_off.T + DOUBLE * sizes
            off += self.given_off[some] @ (self.whole + self.held_off).T
            truth = self.truth(self.rows[some])
            if self._seen(self.rows[some]) is not None:
                raise Refused("a causal head that gives shares")
            match, fail = truth & ~first, ~truth & ~first
            other = np.where(fail, score, -np.inf).max(axis=1)
            alone = ~match.any(axis=1)  # position 0 is all that matches: it gets everything
            own = np.where(truth & first, score, -np.inf).max(axis=1)
            if (alone & ~np.isfinite(own)).any():
                raise Refused("a query that matches nothing")
            low = np.where(alone, own, np.where(match, score, np.inf).min(axis=1))
            high = np.where(alone, own, np.where(match, score, -np.inf).max(axis=1))
            spread = max(spread, float((high - low).max()))
            depth = min(depth, float((low - other).min()))
            above = score - low[:, None]
            beside = first & ~alone[:, None]  # else position 0 is picked: something always is
            for place, here in ((picked, truth & beside), (others, ~truth & beside)):
                if here.any():
                    place[0] = min(place[0], float(above[here].min()))
                    place[1] = max(place[1], float(above[here].max()))
            error, mass = max(error, float(off.max())), max(mass, float(sizes.max()))
        return Shares((picked[0], picked[1]), (others[0], others[1]), depth, spread, error, mass)

    def _ranked(self, rows: Array, score: Array, truth: Array) -> tuple[float, float]:
        """Whether keys score in the order of what `select_best` gives them: how far those that
        differ are apart at least, and those that do not at most.
        """
        assert self.best is not None
        terms = score_terms(self.best)
        asked = _whole([self.asked[term.queries] for term in terms], rows)
        sent = _whole([self.sent[term.keys] for term in terms], self.columns)
        step, tie = FAR, 0.0
        for number, factors in enumerate(asked):
            fine = truth[number]
            worth = (sent[fine] * factors).sum(axis=1)
            got = score[number][fine]
            order = np.lexsort((got, worth))
            worth, got = worth[order], got[order]
            new = np.diff(worth) != 0
            step = min(step, float(np.diff(got)[new].min(initial=FAR)))
            starts = np.flatnonzero(np.append(True, new))
            ends = np.append(starts[1:], len(got)) - 1
            if len(got):
                tie = max(tie, float((got[ends] - got[starts]).max()))
        return step, tie


def _whole(columns: Sequence[Column], places: Array) -> Array:
    """(combination, column): numbers in whole units, exactly."""
    known = [[Fraction(0) if atom is None or isinstance(atom, str) else Fraction(atom)
              for atom in column.atoms] for column in columns]  # fmt: skip
    unit = lcm(*(number.denominator for numbers in known for number in numbers))
    return np.array([
        np.array([int(number * unit) for number in numbers], object)[column.places[places]]
        for numbers, column in zip(known, columns, strict=True)
    ]).T  # fmt: skip
