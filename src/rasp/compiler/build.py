"""`compile`: a program in, a certified transformer out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rasp.compiler.certificate import certify
from rasp.compiler.plan import Plan, make_plan
from rasp.compiler.settings import Settings, read_settings
from rasp.compiler.transformer import Labels, Readout, Transformer
from rasp.compiler.weights import Emitter, is_scored
from rasp.graph import Node, Program

import numpy as np


def compile(
    outputs: Any,
    *,
    vocabulary: object,
    max_length: int,
    bos: object = None,
    causal: bool = False,
    sink: bool = True,
    heads: str = "paper",
    program: Program | None = None,
) -> Transformer:
    settings = read_settings(vocabulary, max_length, bos, causal, sink, heads)
    nodes, found = read_outputs(outputs, program)
    care: dict[str, int] = {}
    while True:
        plan = make_plan(nodes, settings, found, care)
        model = assemble(plan)
        assert model.certificate is not None
        if model.certificate.exact:
            return model
        blame = to_blame(model.certificate.checks, care)
        print([c[:30] + str(v) for c, v in care.items()], model.certificate.statement)
        if blame is None:
            return model
        care[blame] = care.get(blame, 0) + 1


def to_blame(checks, care):
    """The last conjunct with some error before the first block that does not hold."""
    for place, check in enumerate(checks):
        if not check.holds:
            for each in reversed(checks[: place + 1]):
                if each.blame and each.error > 0 and care.get(each.blame, 0) < 1:
                    return each.blame
    return None


def read_outputs(outputs: Any, program: Program | None) -> tuple[dict[str, Node], Program]:
    if isinstance(outputs, Mapping):
        named = dict(outputs)
    elif isinstance(outputs, Sequence):
        named = {}
        for number, each in enumerate(outputs):
            named[_name(each, program, f"output{number}")] = each
    else:
        named = {_name(outputs, program, "output"): outputs}
    for each in named.values():
        program = program or getattr(each, "program", None)
    return {name: getattr(each, "node", each) for name, each in named.items()}, program or Program()


def _name(output: Any, program: Program | None, otherwise: str) -> str:
    node = getattr(output, "node", output)
    known = program or getattr(output, "program", None) or Program()
    return known.names.get(node, otherwise)


def assemble(plan: Plan) -> Transformer:
    emitter = Emitter(plan)
    weights = emitter.weights()
    readouts = []
    for output in plan.outputs:
        codes = np.array([float(code) for code, _ in output.atoms])
        readouts.append(
            Readout(
                output.name,
                tuple(a for _, a in output.atoms),
                tuple(codes.tolist()),
                is_scored(codes),
            )
        )
    labels = Labels((("sink",) if plan.uses_sink else ()) + tuple(plan.layout.labels), (), ())
    model = Transformer(plan.settings, weights, tuple(readouts), labels, plan.uses_sink)
    model.certificate = certify(plan, emitter, model)
    return model
