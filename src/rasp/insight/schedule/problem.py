"""Outputs and an order of sublayers in, the scheduling problem out: what may go where.

Everything that is placed by choice is an *attention*: an aggregate, or a selector that is
itself an output. Attentions of one kind (equal normal forms of their selectors) share a head
where they are in one slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rasp.base.errors import RaspTypeError
from rasp.insight.schedule.sublayer_order import Order, earliest_times, latest_times
from rasp.language.graph import Aggregate, Elementwise, Node, Scorer, Selector, in_order
from rasp.language.graph.normal import normal_forms

Placement: TypeAlias = dict[Node, int]
"""The slot of each attention; in a plain stack, its layer."""


@dataclass(frozen=True)
class Problem:
    """Attentions to be placed in slots 1 to `order.slots`."""

    outputs: tuple[Node, ...]
    order: Order
    attentions: tuple[Node, ...]
    """In order: each after those it needs."""
    kind: Mapping[Node, int]
    """Attentions of equal kind share a head."""
    earliest: Mapping[Node, int]
    """The first slot of each attention, given that what it needs is as early as it can be."""
    latest: Mapping[Node, int]
    """The last slot of each attention, given that what needs it is as late as it can be."""


def selector_of(attention: Node) -> Selector:
    """Return the selector with which an attention looks."""
    if isinstance(attention, Aggregate):
        return attention.selector
    assert isinstance(attention, Selector)
    return attention


def problem_of(outputs: Sequence[Node], order: Order) -> Problem:
    """Say what must be placed for these outputs; the order must be long enough for them."""
    own = set(outputs)
    attentions: tuple[Node, ...] = tuple(
        node
        for node in in_order(outputs)
        if isinstance(node, Aggregate) or (isinstance(node, Selector) and node in own)
    )
    forms = normal_forms([selector_of(attention) for attention in attentions])
    numbers: dict[object, int] = {}
    kind = {
        attention: numbers.setdefault(forms[selector_of(attention)], len(numbers))
        for attention in attentions
    }
    earliest, latest = earliest_times(outputs, order), latest_times(outputs, order)
    # a selector that is an output can be looked at in any later slot, whoever else makes it again
    latest |= {attention: order.end for attention in attentions if isinstance(attention, Selector)}
    return Problem(
        tuple(outputs),
        order,
        attentions,
        kind,
        {attention: earliest[attention] // 2 for attention in attentions},
        {attention: latest[attention] // 2 for attention in attentions},
    )


def refuse_scorers(outputs: Sequence[Node]) -> None:
    """Raise where an output is a scorer: it says how well keys fit, not what to do with them."""
    if any(isinstance(output, Scorer) for output in outputs):
        raise RaspTypeError(
            "a scorer alone has no layers and heads",
            hint="use it in `select_best`, and ask about an s-op or a selector",
        )


def heads_per_slot(problem: Problem, placement: Mapping[Node, int]) -> tuple[int, ...]:
    """Count the heads in each slot, from 1 on."""
    heads = {(slot, problem.kind[attention]) for attention, slot in placement.items()}
    counts = [0] * problem.order.slots
    for slot, _ in heads:
        counts[slot - 1] += 1
    return tuple(counts)


def earliest_placement(problem: Problem) -> Placement:
    """Place each attention as early as it can be, as the paper does."""
    return dict(problem.earliest)


def prerequisites(problem: Problem) -> dict[Node, dict[Node, bool]]:
    """Map each attention to the aggregates that it reads, and whether through elementwise work."""
    behind: dict[Node, dict[Node, bool]] = {}
    needed_heads: dict[Node, dict[Node, bool]] = {}
    for node in in_order(problem.outputs):
        joined: dict[Node, bool] = {}
        for needed in node.needs:
            for aggregate, is_worked_on in behind[needed].items():
                is_worked_on |= isinstance(node, Elementwise)
                joined[aggregate] = joined.get(aggregate, False) or is_worked_on
        if node in problem.kind:
            needed_heads[node] = joined
        behind[node] = {node: False} if isinstance(node, Aggregate) else joined
    return needed_heads
