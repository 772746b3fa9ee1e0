"""A robust plan in, what the checker is told about its weights out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rasp.certificate.claims import GroupClaim, ReaderClaim
from rasp.compiler.analysis.times import sublayer_name
from rasp.compiler.analysis.variables import HeadOutput, Variable
from rasp.compiler.emitting.claims import Claimant
from rasp.compiler.emitting.rows import Row
from rasp.compiler.robust.numbers import means_in, outputs_row, width_of
from rasp.compiler.robust.plan import RobustPlan
from rasp.compiler.robust.steps import FeatureSteps
from rasp.graph import SOp


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

    def _inputs(self, written: FeatureSteps) -> dict[Variable, None]:
        """What a feature's steps read: sums are read beside how many keys were picked."""
        blocks, layer = self.blocks, written.feature.layer
        widths = (width_of(blocks, variable.head) for variable in written.variables
                  if blocks.is_number(variable, layer) and variable in blocks.number_dims
                  and variable.head.mode == "sum")  # fmt: skip
        return dict.fromkeys([*written.variables, *widths])

    def reader(self, node: SOp) -> ReaderClaim | None:
        row, first = self._read(node), 0 if self.plan.uses_sink else 1
        if not row.weights:
            return None
        copies = ((weight, *self.blocks.copies_of(dim)) for dim, weight in row.weights.items())
        weights = {dim - first: weight / parts for weight, dims, parts in copies for dim in dims}
        after = sublayer_name(self.blocks.ready(row.weights))
        return ReaderClaim(node, after, weights, row.constant)

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
