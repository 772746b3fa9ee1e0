"""A plan in, weights out: embedding tables, attention matrices, feed-forwards, read-outs.

The residual stream holds no constants: readers add them as biases. The sink's row is 1 in the
sink's dimension and 0 elsewhere, at every layer: its values are 0, and no hidden unit fires.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp

import numpy as np

from rasp.compiler.attention import SINK_WEIGHT, HeadPlan, default_code
from rasp.compiler.features import Group
from rasp.compiler.linear import Coordinate, Linear
from rasp.compiler.piecewise import Kinks, chords, smooth, value_at, with_slopes
from rasp.compiler.plan import OutputPlan, Plan
from rasp.compiler.ridges import Ridge

Array = np.ndarray
LOUD = 4.0


@dataclass(eq=False)
class HeadWeights:
    """q = x·queryᵀ + query_bias, k = x·keyᵀ, v = x·valueᵀ + value_bias, out = (attention·v)·outᵀ."""

    query: Array  # (score, model)
    query_bias: Array  # (score,)
    key: Array  # (score, model)
    value: Array  # (value, model)
    value_bias: Array  # (value,)
    out: Array  # (model, value)


@dataclass(eq=False)
class FeedForwardWeights:
    """x + relu(x·insideᵀ + bias)·outᵀ."""

    inside: Array  # (hidden, model)
    bias: Array  # (hidden,)
    out: Array  # (model, hidden)


@dataclass(eq=False)
class ReadoutWeights:
    """The score of each atom, or (where there are very many) the number itself."""

    weight: Array  # (atom or 1, model)
    bias: Array


@dataclass(eq=False)
class Weights:
    """All arrays of a model, in float64; `cast` rounds them."""

    tokens: Array  # (vocabulary [+ sink], model)
    positions: Array  # (length, model)
    heads: list[list[HeadWeights]]
    feed_forwards: list[FeedForwardWeights]
    readouts: list[ReadoutWeights] = field(default_factory=list)

    def arrays(self) -> dict[str, Array]:
        """Every array by name, in the order of use."""
        found = {"tokens": self.tokens, "positions": self.positions}
        for layer, heads in enumerate(self.heads, 1):
            for number, head in enumerate(heads):
                for name, array in vars(head).items():
                    found[f"layer{layer}.head{number}.{name}"] = array
        for layer, block in enumerate(self.feed_forwards):
            if block.bias.size:
                for name, array in vars(block).items():
                    found[f"layer{layer}.feed_forward.{name}"] = array
        for number, readout in enumerate(self.readouts):
            for name, array in vars(readout).items():
                found[f"output{number}.{name}"] = array
        return found

    @property
    def parameter_count(self) -> int:
        return sum(array.size for array in self.arrays().values())


class Emitter:
    """Writes a plan's weights; column 0 of the residual stream is the sink's, if there is one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.offset = 1 if plan.uses_sink else 0
        self.size = max(1, len(plan.layout.dimensions) + self.offset)
        self.shifts = [
            sum((weight * default_code(coordinate[1])
                 for coordinate, weight in dimension.of("out").items()), Fraction(0))
            for dimension in plan.layout.dimensions
        ]  # fmt: skip
        """What each dimension should hold, less what it does: a feed-forward adds no constant."""
        self.kinks = {
            group: self._kinks(group, ridge) for groups in plan.groups for group, ridge in groups
        }

    def constant(self, linear: Linear) -> float:
        """What a reader of a function has to add."""
        return float(linear.constant + self._shift(linear))

    def _shift(self, linear: Linear) -> Fraction:
        read = self.plan.layout.read(linear)
        return sum((weight * self.shifts[place] for place, weight in read.items()), Fraction(0))

    def row(self, linear: Linear, sink: float = 0.0) -> Array:
        """The weights that read a function."""
        found = np.zeros(self.size)
        for place, weight in self.plan.layout.read(linear).items():
            found[place + self.offset] = float(weight)
        if self.offset:
            found[0] = sink
        return found

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
        tokens = [self.column(("tok", place)) for place in range(len(settings.vocabulary))]
        if self.offset:
            tokens.append(np.eye(self.size)[0])
        positions = [self.column(("idx", place)) for place in range(settings.max_length)]
        return Weights(
            np.array(tokens),
            np.array(positions),
            [[self.head(each) for each in layer] for layer in plan.heads],
            [self.feed_forward(groups) for groups in plan.groups],
            [self.readout(output) for output in plan.outputs],
        )

    def head(self, plan: HeadPlan) -> HeadWeights:
        products = plan.products
        query = [self.row(query) for query, _ in products]
        bias = [self.constant(query) for query, _ in products]
        key = [self.row(key) for _, key in products]
        if self.offset:
            shifts = np.array([float(self._shift(key)) for _, key in products])
            dropped = shifts @ np.array(query).reshape(-1, self.size)
            query.append(self.row(plan.sink, sink=self._loudness(plan)) - dropped)
            bias.append(self.constant(plan.sink) - float(shifts @ np.array(bias)))
            key.append(np.eye(self.size)[0])
        value, value_bias = [], []
        for linear in plan.values:
            constant = self.constant(linear)
            value.append(self.row(linear, sink=-constant))
            value_bias.append(constant)
        return HeadWeights(
            np.array(query).reshape(-1, self.size),
            np.array(bias),
            np.array(key).reshape(-1, self.size),
            np.array(value).reshape(-1, self.size),
            np.array(value_bias),
            self._out(plan),
        )

    def _loudness(self, plan: HeadPlan) -> float:
        """Enough for the sink, as a query, to attend to itself whatever the keys hold."""
        reach = 0.0
        for query, key in plan.products:
            reach += abs(self.constant(query)) * largest(key)
        return float(2 ** np.ceil(np.log2(LOUD * (reach + abs(self.constant(plan.sink)) + 256))))

    def _out(self, plan: HeadPlan) -> Array:
        """Solve for how each dimension is made of the values that the head moves."""
        outputs = plan.head.outputs
        basis = np.array(
            [[float(each.get(output, 0)) for output in outputs] for each in plan.basis]
        )
        wanted = np.zeros((self.size, len(outputs)))
        for number, output in enumerate(outputs):
            wanted[:, number] = self.column(("out", output))
        solved = np.linalg.lstsq(basis.T, wanted.T, rcond=None)[0].T
        rounded = np.round(solved * 4096) / 4096
        if np.allclose(rounded, solved, atol=1e-9):
            solved = rounded
        return solved * (exp(SINK_WEIGHT) if plan.head.mode == "sum" else 1.0)

    def feed_forward(self, groups: list[tuple[Group, Ridge]]) -> FeedForwardWeights:
        inside, bias, out = [], [], []
        for group, ridge in groups:
            row = self.row(ridge.z)
            constant = self.constant(ridge.z)
            for position, changes in self.kinks[group].items():
                start = constant - float(position)
                if self.offset:
                    row = row.copy()
                    row[0] = -(abs(start) + 1.0)
                inside.append(row)
                bias.append(start)
                out.append(changes)
        return FeedForwardWeights(
            np.array(inside).reshape(-1, self.size),
            np.array(bias),
            np.array(out).reshape(-1, self.size).T,
        )

    def _kinks(self, group: Group, ridge: Ridge) -> dict[Fraction, Array]:
        """The hidden units of a group: position, and what each adds to every dimension's slope."""
        found: dict[Fraction, Array] = {}
        for place, dimension in enumerate(self.plan.layout.dimensions):
            values, slopes = tables_of(group, ridge, dimension)
            if values is None:
                continue
            kinks = interpolated(group, ridge, values, slopes)
            self.shifts[place] += values[0] - value_at(ridge.points[0], Fraction(0), kinks)
            for position, change in kinks.items():
                column = found.setdefault(position, np.zeros(self.size))
                column[place + self.offset] += float(change)
        return dict(sorted(found.items()))

    def readout(self, output: OutputPlan) -> ReadoutWeights:
        row, constant = self.row(output.linear), self.constant(output.linear)
        codes = np.array([float(code) for code, _ in output.atoms])
        if not is_scored(codes):
            return ReadoutWeights(row[None], np.array([constant]))
        middle = (codes.min() + codes.max()) / 2
        shifted = 2 * (codes - middle)
        bias = shifted * (constant - middle) - (codes - middle) ** 2
        return ReadoutWeights(shifted[:, None] * row[None], bias)


def largest(linear: Linear) -> float:
    """A bound for the size of a function, its constant aside."""
    reach = 0.0
    for coordinate, weight in linear.parts.items():
        most = 1.0
        if coordinate[0] == "out":
            most = max(abs(float(code)) for _, code in coordinate[1].states)
        if coordinate[0] != "slope":
            reach += abs(float(weight)) * most
    return reach


def is_scored(codes: Array) -> bool:
    """Whether 2·c·x - c² tells the codes apart in float32; else the number itself is read."""
    if len(codes) == 1:
        return True
    gap = np.diff(np.sort(codes)).min()
    return bool(len(codes) <= 2048 and (codes.max() - codes.min()) / gap < 600)


def tables_of(
    group: Group, ridge: Ridge, dimension: Linear
) -> tuple[list[Fraction] | None, list[Fraction]]:
    """What a group must add to a dimension at each of its points, and with which slope."""
    values, slopes, used = [], [], False
    for states in ridge.states:
        value = dimension.parts.get(("ff", group, states[0]), Fraction(0))
        slope = dimension.parts.get(("slope", group, states[0]), Fraction(0))
        used = used or bool(value) or bool(slope)
        values.append(value)
        slopes.append(slope)
    return (values if used else None), slopes


def interpolated(
    group: Group, ridge: Ridge, values: list[Fraction], slopes: list[Fraction]
) -> Kinks:
    """The kinks that make one dimension's values; without noise they may sit on the points."""
    if not group.is_noisy:
        return chords(ridge.points, values)
    if group.has_slopes:
        scale = ridge_scale(group, ridge)
        return with_slopes(ridge.points, values, [slope / scale for slope in slopes])
    return smooth(ridge.points, values)


def ridge_scale(group: Group, ridge: Ridge) -> Fraction:
    """By how much `z` grows when the code of a group's one input grows by one."""
    if len(group.codes[0]) < 2:
        return Fraction(1)
    return (ridge.points[-1] - ridge.points[0]) / (
        _code(group, ridge.states[-1][0]) - _code(group, ridge.states[0][0])
    )


def _code(group: Group, state: int) -> Fraction:
    return group.codes[0][state]
