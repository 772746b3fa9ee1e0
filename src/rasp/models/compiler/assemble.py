"""A plan, its weights and claims in; a model with a certificate out."""

from __future__ import annotations

from dataclasses import replace

from rasp.base.progress import Progress, part_of
from rasp.language.graph import Program, in_order
from rasp.models.certificate import Claims, Readout, Weights
from rasp.models.compiler.heads.model_plan import ModelPlan
from rasp.models.compiler.model.certificate import CHECKED, Certificate, certify, proved
from rasp.models.compiler.model.describe import Words
from rasp.models.compiler.model.transformer import Transformer


def assemble_and_certify(
    plan: ModelPlan, weights: Weights, claims: Claims, program: Program, progress: Progress
) -> tuple[Transformer, Certificate]:
    """A model and its certificate, which may say that it is not exact."""
    model = assemble(plan, weights, claims, program)
    progress(0.35, "checking")
    verdict = proved(model)
    # s-ops that the stream holds, but not clearly enough to be read from it, are left out
    readers = tuple(claims.readers[place] for place in sorted(verdict.readers))
    model.claims = replace(claims, readers=readers)
    model.proof = certify(model, verdict, progress=part_of(progress, CHECKED, 1.0))
    return model, model.certificate


def assemble(plan: ModelPlan, weights: Weights, claims: Claims, program: Program) -> Transformer:
    """A model from a plan and weights, not yet certified."""
    readouts = []
    for output, written in zip(plan.outputs, weights.readouts, strict=True):
        codes, atoms = zip(*output.atoms, strict=True)
        is_scored = len(written.bias) == len(atoms)
        numbers = () if is_scored else tuple(map(float, codes))
        readouts.append(Readout(output.name, atoms, numbers, is_scored))
    outputs = {output.name: output.node for output in plan.outputs}
    mine = set(in_order(outputs.values()))
    lines = {node: span.line for node, span in program.origins.items() if node in mine}
    names = {node: name for node, name in program.names.items() if node in mine}
    words = Words(outputs, names, lines)
    return Transformer(plan.settings, weights.cast(), tuple(readouts), claims, words)
