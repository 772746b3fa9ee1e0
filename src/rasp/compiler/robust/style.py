"""A program in, a model in the robust style out, not yet certified."""

from __future__ import annotations

from rasp.certificate import Claims
from rasp.compiler.emitting.weights import Weights
from rasp.compiler.robust.arrays import Writer
from rasp.compiler.robust.claims import make_claims
from rasp.compiler.robust.plan import RobustPlan


def emit(plan: RobustPlan) -> tuple[Weights, Claims]:
    """The weights of a plan, and what is claimed of them."""
    return Writer(plan).weights(), make_claims(plan)
