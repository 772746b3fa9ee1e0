"""What is printed of a model, compared with its arrays."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import numpy as np
import pytest
from forging import NOTHING, ONE, handmade

import rasp
from models import KINDS, compiled, expected_of, mistakes_in, model_of, outputs_of, verdict
from rasp.base.errors import RaspValueError
from rasp.language.graph import Const, Elementwise, Tokens
from rasp.models.certificate import at_most
from rasp.models.certificate.claims import (
    ClaimedOutput,
    Claims,
    ConjunctClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
)
from rasp.models.compiler import Transformer


def dimensions_of_the_sink(model: Transformer) -> list[int]:
    """The dimensions in which the sink holds something, and nothing else ever does."""
    if not model.uses_sink:
        return []
    weights = model.weights
    held = weights.tokens[:-1].any(axis=0) | weights.positions.any(axis=0)
    for part in [*(head for layer in weights.heads for head in layer), *weights.feed_forwards]:
        held = held | part.out.any(axis=1)
    return np.flatnonzero(~held & (weights.tokens[-1] != 0)).tolist()


@pytest.mark.parametrize("name", KINDS)
def test_what_is_called_the_sink_is_the_sink(name: str) -> None:
    model, _ = model_of(name)
    called = [place for place, label in enumerate(model.description.dimensions) if label == "sink"]
    assert called == dimensions_of_the_sink(model)


def test_a_statement_tells_the_bos_without_which_nothing_is_claimed() -> None:
    model, _ = model_of("bos")
    assert model.certificate is not None
    assert ', with "§" first and nowhere else, in float32' in model.certificate.statement
    for tokens in ("ab", "§a§"):
        with pytest.raises(RaspValueError, match="begin with"):
            model(tokens)


NOWHERE, FIRST = [[0.0], [0.0]], [[0.0], [3.0]]


@pytest.mark.parametrize(
    ("out", "why"), [(NOWHERE, "moves nothing"), (FIRST, "does not attend to what it is said to")]
)
def test_a_head_that_nothing_needs_is_what_it_is_called(out: list[list[float]], why: str) -> None:
    """The answer is the same whatever `x` is, and the head looks at all keys alike."""
    names = rasp.run('c = tokens == "a"; x = aggregate(select(indices, 0, ==), tokens);')
    condition, picked = names["c"].node, names["x"].node
    asked = Elementwise("==", (picked, Const("q")))
    answer = Elementwise("if", (asked, condition, condition))
    output = HeadOutputClaim(Tokens(), {"a": ONE, "b": NOTHING})
    head = HeadClaim("mean", (ConjunctClaim(picked.selector, (), (1,)),), (output,), ({0: ONE},),
                     ((0,),), never_empty=True)  # fmt: skip
    claims = Claims(
        (None, None, ClaimedOutput(1, 0, 0)),
        {condition: (0,), picked: (2,), asked: (2,), answer: (0,)},
        {picked: Meaning("mean", (2,))}, ((head,),), ((), ()), ((0,),),
    )  # fmt: skip
    arrays = {"tokens": [[1.0, 0.0], [0.0, 0.0]], "positions": np.zeros((3, 2)),
              "layer1.head1.out": out, "layer1.head1.value": [[1.0, 0.0]],
              "output0.weight": [[-1.0, 0.0], [1.0, 0.0]], "output0.bias": [1.0, 0.0]}  # fmt: skip
    model = handmade(answer, claims, arrays, (False, True))
    outputs = outputs_of(model)
    assert not mistakes_in(model, expected_of(model, outputs))
    ((label,),) = model.description.heads
    assert label.startswith("select(indices, 0, ==) -> aggregate(")
    assert why in verdict(model, outputs).reason


def test_no_weight_is_above_what_is_printed() -> None:
    kind = KINDS["next token"]
    model = compiled(replace(kind, options=kind.options | {"style": "robust"}))
    printed = re.search(
        "no weight above ([^ ,]*), no gradient above ([^ ;]*);", str(model.certificate)
    )
    assert printed is not None
    largest = max(np.abs(array).max(initial=0.0) for array in model.weights.arrays().values())
    assert float(printed.group(1)) >= largest


def test_a_bound_of_few_digits_is_a_bound() -> None:
    chooser = random.Random(0)
    for _ in range(1000):
        number, digits = 10 ** chooser.uniform(-9, 9), chooser.randint(1, 4)
        assert number <= float(at_most(number, digits)) < number * (1 + 10.0 ** (1 - digits))
    assert [at_most(number, 3) for number in (0.0, 8.0, 0.25, float("inf"))] == [
        "0", "8", "0.25", "inf",
    ]  # fmt: skip
