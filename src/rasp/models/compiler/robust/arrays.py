"""A plan in, weights out: every row of the plan as a row of an array; and what the checker is told
about them.

Dimension 0 is the sink's, where there is one: MARK in its row, 0 everywhere else. What the sink
attends to is itself, so its row changes by what it sends to itself, and is known. Every query, key,
value and hidden unit has a weight for dimension 0 such that at the sink it is what it should be,
and no unit fires.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, log2

import numpy as np

from rasp.language.graph import SOp
from rasp.models.certificate import (
    Array,
    FeedForwardWeights,
    HeadWeights,
    ReadoutWeights,
    Weights,
    claims,
)
from rasp.models.compiler.analysis.variables import HeadOutput, Variable
from rasp.models.compiler.emitting.claims import Claimant
from rasp.models.compiler.emitting.rows import Row, stack_rows
from rasp.models.compiler.robust.numbers import means_in, outputs_row
from rasp.models.compiler.robust.plan import RobustPlan
from rasp.models.compiler.robust.plan_parts import RobustHead, RobustOutput

ALONE = 12.0
"""How far above all keys the sink scores itself, at least: no more, since a query that is not the
sink may carry noise in the sink's dimension, which this multiplies."""
MARK = 1.5
"""What tells the sink from other positions: the larger it is, the less does noise in its dimension
matter there, and the more does the sink itself carry."""
LOGIT = 8.0
"""The score of the right answer; all others score 0."""
OFF = 2.0
"""How far below 0 hidden units are at the sink."""


class Writer:
    """Writes the arrays of a plan, and follows the sink's row on the way."""

    def __init__(self, plan: RobustPlan) -> None:
        self.plan, self.size = plan, max(1, plan.blocks.size)
        blocks = plan.blocks
        self.hot = [np.array([dim for first in dims for dim in blocks.copies_of(first)[0]])
                    for dims in blocks.hot_blocks()]  # fmt: skip
        """The dimensions of each block: they add up to 1."""
        self.sink = np.zeros(self.size)
        self.sink[0] = MARK

    def weights(self) -> Weights:
        plan = self.plan
        settings, blocks = plan.settings, plan.blocks
        tokens = np.zeros((len(settings.vocabulary), self.size))
        positions = np.zeros((settings.max_length, self.size))
        values = plan.analysis.values
        for variable, table in ((values.token, tokens), (values.index, positions)):
            dims = list(blocks.block_dims.get(variable, {}).values())
            coding = blocks.codings.get(tuple(dims))
            if coding is None:
                table[range(len(dims)), dims] = 1.0
            else:
                table[:, coding.dims] = coding.codes
        if plan.uses_sink:
            tokens = np.vstack([tokens, self.sink])
        heads, feed_forwards = [], []
        for layer in range(len(plan.heads) + 1):
            if layer:
                written_heads = [self._head(head) for head in plan.heads[layer - 1]]
                heads.append([head for head, _ in written_heads])
                self.sink = sum((moved for _, moved in written_heads), self.sink)
            feed_forwards.append(self._feed_forward(layer))
        readouts = [self._readout(output) for output in plan.outputs]
        return _without(Weights(tokens, positions, heads, feed_forwards, readouts), blocks.kept)

    def _rows(self, rows: Sequence[tuple[Row, float]]) -> tuple[Array, Array]:
        """Rows as an array and biases, each with what it should be at the sink."""
        weights, bias = stack_rows([row for row, _ in rows], self.size)
        for dim, (dims, parts) in self.plan.blocks.repeated.items():
            weights[:, dims] = weights[:, [dim]] / parts
        for hot in self.hot:  # noise matters least where weights are smallest in sum
            common = np.median(weights[:, hot], axis=1)
            weights[:, hot] -= common[:, None]
            bias += common
        if self.plan.uses_sink and len(rows):
            at_sink = np.array([value for _, value in rows])
            weights[:, 0] = (at_sink - weights[:, 1:] @ self.sink[1:] - bias) / MARK
        return weights, bias

    def _head(self, plan: RobustHead) -> tuple[HeadWeights, Array]:
        """A head's arrays, and what the sink gets from itself."""
        queries = [(query, 0.0) for query, _ in plan.columns]
        keys = [(key, 0.0) for _, key in plan.columns]
        values = [(channel.row, channel.sink) for channel in plan.channels]
        if self.plan.uses_sink:
            own = max(ALONE, plan.sink)
            root = 2.0 ** ceil(log2(own) / 2)
            queries.append((Row({}, plan.sink / root), own / root))
            keys.append((Row(), root))
        out = np.zeros((self.size, len(plan.channels)))
        for place, channel in enumerate(plan.channels):
            dims, parts = self.plan.blocks.copies_of(channel.dim)
            out[dims, place] = parts / len(dims)
        moved = out @ np.array([channel.sink for channel in plan.channels])
        return HeadWeights(*self._rows(queries), *self._rows(keys), *self._rows(values), out), moved

    def _feed_forward(self, layer: int) -> FeedForwardWeights:
        units = [
            unit
            for feature in self.plan.blocks.features_of(layer)
            for step in feature.steps
            for unit in step.units
        ]
        inside, bias = self._rows([(row, -OFF) for row, _ in units])
        if self.plan.uses_sink:
            inside[:, 0] = np.minimum(inside[:, 0], 0.0)  # those that are off anyway need nothing
            inside[1::2, 0] = inside[::2, 0]  # both units of a step read the same number
        out, _ = stack_rows([added for _, added in units], self.size)
        return FeedForwardWeights(inside, bias, out.T)

    def _readout(self, output: RobustOutput) -> ReadoutWeights:
        weight, bias = self._rows([(row, 0.0) for row in output.rows])
        scale = LOGIT if len(output.rows) == len(output.atoms) else 1.0
        return ReadoutWeights(scale * weight, scale * bias)


def _without(weights: Weights, kept: Sequence[int]) -> Weights:
    """The same arrays with these dimensions of the stream alone."""
    return Weights(
        weights.tokens[:, kept], weights.positions[:, kept],
        [[replace(head, query=head.query[:, kept], key=head.key[:, kept],
                  value=head.value[:, kept], out=head.out[kept]) for head in layer]
         for layer in weights.heads],
        [replace(block, inside=block.inside[:, kept], out=block.out[kept])
         for block in weights.feed_forwards],
        [replace(readout, weight=readout.weight[:, kept]) for readout in weights.readouts],
    )  # fmt: skip


class RobustClaimant(Claimant):
    """Claims of blocks, where a head moves rows of a table, and of sums beside a sink."""

    weighed = "sum"

    def __init__(self, plan: RobustPlan, weights: Weights) -> None:
        super().__init__(plan, weights)
        self.blocks = plan.blocks

    def parts(self, variables: Iterable[Variable]) -> tuple[int, ...]:
        return self.names.all(self.blocks.parts_of(variables))

    def is_block(self, output: HeadOutput) -> bool:
        return output in self.blocks.block_dims

    def groups(self) -> Iterator[list[claims.GroupClaim]]:
        for layer in range(len(self.plan.heads) + 1):
            yield [claims.GroupClaim(2 * len(feature.steps), self.names.all(feature.variables),
                              self.parts(feature.inputs))
                   for feature in self.blocks.features_of(layer)]  # fmt: skip

    def row(self, node: SOp) -> Row:
        row = self.blocks.recoded(self._read(node))
        copies = ((weight, *self.blocks.copies_of(dim)) for dim, weight in row.weights.items())
        place_of = {dim: place for place, dim in enumerate(self.blocks.kept)}
        weights = {place_of[dim]: weight / parts for weight, dims, parts in copies for dim in dims}
        return Row(weights, row.constant)

    def _read(self, node: SOp) -> Row:
        """A row that is an s-op's number; an empty one where there is none."""
        values = self.values.of(node)
        if values.is_wide or any(isinstance(atom, str) for atom in values.atoms):
            return Row()
        linear, means = values.linear, means_in(values.linear)
        is_held = means.keys() <= self.blocks.number_dims.keys()
        if linear is not None and is_held and len({output.head for output in means}) == 1:
            return outputs_row(self.blocks, means, float(linear.constant))
        return self.blocks.held_number(node)
