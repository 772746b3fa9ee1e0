"""A plan of the compact style and its weights in, claims about them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rasp.certificate.claims import Claims, GroupClaim, ReaderClaim
from rasp.compiler.analysis.times import EMBEDDING, attention_time, feed_forward_time, sublayer_name
from rasp.compiler.analysis.variables import HeadOutput
from rasp.compiler.emitting.claims import Claimant
from rasp.compiler.emitting.emitter import Emitter
from rasp.compiler.planning.features import Reached
from rasp.graph import Elementwise, SOp


def make_claims(emitter: Emitter) -> Claims:
    """Say of what every part of a model is a function."""
    return _PlanClaimant(emitter).claims()


class _PlanClaimant(Claimant):
    """Claims of compact weights: each group of hidden units reads one number."""

    weighed = "share"

    def __init__(self, emitter: Emitter) -> None:
        super().__init__(emitter.plan)
        self.emitter = emitter

    def groups(self) -> Iterator[list[GroupClaim]]:
        for layer, groups in enumerate(self.emitter.plan.groups):
            takes_away = bool(self.emitter.constants_taken_away(layer).any())
            yield [GroupClaim(len(self.emitter.units[group].signs), self.names.all(group.inputs))
                   for group, _ in groups] + [GroupClaim(1, ())] * takes_away  # fmt: skip

    def reader(self, node: SOp) -> ReaderClaim | None:
        linear = self.values.of(node).linear
        if linear is None or linear.is_constant or not self.emitter.plan.layout.can_read(linear):
            return None
        has_no_operands = isinstance(node, Elementwise) and not node.operands
        if has_no_operands or node in self.analysis.kept_as_sums:
            return None
        row = self.emitter.row(linear)
        return ReaderClaim(node, self._ready(row.weights), row.weights, row.constant)

    def _ready(self, dims: Iterable[int]) -> str:
        """The block after which all of some dimensions are written."""
        times = [EMBEDDING]
        for dim in dims:
            dimension = self.emitter.dimensions[dim]
            is_rounded = bool(self.emitter.rounding_constants[dim])
            written = feed_forward_time if is_rounded else attention_time
            times += [written(output.head.layer) for output in dimension.of(HeadOutput)]
            times += [feed_forward_time(step.group.layer) for step in dimension.of(Reached)]
        return sublayer_name(max(times))
