"""A program and its schedule in; what each s-op can hold, and the heads that compute it, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rasp.architecture.schedule import Schedule, schedule
from rasp.compiler.analysis.blocks import Blocks, Deadlines
from rasp.compiler.analysis.task import NONE, Measures, Task
from rasp.compiler.planning.heads import HeadAnalysis
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
    blocks: Blocks | None = None, measures: Measures = NONE,
) -> HeadAnalysis:  # fmt: skip
    """Analyse every s-op, or raise one error with every reason why that cannot be done.

    With `blocks`, an s-op may wait for a layer after the one that its operands are known in.
    """
    promised = [] if settings.where is None else [settings.where]
    analysis = HeadAnalysis(_task(nodes, promised, settings, refusals, placed, blocks, measures))
    for where in promised:
        try:
            analysis.promises.promise(where)
        except Refusal as refusal:
            refusals.add(where, refusal)
    refusals.raise_all()
    for node in in_order(nodes):
        if isinstance(node, SOp):
            try:
                analysis.values.of(node)
            except Refusal:
                continue
    if refusals.tainted.intersection(nodes):
        refusals.raise_all()
    refusals.reasons.clear()  # no output needs what cannot be worked out
    return analysis


def _task(
    nodes: Sequence[Node], promised: Sequence[Node], settings: Settings, refusals: Refusals,
    placed: Schedule, blocks: Blocks | None, measures: Measures,
) -> Task:  # fmt: skip
    siblings: dict[Aggregate, Sequence[Aggregate]] = {}
    layer_of: dict[Aggregate, int] = {}
    place = (blocks or Blocks()).place
    for scheduled in [*map(schedule, promised), placed]:  # heads of a promise alone need no weights
        siblings |= {aggregate: head.aggregates for layer in scheduled.layer_list
                     for head in layer.heads for aggregate in head.aggregates}  # fmt: skip
        layer_of |= {node: place(layer) for node, layer in scheduled.layer_of.items()
                     if isinstance(node, Aggregate)}  # fmt: skip
    deadlines = Deadlines({}, Blocks())
    if blocks is not None:
        most = settings.extra_feed_forwards
        deadlines = Deadlines.of(nodes, promised, placed, blocks, most)
    outputs = [*nodes, *promised]
    return Task(settings, refusals, frozenset(outputs), users(outputs), layer_of, siblings,
                _first_of_form(outputs, layer_of), deadlines, measures)  # fmt: skip


def _first_of_form(
    nodes: Sequence[Node], layer_of: Mapping[Aggregate, int]
) -> dict[Selector, Selector]:
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
