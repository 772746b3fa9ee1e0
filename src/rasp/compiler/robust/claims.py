"""A robust plan in, what the checker is told about its weights out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rasp.certificate import Weights
from rasp.certificate.claims import GroupClaim
from rasp.compiler.analysis.variables import HeadOutput, Variable
from rasp.compiler.emitting.claims import Claimant
from rasp.compiler.emitting.rows import Row
from rasp.compiler.robust.numbers import means_in, outputs_row
from rasp.compiler.robust.plan import RobustPlan
from rasp.graph import SOp


class RobustClaimant(Claimant):
    """Claims of blocks, where a head moves rows of a table, and of sums beside a sink."""

    weighed = "sum"

    def __init__(self, plan: RobustPlan, weights: Weights) -> None:
        super().__init__(plan, weights)
        self.blocks = plan.blocks

    def parts_of(self, variables: Iterable[Variable]) -> Iterable[Variable]:
        return self.blocks.parts_of(variables)

    def is_block(self, output: HeadOutput) -> bool:
        return output in self.blocks.block_dims

    def groups(self) -> Iterator[list[GroupClaim]]:
        for layer in range(len(self.plan.heads) + 1):
            yield [GroupClaim(len(feature.units), self.names.all(feature.variables),
                              self.names.parts(feature.inputs))
                   for feature in self.blocks.features_of(layer)]  # fmt: skip

    def row(self, node: SOp) -> Row:
        row = self._read(node)
        copies = ((weight, *self.blocks.copies_of(dim)) for dim, weight in row.weights.items())
        weights = {dim: weight / parts for weight, dims, parts in copies for dim in dims}
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
