"""A plan in, nested dicts, lists, strings and numbers out: what JSON and a browser can hold.

Atoms leave as the texts that show them, since a browser has neither exact fractions nor
unbounded ints; a row of picks leaves as a string of zeros and ones.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rasp.base.atoms import Number, kind_of_sequence
from rasp.insight.drawing.glyphs import in_cells, in_title
from rasp.insight.drawing.picture_plan import (
    Condition,
    HeadShown,
    HeatMap,
    HeatMaps,
    Picks,
    Plan,
    SelectionShown,
    Strip,
)

DIGITS = bytes.maketrans(b"\0\1", b"01")


def as_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as nested dicts, lists, strings and numbers, ready for JSON.

    >>> from rasp import draw, tokens
    >>> as_dict(draw(tokens, "ab").plan)["tokens"]
    ['a', 'b']
    """
    if isinstance(plan, HeatMaps):
        return {"kind": "heat", "title": plan.title, "maps": [_map(one) for one in plan.maps]}
    strips = {strip.id: _strip(strip) for strip in plan.strips.values()}
    shown = {"tokens": in_cells(plan.tokens), "strips": strips}
    if isinstance(plan, SelectionShown):
        return {"kind": "selection", "head": _head(plan.head), "title": plan.title, **shown}
    layers = [_fields(layer, heads=list(map(_head, layer.heads))) for layer in plan.layers]
    return {"kind": "flow", **_fields(plan, layers=layers, **shown)}


def _fields(part: Any, **changed: Any) -> dict[str, Any]:
    """The fields of a part of a plan, but for those that leave as something else."""
    kept = {field.name: getattr(part, field.name) for field in fields(part)}
    lists = {name: list(value) if isinstance(value, tuple) else value
             for name, value in kept.items() if name not in changed}  # fmt: skip
    return {name.removeprefix("is_"): value for name, value in lists.items()} | changed


def _strip(strip: Strip) -> dict[str, Any]:
    return _fields(
        strip,
        type=kind_of_sequence(strip.values),
        shown=in_cells(strip.values),
        values=[in_title(value) for value in strip.values],
    )


def _head(head: HeadShown) -> dict[str, Any]:
    return _fields(
        head,
        conditions=[_condition(condition) for condition in head.conditions],
        picks=bits(head.picks),
        aggregates=[_fields(one, default=in_title(one.default)) for one in head.aggregates],
    )


def _condition(condition: Condition) -> dict[str, Any]:
    record: dict[str, Any] = {
        "keys": condition.keys,
        "queries": condition.queries,
        "op": condition.op,
        "picks": bits(condition.picks),
    }
    if condition.op == "best":
        record["scores"] = [[in_title(score) for score in row] for row in condition.scores]
        record["best"] = [in_title(best) if best is not None else "" for best in best_of(condition)]
        record["candidates"] = bits(condition.candidates)
        record["products"] = [list(product) for product in condition.products]
    return record


def best_of(condition: Condition) -> list[Number | None]:
    """Return the highest score that was kept in each row; None where the row is empty."""
    return [
        max((score for score, kept in zip(scores, row, strict=True) if kept), default=None)
        for scores, row in zip(condition.scores, condition.picks, strict=True)
    ]


def bits(picks: Picks) -> list[str]:
    """Write each row as zeros and ones.

    >>> bits(((True, False), (False, False)))
    ['10', '00']
    """
    return [bytes(row).translate(DIGITS).decode() for row in picks]


def _map(heat: HeatMap) -> dict[str, Any]:
    return _fields(heat, weights=[[round(weight, 4) for weight in row] for row in heat.weights])
