"""Random programs are compiled and agree with the plain evaluator, or are refused with a reason.

Many more: `python bench/compile.py --random 0 2000`.
"""

from __future__ import annotations

import itertools
import random
import re
from fractions import Fraction

import pytest

import rasp
from rasp.base.atoms import Atom
from rasp.base.errors import RaspUnsupportedError
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import (
    Const,
    Node,
    Score,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
)
from rasp.models.compiler import Transformer, compile
from strategies.graphs import BOOL, NUMBER, TEXT, Graphs

VOCABULARIES = {
    TEXT: ["ab", "abc", "()"],
    NUMBER: [[0, 1], [1, 2, 3], [-1, 2, 5], [Fraction(1, 2), 1]],
    BOOL: [[True, False]],
}


WIDER = {(Fraction, int), (Fraction, bool), (int, bool)}


class Compilable(Graphs):
    """Random graphs in which select_best is only where it can be compiled."""

    def selector(self, depth: int, comparisons: int) -> Selector:
        rng = self.rng
        if self.selectors and rng.random() < 0.15:
            return rng.choice(self.selectors)
        made = self.selector_tree(depth, comparisons)
        if rng.random() < 0.1:
            queries = Const(rng.choice([1, -1, 2, 0]))
            return SelectBest(made, Score(self.sop(NUMBER, depth - 1), queries))
        self.selectors.append(made)
        return made

    def selector_tree(self, depth: int, comparisons: int) -> Selector:
        rng = self.rng
        if rng.random() < 0.12:
            return SelectorNot(self.selector_tree(depth, comparisons))
        if comparisons == 1:
            return self.comparison(depth)
        left = rng.randint(1, comparisons - 1)
        join = rng.choice([SelectorAnd, SelectorAnd, SelectorOr])
        parts = self.selector_tree(depth, left), self.selector_tree(depth, comparisons - left)
        return join(*parts)


def random_program(seed: int) -> tuple[dict[str, Node], list[Atom], dict[str, object]]:
    rng = random.Random(seed)
    sort = rng.choice([TEXT, TEXT, NUMBER, BOOL])
    graphs = Compilable(rng, sort)
    depth = rng.choice([2, 3, 3, 4])
    count = rng.choice([1, 1, 1, 2])
    outputs: dict[str, Node] = {
        f"out{place}": graphs.sop(rng.choice([NUMBER, NUMBER, BOOL, TEXT]), depth)
        for place in range(count)
    }
    bos = {TEXT: "§", NUMBER: 9, BOOL: None}[sort]
    options: list[dict[str, object]] = [
        {}, {}, {}, {"causal": True}, {"sink": False}, {"heads": "split"}, {"bos": bos},
    ]  # fmt: skip
    chosen: dict[str, object] = {"max_length": rng.choice([1, 2, 3, 4, 5])} | rng.choice(options)
    return outputs, list(rng.choice(VOCABULARIES[sort])), chosen


def inputs(model: Transformer, rng: random.Random) -> list[tuple[Atom, ...]]:
    settings = model.settings
    if settings.bos is not None:
        ordinary = settings.vocabulary[:-1]
        return [
            (settings.bos, *rng.choices(ordinary, k=rng.randint(0, settings.max_length - 1)))
            for _ in range(30)
        ]
    short = [
        tokens
        for length in range(1, min(settings.max_length, 3) + 1)
        for tokens in itertools.product(settings.vocabulary, repeat=length)
    ]
    long = [
        tuple(rng.choices(settings.vocabulary, k=rng.randint(1, settings.max_length)))
        for _ in range(20)
    ]
    return short + long


def reason(error: RaspUnsupportedError) -> str:
    """Why a program was refused, without the names and numbers of this one."""
    message = error.message.partition("cannot be compiled exactly")[2].strip(": ") or error.message
    for known in ("fails on every input", "has no margin left", "combinations",
                  "mean of its values", "sum of its values", "may pick nothing",
                  "after the query", "hidden units", "scores"):  # fmt: skip
        if known in message:
            return known
    return re.sub(r"`[^`]*`|[0-9.]+", "…", message)[:80]


def outcome(seed: int) -> str:
    """Compile one random program and compare it everywhere: agrees, refused, or a mistake."""
    outputs, vocabulary, options = random_program(seed)
    try:
        model = compile(outputs, vocabulary=vocabulary, **options, style="compact")
    except RaspUnsupportedError as error:
        wrong = "went wrong" in str(error)  # a refusal that hides a mistake is a mistake
        return f"seed {seed}: {error}" if wrong or not error.hint else f"refused: {reason(error)}"
    for tokens in inputs(model, random.Random(seed)):
        try:
            expected = evaluate(list(outputs.values()), tokens)
        except EvaluationError:
            continue
        found = model.answers(model.token_ids(list(tokens))[None])
        for name, node in outputs.items():
            if found[name][0] != expected[node]:
                return f"seed {seed}, {tokens}: {found[name][0]} instead of {expected[node]}"
    return "agrees"


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 160, 20))
def test_random_programs_agree_or_are_refused(start: int) -> None:
    outcomes = [outcome(seed) for seed in range(start, start + 20)]
    assert not [each for each in outcomes if each != "agrees" and "refused" not in each]
    assert outcomes.count("agrees") >= 5


@pytest.mark.slow
def test_an_attempt_that_overflows_is_refused_without_a_warning() -> None:
    assert outcome(5178).startswith("refused: ")


def test_numbers_beyond_float32_are_refused_without_a_warning() -> None:
    text = 'out = max(aggregate(select(1, length, <), 61035156250000000000000000), histf("a"));'
    with pytest.raises(RaspUnsupportedError, match="as an int and as a float"):
        compile(rasp.run(text)["out"], vocabulary="ab", max_length=6, style="compact")


@pytest.mark.slow
@pytest.mark.parametrize("start", [200, 230])
def test_answers_have_the_kind_of_the_program(start: int) -> None:
    """Of one number in two kinds (a mean or a lone pick, a bool or a default), it is the widest,
    and the certificate says so.
    """
    compared = 0
    for seed in range(start, start + 30):
        outputs, vocabulary, options = random_program(seed)
        try:
            model = compile(outputs, vocabulary=vocabulary, **options, style="compact")
        except RaspUnsupportedError:
            continue
        for tokens in inputs(model, random.Random(seed)):
            try:
                expected = evaluate(list(outputs.values()), tokens)
            except EvaluationError:
                continue
            found = model.answers(model.token_ids(list(tokens))[None])
            for name, node in outputs.items():
                kinds = set(zip(map(type, found[name][0]), map(type, expected[node]), strict=True))
                others = {pair for pair in kinds if pair[0] is not pair[1]}
                assert model.certificate is not None
                assert others <= (WIDER if model.certificate.wider else set())
                compared += 1
    assert compared > 100
