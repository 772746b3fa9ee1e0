"""A plan and its weights in; a check of every block, on every state that can reach it, out.

A conjunct is checked on all (query, key) pairs of values, a feed-forward on all its inputs and
at both ends of their error, a read-out on all its codes. Errors are carried from block to
block (see `stream_errors`). Because the blocks together see every state, this covers every input.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.compiler.analysis.linear import Linear, of_index, total, weighted
from rasp.compiler.analysis.tables import numbered
from rasp.compiler.analysis.variables import HeadOutput, default_code
from rasp.compiler.emitting.bilinear import are_equal
from rasp.compiler.emitting.rounding import Units, added, added_by_all, measured
from rasp.compiler.emitting.score_ranges import carried, extent_of, rounded
from rasp.compiler.emitting.stream_errors import UNIT, Added, Read, Stream
from rasp.compiler.emitting.weights import (
    Array,
    Emitter,
    FeedForwardWeights,
    ReadoutWeights,
    Weights,
    table_of,
)
from rasp.compiler.planning.attention import (
    ONE,
    SHARE,
    SINK_WEIGHT,
    HeadPlan,
    default_shift,
    head_key,
    is_noisy,
    strength_of,
)
from rasp.compiler.planning.features import Group
from rasp.compiler.planning.mixed_radix import Ridge
from rasp.compiler.planning.piecewise import distance
from rasp.compiler.planning.plan import OutputPlan, Plan, readout_key
from rasp.compiler.planning.scores import Conjunct
from rasp.compiler.planning.width_shares import boost_of

EXP_ERROR = 8 * UNIT
"""The largest relative error of an exponential in a softmax, and of a division in it.

A weight is off by its own exponential's, by those that it is divided by, and by the division's;
where all that is picked holds one value, only the last one matters.
"""
COARSEST = 2.0**20
NOTHING_APART = "looks everywhere: nothing to tell apart"


@dataclass(frozen=True)
class Check:
    """One block: what was checked, and by how much it holds (above 0: it holds)."""

    block: str
    detail: str
    margin: float
    error: float
    states: int
    blame: str = ""
    """The conjunct to realise more carefully if this does not hold, or something after it."""

    @property
    def layer(self) -> str:
        """The layer of a head; of other blocks, their name."""
        return self.block.partition(",")[0]

    @property
    def holds(self) -> bool:
        return bool(self.margin > 0 and np.isfinite(self.error))


@dataclass(frozen=True)
class ConjunctBound:
    """How unevenly matches score, how deep others fall, and how large the terms are."""

    error: float
    match_error: float
    """The same as `error`, of matches alone."""
    depth: float
    size: float
    size_anywhere: float
    """The same as `size`, of pairs that do not match as well."""
    grain: float
    terms: int


@dataclass(frozen=True)
class Scores:
    """How far a head's scores can be off, and how far apart they are."""

    error: float
    match_error: float
    room: float


class Bounds:
    """Walks through the model from the embedding to the read-outs."""

    def __init__(self, plan: Plan, emitter: Emitter, weights: Weights) -> None:
        self.plan, self.emitter, self.weights = plan, emitter, weights
        self.length = plan.settings.max_length
        self.stream = Stream(plan, emitter, weights)
        self.checks: list[Check] = []

    def walk(self) -> list[Check]:
        """Check every block."""
        for layer, groups in enumerate(self.plan.groups):
            if layer:
                self._attention(layer)
            self._feed_forward(layer, groups, self.weights.feed_forwards[layer])
        for output, readout in zip(self.plan.outputs, self.weights.readouts, strict=True):
            self._readout(output, readout)
        return self.checks

    # -- attention --------------------------------------------------------------------------------

    def _attention(self, layer: int) -> None:
        size = self.emitter.size
        errors, mass, terms = np.zeros((3, size))
        grains = np.full(size, np.inf)
        pairs = zip(self.plan.heads[layer - 1], self.weights.heads[layer - 1], strict=True)
        for number, (plan, head) in enumerate(pairs, 1):
            found = self._head(f"layer {layer}, head {number}", plan)
            errors += self._misfit(plan, head.out)
            for place, (linear, weights) in enumerate(zip(plan.values, plan.basis, strict=True)):
                moved = self._moved(plan, linear, weights, found)
                for dim in np.flatnonzero(head.out[:, place]):
                    out = float(head.out[dim, place])
                    factor = abs(out) * self._share(plan)
                    errors[dim] += factor * (moved.error + UNIT * moved.size)
                    mass[dim] += factor * moved.size
                    grains[dim] = 0.0
                    terms[dim] += 1
        still = np.zeros(size, bool)
        self.stream.write(Added(errors, mass, mass, terms, grains, mass, still))

    def _moved(
        self, plan: HeadPlan, linear: Linear, weights: dict[HeadOutput, Fraction], scores: Scores
    ) -> Read:
        """One value of a head, as it comes out: a sum, a mean, or the one value picked."""
        value = self.stream.read(linear)
        made = weighted(weights)
        size = self.stream.size_of(made.plus(-default_shift(weights)))
        apart = self.length * float(np.exp(min(50.0, 2 * scores.error - scores.room)))
        if plan.head.mode == "sum":  # what the weights are divided by is the sink's, or nearly
            rounding = (self.length / 2 + 4 + SINK_WEIGHT) * UNIT
            relative = 3 * EXP_ERROR + rounding + apart + self.length * SHARE
            relative += float(np.expm1(min(scores.match_error, 100.0)))
            return Read(
                size, self.length * (value.size * relative + value.error * (1 + relative)), 0.0
            )
        relative = EXP_ERROR + 2 * apart + (self.length + 6) * UNIT
        if plan.head.needs_uniform:
            relative += 2 * EXP_ERROR + float(np.expm1(min(2 * scores.match_error, 100.0)))
        return Read(size, value.error + value.size * relative, 0.0)

    def _misfit(self, plan: HeadPlan, out: Array) -> Array:
        """(dimension,): how far off what a head adds is, were there no rounding at all."""
        outputs = plan.head.outputs
        basis = [[float(each.get(output, 0)) for output in outputs] for each in plan.basis]
        share = self._share(plan)
        wanted = np.array([self.emitter.column(output) for output in outputs]).T
        off = np.abs(share * (out @ np.array(basis)) - wanted)
        off[off <= 1e-14 * np.abs(wanted).max()] = 0.0  # no more than float64's own rounding
        moved = [Linear(-default_code(output), {output: Fraction(1)})
                 for output in outputs]  # fmt: skip
        return np.asarray(off @ [self.stream.size_of(each) for each in moved])

    def _share(self, plan: HeadPlan) -> float:
        """What the weight of one match is worth."""
        return SHARE if plan.head.mode == "sum" else 1.0

    def _head(self, name: str, plan: HeadPlan) -> Scores:
        """Check a head's scores on every pair of values."""
        every = [*plan.conjuncts, *([plan.best] if plan.best else [])]
        found = [self._conjunct(each) for each in every]
        spread = sum(float(each.spread) for each in every)
        if plan.head.mode == "share":  # position 0 may weigh this much where it should not
            spread += float(boost_of(self.length))
        stand_ins = {head_key(plan.head, each) for each in plan.head.stand_ins}
        fall = sum(each.depth for conjunct, each in zip(every, found, strict=True)
                   if conjunct.text in stand_ins)  # fmt: skip
        depths = [each.depth - (spread - float(conjunct.spread))
                  - (fall if conjunct.text not in stand_ins else 0.0)
                  for conjunct, each in zip(every, found, strict=True)
                  if conjunct.shape != "score"]  # fmt: skip
        noisy = is_noisy(self.plan.analysis, plan.head)
        gap = float(min([*depths, strength_of(plan.head.mode, self.length, noisy, plan.quiet)]))
        error, match_error = self._score_errors(plan, found)
        without_sink = plan.best is None and not plan.head.may_be_empty
        room = gap if plan.head.mode == "sum" or without_sink else gap / 2
        needs = plan.head.mode == "sum" or plan.head.needs_uniform
        narrow = min(room, float(plan.step)) if plan.best is not None else room
        margin = narrow - 2 * error - float(np.log(16 * self.length))
        is_placed = self._sink_is_placed(plan, every, room) and self._boost_is_placed(plan)
        if not is_placed or not are_equal(plan.products, _products(plan, every)):
            margin = -float("inf")
        found_apart = f"scores {room:.3g} apart, off by at most {error:.2g}"
        self.checks.append(Check(
            name,
            f"{plan.head.mode}; {found_apart if every else NOTHING_APART}",
            min(margin, 0.25 - match_error) if needs else margin,
            error,
            sum(each.truth.size for each in every),
            _blamed(every, found),
        ))  # fmt: skip
        return Scores(error, match_error, narrow)

    def _sink_is_placed(self, plan: HeadPlan, every: list[Conjunct], room: float) -> bool:
        """Whether the sink scores what it must, whatever the query holds."""
        if plan.head.mode == "sum":
            return plan.sink.key == Linear(Fraction(SINK_WEIGHT)).key
        if not plan.head.may_be_empty:
            lowest = sum(float(each.references.min()) for each in every)
            return plan.sink.is_constant and float(plan.sink.constant) <= lowest - room
        above = plan.sink - total(each.reference for each in every)
        return above.is_constant and float(above.constant) == -room

    def _boost_is_placed(self, plan: HeadPlan) -> bool:
        """Whether position 0, and no other, scores as far above matches as shares assume."""
        if plan.head.mode != "share":
            return plan.boost.is_constant
        noisy = is_noisy(self.plan.analysis, plan.head)
        strength = strength_of(plan.head.mode, self.length, noisy, plan.quiet)
        boost = boost_of(self.length) + (strength if plan.head.outweighs else 0)
        table = [boost] + [Fraction(0)] * (self.length - 1)
        wanted = of_index(table, self.plan.settings)
        levels = {each.level for each in plan.conjuncts}
        return plan.boost.key == wanted.key and levels <= {Fraction(-strength)}

    def _score_errors(self, plan: HeadPlan, found: list[ConjunctBound]) -> tuple[float, float]:
        """How far scores can be off: all of them, and those of matches and the sink."""
        grain = min((each.grain for each in found), default=COARSEST)
        common = self.stream.read(plan.sink).error
        for query, key in plan.products:
            asked, sent = self.stream.read(query), self.stream.read(key)
            grain = min(grain, asked.grain * sent.grain)
            if query.is_constant or key.is_constant:
                common += asked.size * sent.error + sent.size * asked.error
            else:  # conjuncts that share it are read in one sum
                common += asked.size * sent.rounding + sent.size * asked.rounding
        boost = self.stream.size_of(plan.boost)
        every = boost + sum(each.size_anywhere for each in found)
        size = boost + sum(each.size for each in found)
        terms = 2 + sum(each.terms for each in found)
        return (
            common + sum(each.error for each in found) + rounded(every, terms, grain),
            common + sum(each.match_error for each in found) + rounded(size, terms, grain),
        )

    def _conjunct(self, conjunct: Conjunct) -> ConjunctBound:
        """Check a conjunct on every pair; products with a constant are read for the whole head."""
        extent = extent_of(conjunct)
        error = max(0.0, -extent.low, extent.high - float(conjunct.spread))
        grain, count = COARSEST, len(conjunct.products)
        asked_off, sent_off = np.zeros((2, count))
        asked_still, sent_still = np.full((2, 2, count), np.nan)
        for place, (query, key) in enumerate(conjunct.products):
            if not query.is_constant and not key.is_constant:
                asked, sent = self.stream.read(query), self.stream.read(key)
                grain = min(grain, asked.grain * sent.grain)
                asked_off[place], sent_off[place] = asked.error, sent.error
                if asked.error:
                    asked_still[:, place] = self.stream.still_at(query)
                if sent.error:
                    sent_still[:, place] = self.stream.still_at(key)
        queries, keys, truth = conjunct.query_values, conjunct.key_values, conjunct.truth
        both = error + float(asked_off @ sent_off)
        by_query, match_by_query = carried(queries, asked_off, asked_still, keys, truth)
        by_key, match_by_key = carried(keys, sent_off, sent_still, queries, truth.T)
        everywhere = both + by_query + by_key
        matches = both + match_by_query + match_by_key
        return ConjunctBound(
            everywhere, everywhere if conjunct.level is not None else matches,
            extent.depth, extent.size, extent.size_anywhere, grain, extent.terms,
        )  # fmt: skip

    # -- feed-forward -----------------------------------------------------------------------------

    def _feed_forward(
        self, layer: int, groups: list[tuple[Group, Ridge]], block: FeedForwardWeights
    ) -> None:
        start, parts = 0, []
        for group, ridge in groups:
            stop = start + len(self.emitter.units[group])
            inner = slice(start, stop)
            start = stop
            dims = np.flatnonzero(np.abs(block.out[:, inner]).sum(axis=1))
            signs = np.array([unit.sign for unit in self.emitter.units[group]], float)
            units = Units(signs, block.bias[inner], block.out[dims, inner])
            points = np.array([float(point) for point in ridge.points])
            points -= self.emitter.constant(ridge.z)
            wanted, read = self._wanted(group, ridge, dims), self.stream.read(ridge.z)
            if self.plan.settings.measured:
                part = measured(units, points, wanted, min(read.error, 1e6))
            else:
                part = added(units, points, wanted, self.stream.summands(ridge.z))
            parts.append((dims, part))
            self._check_group(layer, group, ridge, read, float(part.bound().max(initial=0.0)))
        self.stream.write(added_by_all(self.emitter.size, parts))

    def _check_group(
        self, layer: int, group: Group, ridge: Ridge, read: Read, error: float
    ) -> None:
        points = np.array([float(point) for point in ridge.points])
        gap = float(np.diff(points).min()) if len(points) > 1 else 1.0
        units = self.emitter.units[group]
        room = gap / 2
        if group.is_noisy and units:
            positions = np.array([float(unit.position) for unit in units])
            room = distance(points, np.unique(positions))
        detail = f"{len(units)} hidden units; inputs {gap:.3g} apart, off by at most "
        self.checks.append(Check(f"feed-forward {layer}", detail + f"{read.error:.2g}",
                                 room - read.error, error, len(points)))  # fmt: skip

    def _wanted(self, group: Group, ridge: Ridge, dims: Array) -> Array:
        """(dimension, point): what the group should add, counted from its first point."""
        rows = []
        for dim in dims:
            dimension = self.plan.layout.dimensions[dim - self.emitter.offset]
            values = table_of(group, ridge, dimension) or [Fraction(0)] * len(ridge.points)
            known, places = numbered(values)
            above = [0.0 if value is None else float(value - values[0]) for value in known]
            rows.append(np.array(above)[places])
        return np.array(rows).reshape(len(dims), len(ridge.points))

    # -- read-out ---------------------------------------------------------------------------------

    def _readout(self, output: OutputPlan, readout: ReadoutWeights) -> None:
        read = self.stream.read(output.linear)
        codes = np.array([float(code) for code, _ in output.atoms])
        gap = float(np.diff(codes).min()) if len(codes) > 1 else 1.0
        margin = gap / 2 - read.error
        if len(readout.bias) > 1:
            middle = (codes.min() + codes.max()) / 2
            reach = float(np.abs(codes - middle).max())
            given, constant = (
                self.stream.summands(output.linear),
                self.emitter.constant(output.linear),
            )
            mass = 2 * reach * (given.mass + abs(constant - middle)) + reach * reach
            margin -= (given.terms + 4) * UNIT * mass / gap
        detail = f"{len(codes)} atoms, {gap:.3g} apart, off by at most {read.error:.2g}"
        name = readout_key(output.name)
        blame = name if output.is_made else ""
        self.checks.append(Check(name, detail, margin, read.error, len(codes), blame))


def _products(plan: HeadPlan, every: list[Conjunct]) -> list[tuple[Linear, Linear]]:
    """What the scores of a head are made of, comparison by comparison."""
    found = [product for each in every for product in each.products]
    if plan.head.mode == "sum":  # every match scores 0
        found += [(each.reference.times(-1), ONE) for each in every]
    return [*found, (ONE, plan.boost)]


def _blamed(every: list[Conjunct], found: list[ConjunctBound]) -> str:
    """The conjunct whose scores are likeliest to be off."""
    costs = [bound.error + UNIT * bound.size if conjunct.shape != "score" else -1.0
             for conjunct, bound in zip(every, found, strict=True)]  # fmt: skip
    return every[int(np.argmax(costs))].text if costs else ""
