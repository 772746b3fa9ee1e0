"""A program in, a certified model of the compact style out: plainly, or with care.

Where the checker finds no margin left in a plain model, a second one is planned with care for
rounding (see `Task.is_careful`). A model that cannot be certified is never handed out.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from rasp.base.errors import RaspUnsupportedError
from rasp.base.progress import Progress, ignore
from rasp.language.graph import Node, Program
from rasp.models.compiler.analysis.variables import s_op_of
from rasp.models.compiler.assemble import assemble_and_certify
from rasp.models.compiler.compile_refusals import Refusal, Refusals, TooLarge, UnprovedError
from rasp.models.compiler.emitting.emitter import CompactClaimant, Emitter
from rasp.models.compiler.emitting.next_token import check_outputs
from rasp.models.compiler.model.certificate import Certificate
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.planning.plan import Plan, make_plan
from rasp.models.compiler.settings import Settings

LARGEST = 1e30
"""The largest weight: float32 ends at 3.4e38, and weights are multiplied."""


def compile_compact(
    nodes: Mapping[str, Node], settings: Settings, program: Program, progress: Progress
) -> Transformer:
    """Compile in the compact style, plainly or else with care; or say why not plainly."""
    if settings.extra_feed_forwards:
        with suppress(RaspUnsupportedError):  # blocks that are not needed are not spent
            fewer = replace(settings, extra_feed_forwards=0)
            return compile_compact(nodes, fewer, program, progress)
    try:
        return attempt(nodes, settings, program, progress)
    except _NoMargin:
        with suppress(RaspUnsupportedError):
            return attempt(nodes, settings, program, progress, is_careful=True)
        raise


class _NoMargin(UnprovedError):
    """Weights without room, or with an error that float32 makes: there may be others."""


def attempt(
    nodes: Mapping[str, Node], settings: Settings, program: Program,
    progress: Progress = ignore, is_careful: bool = False,
) -> Transformer:  # fmt: skip
    """Plan, write and certify."""
    try:
        progress(0.0, "planning")
        plan = make_plan(nodes, settings, program, is_careful)
        if settings.next_token:
            check_outputs(plan, program)
        model, certificate = build(plan, program, progress)
    except (Refusal, OverflowError) as error:
        refusal = error if isinstance(error, Refusal) else TooLarge()
        message = f"this cannot be compiled exactly: {refusal.message}"
        raise _NoMargin(message, hint=refusal.hint) from None
    if certificate.trust != "none":
        return model
    if not certificate.refused and not certificate.runs:
        raise RaspUnsupportedError(
            f"this cannot be compiled: {certificate.reason}",
            hint="give an alphabet and a length for which the program has a value",
        )
    raise _NoMargin(
        f"this cannot be compiled exactly in float32: {certificate.reason}",
        Refusals(program, list(nodes.values())).origin(_blamed(plan, certificate)),
        "use a smaller `max_length` or vocabulary, or round and compare averages earlier",
    )


def _blamed(plan: Plan, certificate: Certificate) -> Node:
    """An s-op of the first block without margin."""
    failing = [block.name for block in certificate.blocks if block.margin < 0]
    failing.append(certificate.reason.partition(":")[0])
    blocks: list[tuple[str, Node | None]] = [
        (f"layer {layer}, head {number}", head.head.known_by)
        for layer, heads in enumerate(plan.heads, 1) for number, head in enumerate(heads, 1)
    ]  # fmt: skip
    blocks += [(f"feed-forward {layer}", s_op_of(ridge.group.inputs))
               for layer, ridges in enumerate(plan.ridges) for ridge in ridges]  # fmt: skip
    blocks += [(f"read-out {output.name}", output.node) for output in plan.outputs]
    nodes = [node for name, node in blocks if name == failing[0] and node is not None]
    return [*nodes, plan.outputs[0].node][0]


def build(
    plan: Plan, program: Program, progress: Progress = ignore
) -> tuple[Transformer, Certificate]:
    """Write a plan's weights, and certify the model."""
    progress(0.3, "writing weights")
    emitter = Emitter(plan)
    weights = emitter.weights()
    sizes = (np.abs(array).max(initial=0.0) for array in weights.arrays().values())
    if any(size > LARGEST for size in sizes):
        raise TooLarge
    return assemble_and_certify(
        plan, weights, CompactClaimant(emitter, weights).all_claims(), program, progress
    )
