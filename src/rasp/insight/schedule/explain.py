"""Outputs in, an explanation out: the schedule layer by layer, and why it is no smaller."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rasp.base.terminal_text import visibly
from rasp.insight.schedule.naming import Naming
from rasp.insight.schedule.problem import problem_of
from rasp.insight.schedule.reasons import (
    aligned,
    count,
    deepest_chain,
    input_work,
    why_so_deep,
    why_so_wide,
)
from rasp.insight.schedule.schedule import (
    Layer,
    Outputs,
    Schedule,
    front,
    output_nodes,
    program_of,
    schedule,
    show_counts,
)
from rasp.insight.schedule.sublayer_order import Order, earliest_times
from rasp.insight.schedule.suggestions import Suggestion, suggestions
from rasp.language.graph import Node, Program

MOST_NAMES = 6
MOST_HEADS_FOR_FRONT = 60
MOST_LAYERS = 40
"""Layers that are printed; of a deeper schedule the middle is left out."""


@visibly
@dataclass(frozen=True)
class Explanation:
    """A schedule with the reasons for its size. It prints as a table for a terminal.

    >>> import rasp
    >>> explanation = rasp.explain(rasp.programs.load("reverse"))
    >>> explanation.schedule.heads_per_layer, len(explanation.chain)
    ((1, 1), 2)
    """

    naming: Naming
    schedule: Schedule
    paper: Schedule
    """Everything as early as it can be, as the paper places it."""
    suggestions: tuple[Suggestion, ...]

    @cached_property
    def chain(self) -> tuple[Node, ...]:
        """The attentions that force the depth, one in each layer, first to last."""
        times = earliest_times(self.naming.outputs, Order.layered(self.schedule.layers))
        return deepest_chain(self.naming.outputs, times)

    @cached_property
    def why_so_deep(self) -> tuple[str, ...]:
        return tuple(why_so_deep(self.naming, self.naming.outputs))

    @cached_property
    def why_so_wide(self) -> tuple[str, ...]:
        """Which heads force the width; nothing where one head in each layer is enough."""
        if self.schedule.width < 2:
            return ()
        problem = problem_of(self.naming.outputs, Order.layered(self.schedule.layers))
        width, is_exact = self.schedule.width, self.schedule.exact
        return tuple(why_so_wide(self.naming, problem, width, is_exact))

    @cached_property
    def front(self) -> tuple[Schedule, ...]:
        """What more layers would save in width, this schedule first."""
        return front(self.naming.outputs) if self.schedule.heads <= MOST_HEADS_FOR_FRONT else ()

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What else is worth knowing about the schedule."""
        notes = []
        if self.schedule.input_feed_forward:
            work = self.schedule.input_feed_forward
            notes.append(input_work(self.naming, work, self.naming.outputs))
        if not self.schedule.exact:
            notes.append(self.schedule.remark)
        if self.paper.heads_per_layer != self.schedule.heads_per_layer:
            early = show_counts(self.paper.heads_per_layer)
            notes.append(f"with everything as early as it can be, heads per layer: {early}")
        if len(self.front) > 1:
            deeper = [f"{one.layers} of {count(one.width, 'head')}" for one in self.front[1:]]
            notes.append(f"more layers could be narrower: {', '.join(deeper)}")
        return tuple(notes)

    def __str__(self) -> str:
        names = ", ".join(self.naming.label(output, 40) for output in self.naming.outputs)
        blocks = [f"{names}: {self.schedule}", *_table(self.naming, self.schedule)]
        if self.schedule.layers:
            blocks += ["", f"why {count(self.schedule.layers, 'layer')}: {self.why_so_deep[0]}"]
            blocks += [f"  {line}" for line in self.why_so_deep[1:]]
        if self.why_so_wide:
            blocks += [f"why {count(self.schedule.width, 'head')}: {self.why_so_wide[0]}"]
            blocks += [f"  {line}" for line in self.why_so_wide[1:]]
        blocks += [f"note: {note}" for note in self.notes]
        blocks += [f"to save: {suggestion}" for suggestion in self.suggestions]
        return "\n".join(blocks)

    __repr__ = __str__


def explain(outputs: Outputs, program: Program | None = None) -> Explanation:
    """Explain how many layers and heads the outputs need, and what would save some.

    >>> from rasp.language.graph import Aggregate, Indices, Select, Tokens
    >>> found = Aggregate(Select(Tokens(), Tokens(), "=="), Indices())
    >>> explain(found).why_so_deep[0]
    'one attention needs one layer:'
    """
    nodes = output_nodes(outputs)
    naming = Naming(nodes, program or program_of(outputs))
    placed = schedule(nodes)
    return Explanation(naming, placed, schedule(nodes, "earliest"), suggestions(naming, placed))


def _table(naming: Naming, placed: Schedule) -> list[str]:
    """One line for each head, and one for what each feed-forward makes of it."""
    rows: list[tuple[str, str, str, str]] = []
    if placed.input_feed_forward:
        rows.append(("0", "feed-forward", _cut(naming.results(placed.input_feed_forward)), ""))
    for number, layer in enumerate(placed.layer_list, start=1):
        if placed.layers > MOST_LAYERS and MOST_LAYERS // 2 < number <= placed.layers - 20:
            if number == MOST_LAYERS // 2 + 1:
                rows.append(("…", f"({placed.layers - MOST_LAYERS} more layers)", "", ""))
            continue
        rows += _layer_rows(naming, number, layer)
    return ["", *aligned([("layer", "selector", "gives", ""), *rows])] if rows else []


def _layer_rows(naming: Naming, number: int, layer: Layer) -> list[tuple[str, str, str, str]]:
    rows = []
    for head in layer.heads:
        gives = dict.fromkeys(naming.purpose(aggregate) for aggregate in head.aggregates)
        line = naming.line(head.aggregates[0] if head.aggregates else head.selector)
        rows.append((str(number), naming.label(head.selector), _cut(list(gives)), line))
    if layer.feed_forward:
        rows.append((str(number), "feed-forward", _cut(naming.results(layer.feed_forward)), ""))
    return rows


def _cut(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
