"""Outputs in, the scheduling problem out: what needs a head, and between which layers it may go.

Everything that is placed by choice is an *attention*: an aggregate, or a selector that is
itself an output. Attentions of one kind (equal normal forms of their selectors) share a head
where they stand in one layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rasp.architecture.layers import depth_of, earliest_layers, latest_layers
from rasp.architecture.normal import normal_forms
from rasp.errors import RaspTypeError, RaspValueError
from rasp.graph import Aggregate, Node, Scorer, Selector, in_order

Placement: TypeAlias = dict[Node, int]
"""The layer of each attention."""


@dataclass(frozen=True)
class Problem:
    """Attentions to be placed in layers 1 to `depth`."""

    outputs: tuple[Node, ...]
    depth: int
    attentions: tuple[Node, ...]
    """In order: each after those it needs."""
    kind: Mapping[Node, int]
    """Attentions of equal kind share a head."""
    earliest: Mapping[Node, int]
    """For every node of the graph, not only for attentions."""
    latest: Mapping[Node, int]


def selector_of(attention: Node) -> Selector:
    """Return the selector with which an attention looks."""
    if isinstance(attention, Aggregate):
        return attention.selector
    assert isinstance(attention, Selector)
    return attention


def problem_of(outputs: Sequence[Node], depth: int | None = None) -> Problem:
    """Say what must be placed for these outputs; `depth` may ask for more layers than needed."""
    for output in outputs:
        if isinstance(output, Scorer):
            raise RaspTypeError(
                "a scorer alone has no layers and heads",
                hint="use it in `select_best`, and ask about an s-op or a selector",
            )
    earliest = earliest_layers(outputs)
    least = depth_of(earliest)
    if depth is None:
        depth = least
    if depth < least:
        raise RaspValueError(
            f"this needs {least} layers, so it cannot be scheduled in {depth}",
            hint=f"allow at least {least} layers",
        )
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
    latest = latest_layers(outputs, depth)
    return Problem(tuple(outputs), depth, attentions, kind, earliest, latest)


def heads_per_layer(problem: Problem, placement: Mapping[Node, int]) -> tuple[int, ...]:
    """Count the heads in each layer, 1 to depth."""
    heads = {(layer, problem.kind[attention]) for attention, layer in placement.items()}
    counts = [0] * problem.depth
    for layer, _ in heads:
        counts[layer - 1] += 1
    return tuple(counts)


def earliest_placement(problem: Problem) -> Placement:
    """Place each attention as early as it can be, as the paper does."""
    return {attention: problem.earliest[attention] for attention in problem.attentions}
