"""Random programs as text, compiled with any options: a model, here and in torch, answers alike."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby, product
from operator import gt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.insight.schedule.schedule import schedule
from rasp.language.evaluator import plain
from rasp.language.graph import Aggregate, Const, Node, SOp, in_order
from rasp.models.compiler.build import compile_nodes
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.settings import Settings, read_settings
from strategies import examples
from strategies.programs import Case, cases

pytestmark = pytest.mark.slow

MOST_AGGREGATES, MOST_NODES, MOST_INPUTS = 4, 30, 60
Inputs = list[tuple[Atom, ...]]
randoms = st.randoms(use_true_random=False)


@given(cases(), randoms)
@examples(60)
def test_a_compiled_program_answers_as_the_program(case: Case, rng: random.Random) -> None:
    node, model = compiled(case, rng)
    for batch, expected in batches(node, model.settings, rng):
        ids = np.stack([model.token_ids(list(tokens)) for tokens in batch])
        [answers] = model.answers(ids).values()
        assert answers == expected, (batch, model.settings)


@given(cases(), randoms)
@examples(30)
def test_the_same_weights_in_torch_answer_as_the_program(case: Case, rng: random.Random) -> None:
    torch = pytest.importorskip("torch")
    from rasp.models.export import decoded, input_ids, to_torch

    node, model = compiled(case, rng)
    module = to_torch(model)
    for batch, expected in batches(node, model.settings, rng):
        ids = np.stack([input_ids(model, tokens) for tokens in batch])
        with torch.no_grad():
            logits = module(torch.from_numpy(ids)).numpy()
        assert [next(iter(decoded(model, row).values())) for row in logits] == expected


def compiled(case: Case, rng: random.Random) -> tuple[SOp, Transformer]:
    """Compile the last s-op of a program; a refusal says what to do, and hides no mistake."""
    s_ops = {name: node for name, node in case.outputs.items() if isinstance(node, SOp)}
    assume(s_ops)
    name, node = list(s_ops.items())[-1]
    assume(is_small(node))
    settings = some_settings(case, rng)
    assume(settings is not None)
    assert settings is not None
    refusal, model = None, None
    try:
        model = compile_nodes({name: node}, settings, case.session.program_of(name))
    except RaspError as error:
        refusal = error
    if isinstance(refusal, RaspUnsupportedError):
        assert refusal.hint, refusal
        assert "random inputs went wrong" not in refusal.message, "every block is proved, and yet"
    assume(model is not None)
    assert model is not None
    if settings.heads == "paper":
        promised = schedule(node).heads_per_layer
        assert not any(map(gt, model.heads_per_layer, promised)), promised
    return node, model


def is_small(node: Node) -> bool:
    order = in_order([node])
    aggregates = sum(isinstance(needed, Aggregate) for needed in order)
    return not isinstance(node, Const) and aggregates <= MOST_AGGREGATES and len(order) < MOST_NODES


def some_settings(case: Case, rng: random.Random) -> Settings | None:
    """A few tokens of the inputs, short lengths, and any of the options."""
    letters = list({repr(token): token for tokens in case.inputs for token in tokens}.values())
    vocabulary = letters[: rng.randint(2, 3)]
    causal, sink = rng.random() < 0.15, rng.random() < 0.85
    try:
        return read_settings(
            vocabulary, rng.randint(1, 5), None, causal, sink,
            rng.choice(["paper", "paper", "split"]), rng.choice(["robust", "compact"]),
        )  # fmt: skip
    except RaspError:
        return None


def batches(
    node: SOp, settings: Settings, rng: random.Random
) -> Iterator[tuple[Inputs, list[list[Atom]]]]:
    """Every input where they are few, else some, by length, with what the program says."""
    lengths = range(1, settings.max_length + 1)
    every = [tokens for length in lengths
             for tokens in product(settings.vocabulary, repeat=length)]  # fmt: skip
    inputs = every if len(every) <= MOST_INPUTS else rng.sample(every, MOST_INPUTS)
    expected: dict[tuple[Atom, ...], list[Atom]] = {}
    for tokens in inputs:
        try:
            expected[tokens] = plain.evaluate([node], tokens)[node]
        except plain.EvaluationError:
            continue
    for _, same_length in groupby(sorted(expected, key=len), len):
        batch = list(same_length)
        yield batch, [expected[tokens] for tokens in batch]
