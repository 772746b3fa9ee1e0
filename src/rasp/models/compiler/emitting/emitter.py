"""A compact plan in, weights out: embedding tables, attention matrices, feed-forwards, read-outs;
and what the checker is told about them.

The residual stream holds no constants but those in which it rounds (`planning.dimensions`): readers
add them as biases. The sink's row is 1 in the sink's dimension and 0 elsewhere, at every layer:
its values are 0, and no hidden unit fires.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from rasp.language.graph import Aggregate, SOp
from rasp.models.certificate import (
    Array,
    FeedForwardWeights,
    HeadWeights,
    ReadoutWeights,
    Weights,
    claims,
)
from rasp.models.compiler.analysis.linear import Coordinate, Linear, index_is, token_is
from rasp.models.compiler.analysis.variables import HeadOutput, default_of
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.emitting.claims import Claimant
from rasp.models.compiler.emitting.rows import Row, stack_rows
from rasp.models.compiler.planning.attention import MATCH_WEIGHT, HeadPlan
from rasp.models.compiler.planning.dimensions import FINER, FINEST, last_layer, rounding_constant
from rasp.models.compiler.planning.features import Group, Reached
from rasp.models.compiler.planning.mixed_radix import Ridge
from rasp.models.compiler.planning.outputs import OutputPlan
from rasp.models.compiler.planning.piecewise import base_point, chords, evaluated, one_sided, smooth
from rasp.models.compiler.planning.plan import Plan

NO_WEIGHT = 128.0
"""A difference of scores that leaves no weight in float32."""
ZERO = Fraction(0)
MOST_PARAMETERS = 20_000_000
MOST_CELLS = 900_000
"""The most values that one group of hidden units has to make: inputs times dimensions."""
MOST_WORK = 200_000_000
"""The most pairs of a hidden unit and an input of its feed-forward that are checked."""


@dataclass(frozen=True, eq=False)
class Units:
    """The hidden units of a group: relu(sign · (z - position)), and what they add."""

    positions: Array  # (unit,)
    signs: Array  # (unit,)
    out: Array  # (unit, dimension)


class Emitter:
    """Writes a plan's weights; column 0 of the residual stream is the sink's, if there is one."""

    def __init__(self, plan: Plan) -> None:
        self.plan, layout = plan, plan.layout
        self.dimensions = layout.dimensions or [Linear()]
        self.size = len(self.dimensions)
        self.shifts = [default_of(dimension.of(HeadOutput)) for dimension in self.dimensions]
        """What each dimension should hold, less what it does: a feed-forward adds no constant."""
        usual = FINER if layout.separates_writers else FINEST
        self.rounding_constants = np.array([
            rounding_constant(dimension, plan.settings.max_length,
                              layout.fineness.get(place, usual))
            if plan.analysis.task.is_careful else 0.0
            for place, dimension in enumerate(self.dimensions)
        ])  # fmt: skip
        """The constant that each dimension holds until what heads add to it has been rounded."""
        self.parameters = 0
        """How many weights the hidden units take so far."""
        self.units = {ridge: self._units(ridge) for ridges in plan.ridges for ridge in ridges}

    def row(self, linear: Linear) -> Row:
        """How to read a function."""
        weights = self.plan.layout.read(linear)
        shifts = (weight * self.shifts[place] for place, weight in weights.items()
                  if self.shifts[place])  # fmt: skip
        return Row({place: float(weight) for place, weight in weights.items()},
                   float(sum(shifts, linear.constant)))  # fmt: skip

    def column(self, coordinate: Coordinate) -> Array:
        """How a coordinate shows in the residual stream."""
        return np.array([float(dimension.parts.get(coordinate, 0))
                         for dimension in self.dimensions])  # fmt: skip

    def weights(self) -> Weights:
        plan, settings = self.plan, self.plan.settings
        tokens = [self.column(token_is(place)) for place in range(len(settings.vocabulary))]
        if self.plan.uses_sink:
            tokens.append(np.eye(self.size)[0])
        positions = [self.column(index_is(place)) for place in range(settings.max_length)]
        return Weights(
            np.array(tokens),
            np.array(positions) + self.rounding_constants,
            [[self.head(head) for head in layer] for layer in plan.heads],
            [self.feed_forward(layer, ridges) for layer, ridges in enumerate(plan.ridges)],
            [self.readout(output) for output in plan.outputs],
        )

    def head(self, plan: HeadPlan) -> HeadWeights:
        queries, keys = ([self.row(pair[side]) for pair in plan.products] for side in (0, 1))
        values = [self.row(value) for value in plan.values]
        asked, sent = [0.0] * len(queries), [-key.constant for key in keys]
        if self.plan.uses_sink:  # one more product, which is the sink's score at the sink alone
            asked.append(self._score_at_sink(plan, queries, keys))
            queries.append(self.row(plan.sink))
            sent.append(1.0)
            keys.append(Row())
        moved = [-value.constant for value in values]
        return HeadWeights(*self._map(queries, asked), *self._map(keys, sent),
                           *self._map(values, moved), self._out(plan))  # fmt: skip

    def _map(self, rows: Sequence[Row], at_sink: Sequence[float]) -> tuple[Array, Array]:
        """The weights and biases of rows, each with its weight for the sink."""
        weights, biases = stack_rows(rows, self.size)
        if self.plan.uses_sink:
            weights[:, 0] = at_sink
        return weights, biases

    def _score_at_sink(self, plan: HeadPlan, queries: Sequence[Row], keys: Sequence[Row]) -> float:
        """Enough for the sink, as a query, to attend to itself whatever the keys hold.

        No more than that: its flag may be off by rounding, which this multiplies.
        """
        if self.plan.settings.causal:
            return 0.0
        reach = abs(self.row(plan.sink).constant) + NO_WEIGHT
        for query, key, (_, sent) in zip(queries, keys, plan.products, strict=True):
            reach += abs(query.constant) * (largest(sent) + abs(key.constant))
        return float(32 * np.ceil(reach / 32))

    def _out(self, plan: HeadPlan) -> Array:
        """Solve for how each dimension is made of the values that the head moves."""
        outputs = plan.head.outputs
        basis = np.array([[float(moved.get(output, 0)) for moved in plan.basis]
                          for output in outputs])  # fmt: skip
        wanted = np.array([self.column(output) for output in outputs])
        solved = np.linalg.lstsq(basis, wanted, rcond=None)[0].T
        rounded = np.round(solved * 4096) / 4096
        if np.allclose(rounded, solved, rtol=1e-12, atol=1e-9):
            solved = rounded
        return np.asarray(solved / (MATCH_WEIGHT if plan.head.mode == "sum" else 1.0))

    def constants_taken_away(self, layer: int) -> Array:
        """(dimension,): the constants that the feed-forward of a layer takes away."""
        is_last = [last_layer(dimension) == layer for dimension in self.dimensions]
        return np.where(is_last, self.rounding_constants, 0.0)

    def feed_forward(self, layer: int, ridges: Sequence[Ridge]) -> FeedForwardWeights:
        nothing = np.zeros((0, self.size))
        inside, bias, out = [nothing], [nothing[:, 0]], [nothing]
        taken_away = self.constants_taken_away(layer)
        for ridge in ridges:
            (read,), (constant,) = stack_rows([self.row(ridge.z)], self.size)
            units = self.units[ridge]
            start = units.signs * (constant - read @ taken_away - units.positions)
            rows = units.signs[:, None] * read
            if self.plan.uses_sink:
                rows[:, 0] = -(np.abs(start) + np.maximum(1.0, np.abs(start) / 1024))
            inside.append(rows)
            bias.append(start)
            out.append(units.out)
        if taken_away.any():
            inside.append(-2.0 * np.eye(1, self.size) * self.plan.uses_sink)
            bias.append(np.ones(1))
            out.append(-taken_away[None])
        return FeedForwardWeights(
            np.concatenate(inside), np.concatenate(bias), np.concatenate(out).T
        )

    def _units(self, ridge: Ridge) -> Units:
        """The hidden units of a group; also notes the constants that they leave out."""
        group, points = ridge.group, ridge.points
        join = smooth if group.is_inexact else chords
        steps_of = {place: changes for place, dimension in enumerate(self.dimensions)
                      if (changes := changes_by(group, dimension))}  # fmt: skip
        if len(steps_of) * len(points) > MOST_CELLS:
            raise self._too_large(group, f"have to make {len(steps_of)} numbers from {len(points)}")
        tables = {place: table_of(changes, ridge) for place, changes in steps_of.items()}
        functions = {place: (values, join(points, values)) for place, values in tables.items()}
        base = base_point(points, list(functions.values()))
        turns = {place: one_sided(kinks, base, points[0])
                 for place, (_, kinks) in functions.items()}  # fmt: skip
        units = sorted({unit for heights in turns.values() for unit in heights})
        self.parameters += 2 * len(units) * self.size
        if self.parameters > MOST_PARAMETERS or len(units) * len(points) > MOST_WORK:
            raise self._too_large(group, f"need {len(units)} hidden units for {len(points)}")
        number, out = {unit: n for n, unit in enumerate(units)}, np.zeros((len(units), self.size))
        for place, heights in turns.items():
            self.shifts[place] += tables[place][0] - evaluated(heights, points[0])
            for unit, height in heights.items():
                out[number[unit], place] = float(height)
        positions = np.array([float(position) for position, _ in units])
        return Units(positions, np.array([sign for _, sign in units]), out)

    def _too_large(self, group: Group, needs: str) -> Refusal:
        """Why hidden units take too much memory, or too long to make or to check."""
        why = f"the feed-forward of layer {group.layer} would {needs} different inputs"
        return Refusal(why, self.plan.settings.smaller)

    def readout(self, output: OutputPlan) -> ReadoutWeights:
        weight, bias = stack_rows([self.row(output.linear)], self.size)
        codes = np.array([float(code) for code, _ in output.atoms])
        if not is_scored(codes):
            return ReadoutWeights(weight, bias)
        middle = (codes.min() + codes.max()) / 2
        shifted = 2 * (codes - middle)
        return ReadoutWeights(shifted[:, None] * weight,
                              shifted * (bias - middle) - (codes - middle) ** 2)  # fmt: skip


class CompactClaimant(Claimant):
    """Claims of compact weights: each group of hidden units reads one number."""

    weighed = "share"

    def __init__(self, emitter: Emitter, weights: Weights) -> None:
        super().__init__(emitter.plan, weights)
        self.emitter = emitter

    def groups(self) -> Iterator[list[claims.GroupClaim]]:
        for layer, ridges in enumerate(self.emitter.plan.ridges):
            takes_away = bool(self.emitter.constants_taken_away(layer).any())
            units = self.emitter.units
            yield [claims.GroupClaim(len(units[ridge].signs), self.names.all(ridge.group.inputs))
                   for ridge in ridges] + [claims.GroupClaim(1, ())] * takes_away  # fmt: skip

    def row(self, node: SOp) -> Row:
        linear, layout = self.values.of(node).linear, self.emitter.plan.layout
        if linear is None or linear.is_constant or not layout.can_read(linear):
            return Row()
        told = self.analysis.meanings.get(node) if isinstance(node, Aggregate) else None
        is_kept_as_sum = told is not None and told[0].rule in ("product", "ratio")
        return Row() if is_kept_as_sum else self.emitter.row(linear)


def largest(linear: Linear) -> float:
    """A bound for the size of a function, its constant aside."""
    return sum(
        abs(float(weight)) * max(abs(float(code)) for _, code in coordinate.states)
        if isinstance(coordinate, HeadOutput) else abs(float(weight))
        for coordinate, weight in linear.parts.items()
    )  # fmt: skip


def is_scored(codes: Array) -> bool:
    """Whether 2·c·x - c² tells the codes apart in float32; else the number itself is read."""
    if len(codes) == 1:
        return True
    gap = np.diff(np.sort(codes)).min()
    if not 0 < gap < np.inf:  # codes that float32 cannot tell apart, or cannot hold
        return False
    return bool(len(codes) <= 2048 and (codes.max() - codes.min()) / gap < 600)


def changes_by(group: Group, dimension: Linear) -> dict[int, Fraction]:
    """How much a group adds to a dimension from which of its states on, in their order."""
    changes = {step.state: weight for step, weight in dimension.of(Reached).items()
               if step.group is group}  # fmt: skip
    return dict(sorted(changes.items()))


def table_of(changes: dict[int, Fraction], ridge: Ridge) -> list[Fraction]:
    """What changes from some states on add up to at each point."""
    levels = list(accumulate(changes.values(), initial=ZERO))
    places = np.searchsorted(list(changes), ridge.states, side="right")
    return [levels[place] for place in places.tolist()]
