"""A plan in, what the checker is told about its weights out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from rasp.certificate.claims import Claims, GroupClaim, HeadClaim, ReaderClaim
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.variables import HeadOutput, Variable
from rasp.compiler.emitting.claims import Claimant, block_name
from rasp.compiler.robust.attention import RobustHead
from rasp.compiler.robust.numbers import above, sink_weight
from rasp.compiler.robust.plan import RobustPlan, width_of
from rasp.compiler.robust.readings import Row, added
from rasp.compiler.robust.steps import Written
from rasp.graph import SOp


def make_claims(plan: RobustPlan) -> Claims:
    """Say of what every part of a model is a function."""
    return RobustClaimant(plan).claims()


class RobustClaimant(Claimant):
    """Claims of blocks, where a head moves rows of a table, and of sums beside a sink."""

    def __init__(self, plan: RobustPlan) -> None:
        super().__init__(plan)
        self.features, self.blocks = plan.features, plan.blocks

    def _groups(self) -> tuple[tuple[GroupClaim, ...], ...]:
        return tuple(tuple(GroupClaim(2 * len(each.steps), self.all_numbers(self._inputs(each)),
                                      self.all_numbers(self.blocks.parts_of(each.feature.inputs)))
                           for each in layer) for layer in self.features)  # fmt: skip

    def inputs(self, node: SOp) -> tuple[int, ...]:
        return self.all_numbers(self.blocks.parts_of(self.values.of(node).inputs))

    def _joint_inputs(self, nodes: Iterable[SOp]) -> tuple[int, ...]:
        return self.all_numbers(self.blocks.parts_of(self.values.joints.of(list(nodes)).inputs))

    def _inputs(self, written: Written) -> list[Variable]:
        """What a feature's steps read: sums are read beside how many keys were picked."""
        blocks = self.blocks
        found: dict[Variable, None] = dict.fromkeys(written.variables)
        for variable in written.variables:
            if isinstance(variable, HeadOutput) and written.reads(variable, blocks):
                found[width_of(blocks, variable)] = None
        return list(found)

    def _reader(self, node: SOp) -> ReaderClaim | None:
        row, first = self._read(node), 0 if self.plan.uses_sink else 1
        if not row.weights:
            return None
        weights: dict[int, float] = {}
        for dim, weight in row.weights.items():
            dims, parts = self.blocks.spread(dim)
            weights |= {place - first: weight / parts for place in dims}
        return ReaderClaim(node, block_name(self.blocks.ready(row.weights)), weights, row.constant)

    def _read(self, node: SOp) -> Row:
        """A row that is an s-op's number; an empty one where there is none."""
        values = self.values.of(node)
        if values.is_wide or any(isinstance(atom, str) for atom in values.atoms):
            return Row()
        means = self._means(values.linear)
        if means:
            assert values.linear is not None
            return above(self.blocks, means, -float(values.linear.constant))
        labels = [None if atom is None else Fraction(atom) for atom in values.outcomes]
        rows = self.blocks.known_rows(values, labels)
        return added([row.times(float(code)) for code, row in rows.items()])  # type: ignore[arg-type]

    def _means(self, linear: Linear | None) -> dict[HeadOutput, Fraction]:
        """What an s-op is the weighted sum of, where these are means that the stream holds."""
        if linear is None:
            return {}
        found = linear.of(HeadOutput)
        fine = len(found) == len(linear.parts) and len({output.head for output in found}) == 1
        fine = fine and all(output in self.blocks.sums and output.head.mode == "mean"
                            for output in found)  # fmt: skip
        return found if fine else {}

    def _head(self, plan: RobustHead) -> HeadClaim:
        head, blocks = plan.head, self.blocks
        channels = tuple({} if each.output is None else
                         {head.outputs.index(each.output): each.weight}
                         for each in plan.channels)  # fmt: skip
        values = tuple(() if each.output is None else self._moved({each.output: Fraction(1)})
                       for each in plan.channels)  # fmt: skip
        claim = self._claim(head, channels, values)
        outputs = tuple(
            replace(told, is_block=output in blocks.of)
            for told, output in zip(claim.outputs, head.outputs, strict=True)
        )
        weight = sink_weight(blocks) if head.mode == "sum" else Fraction(0)
        return replace(claim, outputs=outputs, weight=weight)
