"""A compiled model and its program, compared on every short input and some long ones."""

from __future__ import annotations

import random

from test_random_programs import inputs

from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import SOp
from rasp.models.compiler import Transformer


def assert_agrees(model: Transformer, node: SOp) -> None:
    """The model's `out` is what the plain evaluator says, wherever the program has a value."""
    compared = 0
    for tokens in inputs(model, random.Random(1)):
        try:
            expected = evaluate([node], tokens)[node]
        except EvaluationError:
            continue
        assert model.answers(model.token_ids(list(tokens))[None])["out"] == [expected]
        compared += 1
    assert compared
