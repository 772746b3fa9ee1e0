"""One part of a head's scores in; every pair of a query's state and a key's tried, and how what
must be picked and all else score, out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.language.graph import Score, Select, SOp, score_terms
from rasp.models.certificate.claims import INDEX, ConjunctClaim, HeadClaim, Refused
from rasp.models.certificate.program.cases import compared, comparisons, holds
from rasp.models.certificate.program.reach import unit_of
from rasp.models.certificate.program.tables import Array, AtomColumn, Space
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.arrays import batches
from rasp.models.certificate.weights.reading import HeadSide
from rasp.models.certificate.weights.rounding import DOUBLE

AT_ONCE = 2_000_000
MOST_PAIRS = 100_000_000
FAR = 1e30


@dataclass(frozen=True, eq=False)
class Part:
    """How one part of the scores lies: conditions that look at the same variables of keys."""

    conjuncts: list[ConjunctClaim | None]
    """None stands for what `select_best` scores by."""
    space: Space
    there: Array  # (query,): whether the program has a value there
    low: Array  # (query,): the lowest match; nan where there is none
    high: Array  # (query,): the highest score of all
    fail: Array  # (query,): the highest score of what does not match
    depth: float
    """How far below the lowest match every other key scores, at least."""
    spread: float
    """How far matches of one query are apart, at most."""
    error: float
    match_error: float
    mass: float
    match_mass: float
    count: float
    """How many numbers are added up at once, at most."""
    step: float
    """How far apart matches of different worth to `select_best` are, at least."""
    tie: float
    """How far apart matches of the same worth are, at most."""


@dataclass(frozen=True)
class ShareScores:
    """How a head that gives shares scores, counted from a match that is not at position 0."""

    picked: tuple[float, float]
    """Position 0 where it matches, at least and at most."""
    others: tuple[float, float]
    """Position 0 where it does not."""
    depth: float
    spread: float
    error: float
    mass: float


@dataclass(frozen=True, eq=False)
class _Batch:
    """Some queries with all keys (query, key): their scores, errors and sizes, what must be picked
    and what must not; a key that a causal query does not see is neither."""

    rows: slice
    score: Array
    off: Array
    sizes: Array
    match: Array
    fail: Array


class Pairs:
    """Every pair of a query's state and a key's, in one part of the scores."""

    def __init__(
        self,
        values: ProvedValues,
        claim: HeadClaim,
        sides: tuple[HeadSide, HeadSide],
        owner: Array,
        conjuncts: list[ConjunctClaim | None],
        pieces: list[int],
        more: tuple[int, ...] = (),
    ) -> None:
        """Keys are also told apart by the variables in `more`."""
        self.values, self.claim, self.conjuncts = values, claim, conjuncts
        self.best = claim.best if None in conjuncts else None
        self.by_index = bool(more) or values.inputs.causal
        asked, sent = sides
        columns = np.zeros(len(sent.constant), bool)
        for number in pieces:
            columns |= sent.pieces[number].columns
        crossing = [number for number, piece in enumerate(asked.pieces)
                    if piece.columns[columns].any()]  # fmt: skip
        queries = [v for number in crossing for v in asked.pieces[number].space.variables]
        keys = [v for number in pieces for v in sent.pieces[number].space.variables]
        for conjunct in conjuncts:
            queries += conjunct.queries if conjunct else claim.best_queries
            keys += conjunct.keys if conjunct else claim.best_keys
        self.query_space, self.key_space = values.space(queries), values.space([*keys, *more])
        given, given_off, asked_there = asked.of(values, self.query_space, crossing)
        held, held_off, sent_there = sent.of(values, self.key_space, pieces)
        self.asked, self.sent = self._compared_columns()
        given, given_off = given + asked.constant, given_off + asked.error
        tables = [table[:, columns] for table in (given, given_off, held, held_off)]
        self.rows, self.row_of = self._different(
            self.query_space, asked_there, tables[:2], self.asked
        )
        self.columns, _ = self._different(self.key_space, sent_there, tables[2:], self.sent)
        self.given, self.given_off = (table[self.rows] for table in tables[:2])
        self.held, self.held_off = (table[self.columns] for table in tables[2:])
        self.whole = np.abs(self.held + np.where(owner >= 0, sent.constant, 0.0)[columns])
        if len(self.rows) * len(self.columns) > MOST_PAIRS:
            raise Refused("too many pairs of a query's and a key's values")

    def _compared_columns(self) -> tuple[dict[SOp, AtomColumn], dict[SOp, AtomColumn]]:
        """The s-ops that conditions compare, or that `select_best` scores by."""
        selectors = [conjunct.selector for conjunct in self.conjuncts if conjunct is not None]
        terms = score_terms(self.best) if self.best is not None else ()
        sides: list[Select | Score] = [*comparisons(selectors), *terms]
        return (
            {term.queries: self.values.column(term.queries, self.query_space) for term in sides},
            {term.keys: self.values.column(term.keys, self.key_space) for term in sides},
        )

    def _different(
        self, space: Space, there: Array, tables: Sequence[Array], columns: dict[SOp, AtomColumn]
    ) -> tuple[Array, Array]:
        """Combinations that differ in what is read or compared: the first of each, and which
        each of them is; -1 where the program has no value.
        """
        parts = [*tables, *(column.places[:, None] for column in columns.values())]
        if self.by_index and INDEX in space.variables:
            parts.append(space.row(INDEX)[:, None])
        table = np.ascontiguousarray(np.hstack(parts, dtype=float) + 0.0)
        fine = there.copy()
        for column in columns.values():
            fine &= column.there
        kind = np.dtype((np.void, table.dtype.itemsize * table.shape[1]))
        keys = table.view(kind).reshape(-1) if table.shape[1] else np.zeros(space.size)
        places = np.flatnonzero(fine)
        _, first, inverse = np.unique(keys[places], return_index=True, return_inverse=True)
        number = np.full(space.size, -1)
        number[places] = inverse.reshape(-1)
        return places[first], number

    # -- scores -----------------------------------------------------------------------------------

    def _batches(self) -> Iterator[_Batch]:
        """All pairs, some queries at a time."""
        for rows in batches(len(self.rows), len(self.columns), AT_ONCE):
            given, given_off = self.given[rows], self.given_off[rows]
            sizes = np.abs(given) @ self.whole.T
            off = np.abs(given) @ self.held_off.T + DOUBLE * sizes
            off += given_off @ (self.whole + self.held_off).T
            match = self._truth(self.rows[rows])
            seen = self._seen(self.rows[rows])
            yield _Batch(rows, given @ self.held.T, off, sizes, match & seen, ~match & seen)

    def _truth(self, rows: Array) -> Array:
        def picks(node: Select) -> Array:
            asked, sent = self.asked[node.queries], self.sent[node.keys]
            table = compared(sent.atoms, asked.atoms, node.op)
            return np.asarray(table[np.ix_(asked.places[rows], sent.places[self.columns])])

        truth = np.ones((len(rows), len(self.columns)), bool)
        for conjunct in self.conjuncts:
            if conjunct is not None:
                truth &= holds(conjunct.selector, picks)
        return truth

    def _seen(self, rows: Array) -> Array | bool:
        """Which keys a causal query sees."""
        both = INDEX in self.query_space.variables and INDEX in self.key_space.variables
        if not self.values.inputs.causal or not both:
            return True
        keys = self.key_space.row(INDEX)[self.columns]
        return np.asarray(keys <= self.query_space.row(INDEX)[rows][:, None])

    def part(self) -> Part:
        """The scores of matches and of all else."""
        tables = [np.full((8, 0), np.nan)]
        count, step, tie = 0.0, FAR, 0.0
        for batch in self._batches():
            match, fail, score = batch.match, batch.fail, batch.score
            either = match | fail
            tables.append(np.array([
                _least(match, score), _most(match, score), _most(fail, score),
                _most(either, score), _most(either, batch.off), _most(match, batch.off),
                _most(either, batch.sizes), _most(match, batch.sizes),
            ]))  # fmt: skip
            reads = (self.given[batch.rows] != 0).astype(np.float32)
            terms = reads @ (self.whole != 0).T.astype(np.float32)
            count = max(count, float(terms.max(initial=0.0)))
            if self.best is not None:
                apart, alike = self._ranked(batch)
                step, tie = min(step, apart), max(tie, alike)
        table = np.concatenate(tables, axis=1)
        low, top, fails, high = table[:4]
        error, match_error, mass, match_mass = (float(row.max(initial=0.0)) for row in table[4:])
        has = np.isfinite(low)
        by_query = np.array([np.where(has, low, np.nan), np.where(np.isfinite(high), high, 0.0),
                             np.maximum(fails, -FAR)])  # fmt: skip
        by_query = np.hstack([by_query, np.full((3, 1), np.nan)])  # the last: where no input is
        return Part(
            self.conjuncts, self.query_space, self.row_of >= 0, by_query[0, self.row_of],
            by_query[1, self.row_of], by_query[2, self.row_of],
            depth=float((low - fails)[has].min(initial=FAR)),
            spread=float((top - low)[has].max(initial=0.0)),
            error=error, match_error=match_error, mass=mass, match_mass=match_mass, count=count,
            step=step, tie=tie,
        )  # fmt: skip

    def shares(self) -> ShareScores:
        """Score position 0 against other matches."""
        if self.values.inputs.causal:
            raise Refused("a causal head that gives shares")
        first = self.key_space.row(INDEX)[self.columns] == 0
        picked, others, depth, spread = [FAR, -FAR], [FAR, -FAR], FAR, 0.0
        error = mass = 0.0
        for batch in self._batches():
            score, match = batch.score, batch.match & ~first
            alone = ~match.any(axis=1)  # position 0 is all that matches: it gets everything
            own = _most(batch.match & first, score)
            if (alone & ~np.isfinite(own)).any():
                raise Refused("a query that matches nothing")
            low = np.where(alone, own, _least(match, score))
            high = np.where(alone, own, _most(match, score))
            spread = max(spread, float((high - low).max()))
            depth = min(depth, float((low - _most(batch.fail & ~first, score)).min()))
            above = score - low[:, None]
            beside = first & ~alone[:, None]  # else position 0 is picked: something always is
            for place, here in ((picked, batch.match & beside), (others, batch.fail & beside)):
                place[0] = min(place[0], float(above[here].min(initial=FAR)))
                place[1] = max(place[1], float(above[here].max(initial=-FAR)))
            error, mass = max(error, float(batch.off.max())), max(mass, float(batch.sizes.max()))
        return ShareScores(
            (picked[0], picked[1]), (others[0], others[1]), depth, spread, error, mass
        )

    def _ranked(self, batch: _Batch) -> tuple[float, float]:
        """Whether keys score in the order of what `select_best` gives them: how far those that
        differ are apart at least, and those that do not at most.
        """
        assert self.best is not None
        terms = score_terms(self.best)
        asked = _whole([self.asked[term.queries] for term in terms], self.rows[batch.rows])
        sent = _whole([self.sent[term.keys] for term in terms], self.columns)
        step, tie = FAR, 0.0
        for factors, fine, score in zip(asked, batch.match, batch.score, strict=True):
            worth, scores = (sent[fine] * factors).sum(axis=1), score[fine]
            order = np.lexsort((scores, worth))
            worth, scores = worth[order], scores[order]
            new = np.diff(worth) != 0
            step = min(step, float(np.diff(scores)[new].min(initial=FAR)))
            starts = np.flatnonzero(np.append(True, new))
            ends = np.append(starts[1:], len(scores)) - 1
            if len(scores):
                tie = max(tie, float((scores[ends] - scores[starts]).max()))
        return step, tie


def _least(which: Array, numbers: Array) -> Array:
    """(query,): the least of some of the numbers."""
    return np.asarray(np.where(which, numbers, np.inf).min(axis=1, initial=np.inf))


def _most(which: Array, numbers: Array) -> Array:
    return np.asarray(np.where(which, numbers, -np.inf).max(axis=1, initial=-np.inf))


def _whole(columns: Sequence[AtomColumn], places: Array) -> Array:
    """(combination, column): numbers in whole units, exactly."""
    exact = [[Fraction(0) if atom is None or isinstance(atom, str) else Fraction(atom)
              for atom in column.atoms] for column in columns]  # fmt: skip
    unit = unit_of(number for numbers in exact for number in numbers)
    return np.array([
        np.array([int(number * unit) for number in numbers], object)[column.places[places]]
        for numbers, column in zip(exact, columns, strict=True)
    ]).T  # fmt: skip
