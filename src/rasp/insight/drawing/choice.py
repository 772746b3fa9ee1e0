"""A schedule in, what a picture shows and what it is called out.

Shown are the input, every aggregate, what heads read, the outputs and whatever a person gave a
name; everything else is folded into expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from rasp.base.errors import RaspLimitError
from rasp.insight.schedule.schedule import Schedule
from rasp.language.graph import (
    Aggregate,
    Const,
    Indices,
    Node,
    Program,
    Selector,
    SOp,
    Tokens,
    compared_in,
    expression,
    in_order,
)

MOST_STRIPS = 3_000
LONGEST_UNNAMED = 26
"""Letters of an expression that can be its own name."""


def shown_nodes(outputs: Sequence[Node], placed: Schedule, program: Program) -> dict[Node, str]:
    """Number everything that gets a strip, in order."""
    wanted: set[Node] = {Tokens(), *outputs}
    for layer in placed.layer_list:
        for head in layer.heads:
            wanted.update(read_by(head.selector))
            wanted.update(aggregate.values for aggregate in head.aggregates)
    shown: dict[Node, str] = {Tokens(): "s0"}
    for node in in_order(outputs):
        is_named = node in program.names and isinstance(node, SOp) and not isinstance(node, Const)
        if node in wanted or is_named or isinstance(node, (Aggregate, Indices)):
            shown.setdefault(node, f"s{len(shown)}")
    if len(shown) > MOST_STRIPS:
        raise RaspLimitError(
            f"{len(shown)} sequences are too many for one picture: at most {MOST_STRIPS} fit",
            hint="draw one part of the program",
        )
    return shown


def with_short_names(names: Mapping[Node, str], placed: Schedule) -> dict[Node, str]:
    """Name what heads make (r1, r2, …) and the long things they read (x1, x2, …) if nobody did.

    So whatever uses them can be written shortly; the picture says what they are.
    """
    named = dict(names)
    taken = set(names.values())
    results = (name for name in map("r{}".format, count(1)) if name not in taken)
    others = (name for name in map("x{}".format, count(1)) if name not in taken)
    for layer in placed.layer_list:
        for head in layer.heads:
            values = (aggregate.values for aggregate in head.aggregates)
            for node in (*read_by(head.selector), *values):
                is_unnamed = node not in named and node not in placed.outputs
                if is_unnamed and len(expression(node, named, 4)) > LONGEST_UNNAMED:
                    named[node] = next(others)
        for head in layer.heads:
            for node in head.aggregates:
                if node not in named and node not in placed.outputs:
                    named[node] = next(results)
    return named


def read_by(selector: Selector) -> list[Node]:
    """List the keys and queries of every comparison in a selector, each once."""
    return list(dict.fromkeys(side for pair in compared_in(selector) for side in pair))
