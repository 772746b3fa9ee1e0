"""A program and its schedule in; what each s-op can hold, and the heads that compute it, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rasp.architecture.schedule import Schedule, schedule
from rasp.compiler.planning.blocks import Blocks, Deadlines
from rasp.compiler.planning.heads import HeadAnalysis
from rasp.compiler.planning.measures import NONE, Measures
from rasp.compiler.refusals import Refusal, Refusals
from rasp.compiler.settings import Settings
from rasp.graph import Aggregate, Node, Selector, SOp, in_order, users
from rasp.graph.normal import Form, normal_forms


def check_s_ops(nodes: Sequence[Node], refusals: Refusals) -> None:
    """Refuse selectors and scorers: only s-ops are outputs."""
    for node in nodes:
        if not isinstance(node, SOp):
            refusals.add(node, Refusal("it is no s-op", "compile an s-op: `aggregate` uses it"))
    refusals.raise_all()


def analyse(
    nodes: Sequence[Node], settings: Settings, refusals: Refusals, placed: Schedule,
    blocks: Blocks, measures: Measures = NONE,
) -> HeadAnalysis:  # fmt: skip
    """Analyse every s-op, or raise one error with every reason why that cannot be done."""
    promised = [] if settings.where is None else [settings.where]
    siblings: dict[Aggregate, Sequence[Aggregate]] = {}
    layer_of: dict[Aggregate, int] = {}
    for known in [*map(schedule, promised), placed]:  # heads of a promise alone need no weights
        siblings |= {aggregate: head.aggregates for layer in known.layer_list
                     for head in layer.heads for aggregate in head.aggregates}  # fmt: skip
        layer_of |= {node: blocks.place(layer) for node, layer in known.layer_of.items()
                     if isinstance(node, Aggregate)}  # fmt: skip
    every = [*nodes, *promised]
    analysis = HeadAnalysis(every, settings, refusals, layer_of, siblings, users(every))
    analysis.counts_first = measures.counts_conditions
    analysis.rounds, analysis.sums_compared = measures.rounds, measures.adds_compared
    analysis.compares_by_class = measures.compares_by_class
    analysis.works_stepwise, analysis.avoids_counts = blocks.works_stepwise, blocks.avoids_counts
    analysis.sums.in_whole_units = blocks.works_stepwise
    if blocks.waits:
        most = settings.extra_feed_forwards
        analysis.deadlines = Deadlines.of(nodes, promised, placed, blocks, most)
    analysis.alike = _alike(every, layer_of)
    for where in promised:
        try:
            analysis.promise(where)
        except Refusal as refusal:
            refusals.add(where, refusal)
    refusals.raise_all()
    for node in in_order(nodes):
        if isinstance(node, SOp):
            try:
                analysis.of(node)
            except Refusal:
                continue
    blocks.has_counts = analysis.has_counts
    if refusals.tainted.intersection(nodes):
        refusals.raise_all()
    refusals.reasons.clear()  # no output needs what cannot be worked out
    return analysis


def _alike(nodes: Sequence[Node], layer_of: Mapping[Aggregate, int]) -> dict[Selector, Selector]:
    """Map each selector to the first to be ready of those with its normal form.

    The schedule counts them as one head, so the model has one for them.
    """
    ready: dict[Node, int] = {}
    selectors: list[Selector] = []
    for node in in_order(nodes):
        ready[node] = max((ready[needed] for needed in node.needs), default=0)
        if isinstance(node, Aggregate):
            ready[node] = layer_of[node]
            selectors.append(node.selector)
    forms = normal_forms(selectors)
    first: dict[Form, Selector] = {}
    for selector in sorted(selectors, key=ready.__getitem__):
        first.setdefault(forms[selector], selector)
    return {selector: first[forms[selector]] for selector in selectors}
