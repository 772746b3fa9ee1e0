"""A program's s-op on the running example in, the picture of its flow out."""

from __future__ import annotations

from typing import Any

from rasp.apps.playground.budgets import LIMITS
from rasp.apps.playground.requests import find_handle, read_example, run_text
from rasp.apps.playground.shown import with_steps_named
from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.insight.drawing import Drawing, as_dict, draw
from rasp.insight.drawing.flow import document, flow_block, selection_block
from rasp.insight.drawing.picture_plan import Flow, SelectionShown
from rasp.insight.drawing.theme import COLOURS, SHAPES
from rasp.language.embedding.handles import Handle
from rasp.language.graph import SOp


def flow(request: dict[str, Any]) -> dict[str, Any]:
    """Return the drawing without a style of its own, and the plan that makes it answer."""
    plan = _drawing(request).plan
    match plan:
        case Flow():
            block = flow_block(plan)
        case SelectionShown():
            block = selection_block(plan)
        case _:
            raise RaspUnsupportedError("this has no flow", hint="choose an s-op or a selector")
    return {"svg": document(block, "", plan.title, role="group"), "plan": as_dict(plan)}


def picture(request: dict[str, Any]) -> dict[str, Any]:
    """Return the drawing as a file of its own."""
    theme = request.get("theme")
    if theme not in ("light", "dark"):
        raise RaspValueError("a picture is light or dark", hint='ask for "light" or "dark"')
    return {"svg": _drawing(request).with_theme(str(theme)).svg()}


def _drawing(request: dict[str, Any]) -> Drawing:
    handle = find_handle(run_text(request.get("program")), request.get("name"))
    if isinstance(handle.node, SOp):
        program = with_steps_named(handle.program, [handle.node])
        handle = Handle(handle.node, program, limits=LIMITS)
    return draw(handle, list(read_example(request.get("example"))), limits=LIMITS)


def style_sheet() -> str:
    """Return the drawings' style for a page that is light or dark as a whole.

    Each rule holds inside `.picture` only; colours of the night hold under `.dark`.
    """
    shapes = [
        f"{_inside('.picture', selector)}{{{rules}}}"
        for rule in SHAPES.replace("\n", "").split("}")
        for selector, _, rules in [rule.partition("{")]
        if rules
    ]
    days = [f"{_inside('.picture', one)}{{{name}:{day}}}" for one, name, day, _ in COLOURS]
    nights = [f"{_inside('.dark .picture', one)}{{{name}:{x}}}" for one, name, _, x in COLOURS]
    return "\n".join([*shapes, *days, *nights]) + "\n"


def _inside(around: str, selectors: str) -> str:
    """Confine a rule's selectors.

    >>> _inside(".picture", ".keys .cell,.rule")
    '.picture .keys .cell,.picture .rule'
    """
    return ",".join(f"{around} {selector}" for selector in selectors.split(","))
