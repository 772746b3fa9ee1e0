"""A program in, everything the weights must do out: heads, feed-forwards, dimensions.

Demands are found from the last layer to the first: what the outputs read, then what the last
feed-forward reads to make that, then what its heads' queries, keys and values read, and so on
down to the embedding. Then the dimensions are placed, from the first reader to the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from rasp.insight.schedule.schedule import schedule
from rasp.language.graph import Node, Program
from rasp.models.compiler.analysis.task import Deadlines, NeedsFeedForward
from rasp.models.compiler.analysis.times import attention_time, feed_forward_time, readout_time
from rasp.models.compiler.analysis.variables import PlannedHead
from rasp.models.compiler.compile_refusals import Refusals
from rasp.models.compiler.heads.analyse import analyse, check_s_ops
from rasp.models.compiler.heads.model_plan import ModelPlan, plan_outputs
from rasp.models.compiler.planning.attention import HeadPlan, basis_of, plan_head
from rasp.models.compiler.planning.dimensions import Demand, Layout, lay_out
from rasp.models.compiler.planning.features import Features
from rasp.models.compiler.planning.mixed_radix import Ridge, choose_ridge
from rasp.models.compiler.planning.outputs import OutputPlan, plan_output
from rasp.models.compiler.settings import Settings


@dataclass(frozen=True, eq=False)
class Plan(ModelPlan):
    """Everything that compact weights must do."""

    heads: list[list[HeadPlan]]
    outputs: list[OutputPlan]
    ridges: list[list[Ridge]]
    """What the groups of each feed-forward read, from the one before layer 1."""
    demands: list[Demand]
    """What all of these read from the residual stream."""

    @cached_property
    def layout(self) -> Layout:
        """The dimensions of the residual stream."""
        return lay_out(self.demands, self.analysis.task.works_stepwise, self.uses_sink)


def make_plan(
    outputs: Mapping[str, Node], settings: Settings, program: Program, is_careful: bool = False
) -> Plan:
    """Plan a program, or raise one error with every reason why it cannot be compiled."""
    nodes = list(outputs.values())
    check_s_ops(nodes, Refusals(program, nodes))
    placed, most = schedule(nodes), settings.extra_feed_forwards
    extra: list[int] = []
    while True:
        deadlines = Deadlines.of(nodes, settings, placed, extra)
        try:
            return _plan(outputs, settings, Refusals(program, nodes), deadlines, is_careful)
        except NeedsFeedForward as needs:
            if len(extra) == most:
                needs.refuse(Refusals(program, nodes), most)
            extra.append(needs.after)


def _plan(
    outputs: Mapping[str, Node], settings: Settings, refusals: Refusals, deadlines: Deadlines,
    is_careful: bool,
) -> Plan:  # fmt: skip
    """Plan with some layers without heads, or raise that one more is needed."""
    nodes = list(outputs.values())
    analysis = analyse(nodes, settings, refusals, deadlines, is_careful)
    features = Features(analysis.values, deadlines.layers)
    end = readout_time(deadlines.layers)
    planned = plan_outputs(
        outputs, refusals, lambda name, node: plan_output(name, node, features, end)
    )
    demands = [Demand(end, linear) for output in planned
               for linear in output.digits or (output.linear,)]  # fmt: skip
    heads, ridges = _plan_layers(features, analysis.heads, demands, refusals)
    used = replace(settings, extra_feed_forwards=len(deadlines.extra))
    return Plan(used, analysis, heads, planned, ridges, demands)


def _plan_layers(
    features: Features, heads: list[PlannedHead], demands: list[Demand], refusals: Refusals
) -> tuple[list[list[HeadPlan]], list[list[Ridge]]]:
    """Plan the heads and the feed-forward of each layer, and add what they read to the demands."""
    plans: list[list[HeadPlan]] = []
    ridges: list[list[Ridge]] = []
    for layer in range(features.layers, -1, -1):
        time = feed_forward_time(layer)
        read = [choose_ridge(features, group, time) for group in features.groups_of(layer)]
        at_once = layer > 0 and features.values.task.is_careful
        demands += [Demand(time, ridge.z, at_once, ridge.group.is_inexact) for ridge in read]
        ridges.append(read)
        if layer:
            own = [head for head in heads if head.layer == layer]
            plans.append(_plan_heads(features, own, demands, refusals))
    refusals.raise_all()
    return plans[::-1], ridges[::-1]


def _plan_heads(
    features: Features, heads: list[PlannedHead], demands: list[Demand], refusals: Refusals
) -> list[HeadPlan]:
    """Plan the heads of a layer that something reads, and add what they read to the demands."""
    plans = []
    for head in heads:
        basis = basis_of(head, (demand.linear for demand in demands))
        if basis:
            with refusals.blaming(head.known_by):
                plan = plan_head(features, head, basis)
                plans.append(plan)
                read = [*chain.from_iterable(plan.products), plan.sink, *plan.values]
                demands += [Demand(attention_time(head.layer), linear) for linear in read]
    return plans
