"""A head's queries and keys in; how the scores of what it must pick and of all else lie, out.

A score is Σ query · key over the head's columns. Queries and keys are constants plus functions of
different variables, so the score falls into parts, one for each set of conditions that look at
the same variables of the key. Each part is tried on every pair of a query's state and a key's:
where the conditions hold it is a match. A key that the selector picks is a match in every part;
any other fails in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rasp.models.certificate.claims import INDEX, ConjunctClaim, HeadClaim
from rasp.models.certificate.program.tables import Array, Space, joined
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.certificate.weights.pairs import FAR, Pairs, Part, ShareScores
from rasp.models.certificate.weights.reading import located, rounded, side_of
from rasp.models.certificate.weights.rounding import (
    EXACT,
    SLACK,
    TINY,
    UNIT,
    check_size,
    grains,
    lost_of_wholes,
)
from rasp.models.certificate.weights.stream import Stream


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


class HeadScores:
    """Looks at the scores of one head."""

    def __init__(self, stream: Stream, claim: HeadClaim, head: HeadWeights) -> None:
        self.values, self.claim = stream.values, claim
        asked = [v for conjunct in claim.conjuncts for v in conjunct.queries]
        sent = [v for conjunct in claim.conjuncts for v in conjunct.keys]
        sent += [INDEX] if claim.mode == "share" else []
        self.precision = stream.precision
        queries = stream.read(head.query, [*asked, *claim.best_queries])
        keys = stream.read(head.key, [*sent, *claim.best_keys])
        self.queries = rounded(side_of(queries, head.query_bias), self.precision)
        self.keys = rounded(side_of(keys, head.key_bias), self.precision)
        self.groups = self._groups()
        self.owner = self._owners()

    def _groups(self) -> list[tuple[list[int], list[ConjunctClaim | None]]]:
        """Conditions that look at the same pieces of keys, with these."""
        wanted: list[tuple[ConjunctClaim | None, tuple[int, ...]]] = [
            (conjunct, conjunct.keys) for conjunct in self.claim.conjuncts
        ]
        if self.claim.best is not None:
            wanted.append((None, self.claim.best_keys))
        items = [({number for number, piece in enumerate(self.keys.pieces)
                   if set(piece.space.variables) & set(names) and piece.value.any()}, conjunct)
                 for conjunct, names in wanted]  # fmt: skip
        return [(sorted(pieces), conjuncts) for pieces, conjuncts in joined(items)]

    def _owners(self) -> Array:
        """(column,): the part that alone has to do with a column of keys; -1 where none has."""
        owner = np.full(len(self.keys.constant), -1)
        for part, (pieces, _) in enumerate(self.groups):
            for number in pieces:
                used = self.keys.pieces[number].columns
                owner[used] = np.where((owner[used] == -1) | (owner[used] == part), part, -2)
        return owner

    def scores(self, sink: Array | None, sink_off: Array) -> Scores:
        """Try every part; `sink` is what the head reads of the sink as a key, off by so much."""
        parts = [self._pairs(conjuncts, pieces).part() for pieces, conjuncts in self.groups]
        common = self._common_error([number for pieces, _ in self.groups for number in pieces])
        common += self._lost(sink)
        off = common + sum(part.error for part in parts)
        rounding = self._rounding([(part.mass, part.count) for part in parts], off, sink)
        of_matches = [(part.match_mass, part.count) for part in parts]
        match_off = common + sum(part.match_error for part in parts)
        matches = self._rounding(of_matches, match_off, sink)
        spread = sum(part.spread for part in parts)
        beside = sum(part.spread for part in parts if None not in part.conjuncts)
        above, gap, sink_error = (FAR, FAR), FAR, 0.0
        if sink is not None:
            above, gap = self._against_sink(parts, sink)
            wrong = self.queries.largest_error
            sink_error = float(np.abs(sink) @ wrong)
            sink_error += self._rounding(of_matches, match_off, sink, sink_off)
            sink_error += self.queries.largest(sink_off) + float(wrong @ sink_off)
        error = off + rounding
        check_size(error, sink_error)
        return Scores(
            min((part.depth - (spread - part.spread) for part in parts), default=FAR),
            spread,
            error,
            match_off + matches,
            above, gap, sink_error,
            min((part.step for part in parts), default=FAR) - beside,
            sum(part.tie for part in parts) + beside,
        )  # fmt: skip

    def shares(self) -> ShareScores:
        """How far position 0 scores above other matches, where it matches and where it does not."""
        pieces = [number for number, piece in enumerate(self.keys.pieces) if piece.value.any()]
        shares = self._pairs([*self.claim.conjuncts], pieces, (INDEX,)).shares()
        wrong = shares.error + self._common_error(pieces) + self._lost(None)
        wrong += self._rounding([(shares.mass, float(len(self.keys.constant)))], wrong, None)
        check_size(wrong)
        return replace(shares, error=wrong)

    def _pairs(
        self, conjuncts: list[ConjunctClaim | None], pieces: list[int], more: tuple[int, ...] = ()
    ) -> Pairs:
        sides = self.queries, self.keys
        return Pairs(self.values, self.claim, sides, self.owner, conjuncts, pieces, more)

    def _common_error(self, used: Sequence[int]) -> float:
        """What is wrong with scores whatever the states: errors that depend on neither, and
        functions of keys that no condition is about.
        """
        asked, sent = self.queries, self.keys
        wrong = asked.largest_error
        constant = np.where(self.owner >= 0, 0.0, np.abs(sent.constant))
        total = float(wrong @ (constant + sent.error)) + asked.largest(sent.error)
        for number, piece in enumerate(sent.pieces):
            if number not in used:
                most = np.abs(piece.value).max(axis=0, initial=0.0)
                most = most + piece.error.max(axis=0, initial=0.0)
                total += float((asked.most + wrong) @ most)
        return total

    def _lost(self, sink: Array | None) -> float:
        """What float64 rounds of scores: they are counted from the first key's, and that from the
        sink's. These may be far larger than what is between two others, and even no input's.
        """
        asked, key, unit = self.queries, 2 * self.keys.most, self.keys.grain
        if sink is not None:
            key, unit = key + np.abs(sink), np.minimum(unit, grains(sink))
        size, used = asked.most @ key, asked.most * key > 0
        unit = (asked.grain * unit)[used].min(initial=2.0**20)
        return float(lost_of_wholes(size, len(key), unit))

    def _rounding(
        self, masses: Sequence[tuple[float, float]], wrong: float, sink: Array | None,
        sink_off: Array | float = 0.0,
    ) -> float:  # fmt: skip
        """The rounding of the sum over columns: those of parts (mass, count), and all others.

        What queries and keys are off is added up, too: it comes to `wrong` at most. A term that is
        0 but for that costs no more than it is: as a float32 is one of the numbers to which a + x
        may be rounded if a is one, a + x is off by |x| at most.

        Sums of multiples of one power of two are exact; then nothing is off but what float64 is
        charged with. Where the sink is off, and all else is exact, each of its sums is next to a
        number of float32: so that rounding at most doubles what it is off, each time.
        """
        asked, sent = self.queries, self.keys
        loose = np.where(self.owner >= 0, 0.0, asked.most * np.abs(sent.constant))
        mass = float(loose.sum()) + sum(mass for mass, _ in masses)
        count = int((loose > 0).sum()) + sum(count for _, count in masses)
        largest = (asked.most + asked.largest_error) * (sent.most + sent.largest_error)
        more = int((largest > asked.most * sent.most).sum())
        wrong = wrong if more else 0.0
        mass += wrong
        grain = float((asked.grain * sent.grain)[largest > 0].min(initial=2.0**20))
        if sink is not None:
            own = (asked.most + asked.largest_error) * (np.abs(sink) + sink_off)
            grain = min(grain, float((asked.grain * grains(sink))[own > 0].min(initial=2.0**20)))
            mass, count = max(mass, float(own.sum())), max(count, int((own > 0).sum()))
        check_size(mass)
        rounding = (SLACK * UNIT * max(1, count) + self.precision.stored) * mass
        rounding += min(wrong, SLACK * UNIT * more * mass) + TINY * (count + more)
        if grain and mass <= EXACT * grain:
            lost = float(np.broadcast_to(sink_off, asked.most.shape) @ asked.most)
            return float(min(rounding, np.ldexp(lost, min(int(count), 1000))))
        return float(rounding)

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
        for space, linked, numbers in self._components(parts):
            value, _, there = self.queries.of(self.values, space, numbers)
            base = value @ factor
            placed = [(part, located(self.values, part.space, space)) for part in linked]
            for part, place in placed:
                there &= (place >= 0) & part.there[place]
            if not there.any():
                continue
            lows = base + sum(part.low[place] for part, place in placed)
            highs = base + sum(part.high[place] for part, place in placed)
            worst = np.full(space.size, -FAR)
            for part, place in placed:
                worst = np.maximum(worst, highs - part.high[place] + part.fail[place])
            matched = there & ~np.isnan(lows)
            low += float(lows[matched].min(initial=FAR))
            high += float(lows[matched].max(initial=-FAR))
            tops.append(float(highs[there].max()))
            fails.append(float(worst[there].max()))
        above = [sum(tops) - top + fail for top, fail in zip(tops, fails, strict=True)]
        return (low, high), -(constant + max(above, default=-FAR))

    def _components(self, parts: Sequence[Part]) -> Iterator[tuple[Space, list[Part], list[int]]]:
        """Parts and pieces of queries that share variables, over a space of all of these."""
        items: list[tuple[set[int], Part | int]] = [(set(part.space.variables), part)
                                                    for part in parts]  # fmt: skip
        items += [(set(piece.space.variables), number)
                  for number, piece in enumerate(self.queries.pieces)]  # fmt: skip
        for names, members in joined(items):
            linked = [member for member in members if isinstance(member, Part)]
            numbers = [member for member in members if not isinstance(member, Part)]
            yield self.values.space(sorted(names)), linked, numbers
