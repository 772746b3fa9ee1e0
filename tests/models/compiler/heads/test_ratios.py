"""Averages over one selector that are only set against each other are sums, and move together."""

from __future__ import annotations

import random

import pytest
from test_random_programs import inputs

import rasp
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.models.compiler import Transformer, compile

AVERAGES = """a = aggregate(select(indices, indices, <=), indicator(tokens == "a"));
b = aggregate(select(indices, indices, <=), indicator(tokens != "b"));
c = aggregate(select(indices, indices, <=), indicator(indices == 0));
early = aggregate(select(tokens, tokens, <), 1 - indices);
late = aggregate(select(tokens, tokens, <), indices);
"""
SUMS = [
    "out = a / b;",
    "out = a < b;",
    "out = a / c;",
    "out = late > early and late > 1;",  # its size is asked for as well: a mean
    "out = 2 if late == early else 3;",
    "out = (a == b) or (b / c > 2);",
    'out = count(tokens, "a") < 2 and contains(tokens, "b");',
    'out = count(tokens, "a") < 2 and 0.75 >= average(indicator(tokens != "b"));',
    'out = count(tokens, "a") < 2 and aggregate(full_s, indices, 3) == 1;',
]


def compiled(text: str) -> tuple[Transformer, list[tuple[object, object]]]:
    node = rasp.run(AVERAGES + text)["out"].node
    model = compile({"out": node}, vocabulary="abc", max_length=6, style="compact")
    pairs: list[tuple[object, object]] = []
    for tokens in inputs(model, random.Random(1)):
        try:
            expected = evaluate([node], tokens)[node]
        except EvaluationError:
            continue
        [found] = model.answers(model.token_ids(list(tokens))[None])["out"]
        pairs.append((found, expected))
    return model, pairs


@pytest.mark.parametrize("text", SUMS)
def test_a_ratio_of_averages_is_right(text: str) -> None:
    _, pairs = compiled(text)
    assert pairs
    assert all(found == expected for found, expected in pairs)


def test_a_ratio_takes_exact_sums() -> None:
    model, _ = compiled("out = a / b;")
    assert model.certificate is not None
    head, *_ = model.certificate.blocks
    assert head.detail.startswith("sum")


def test_an_answer_that_a_part_cannot_have_is_no_answer() -> None:
    model, _ = compiled("out = a / b;")  # what is an "a" is no "b": at most 1
    assert max(model.readouts[0].atoms) == 1
