"""The rule `scores`: every pair of a query's row and a key's, in each part of a head's scores.

A score is Σ query · key over the columns of a head. Columns in which keys vary by the same slots
belong together, with the conditions that are about these: a *part*. A key that the head's selector
picks is a match in every part; any other fails in one at least. Columns in which keys do not vary
add the same to all keys of a query, but for their errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rasp.models.certificate.claims import HeadClaim
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.checker.float_errors import SLACK, UNIT, exp, of_exp, rounding
from rasp.models.checker.lookups import Lookup, Pick
from rasp.models.checker.relations import Array
from rasp.models.checker.sink_row import SinkRow
from rasp.models.checker.slots import SlotStream

FAR = 1e9
AT_ONCE = 2_000_000
Ends = tuple[float, float]


@dataclass(frozen=True)
class PartGaps:
    """How one part of the scores lies, whatever the query is."""

    depth: float = FAR
    """How far below the lowest match all else scores, at least."""
    spread: float = 0.0
    """How far apart matches of one query are, at most."""
    lowest: Ends = (FAR, -FAR)
    """The lowest match of a query: the least and the most that this is."""
    fail: float = -FAR
    """The highest score of what does not match."""
    high: float = -FAR
    """The highest score."""
    largest: float = 0.0
    """The largest size of a score."""
    error: float = 0.0
    step: float = FAR
    """How far apart matches are, at least, that `select_best` tells apart."""
    tie: float = 0.0
    """How far apart those are, at most, that it does not."""


@dataclass(frozen=True)
class ScoreGaps:
    """How the scores of a head lie, whatever the query is."""

    depth: float
    """How far below the lowest pick all else scores, at least."""
    spread: float
    """How far apart the picks of one query are, at most."""
    error: float
    """How far off any score can be; errors of powers of e included."""
    above_sink: Ends
    """How far the lowest pick scores above the sink: at least, and at most."""
    sink_above: float
    """How far the sink scores above all keys, where nothing is picked, at least."""
    sink_error: float
    leak: float
    """How much of the sink's own attention keys get, at most."""


def score_gaps(
    stream: SlotStream, sink: SinkRow | None, claim: HeadClaim, head: HeadWeights
) -> ScoreGaps:
    """Look at all scores of a head."""
    grouped = list(_parts(stream, claim, head))
    parts = [_Part(stream, claim, head, columns, conditions, has_best).gaps()
             for columns, conditions, has_best in grouped]  # fmt: skip
    rest = np.ones(len(head.key), bool)
    rest[[at for columns, _, _ in grouped for at in columns]] = False
    spread, depth = _gaps_of_picks(parts, [has_best for _, _, has_best in grouped])
    error = sum(part.error for part in parts) + _common_error(stream, head, rest)
    largest = sum(part.largest for part in parts) + _common_size(stream, head, rest)
    if sink is None:
        error += _of_softmax(stream, largest)
        return ScoreGaps(depth, spread, error, (FAR, FAR), FAR, 0.0, 0.0)
    above, beneath, wrong = _against_sink(stream, sink, head, parts, rest)
    asked, keys = stream.largest(head.query, head.query_bias), sink.read(head.key, head.key_bias)
    largest = max(largest, float(asked @ (np.abs(keys[0]) + keys[1])))
    error += _of_softmax(stream, largest)
    return ScoreGaps(depth, spread, error, above, beneath, wrong + _of_softmax(stream, largest),
                     _leak(stream, sink, head))  # fmt: skip


def _gaps_of_picks(parts: Sequence[PartGaps], has_best: Sequence[bool]) -> Ends:
    """How far apart picks are, at most, and how far below them all else is, at least.

    What does not match in some part scores `depth` less there, and in every other part no more than
    the others there are above the lowest match. What `select_best` leaves out is a match everywhere
    and scores `step` less in the part that it is about.
    """
    spread = sum(part.spread for part in parts)
    loose = [max(part.spread, -part.depth) for part in parts]
    depth = min((part.depth - sum(loose) + own for part, own in zip(parts, loose, strict=True)),
                default=FAR)  # fmt: skip
    for part, is_best in zip(parts, has_best, strict=True):
        if is_best:
            spread += part.tie - part.spread
            depth = min(depth, part.step - (spread - part.tie))
    return spread, depth


def _of_softmax(stream: SlotStream, largest: float) -> float:
    """The error of a power of e, as one of its exponent."""
    return 1.01 * of_exp(largest) + SLACK * stream.precision.stored * largest


# -- parts ----------------------------------------------------------------------------------------


def _parts(
    stream: SlotStream, claim: HeadClaim, head: HeadWeights
) -> Iterator[tuple[list[int], Pick, bool]]:
    """Columns and conditions that are about the same slots of keys."""
    facts, slots = stream.facts, stream.touched(head.key)
    items: list[tuple[set[int], int | tuple[int, ...]]] = []
    for at in range(len(head.key)):
        read = {place for place, slot in enumerate(slots) if head.key[at, slot.dims].any()}
        items += [(read, at)] if read else []
    about = [(place, facts.base(claimed.keys)) for place, claimed in enumerate(claim.conjuncts)]
    about += [(-1, facts.base(claim.best_keys))] if claim.best is not None else []
    for condition, names in about:
        mine = {place for place, slot in enumerate(slots) if {*slot.space.names} & {*names}}
        items.append((mine, (condition,)))
    for members in _linked(items):
        columns = [member for member in members if isinstance(member, int)]
        conditions = [member[0] for member in members if isinstance(member, tuple)]
        selectors = tuple(claim.conjuncts[place].selector for place in conditions if place >= 0)
        best = claim.best if -1 in conditions else None
        yield columns, Pick(selectors, best, facts.inputs.causal), best is not None


def _linked(
    items: Iterable[tuple[set[int], int | tuple[int, ...]]],
) -> list[list[int | tuple[int, ...]]]:
    """Items that share something, directly or through others."""
    found: list[tuple[set[int], list[int | tuple[int, ...]]]] = []
    for marks, item in items:
        mine = [one for one in found if one[0] & marks]
        found = [one for one in found if not one[0] & marks]
        found.append((marks.union(*(one[0] for one in mine)),
                      [*(member for one in mine for member in one[1]), item]))  # fmt: skip
    return [members for _, members in found]


class _Part:
    """Every pair of a query and a key in one part."""

    def __init__(
        self, stream: SlotStream, claim: HeadClaim, head: HeadWeights, columns: Sequence[int],
        pick: Pick, has_best: bool,
    ) -> None:  # fmt: skip
        asked, sent = stream.names(head.query[columns]), stream.names(head.key[columns])
        self.lookup = Lookup(stream.facts, [pick], asked=[*asked], sent=[*sent])
        queries = stream.read(head.query[columns], head.query_bias[columns], self.lookup.queries)
        keys = stream.read(head.key[columns], head.key_bias[columns], self.lookup.keys)
        queries, keys = self.lookup.thin(queries, keys)
        ends, self.stored = stream.precision.ends, stream.precision.stored
        self.given, self.given_off = ends(queries.value, queries.wrong)
        self.held, self.held_off = ends(keys.value, keys.wrong)
        self.count = len(head.key)
        there = queries.there[:, None] & keys.there[None]
        self.match = self.lookup.picked(pick) & there
        self.fail = ~self.match & self.lookup.seen(pick) & there
        self.worth = self.lookup.worth(pick) if has_best else None

    def gaps(self) -> PartGaps:
        """The scores of matches, and of all else."""
        at_once = max(1, AT_ONCE // max(1, len(self.held)))
        batches = [slice(first, first + at_once) for first in range(0, len(self.given), at_once)]
        parts = [self._batch(rows) for rows in batches]
        if not parts:
            return PartGaps()
        lowest = [part.lowest for part in parts]
        return PartGaps(
            min(part.depth for part in parts), max(part.spread for part in parts),
            (min(low for low, _ in lowest), max(high for _, high in lowest)),
            max(part.fail for part in parts), max(part.high for part in parts),
            max(part.largest for part in parts), max(part.error for part in parts),
            min(part.step for part in parts), max(part.tie for part in parts),
        )  # fmt: skip

    def _batch(self, rows: slice) -> PartGaps:
        match, fail = self.match[rows], self.fail[rows]
        score = self.given[rows] @ self.held.T
        most = np.abs(self.held) + self.held_off
        size = (np.abs(self.given[rows]) + self.given_off[rows]) @ most.T
        off = self.given_off[rows] @ most.T + np.abs(self.given[rows]) @ self.held_off.T
        either = match | fail
        low, top = _least(match, score), _most(match, score)
        worst, has = _most(fail, score), match.any(axis=1)
        step, tie = self._ranked(rows, score)
        return PartGaps(
            float((low - worst)[has].min(initial=FAR)),
            float((top - low)[has].max(initial=0.0)),
            (float(low[has].min(initial=FAR)), float(low[has].max(initial=-FAR))),
            float(worst.max(initial=-FAR)), float(_most(either, score).max(initial=-FAR)),
            float(np.abs(score[either]).max(initial=0.0)),
            float((off + rounding(self.count, size))[either].max(initial=0.0)),
            step, tie,
        )  # fmt: skip

    def _ranked(self, rows: slice, score: Array) -> tuple[float, float]:
        """How far matches are apart, by what `select_best` gives them."""
        step, tie = FAR, 0.0
        if self.worth is None:
            return step, tie
        for match, worth, scores in zip(self.match[rows], self.worth[rows], score, strict=True):
            order = np.lexsort((scores[match], worth[match]))
            ranks, ranked = worth[match][order], scores[match][order]
            if not len(ranks):
                continue
            starts = np.flatnonzero(np.append(True, np.diff(ranks) != 0))
            for first, last in zip(starts, [*starts[1:], len(ranks)], strict=True):
                tie = max(tie, float(ranked[last - 1] - ranked[first]))
                if first:
                    step = min(step, float(ranked[first] - ranked[first - 1]))
        return step, tie


def _least(which: Array, numbers: Array) -> Array:
    """(query,): the least of some of the numbers."""
    return np.asarray(np.where(which, numbers, np.inf).min(axis=1, initial=np.inf))


def _most(which: Array, numbers: Array) -> Array:
    return np.asarray(np.where(which, numbers, -np.inf).max(axis=1, initial=-np.inf))


# -- columns in which keys do not vary, and the sink ----------------------------------------------


def _common_error(stream: SlotStream, head: HeadWeights, rest: Array) -> float:
    """How far apart two keys can be in columns in which all keys are the same."""
    queries = stream.largest(head.query[rest], head.query_bias[rest])
    moved = np.abs(head.key[rest]) @ np.where(stream.written, 0.0, stream.moved)
    keys = np.abs(head.key_bias[rest])
    return float(queries @ moved + rounding(len(head.key), queries @ (keys + moved)))


def _common_size(stream: SlotStream, head: HeadWeights, rest: Array) -> float:
    queries = stream.largest(head.query[rest], head.query_bias[rest])
    return float(queries @ stream.largest(head.key[rest], head.key_bias[rest]))


def _against_sink(
    stream: SlotStream, sink: SinkRow, head: HeadWeights, parts: Sequence[PartGaps], rest: Array
) -> tuple[Ends, float, float]:
    """How far matches score above the sink, and the sink above all else; and how far off that is.

    What a match scores beside its parts, less what the sink scores, is one row of weights at the
    query.
    """
    keys, keys_off = sink.read(head.key, head.key_bias)
    factor = np.where(rest, head.key_bias, 0.0) - keys
    row, constant = factor @ head.query, factor @ head.query_bias
    least, most = stream.extremes(row[None], np.array([constant]))
    low, high = float(least[0]), float(most[0])
    above = (low + sum(part.lowest[0] for part in parts),
             high + sum(part.lowest[1] for part in parts))  # fmt: skip
    tops = sum(part.high for part in parts)
    fails = [tops - part.high + part.fail for part in parts]
    queries = stream.largest(head.query, head.query_bias)
    mass = stream.mass(head.query, head.query_bias)
    error = float(queries @ keys_off) + float(rounding(len(head.key), queries @ np.abs(keys)))
    counts = (head.query != 0).sum(axis=1) + 1
    error += float(np.abs(factor) @ rounding(counts, mass))
    given = np.abs(factor) + np.where(rest, np.abs(head.key_bias), 0.0)
    error += SLACK * stream.precision.unit * float(given @ queries)
    return above, -(high + max(fails, default=-FAR)), error


def _leak(stream: SlotStream, sink: SinkRow, head: HeadWeights) -> float:
    """How much attention the sink gives to keys: it scores itself far above them."""
    if stream.facts.inputs.causal:
        return 0.0
    asked, asked_off = sink.read(head.query, head.query_bias)
    own, own_off = sink.read(head.key, head.key_bias)
    keys = stream.largest(head.key, head.key_bias)
    row, constant = asked @ head.key, float(asked @ head.key_bias)
    _, most = stream.extremes(row[None], np.array([constant]))
    above = float(most[0]) - float(asked @ own)
    size = float((np.abs(asked) + asked_off) @ (keys + np.abs(own) + own_off))
    above += float(asked_off @ (keys + np.abs(own)) + (np.abs(asked) + asked_off) @ own_off)
    above += float(np.abs(asked) @ rounding((head.key != 0).sum(axis=1) + 1,
                                            stream.mass(head.key, head.key_bias)))  # fmt: skip
    above += 2 * float(rounding(len(head.key), size)) + 4 * SLACK * stream.precision.unit * size
    above += 2 * _of_softmax(stream, size)
    return stream.facts.inputs.max_length * exp(above) * (1 + UNIT)
