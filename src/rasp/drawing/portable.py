"""A plan in, nested dicts, lists, strings and numbers out: what JSON and a browser can hold.

Atoms leave as the texts that show them, since a browser has neither exact fractions nor
unbounded ints; a row of picks leaves as a string of zeros and ones.
"""

from __future__ import annotations

from typing import Any

from rasp.atoms import kind_of_sequence
from rasp.drawing.glyphs import in_cells, in_title
from rasp.drawing.plan import (
    Condition,
    Flow,
    HeadShown,
    HeatMap,
    HeatMaps,
    LayerShown,
    Picks,
    Plan,
    SelectionShown,
    Strip,
)
from rasp.drawing.why import best_of

DIGITS = bytes.maketrans(b"\0\1", b"01")


def as_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as nested dicts, lists, strings and numbers, ready for JSON.

    >>> from rasp import draw, tokens
    >>> as_dict(draw(tokens, "ab").plan)["tokens"]
    ['a', 'b']
    """
    match plan:
        case Flow():
            return {
                "kind": "flow",
                "title": plan.title,
                "tokens": in_cells(plan.tokens),
                "strips": {strip.id: _strip(strip) for strip in plan.strips.values()},
                "embedding": list(plan.embedding),
                "input_feed_forward": list(plan.input_feed_forward),
                "layers": [_layer(layer) for layer in plan.layers],
                "outputs": list(plan.outputs),
                "note": plan.note,
            }
        case SelectionShown():
            return {
                "kind": "selection",
                "title": plan.title,
                "tokens": in_cells(plan.tokens),
                "strips": {strip.id: _strip(strip) for strip in plan.strips.values()},
                "head": _head(plan.head),
            }
        case HeatMaps():
            return {"kind": "heat", "title": plan.title, "maps": [_map(one) for one in plan.maps]}


def _strip(strip: Strip) -> dict[str, Any]:
    return {
        "id": strip.id,
        "label": strip.label,
        "expression": strip.expression,
        "type": kind_of_sequence(strip.values),
        "shown": in_cells(strip.values),
        "values": [in_title(value) for value in strip.values],
        "layer": strip.layer,
        "needs": list(strip.needs),
        "head": strip.head,
        "named": strip.is_named,
        "constant": strip.is_constant,
        "defaulted": list(strip.defaulted),
        "place": strip.place,
    }


def _layer(layer: LayerShown) -> dict[str, Any]:
    return {
        "number": layer.number,
        "heads": [_head(head) for head in layer.heads],
        "feed_forward": list(layer.feed_forward),
    }


def _head(head: HeadShown) -> dict[str, Any]:
    return {
        "id": head.id,
        "label": head.label,
        "expression": head.expression,
        "keys": list(head.keys),
        "queries": list(head.queries),
        "conditions": [_condition(condition) for condition in head.conditions],
        "picks": bits(head.picks),
        "aggregates": [
            {"values": one.values, "result": one.result, "default": in_title(one.default)}
            for one in head.aggregates
        ],
        "place": head.place,
    }


def _condition(condition: Condition) -> dict[str, Any]:
    found: dict[str, Any] = {
        "keys": condition.keys,
        "queries": condition.queries,
        "op": condition.op,
        "picks": bits(condition.picks),
    }
    if condition.op == "best":
        found["scores"] = [[in_title(score) for score in row] for row in condition.scores]
        found["best"] = [in_title(best) if best is not None else "" for best in best_of(condition)]
        found["candidates"] = bits(condition.candidates)
        found["products"] = [list(product) for product in condition.products]
    return found


def bits(picks: Picks) -> list[str]:
    """Write each row as zeros and ones.

    >>> bits(((True, False), (False, False)))
    ['10', '00']
    """
    return [bytes(row).translate(DIGITS).decode() for row in picks]


def _map(heat: HeatMap) -> dict[str, Any]:
    return {
        "title": heat.title,
        "rows": list(heat.rows),
        "columns": list(heat.columns),
        "weights": [[round(weight, 4) for weight in row] for row in heat.weights],
    }
