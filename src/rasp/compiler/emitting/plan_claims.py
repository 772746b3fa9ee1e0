"""A plan of the compact style and its weights in, claims about them out."""

from __future__ import annotations

from collections.abc import Iterator

from rasp.certificate import Weights
from rasp.certificate.claims import GroupClaim
from rasp.compiler.emitting.claims import Claimant
from rasp.compiler.emitting.emitter import Emitter
from rasp.compiler.emitting.rows import Row
from rasp.graph import Elementwise, SOp


class CompactClaimant(Claimant):
    """Claims of compact weights: each group of hidden units reads one number."""

    weighed = "share"

    def __init__(self, emitter: Emitter, weights: Weights) -> None:
        super().__init__(emitter.plan, weights)
        self.emitter = emitter

    def groups(self) -> Iterator[list[GroupClaim]]:
        for layer, groups in enumerate(self.emitter.plan.groups):
            takes_away = bool(self.emitter.constants_taken_away(layer).any())
            yield [GroupClaim(len(self.emitter.units[group].signs), self.names.all(group.inputs))
                   for group, _ in groups] + [GroupClaim(1, ())] * takes_away  # fmt: skip

    def row(self, node: SOp) -> Row:
        linear = self.values.of(node).linear
        if linear is None or not self.emitter.plan.layout.can_read(linear):
            return Row()
        meaning, _ = self.analysis.meanings.get(node, (None, ()))
        is_sum = meaning is not None and meaning.rule in ("product", "ratio")
        has_no_operands = isinstance(node, Elementwise) and not node.operands
        return Row() if is_sum or has_no_operands else self.emitter.row(linear)
