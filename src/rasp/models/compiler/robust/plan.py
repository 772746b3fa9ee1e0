"""A program in; what every head and feed-forward must do in the robust style, out.

From the last layer to the first: what the read-outs need, then the features that the last
feed-forward writes for that, then what its heads compare and move, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rasp.insight.schedule.schedule import schedule
from rasp.language.graph import Node, Program, SOp
from rasp.models.compiler.analysis.kinds import atoms_by_code
from rasp.models.compiler.analysis.task import Deadlines, NeedsFeedForward
from rasp.models.compiler.analysis.times import readout_time
from rasp.models.compiler.analysis.variables import codes_of, s_op_of
from rasp.models.compiler.compile_refusals import Refusal, Refusals
from rasp.models.compiler.emitting.rows import Row
from rasp.models.compiler.heads.analyse import analyse, check_s_ops
from rasp.models.compiler.heads.model_plan import (
    ModelPlan,
    plan_outputs,
    values_of_output,
)
from rasp.models.compiler.robust.attention import plan_head
from rasp.models.compiler.robust.blocks import StreamBlocks
from rasp.models.compiler.robust.boxes import box_rows
from rasp.models.compiler.robust.narrow import Narrowing
from rasp.models.compiler.robust.numbers import mean_row, repeat
from rasp.models.compiler.robust.plan_parts import RobustHead, RobustOutput
from rasp.models.compiler.robust.steps import find_steps, share_rounding
from rasp.models.compiler.settings import Settings

MOST_SCORED = 200
"""From more answers on, an average is read as a number, and not as one of so many scores."""


@dataclass(frozen=True, eq=False)
class RobustPlan(ModelPlan):
    """Everything that robust weights must do."""

    heads: list[list[RobustHead]]
    outputs: list[RobustOutput]
    blocks: StreamBlocks

    @property
    def parameters(self) -> int:
        """How many weights there will be in embeddings, feed-forwards and read-outs."""
        units = sum(2 * len(feature.steps) for feature in self.blocks.features.values())
        tables = len(self.settings.vocabulary) + self.settings.max_length
        rows = sum(len(output.rows) for output in self.outputs)
        return len(self.blocks.kept) * (2 * units + tables + rows)

    @property
    def effort(self) -> int:
        """How much there is to write and to check, about: a million takes a second."""
        features = self.blocks.features.values()
        return 3 * self.parameters + sum(feature.effort for feature in features)


def make_plan(outputs: Mapping[str, Node], settings: Settings, program: Program) -> RobustPlan:
    """Plan a program, or raise one error with every reason why it cannot be compiled so.

    Layers without heads are added one by one, where an s-op needs one more feed-forward.
    """
    nodes = list(outputs.values())
    check_s_ops(nodes, Refusals(program, nodes))
    whole = replace(settings, heads="paper")  # a number of one head is easier to read than two
    placed, extra = schedule(nodes), list[int]()
    while True:
        deadlines = Deadlines.of(nodes, settings, placed, extra)
        try:
            return _plan(outputs, whole, Refusals(program, nodes), deadlines)
        except NeedsFeedForward as needs:
            if len(extra) == settings.extra_feed_forwards:
                needs.refuse(Refusals(program, nodes), len(extra))
            extra.append(needs.after)


def _plan(
    outputs: Mapping[str, Node], settings: Settings, refusals: Refusals, deadlines: Deadlines
) -> RobustPlan:
    """Plan with some layers without heads, or raise that one more is needed."""
    analysis = analyse(list(outputs.values()), settings, refusals, deadlines)
    layers = deadlines.layers
    has_sink = settings.sink and any(head.needs_sink for head in analysis.heads)
    blocks = StreamBlocks(analysis, size=int(has_sink))
    time = readout_time(layers)
    planned = plan_outputs(outputs, refusals, lambda name, node: _output(blocks, name, node, time))
    heads: list[list[RobustHead]] = []
    for layer in range(layers, -1, -1):
        for feature in blocks.features_of(layer):
            with refusals.blaming(s_op_of(feature.inputs) or refusals.outputs[0]):
                find_steps(blocks, feature)
        if layer:
            heads.insert(0, _heads(blocks, layer))
    refusals.raise_all()
    Narrowing(blocks, heads, planned).narrow()
    share_rounding(blocks)
    repeat(blocks)
    used = replace(settings, extra_feed_forwards=len(deadlines.extra))
    return RobustPlan(used, analysis, heads, planned, blocks)


def _output(blocks: StreamBlocks, name: str, node: SOp, time: int) -> RobustOutput:
    values = values_of_output(blocks.values, node)
    if values.is_wide:
        raise Refusal(
            "it has too many answers for a read-out with a score for each",
            'use a smaller length, or `style="compact"`',
        )
    codes = codes_of(values.atoms)
    widest = atoms_by_code(values.atoms, codes)
    labels = [None if atom is None else codes[atom] for atom in values.outcomes]
    atoms = sorted(widest.items())
    if len(atoms) > MOST_SCORED and (row := mean_row(blocks, values.linear, widest)) is not None:
        return RobustOutput(name, node, atoms, [row])
    boxes = box_rows(blocks, values.inputs, labels, time)
    rows = boxes or blocks.rows(values.inputs, labels, time, values.layer)
    return RobustOutput(name, node, atoms, [rows.get(code, Row()) for code, _ in atoms])


def _heads(blocks: StreamBlocks, layer: int) -> list[RobustHead]:
    plans = []
    written = blocks.block_dims.keys() | blocks.number_dims.keys()
    for head in blocks.analysis.heads:
        if head.layer == layer and not written.isdisjoint(head.outputs):
            with blocks.analysis.task.refusals.blaming(head.known_by):
                plans.append(plan_head(blocks, head))
    return plans
