"""The heads of a planned picture, for tests that look them up."""

from __future__ import annotations

from rasp.insight.drawing.picture_plan import Flow, HeadShown, Plan


def heads_of(plan: Plan) -> dict[str, HeadShown]:
    """The heads of a flow by their ids."""
    assert isinstance(plan, Flow)
    return {head.id: head for layer in plan.layers for head in layer.heads}
