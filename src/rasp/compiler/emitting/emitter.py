"""A plan in, weights out: embedding tables, attention matrices, feed-forwards, read-outs.

The residual stream holds no constants but those in which it rounds (`rounded_sums`): readers add
them as biases. The sink's row is 1 in the sink's dimension and 0 elsewhere, at every layer: its
values are 0, and no hidden unit fires.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from rasp.certificate import Array, FeedForwardWeights, HeadWeights, ReadoutWeights, Weights
from rasp.compiler.analysis.linear import Coordinate, Linear, index_is, token_is
from rasp.compiler.analysis.variables import HeadOutput, default_code
from rasp.compiler.emitting.rows import Row, stack_rows
from rasp.compiler.planning.attention import MATCH_WEIGHT, HeadPlan
from rasp.compiler.planning.features import Group, Reached
from rasp.compiler.planning.mixed_radix import Ridge
from rasp.compiler.planning.outputs import OutputPlan
from rasp.compiler.planning.piecewise import (
    Kinks,
    base_point,
    chords,
    evaluated,
    one_sided,
    smooth,
)
from rasp.compiler.planning.plan import Plan
from rasp.compiler.planning.rounded_sums import FINER, FINEST, last_layer, rounding_constant
from rasp.compiler.refusals import Refusal

NO_WEIGHT = 128.0
"""A difference of scores that leaves no weight in float32."""
ZERO = Fraction(0)
MOST_PARAMETERS = 20_000_000
MOST_WORK = 200_000_000
"""The most pairs of a hidden unit and an input of its feed-forward that are checked."""


@dataclass(frozen=True, eq=False)
class Unit:
    """One hidden unit: relu(sign · (z - position)), and what it adds to each dimension."""

    position: Fraction
    sign: int
    out: Array


class Emitter:
    """Writes a plan's weights; column 0 of the residual stream is the sink's, if there is one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.offset = 1 if plan.uses_sink else 0
        self.size = max(1, len(plan.layout.dimensions) + self.offset)
        self.shifts = [
            sum((weight * default_code(output)
                 for output, weight in dimension.of(HeadOutput).items()), Fraction(0))
            for dimension in plan.layout.dimensions
        ]  # fmt: skip
        """What each dimension should hold, less what it does: a feed-forward adds no constant."""
        self.rounding_constants = np.zeros(self.size)
        """The constant that each dimension holds until what heads add to it has been rounded."""
        self.rounded_until = np.zeros(self.size, int)
        """The layer whose feed-forward takes it away."""
        if plan.analysis.task.is_careful:
            for place, dimension in enumerate(plan.layout.dimensions, self.offset):
                usual = FINER if plan.layout.separates_writers else FINEST
                fineness = plan.layout.fineness.get(place - self.offset, usual)
                constant = rounding_constant(dimension, plan.settings.max_length, fineness)
                self.rounding_constants[place] = constant
                self.rounded_until[place] = last_layer(dimension)
        self.parameters = 0
        """How many weights the hidden units take so far."""
        self.units = {
            group: self._units(group, ridge) for groups in plan.groups for group, ridge in groups
        }

    def row(self, linear: Linear) -> Row:
        """How to read a function."""
        read = self.plan.layout.read(linear)
        shift = sum((weight * self.shifts[place] for place, weight in read.items()
                     if self.shifts[place]), ZERO)  # fmt: skip
        return Row({place + self.offset: float(weight) for place, weight in read.items()},
                   float(linear.constant + shift))  # fmt: skip

    def column(self, coordinate: Coordinate) -> Array:
        """How a coordinate shows in the residual stream."""
        found = np.zeros(self.size)
        for place, dimension in enumerate(self.plan.layout.dimensions):
            weight = dimension.parts.get(coordinate)
            if weight:
                found[place + self.offset] = float(weight)
        return found

    def weights(self) -> Weights:
        plan, settings = self.plan, self.plan.settings
        tokens = [self.column(token_is(place)) for place in range(len(settings.vocabulary))]
        if self.offset:
            tokens.append(np.eye(self.size)[0])
        positions = [
            self.rounding_constants + self.column(index_is(place))
            for place in range(settings.max_length)
        ]
        return Weights(
            np.array(tokens),
            np.array(positions),
            [[self.head(each) for each in layer] for layer in plan.heads],
            [self.feed_forward(layer, groups) for layer, groups in enumerate(plan.groups)],
            [self.readout(output) for output in plan.outputs],
        )

    def head(self, plan: HeadPlan) -> HeadWeights:
        queries, keys = ([self.row(pair[side]) for pair in plan.products] for side in (0, 1))
        values = [self.row(value) for value in plan.values]
        asked, sent = [0.0] * len(queries), [-key.constant for key in keys]
        if self.offset:  # one more product, which is the sink's score at the sink alone
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
        if self.offset:
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
        basis = np.array(
            [[float(each.get(output, 0)) for output in outputs] for each in plan.basis]
        )
        wanted = np.zeros((self.size, len(outputs)))
        for number, output in enumerate(outputs):
            wanted[:, number] = self.column(output)
        solved = np.linalg.lstsq(basis.T, wanted.T, rcond=None)[0].T
        rounded = np.round(solved * 4096) / 4096
        if np.allclose(rounded, solved, rtol=1e-12, atol=1e-9):
            solved = rounded
        return np.asarray(solved / (MATCH_WEIGHT if plan.head.mode == "sum" else 1.0))

    def constants_taken_away(self, layer: int) -> Array:
        """(dimension,): the constants that the feed-forward of a layer takes away."""
        return np.where(self.rounded_until == layer, self.rounding_constants, 0.0)

    def feed_forward(self, layer: int, groups: list[tuple[Group, Ridge]]) -> FeedForwardWeights:
        inside, bias, out = [], [], []
        taken_away = self.constants_taken_away(layer)
        for group, ridge in groups:
            (read,), (constant,) = stack_rows([self.row(ridge.z)], self.size)
            constant -= float(read @ taken_away)
            for unit in self.units[group]:
                row = read * unit.sign
                start = unit.sign * (constant - float(unit.position))
                if self.offset:
                    row[0] = -(abs(start) + max(1.0, abs(start) / 1024))
                inside.append(row)
                bias.append(start)
                out.append(unit.out)
        if taken_away.any():
            inside.append(-2.0 * np.eye(self.size)[0] * self.offset)
            bias.append(1.0)
            out.append(-taken_away)
        return FeedForwardWeights(
            np.array(inside).reshape(-1, self.size),
            np.array(bias),
            np.array(out).reshape(-1, self.size).T,
        )

    def _units(self, group: Group, ridge: Ridge) -> list[Unit]:
        """The hidden units of a group; also notes the constants that they leave out."""
        found: dict[int, tuple[list[Fraction], Kinks]] = {}
        for place, dimension in enumerate(self.plan.layout.dimensions):
            values = table_of(group, ridge, dimension)
            if values is not None:
                found[place] = values, _joined(group, ridge, values)
        base = base_point(ridge.points, list(found.values()))
        turns = {place: one_sided(kinks, base, ridge.points[0])
                 for place, (_, kinks) in found.items()}  # fmt: skip
        self._check_room(group, ridge, len({key for made in turns.values() for key in made}))
        units: dict[tuple[Fraction, int], Array] = {}
        for place, made in turns.items():
            self.shifts[place] += found[place][0][0] - evaluated(made, ridge.points[0])
            for key, change in made.items():
                column = units.setdefault(key, np.zeros(self.size))
                column[place + self.offset] += float(change)
        return [
            Unit(position, sign, out)
            for (position, sign), out in sorted(units.items(), key=lambda pair: pair[0])
        ]

    def _check_room(self, group: Group, ridge: Ridge, units: int) -> None:
        """Refuse hidden units that would take too much memory, or too long to check."""
        self.parameters += 2 * units * self.size
        if self.parameters > MOST_PARAMETERS or units * len(ridge.points) > MOST_WORK:
            raise Refusal(
                f"the feed-forward of layer {group.layer} would need {units} hidden units for "
                f"{len(ridge.points)} different inputs",
                "use a smaller vocabulary or length, or round and compare values earlier",
            )

    def readout(self, output: OutputPlan) -> ReadoutWeights:
        weight, bias = stack_rows([self.row(output.linear)], self.size)
        codes = np.array([float(code) for code, _ in output.atoms])
        if not is_scored(codes):
            return ReadoutWeights(weight, bias)
        middle = (codes.min() + codes.max()) / 2
        shifted = 2 * (codes - middle)
        return ReadoutWeights(shifted[:, None] * weight,
                              shifted * (bias - middle) - (codes - middle) ** 2)  # fmt: skip


def _joined(group: Group, ridge: Ridge, values: list[Fraction]) -> Kinks:
    """A line through what a group must add at its points."""
    if not group.is_noisy:
        return chords(ridge.points, values)
    return smooth(ridge.points, values)


def largest(linear: Linear) -> float:
    """A bound for the size of a function, its constant aside."""
    reach = 0.0
    for coordinate, weight in linear.parts.items():
        most = 1.0
        if isinstance(coordinate, HeadOutput):
            most = max(abs(float(code)) for _, code in coordinate.states)
        reach += abs(float(weight)) * most
    return reach


def is_scored(codes: Array) -> bool:
    """Whether 2·c·x - c² tells the codes apart in float32; else the number itself is read."""
    if len(codes) == 1:
        return True
    gap = np.diff(np.sort(codes)).min()
    if not 0 < gap < np.inf:  # codes that float32 cannot tell apart, or cannot hold
        return False
    return bool(len(codes) <= 2048 and (codes.max() - codes.min()) / gap < 600)


def table_of(group: Group, ridge: Ridge, dimension: Linear) -> list[Fraction] | None:
    """What a group must add to a dimension at each of its points; None where it adds nothing."""
    changes = group_changes(dimension, group)
    if not changes:
        return None
    levels = list(accumulate(changes.values(), initial=ZERO))
    places = np.searchsorted(np.array(list(changes)), ridge.first_states, side="right")
    return [levels[place] for place in places.tolist()]


def group_changes(linear: Linear, group: Group) -> dict[int, Fraction]:
    """How much a group adds to a function from which of its states on, in order."""
    parts = [(step.state, weight) for step, weight in linear.of(Reached).items()
             if step.group is group]  # fmt: skip
    return dict(sorted(parts, key=lambda part: part[0]))
