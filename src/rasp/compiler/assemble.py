"""A plan, its weights and claims in; a model with a certificate out."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from rasp.certificate import Claims, Readout, Verdict, Weights
from rasp.compiler.emitting.claims import Planned
from rasp.compiler.model.certificate import Certificate, certify, proved
from rasp.compiler.model.describe import Words, describe
from rasp.compiler.model.transformer import Transformer
from rasp.graph import Program, in_order
from rasp.graph.portable import graph_to_json


def certified(
    plan: Planned, weights: Weights, claims: Claims, program: Program
) -> tuple[Transformer, Certificate, Verdict]:
    """A model, its certificate, which may say that it is not exact, and what the checker said."""
    model = assemble(plan, weights, claims, program)
    outputs = {output.name: output.node for output in plan.outputs}
    verdict = proved(model, outputs)
    _keep_readers(model, verdict.readers)
    model.certificate = certify(model, outputs, verdict)
    return model, model.certificate, verdict


def assemble(plan: Planned, weights: Weights, claims: Claims, program: Program) -> Transformer:
    """A model from a plan and weights, not yet certified."""
    readouts = tuple(
        Readout(
            output.name,
            tuple(atom for _, atom in output.atoms),
            () if is_scored else tuple(float(code) for code, _ in output.atoms),
            is_scored,
        )
        for number, output in enumerate(plan.outputs)
        for is_scored in [len(weights.readouts[number].bias) == len(output.atoms)]
    )
    outputs = {output.name: output.node for output in plan.outputs}
    weights = weights.cast()
    mine = set(in_order(outputs.values()))
    lines = {node: span.line for node, span in program.origins.items() if node in mine}
    names = {node: name for node, name in program.names.items() if node in mine}
    description = describe(weights, claims, Words(outputs, names, lines))
    graph = graph_to_json(outputs, names, lines)
    return Transformer(plan.settings, weights, readouts, plan.uses_sink, description, claims,
                       graph, None)  # fmt: skip


def _keep_readers(model: Transformer, proved_ones: Set[int]) -> None:
    """Leave out s-ops that the stream holds, but not clearly enough to be read from it."""
    kept = sorted(proved_ones)
    told, shown = model.claims.readers, model.description.readers
    model.claims = replace(model.claims, readers=tuple(told[place] for place in kept))
    model.description = replace(model.description, readers=tuple(shown[place] for place in kept))
