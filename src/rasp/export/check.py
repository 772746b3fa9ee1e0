"""A foreign model in, an error out unless it answers as the program does."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from rasp.atoms import show_input
from rasp.compiler.certificate import random_input
from rasp.compiler.portable import graph_from_json
from rasp.compiler.transformer import Transformer
from rasp.compiler.weights import Array
from rasp.errors import RaspUnsupportedError
from rasp.evaluator.plain import EvaluationError, evaluate
from rasp.export.blocks import decoded, input_ids

Run = Callable[[Array], Array]
"""Token ids (position,) to logits (position, logit)."""


def check(model: Transformer, run: Run, target: str, count: int = 100) -> int:
    """Compare a loaded export with the program on random inputs; return how many were compared."""
    outputs, _ = graph_from_json(model.graph)
    chooser = random.Random(7)
    compared = 0
    for _ in range(count):
        tokens = random_input(model.settings, chooser)
        try:
            expected = evaluate(list(outputs.values()), tokens)
        except EvaluationError:
            continue
        logits = np.asarray(run(input_ids(model, list(tokens))))
        found = decoded(model, logits)
        compared += 1
        for name, node in outputs.items():
            if found[name] != expected[node]:
                raise RaspUnsupportedError(
                    f"exported to {target}, this model answers {show_input(tokens)} differently",
                    hint="keep to the model itself, or use a smaller `max_length`",
                )
    return compared
