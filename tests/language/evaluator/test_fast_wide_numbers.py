"""Numbers too wide for their codes: the answers stay."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from oracle import agree

from rasp.base.atoms import Atom
from rasp.base.limits import Limits
from rasp.language.evaluator.fast.coding import codes_of
from rasp.language.evaluator.fast.columns import from_atoms
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.evaluator.plain import EvaluationError
from rasp.language.evaluator.plain import evaluate as evaluate_plain
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    Select,
    SelectBest,
    SelectorAnd,
    SelectorNot,
    Tokens,
)

SAME = Select(Tokens(), Tokens(), "==")
BEFORE = Select(Indices(), Indices(), "<")
PARITY = Elementwise("%", (Indices(), Const(3)))
ALIKE = Select(PARITY, PARITY, "==")


@pytest.mark.parametrize(
    ("some", "others"),
    [
        ([2**2000, 7], [Fraction(1, 3), Fraction(2**2001, 3)]),
        ([3, 5, 2**80], [Fraction(1, 2**1100), Fraction(-1, 2**1100), Fraction(3)]),
        ([0, 5], [Fraction(1, 2**1200), Fraction(1, 2**1201)]),
        ([-(2**62), 2**62], [0, 1]),
    ],
)
def test_numbers_beyond_all_doubles_are_ranked_exactly(
    some: list[Atom], others: list[Atom]
) -> None:
    codes = codes_of([from_atoms(some), from_atoms(others)])
    found = [*codes.arrays[0].tolist(), *codes.arrays[1].tolist()]
    ranks = {value: rank for rank, value in enumerate(sorted({*some, *others}))}
    order = sorted(range(len(found)), key=found.__getitem__)
    assert [ranks[[*some, *others][at]] for at in order] == sorted(
        ranks[value] for value in [*some, *others]
    )
    assert len(set(found)) == len(ranks)
    assert min(found) >= 0 and max(found) < codes.size


@pytest.mark.parametrize("op", COMPARISONS)
def test_groups_of_wide_numbers_are_ordered_within(op: str) -> None:
    wide = (2**61, 0, -5, 2**61 - 1, 7, 2**60, 0, -(2**61), 3)
    selector = SelectorAnd(ALIKE, Select(Tokens(), Tokens(), op))
    both = SelectorAnd(selector, Select(Tokens(), Indices(), ">"))
    best = SelectBest(selector, Score(Indices(), Tokens()))
    for each in (selector, both, best, SelectorNot(selector)):
        agree([Aggregate(each, Indices(), -1)], wide, wide[:4], (2**61,))
        agree([Aggregate(each, Indices(), -1)], tuple(abs(number) for number in wide))


@pytest.mark.parametrize("widest", [2**60, 2**61 - 1, 2**61, 2**62 - 1])
def test_groups_by_several_wide_numbers_are_those_that_agree_in_all(widest: int) -> None:
    far = Elementwise("*", (Elementwise("%", (Indices(), Const(2))), Const(widest)))
    tokens = tuple(at * (widest // 24) for at in range(24)) * 2
    selector = SelectorAnd(SAME, Select(far, far, "=="))
    shifted = SelectorAnd(Select(Tokens(), far, "=="), Select(far, Tokens(), "=="))
    agree([Aggregate(selector, Indices()), Aggregate(shifted, Indices())], tokens, tokens[5:30])


@pytest.mark.parametrize("size", [2**46, 2**50, 2**52, 2**60, 2**70, 2**200])
def test_sums_and_means_of_wide_numbers_are_exact(size: int) -> None:
    rng = random.Random(size)
    wide = tuple(rng.randint(-size, size) | 1 for _ in range(60))
    fractions = tuple(Fraction(number, 1 + at % 7) for at, number in enumerate(wide))
    for tokens in (wide, fractions, tuple(map(abs, wide))):
        sums: list[Node] = [Aggregate(Select(Indices(), Indices(), "<="), Tokens())]
        sums.append(Aggregate(SelectorNot(BEFORE), Elementwise("-", (Tokens(), Indices()))))
        agree(sums, tokens, tokens[:7])


@pytest.mark.parametrize("op", [*COMPARISONS, "+", "-", "*", "/", "//", "%"])
def test_wide_numbers_meet_fractions_exactly(op: str) -> None:
    rng = random.Random(3)
    wide = [rng.choice((-1, 1)) * rng.randint(2**59, 2**62 - 1) for _ in range(12)]
    parts = [
        Fraction(rng.randint(2**40, 2**61), rng.choice((3, 7, 2**20 + 1, 2**40 + 1))) for _ in wide
    ]
    for at, part in enumerate((Fraction(1, 3), Fraction(-(2**61) - 1, 5), Fraction(2**61, 3))):
        agree([Elementwise(op, (Tokens(), Const(part)))], tuple(wide), tuple(wide[at : at + 2]))
        agree([Elementwise(op, (Const(part), Tokens()))], tuple(wide), tuple(parts))
    table = Elementwise("at", (Indices(), *map(Const, parts)))
    agree([Elementwise(op, (Tokens(), table)), Elementwise(op, (table, Tokens()))], tuple(wide))


def test_quotients_by_negative_numbers_go_on_as_numbers() -> None:
    for top in (1, -1, 6, Fraction(2, 3)):
        quotient = Elementwise("/", (Const(top), Tokens()))
        outputs: list[Node] = [
            Elementwise(op, (quotient, Const(Fraction(-1, 7)))) for op in (*COMPARISONS, "+", "*")
        ]
        outputs.append(Aggregate(Select(quotient, quotient, "<="), Indices()))
        outputs.append(Aggregate(Select(quotient, Const(0), "<"), quotient))
        agree(outputs, (-7, 3, -2, 5, -1, 4), (-3, -9), (2, 8))


@pytest.mark.parametrize("digits", [1, 3, 18, 19, 30])
def test_a_budget_of_digits_means_the_same_to_both(digits: int) -> None:
    limits = Limits(number_digits=digits)
    for power in (1, 2, 3, 9, 20, 31):
        grown = Elementwise("*", (Elementwise("-", (Tokens(), Indices())), Const(10**power // 3)))
        told = []
        for evaluate in (
            lambda node: evaluate_plain([node], (3, 30, 300), limits)[node],
            lambda node: evaluate_fast([node], [(3, 30, 300)], limits)[node][0],
        ):
            try:
                told.append(evaluate(grown))
            except EvaluationError as failed:
                told.append((failed.node, failed.position, failed.error.message))
        assert told[0] == told[1]
