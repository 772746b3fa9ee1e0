"""The judge of compiled weights: a model answers as the program does, or is refused."""

from __future__ import annotations

import random
from itertools import groupby, product

import numpy as np

from rasp.atoms import Atom, show_input
from rasp.compiler.build import compile_nodes
from rasp.compiler.settings import Settings, read_settings
from rasp.compiler.transformer import Transformer
from rasp.errors import RaspError, RaspUnsupportedError
from rasp.evaluator import plain
from rasp.fuzzing.cases import Case
from rasp.fuzzing.outcomes import Disagreement, Refused
from rasp.graph import Aggregate, Const, Node, SOp, in_order

MOST_AGGREGATES = 5
MOST_NODES = 40
MOST_INPUTS = 150


def judge_compiled(case: Case) -> None:
    """Compile the last s-op for a few tokens and short inputs, and compare every answer."""
    s_ops = {name: node for name, node in case.outputs.items() if isinstance(node, SOp)}
    if not s_ops or not case.inputs:
        raise Refused
    name, node = list(s_ops.items())[-1]
    _is_small_enough(node)
    settings = _settings(case)
    try:
        model = compile_nodes({name: node}, settings, case.elaborated.program)
    except RaspUnsupportedError as error:
        if not error.hint:
            raise Disagreement(f"a refusal without a hint: {error}") from None
        raise Refused from None
    except RaspError:
        raise Refused from None
    _compare(node, model, settings, random.Random(case.seed))


def _is_small_enough(node: Node) -> None:
    order = in_order([node])
    aggregates = sum(isinstance(each, Aggregate) for each in order)
    if isinstance(node, Const) or aggregates > MOST_AGGREGATES or len(order) > MOST_NODES:
        raise Refused


def _settings(case: Case) -> Settings:
    """A few of the case's tokens, and a short greatest length."""
    rng = random.Random(case.seed)
    known: dict[object, Atom] = {}
    for token in (token for tokens in case.inputs for token in tokens):
        if isinstance(token, str) == isinstance(case.inputs[0][0], str):
            known.setdefault(token, token)
    vocabulary = list(known.values())[: rng.randint(2, 3)]
    length, causal, sink = rng.randint(1, 5), rng.random() < 0.15, rng.random() < 0.85
    try:
        return read_settings(
            vocabulary, length, None, causal, sink, rng.choice(["paper", "paper", "split"])
        )
    except RaspError:
        raise Refused from None


def _compare(node: Node, model: Transformer, settings: Settings, rng: random.Random) -> None:
    expected: dict[tuple[Atom, ...], list[Atom]] = {}
    for tokens in _inputs(settings, rng):
        try:
            expected[tokens] = plain.evaluate([node], tokens)[node]
        except plain.EvaluationError:
            continue
    if not expected:
        raise Refused
    for _, together in groupby(sorted(expected, key=len), len):
        batch = list(together)
        ids = np.stack([model.token_ids(list(tokens)) for tokens in batch])
        [answers] = model.answers(ids).values()
        for tokens, found in zip(batch, answers, strict=True):
            if found != expected[tokens]:
                raise Disagreement(
                    f"on {show_input(tokens)}:\nplain: {expected[tokens]}\n"
                    f"compiled: {found}\n{settings}"
                )


def _inputs(settings: Settings, rng: random.Random) -> list[tuple[Atom, ...]]:
    """Every input where they are few, else some."""
    every = [
        tokens
        for length in range(1, settings.max_length + 1)
        for tokens in product(settings.vocabulary, repeat=length)
    ]
    return every if len(every) <= MOST_INPUTS else rng.sample(every, MOST_INPUTS)
