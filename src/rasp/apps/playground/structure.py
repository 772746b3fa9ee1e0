"""A program's s-op in, its layers and heads with the reasons out; and what it fits into."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from rasp.apps.playground.requests import find_handle, read_number, read_word, run_text
from rasp.base.atoms import show_input
from rasp.base.errors import RaspError
from rasp.base.input_text import write_tokens
from rasp.insight.equivalence.result import Difference
from rasp.insight.schedule import Explanation, Layer, explain, fit
from rasp.insight.schedule.schedule import show_counts
from rasp.language.graph import SOp
from rasp.language.meaning.shown_values import show_answer

MOST_LAYERS = 64
MOST_HEADS = 64
MOST_SHOWN = 12


def architecture(request: dict[str, Any]) -> dict[str, Any]:
    """Say how many layers and heads an s-op needs, and why no fewer."""
    explanation = explain(find_handle(run_text(request.get("program")), request.get("name")))
    placed = explanation.schedule
    return {
        "summary": str(placed),
        "layers": placed.layers,
        "width": placed.width,
        "heads_per_layer": list(placed.heads_per_layer),
        "layer_list": [_layer(explanation, layer) for layer in placed.layer_list[:MOST_LAYERS]],
        "input_feed_forward": explanation.naming.results(placed.input_feed_forward)[:MOST_SHOWN],
        "why_so_deep": list(explanation.why_so_deep) if placed.layers else [],
        "why_so_wide": list(explanation.why_so_wide),
        "notes": list(explanation.notes),
        "suggestions": [
            {
                "advice": suggestion.advice,
                "heads_per_layer": show_counts(suggestion.schedule.heads_per_layer),
            }
            for suggestion in explanation.suggestions
        ],
    }


def _layer(explanation: Explanation, layer: Layer) -> dict[str, Any]:
    naming = explanation.naming
    heads = []
    for head in layer.heads:
        gives = dict.fromkeys(naming.purpose(aggregate) for aggregate in head.aggregates)
        written = naming.line(head.aggregates[0] if head.aggregates else head.selector)
        file, _, line = written.rpartition(":")
        heads.append(
            {
                "selector": naming.label(head.selector),
                "gives": list(gives)[:MOST_SHOWN],
                "line": int(line) if file == "program" else None,
            }
        )
    return {"heads": heads, "feed_forward": naming.results(layer.feed_forward)[:MOST_SHOWN]}


def fits(request: dict[str, Any]) -> dict[str, Any]:
    """Say whether an s-op fits into a given size, order of sublayers or attention pattern."""
    handle = find_handle(run_text(request.get("program")), request.get("name"))
    fitted = fit(
        handle,
        layers=read_number(request.get("layers"), "the number of layers", 0, 1000),
        heads=read_number(request.get("heads"), "the number of heads", 0, 1000),
        order=read_word(request, "order"),
        attention=read_word(request, "attention"),
        alphabet=read_word(request, "alphabet"),
    )
    record = fitted.as_dict()
    for verdict, told in zip(fitted.verdicts, record["verdicts"], strict=True):
        told["counterexample"] = _counterexample(verdict.counterexample)
    return record


def dialect_badges(request: dict[str, Any]) -> dict[str, Any]:
    """Say which dialects of RASP an s-op is in, as badges: a word, and the reason for a tooltip."""
    if find_spec("numpy") is None:
        return {"badges": [], "forecast": ""}
    from rasp.insight.dialect import dialects

    handle = find_handle(run_text(request.get("program")), request.get("name"))
    if not isinstance(handle.node, SOp):
        return {"badges": [], "forecast": ""}
    known_dialects = dialects(handle)
    return {
        "badges": [
            {
                "dialect": standing.dialect,
                "in": standing.holds,
                "as_written": standing.is_as_written,
                "why": str(standing).partition(":")[2].strip(),
            }
            for standing in known_dialects.standings
        ],
        "forecast": known_dialects.forecast.partition("\n")[0],
    }


def _counterexample(counterexample: Difference | None) -> dict[str, Any] | None:
    """A counterexample as people read it."""
    if counterexample is None:
        return None
    meant, given = (
        outcome if isinstance(outcome, RaspError) else outcome[0]
        for outcome in (counterexample.left, counterexample.right)
    )
    return {
        "input": show_input(counterexample.tokens),
        "example": write_tokens(counterexample.tokens),
        "meant": show_answer(meant),
        "got": show_answer(given),
        "is_shortest": counterexample.is_shortest,
    }
