"""A robust plan in, what the checker is told about its weights out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from rasp.certificate.claims import Claims, GroupClaim, ReaderClaim
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.times import sublayer_name
from rasp.compiler.analysis.variables import HeadOutput, Variable
from rasp.compiler.emitting.claims import Claimant
from rasp.compiler.emitting.rows import Row
from rasp.compiler.robust.numbers import threshold_row, width_of
from rasp.compiler.robust.plan import RobustPlan
from rasp.compiler.robust.steps import FeatureSteps
from rasp.graph import SOp


def make_claims(plan: RobustPlan) -> Claims:
    """Say of what every part of a model is a function."""
    return RobustClaimant(plan).claims()


class RobustClaimant(Claimant):
    """Claims of blocks, where a head moves rows of a table, and of sums beside a sink."""

    weighed = "sum"

    def __init__(self, plan: RobustPlan) -> None:
        super().__init__(plan)
        self.features, self.blocks = plan.features, plan.blocks

    def parts_of(self, variables: Iterable[Variable]) -> Iterable[Variable]:
        return self.blocks.parts_of(variables)

    def is_block(self, output: HeadOutput) -> bool:
        return output in self.blocks.block_dims

    def groups(self) -> Iterator[list[GroupClaim]]:
        for layer in self.features:
            yield [GroupClaim(2 * len(written.steps), self.names.all(self._inputs(written)),
                              self.names.parts(written.feature.inputs))
                   for written in layer]  # fmt: skip

    def _inputs(self, written: FeatureSteps) -> list[Variable]:
        """What a feature's steps read: sums are read beside how many keys were picked."""
        blocks = self.blocks
        inputs: dict[Variable, None] = dict.fromkeys(written.variables)
        for variable in written.variables:
            if isinstance(variable, HeadOutput) and written.reads(variable, blocks):
                inputs[width_of(blocks, variable)] = None
        return list(inputs)

    def reader(self, node: SOp) -> ReaderClaim | None:
        row, first = self._read(node), 0 if self.plan.uses_sink else 1
        if not row.weights:
            return None
        weights: dict[int, float] = {}
        for dim, weight in row.weights.items():
            dims, parts = self.blocks.copies_of(dim)
            weights |= {place - first: weight / parts for place in dims}
        return ReaderClaim(
            node, sublayer_name(self.blocks.ready(row.weights)), weights, row.constant
        )

    def _read(self, node: SOp) -> Row:
        """A row that is an s-op's number; an empty one where there is none."""
        values = self.values.of(node)
        if values.is_wide or any(isinstance(atom, str) for atom in values.atoms):
            return Row()
        means = self._means(values.linear)
        if means:
            assert values.linear is not None
            return threshold_row(self.blocks, means, -float(values.linear.constant))
        return self.blocks.held_number(node)

    def _means(self, linear: Linear | None) -> dict[HeadOutput, Fraction]:
        """What an s-op is the weighted sum of, where these are means that the stream holds."""
        if linear is None:
            return {}
        outputs = linear.of(HeadOutput)
        if len(outputs) < len(linear.parts) or len({output.head for output in outputs}) != 1:
            return {}
        are_means = (output in self.blocks.number_dims and output.head.mode == "mean"
                     for output in outputs)  # fmt: skip
        return outputs if all(are_means) else {}
