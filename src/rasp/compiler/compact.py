"""A program in, a certified model of the compact style out: attempts with other measures.

Most programs need no measures. Where the checker finds no margin left, what an output needs is read
off its inputs, with no feed-forward in between; then the stream is made to round what heads add as
well; and last, conditions are counted in place of both. A model that cannot be certified is never
handed out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rasp.certificate import Verdict
from rasp.compiler.analysis.task import NONE, Measures
from rasp.compiler.assemble import certified
from rasp.compiler.emitting.emitter import Emitter
from rasp.compiler.emitting.next_token import check_outputs
from rasp.compiler.emitting.plan_claims import make_claims
from rasp.compiler.model.certificate import Certificate
from rasp.compiler.model.transformer import Transformer
from rasp.compiler.planning.plan import Plan, checked_nodes, make_plan
from rasp.compiler.refusals import Refusal, Refusals
from rasp.compiler.settings import Settings
from rasp.errors import RaspUnsupportedError
from rasp.graph import Node, Program

ATTEMPTS = (
    NONE,
    Measures(looks_up=True),
    Measures(looks_up=True, rounds=True),
    Measures(counts_conditions=True),
)
LARGEST = 1e30
"""The largest weight: float32 ends at 3.4e38, and weights are multiplied."""

SMALLER = "work with smaller numbers"


def compile_compact(nodes: Mapping[str, Node], settings: Settings, program: Program) -> Transformer:
    """Compile in the compact style, or say why that cannot be done."""
    if settings.extra_feed_forwards:
        try:  # blocks that are not needed are not spent
            return _first_certified(nodes, replace(settings, extra_feed_forwards=0), program)
        except RaspUnsupportedError:
            pass
    return _first_certified(nodes, settings, program)


def _first_certified(
    nodes: Mapping[str, Node], settings: Settings, program: Program
) -> Transformer:  # fmt: skip
    """The model of the first attempt that can be certified; else why the very first was not."""
    first: RaspUnsupportedError | None = None
    for measures in ATTEMPTS:
        try:
            return attempt(nodes, settings, program, measures)
        except _NoMargin as error:
            first = first or error
        except RaspUnsupportedError:
            if first is None:  # the program is refused, and not what was made of it
                raise
    assert first is not None
    raise first


class _NoMargin(RaspUnsupportedError):
    """Weights without room, or with an error that float32 makes: there may be others."""


def attempt(
    nodes: Mapping[str, Node], settings: Settings, program: Program, measures: Measures
) -> Transformer:
    """Plan, write and certify."""
    refusals = Refusals(program, list(nodes.values()))
    place = refusals.origin(next(iter(nodes.values())))
    try:
        plan = make_plan(nodes, settings, program, measures)
        if settings.next_token:
            check_outputs(plan, program)
        model, certificate, verdict = build(plan, program)
    except Refusal as refusal:
        message = f"this cannot be compiled exactly: {refusal.message}"
        raise _NoMargin(message, place, refusal.hint) from None
    except RaspUnsupportedError as error:
        error.span = error.span or place
        raise
    if certificate.exact:
        return model
    if not certificate.refused and not certificate.runs:
        raise RaspUnsupportedError(
            f"this cannot be compiled: {certificate.reason}", place,
            "give an alphabet and a length for which the program has a value",
        )  # fmt: skip
    raise _NoMargin(
        f"this cannot be compiled exactly in float32: {certificate.reason}",
        refusals.origin(_blamed(plan, certificate, verdict)),
        "use a smaller `max_length` or vocabulary, or round and compare averages earlier",
    )


def _blamed(plan: Plan, certificate: Certificate, verdict: Verdict) -> Node:
    """An s-op of the first block without margin."""
    failing = [name for name, _, margin in verdict.blocks if margin < 0]
    failing.append(certificate.reason.partition(":")[0])
    nodes = [node for name, node in checked_nodes(plan) if name == failing[0]]
    return [*nodes, *(output.node for output in plan.outputs)][0]


def build(plan: Plan, program: Program) -> tuple[Transformer, Certificate, Verdict]:
    """Write a plan's weights, and certify the model."""
    too_large = Refusal("some of its numbers are too large for float32", SMALLER)
    try:
        emitter = Emitter(plan)
        weights = emitter.weights()
    except OverflowError:
        raise too_large from None
    if any(np.abs(array).max(initial=0.0) > LARGEST for array in weights.arrays().values()):
        raise too_large
    return certified(plan, weights, make_claims(plan, emitter), program)
