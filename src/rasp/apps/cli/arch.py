"""`rasp arch FILE NAME`: how many layers and heads an s-op needs, and why."""

from __future__ import annotations

import argparse
from typing import Any

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import find_handles, run_program
from rasp.apps.cli.prose import report
from rasp.insight.schedule.explain import Explanation, explain
from rasp.insight.schedule.schedule import Layer
from rasp.language.graph import Node, expression


def configure(parser: CommandParser) -> None:
    parser.take_program(several=True)
    parser.take_json()
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    session = run_program(arguments)
    handles = find_handles(session, arguments.name)
    with working("scheduling", session.rest()):
        explanation = explain(list(handles.values()))
        told = str(explanation)
    report(told, lambda: record(explanation, ",".join(handles)), arguments.json)
    return 0


def record(explanation: Explanation, name: str) -> dict[str, Any]:
    """Return an explanation as JSON-able data."""
    placed = explanation.schedule
    return {
        "name": name,
        "layers": placed.layers,
        "width": placed.width,
        "heads": placed.heads,
        "heads_per_layer": placed.heads_per_layer,
        "exact": placed.exact,
        "method": placed.method,
        "earliest_heads_per_layer": explanation.paper.heads_per_layer,
        "layer_list": [_layer(explanation, layer) for layer in placed.layer_list],
        "input_feed_forward": [_node(explanation, node) for node in placed.input_feed_forward],
        "chain": [_node(explanation, node) for node in explanation.chain],
        "why_so_deep": explanation.why_so_deep,
        "why_so_wide": explanation.why_so_wide,
        "notes": explanation.notes,
        "front": [
            {"layers": deeper.layers, "heads_per_layer": deeper.heads_per_layer}
            for deeper in explanation.front
        ],
        "suggestions": [
            {
                "advice": suggestion.advice,
                "layers": suggestion.schedule.layers,
                "heads_per_layer": suggestion.schedule.heads_per_layer,
            }
            for suggestion in explanation.suggestions
        ],
    }


def _layer(explanation: Explanation, layer: Layer) -> dict[str, Any]:
    return {
        "heads": [
            {
                "selector": _node(explanation, head.selector),
                "aggregates": [_node(explanation, aggregate) for aggregate in head.aggregates],
            }
            for head in layer.heads
        ],
        "feed_forward": [_node(explanation, node) for node in layer.feed_forward],
    }


def _node(explanation: Explanation, node: Node) -> dict[str, Any]:
    program = explanation.naming.program
    span = program.origins.get(node)
    return {
        "name": program.names.get(node),
        "expression": expression(node, program.names, depth=6),
        "file": span.source.name if span else None,
        "line": span.line if span else None,
    }
