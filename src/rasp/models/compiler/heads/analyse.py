"""A program and its schedule in; what each s-op can hold, and the heads that compute it, out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rasp.insight.schedule.schedule import schedule
from rasp.language.graph import Aggregate, Node, SOp, in_order, users
from rasp.models.compiler.analysis.task import Deadlines, Task
from rasp.models.compiler.compile_refusals import Refusal, Refusals
from rasp.models.compiler.heads.head_analysis import HeadAnalysis
from rasp.models.compiler.settings import Settings


def check_s_ops(nodes: Sequence[Node], refusals: Refusals) -> None:
    """Refuse selectors and scorers: only s-ops are outputs."""
    for node in nodes:
        if not isinstance(node, SOp):
            refusals.add(node, Refusal("it is not an s-op", "compile an s-op: `aggregate` uses it"))
    refusals.raise_all()


def analyse(
    nodes: Sequence[Node], settings: Settings, refusals: Refusals, deadlines: Deadlines,
    is_careful: bool = False,
) -> HeadAnalysis:  # fmt: skip
    """Analyse every s-op, or raise one error with every reason why that cannot be done.

    An s-op that has a deadline may wait for a layer after the one that its operands are known in.
    """
    analysis = HeadAnalysis(_task(nodes, settings, refusals, deadlines, is_careful))
    if settings.where is not None:
        with refusals.blaming(settings.where):
            analysis.picks.promise(settings.where)
    refusals.raise_all()
    for node in in_order(nodes):
        if isinstance(node, SOp):
            with suppress(Refusal):
                analysis.values.of(node)
    if not refusals.tainted.keys().isdisjoint(nodes):
        refusals.raise_all()
    refusals.reasons.clear()  # no output needs what cannot be worked out
    return analysis


def _task(
    nodes: Sequence[Node], settings: Settings, refusals: Refusals, deadlines: Deadlines,
    is_careful: bool,
) -> Task:  # fmt: skip
    promised = [] if settings.where is None else [settings.where]
    siblings: dict[Aggregate, Sequence[Aggregate]] = {}
    layer_of: dict[Aggregate, int] = {}
    # Heads of a promise alone need no weights: where the program has them too, its own count.
    for scheduled in [*map(schedule, promised), deadlines.schedule]:
        siblings |= {aggregate: head.aggregates for layer in scheduled.layer_list
                     for head in layer.heads for aggregate in head.aggregates}  # fmt: skip
        layer_of |= {node: deadlines.place(layer) for node, layer in scheduled.layer_of.items()
                     if isinstance(node, Aggregate)}  # fmt: skip
    outputs = [*nodes, *promised]
    return Task(settings, refusals, frozenset(outputs), users(outputs), layer_of, siblings,
                deadlines, is_careful)  # fmt: skip
