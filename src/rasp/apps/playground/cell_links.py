"""One cell of the page in, everything that is linked with it out.

That is a sentence in the program's own words, the lines that made the value, the selections that
were asked with the rows in question, and every cell it came from, back to the input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from rasp.apps.playground.budgets import LIMITS, MOST_NAMES
from rasp.apps.playground.intended_attention import aggregates_of, attention_of
from rasp.apps.playground.page_records import place_record
from rasp.apps.playground.requests import Ran, read_example, run_text
from rasp.apps.playground.sentences import Telling
from rasp.apps.playground.shown import (
    Named,
    fitting_s_ops,
    joined_program,
    named_s_ops,
    selection_label,
    shown_selectors,
)
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.source import Source
from rasp.insight.drawing.choice import shown_nodes
from rasp.insight.schedule import schedule
from rasp.language.evaluator import every_value
from rasp.language.graph import (
    Const,
    Indices,
    Node,
    Program,
    Selector,
    SOp,
    Tokens,
    compared_in,
    in_order,
)


def explain(request: dict[str, Any]) -> dict[str, Any]:
    """Explain what is chosen at a position: a `row` or a `selection` by its name, or a strip.

    `strip` is one of the picture of all names, `flow_strip` one of the picture of `flow` alone.
    """
    ran = run_text(request.get("program"))
    tokens = read_example(request.get("example"))
    named = _with_values(ran, tokens)
    outputs, program = [node for _, node in named], joined_program(ran, named)
    selectors = dict(shown_selectors(ran, named, program))
    telling = _evaluated(program, [*outputs, *selectors.values()], tokens)
    strips, flow_strips = _strips(outputs, program), _flow_strips(ran, request.get("flow"))
    node = _chosen(ran, request, selectors, strips, flow_strips)
    at = request.get("at")
    if node not in telling.values or not isinstance(at, int) or not 0 <= at < len(tokens):
        raise RaspValueError("there is no such cell", hint="choose a cell that is on the page")
    cells = cells_behind(telling, node, at)
    return {
        "label": request.get("row") or telling.title(node),
        "sentence": telling.sentence(node, at),
        "looks_at": telling.looked_at(node, at),
        "selections": _selections(telling, node),
        "places": _places(program, node, ran.source),
        "cells": {strips[one]: where for one, where in cells.items() if one in strips},
        "flow_strip": flow_strips.get(node),
        "flow_cells": {flow_strips[one]: at for one, at in cells.items() if one in flow_strips},
    }


def _with_values(ran: Ran, tokens: tuple[Atom, ...]) -> Named:
    """The s-ops that have a value on the example."""
    named = named_s_ops(ran)[:MOST_NAMES]
    try:
        _evaluated(joined_program(ran, named), [node for _, node in named], tokens)
        return named
    except RaspError:
        return fitting_s_ops(ran, tokens)[0]


def _evaluated(program: Program, outputs: Sequence[Node], tokens: tuple[Atom, ...]) -> Telling:
    nodes = [Tokens(), Indices(), *outputs]
    return Telling(program, tokens, every_value(nodes, tokens, program, LIMITS))


def _strips(outputs: Sequence[Node], program: Program) -> dict[Node, str]:
    try:
        return shown_nodes(outputs, schedule(outputs), program)
    except RaspError:  # too much for one picture: the page shows the values alone
        return {Tokens(): "s0"}


def _flow_strips(ran: Ran, name: object) -> dict[Node, str]:
    value = ran.session.names().get(str(name))
    return _strips([value], ran.session.program_of(str(name))) if isinstance(value, SOp) else {}


def _chosen(
    ran: Ran,
    request: dict[str, Any],
    selectors: dict[str, Node],
    strips: dict[Node, str],
    flow_strips: dict[Node, str],
) -> Node | None:
    """The node that a request means."""
    match request:
        case {"row": str() as name}:
            value = ran.session.names().get(name)
            return value if isinstance(value, SOp) else None
        case {"selection": str() as name}:
            return selectors.get(name)
        case {"strip": "indices"}:  # on the page even if the program does not use it
            return Indices()
        case {"strip": wanted}:
            return next((node for node, strip in strips.items() if strip == wanted), None)
        case {"flow_strip": wanted}:
            return next((node for node, strip in flow_strips.items() if strip == wanted), None)
    return None


def _selections(telling: Telling, node: Node) -> list[str]:
    """The selectors that a node's value was made with; if it has none, those of its parts."""
    if isinstance(node, Selector):
        return [selection_label(node, telling.program)]
    row, seen = [node], {node}
    while row:
        selectors = dict.fromkeys(
            attention.selector for one in row if (attention := attention_of(one)) is not None
        )
        if selectors:
            return [selection_label(selector, telling.program) for selector in selectors]
        row = [part for one in row for part in telling.parts(one) if part not in seen]
        seen.update(row)
    return []


def _places(program: Program, node: Node, source: Source) -> list[dict[str, Any]]:
    """The expression that made a node and the calls in which that happened, where in the text."""
    origin = program.made.get(node)
    if origin is None:
        return []
    spans = dict.fromkeys([origin.span, *(span for _, span in origin.calls)])
    return [place_record(span) for span in spans if span.source is source]


def cells_behind(telling: Telling, node: Node, at: int) -> dict[Node, list[int]]:
    """Every cell that a cell was computed from, by s-op, itself included.

    Attention reads the values and keys that it picked and the query of its own position;
    everything else reads its own position alone.
    """
    positions: dict[Node, set[int]] = defaultdict(set)
    positions[node].add(at)
    steps: dict[Node, set[int]] = {}  # of a count: lit, but what they read is nobody's business
    for one in reversed(in_order([node])):
        here = positions.get(one)
        if not here:
            continue
        attention = attention_of(one)
        if attention is None:
            for needed in one.needs:
                positions[needed] |= here
            continue
        steps.update((step, here) for step in aggregates_of(one))
        picked = {key for query in here for key in telling.picked(attention, query)}
        positions[attention.values] |= picked
        for keys, queries in compared_in(attention.selector):
            positions[keys] |= picked
            positions[queries] |= here
    cells = steps | positions
    return {one: sorted(where) for one, where in cells.items() if not isinstance(one, Const)}
