"""What is best by a sum of products: keys that tie share the weight, and one that does not is moved
as it is.
"""

from __future__ import annotations

import pytest
from agreement import assert_agrees

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import compile

NEAREST = "score(2 * indices, asked) + score(-indices * indices, 1)"
A_FIRST = 'score(indices, 1) + score(indicator(tokens == "a"), 10)'
BY_TOKEN = 'score(indicator(tokens == "a"), 1) + score(indicator(tokens == "b"), 1 + indices % 2)'


def best(score: str, values: str, selector: str = "select_all") -> str:
    return f"out = aggregate(select_best({selector}, {score}), {values});"


@pytest.mark.parametrize("style", ["compact", "robust"])
@pytest.mark.parametrize(
    "text",
    [
        "asked = length - 1 - indices; " + best(NEAREST, "tokens"),
        "asked = indices - 1; " + best(NEAREST, "tokens", 'select(tokens, "a", !=)'),
        best(A_FIRST, "tokens"),
        best(A_FIRST, "indices"),
        best(BY_TOKEN, "indices"),
        best(BY_TOKEN, 'indicator(tokens == "b")'),
    ],
)
def test_a_model_picks_what_the_program_does(text: str, style: str) -> None:
    out = rasp.run(text)["out"]
    assert_agrees(compile({"out": out}, alphabet="abc", max_length=4, style=style), out.node)


def test_scores_of_very_many_pairs_are_refused() -> None:
    score, values = "score(x, x) + score(-x * x, indices)", 'indicator(tokens == "a")'
    text = "x = 50 * indices + length; " + best(score, values)
    with pytest.raises(RaspUnsupportedError, match=r"select_best scores \d+ different keys"):
        compile(rasp.run(text)["out"], alphabet="ab", max_length=60, style="compact")
