"""Sums of scores: `select_best` by a dot product of several terms, through every back end."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

import rasp
from picks import why
from rasp import indices, score, select, select_all, select_best, tokens
from rasp.insight.drawing.planning import plan_flow
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.evaluator.plain import evaluate as evaluate_plain
from rasp.language.graph import ScoreSum, SelectBest
from rasp.models.compiler.model.store import load

NEAREST = rasp.aggregate(select_best(select_all, rasp.lib.closest(tokens, indices)), indices)


def nearest(given: list[int]) -> list[float]:
    """The mean position of the tokens nearest to each index: the definition, by hand."""
    answers = []
    for place in range(len(given)):
        least = min(abs(token - place) for token in given)
        found = [at for at, token in enumerate(given) if abs(token - place) == least]
        answers.append(sum(found) / len(found))
    return answers


def inputs(count: int, longest: int = 6, largest: int = 5) -> list[list[int]]:
    rng = random.Random(5)
    return [[rng.randint(0, largest) for _ in range(rng.randint(1, longest))]
            for _ in range(count)]  # fmt: skip


def test_closest_is_what_it_says() -> None:
    for given in inputs(200):
        assert NEAREST(given) == pytest.approx(nearest(given))


def test_long_and_odd_numbers_agree_with_the_plain_evaluator() -> None:
    rng = random.Random(7)
    far = select(tokens, indices, ">") | select(indices, indices, "<=")
    halves = score(tokens * tokens / 3, indices) - Fraction(1, 7) * score(indices, tokens)
    node = rasp.aggregate(select_best(far, halves + score(2**61 * tokens, 3)), tokens).node
    batch = [tuple(rng.choice([rng.randint(-9, 9), Fraction(rng.randint(-9, 9), 4)])
                   for _ in range(length)) for length in (1, 2, 40, 80)]  # fmt: skip
    assert evaluate_fast([node], batch)[node] == [evaluate_plain([node], x)[node] for x in batch]


def test_a_sum_is_one_head_whatever_the_order_of_its_terms() -> None:
    first, second = score(tokens, indices), score(indices, 1)
    one = rasp.aggregate(select_best(select_all, first + second), tokens)
    other = rasp.aggregate(select_best(select_all, second + first), indices)
    assert rasp.schedule([one, other]).heads_per_layer == (1,)
    assert rasp.schedule(NEAREST).heads_per_layer == (1,)


def test_a_number_is_a_factor_of_every_term() -> None:
    doubled = 2 * (score(tokens, 1) - score(indices, 3))
    assert isinstance(doubled.node, ScoreSum)
    assert doubled([1, 5]) == [[2, 4], [2, 4]] == (doubled * 3 / 3)([1, 5])
    assert (-doubled)([1, 5]) == [[-2, -4], [-2, -4]] and (+doubled).node is doubled.node
    assert (
        rasp.run(f"d = {rasp.language.graph.expression(doubled.node)};")["d"].node is doubled.node
    )


def test_it_compiles_and_is_saved_and_is_as_certified(tmp_path: Path) -> None:
    model = rasp.compile(NEAREST, vocabulary=list(range(6)), max_length=6)
    model.save(tmp_path / "nearest")
    loaded = load(tmp_path / "nearest")
    for given in inputs(60):
        assert model(given) == loaded(given) == NEAREST(given)


def test_scores_too_wide_for_floats_are_refused() -> None:
    wide = rasp.aggregate(select_best(select_all, rasp.lib.closest(tokens, indices / 7)), indices)
    with pytest.raises(rasp.RaspUnsupportedError, match="and the limit is"):
        rasp.compile(wide, vocabulary=[0, 1, 900], max_length=9, style="compact")


def test_a_picture_says_why() -> None:
    plan = plan_flow([NEAREST.node], [2, 0, 1], NEAREST.program)
    [[head]] = (layer.heads for layer in plan.layers)
    assert isinstance(NEAREST.node, rasp.language.graph.Aggregate)
    assert isinstance(NEAREST.node.selector, SelectBest)
    lines = why(plan.strips, head, 1, 2)
    assert any("score(2 * tokens, indices) + score(-tokens * tokens, 1) = 1, the best" in line
               for line in lines)  # fmt: skip


@pytest.mark.slow
def test_equivalence_and_patterns_see_it() -> None:
    other = rasp.aggregate(
        select_best(select_all, -score(tokens * tokens, 1) - score(-2 * tokens, indices)), indices
    )
    assert rasp.equivalent(NEAREST, other, alphabet=[0, 1, 2], max_length=4)
    fit = rasp.fit(NEAREST, attention="causal", alphabet=[0, 1, 2])
    assert not fit.fits and fit.counterexample is not None
