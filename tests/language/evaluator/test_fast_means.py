"""Counts, sums and means of the fast evaluator: exact at every size, each pick of its own kind."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle import fast_results, plain_results

from rasp.base.limits import Limits
from rasp.language.evaluator import plain
from rasp.language.evaluator.fast import evaluate, means
from rasp.language.evaluator.fast.algebra import signed_sum
from rasp.language.evaluator.fast.columns import from_atoms
from rasp.language.evaluator.fast.range_sums import limbs
from rasp.language.evaluator.plain import EvaluationError
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Score,
    Select,
    SelectBest,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    Tokens,
)

SAME = Select(Tokens(), Tokens(), "==")
BEFORE = Select(Indices(), Indices(), "<")
PARITY = Elementwise("%", (Indices(), Const(2)))
SQUARES = Elementwise("%", (Elementwise("*", (Indices(), Indices())), Const(7)))
ORDERS = SelectorAnd(
    SelectorAnd(Select(Tokens(), Tokens(), "<="), BEFORE), Select(SQUARES, Indices(), "<=")
)
"""Three orders: rows are made block by block."""


@pytest.mark.parametrize("op", COMPARISONS)
def test_numbers_on_both_sides_of_the_largest_machine_integer_compare(op: str) -> None:
    for shift in (-2, -1, 1, 2):
        shifted = Elementwise("+", (Tokens(), Const(shift)))
        pair = Select(Tokens(), shifted, op)
        outputs: list[Any] = [Aggregate(each, Indices(), -1) for each in (
            pair, SelectorAnd(pair, Select(PARITY, PARITY, "==")), SelectorAnd(pair, ORDERS),
            SelectorAnd(pair, Select(Tokens(), Const(2**62), "<=")),
        )]  # fmt: skip
        outputs.append(Elementwise(op, (Tokens(), shifted)))
        for sign in (1, -1):
            tokens = tuple(sign * (2**62 + number) for number in (-3, -2, -1, -2, -3))
            given = [tokens, tokens[:1], tuple(sign + token for token in tokens)]
            assert fast_results(outputs, given) == plain_results(outputs, given)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", *COMPARISONS])
def test_arithmetic_around_the_largest_machine_integers_is_exact(op: str) -> None:
    turned = Elementwise("negate", (Tokens(),))
    outputs: list[Any] = [Elementwise(op, (one, other)) for one in (Tokens(), turned)
                          for other in (Tokens(), turned, Const(2**62), Const(-1))]  # fmt: skip
    sums: list[Any] = [Aggregate(Select(Const(1), Const(1), "=="), each) for each in outputs[:2]]
    for edge in (2**61, 2**62 - 1, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**64):
        for tokens in ((edge,), (-edge,), (edge, -1), (1, -edge), (Fraction(edge, 3), Fraction(1))):
            assert fast_results(outputs, [tokens]) == plain_results(outputs, [tokens])
            assert fast_results(sums, [tokens]) == plain_results(sums, [tokens])


@pytest.mark.parametrize("bits", [3, 20, 31, 40, 46, 47, 50, 61, 62, 63, 64, 80, 200])
@pytest.mark.parametrize("count", [1, 5, 300, 40_000])
def test_no_sum_of_weights_can_leave_what_doubles_hold(bits: int, count: int) -> None:
    most = 2**bits - 1
    for pair, total in (((most, -most), most), ((-most, 1 - most), -most), ((most, 0), most)):
        values = from_atoms(pair * count).numerators
        cut = limbs(values)
        for weight in cut.weights:
            assert float(np.abs(weight).max()) * len(values) * 64 <= 2**53
        sums = [weight[::2].sum(keepdims=True).astype(np.int64) for weight in cut.weights]
        assert [int(each) for each in cut.joined(sums)] == [count * total]
        assert cut.is_big or len(values) * 2**bits <= 2**63


@pytest.mark.parametrize("bottom", [2**57, 2**59, 2**60, 2**61 - 1, 3**38])
def test_means_over_wide_denominators_are_exact(bottom: int) -> None:
    tokens = tuple(Fraction(number, bottom) for number in (1, 3, 2, 2, 1, 3, 1, 1, 2))
    outputs = [Aggregate(Select(Indices(), Indices(), op), Tokens()) for op in ("<=", ">", "!=")]
    given = [tokens, tokens[2:5]]
    assert fast_results(outputs, given) == plain_results(outputs, given)


def test_a_lone_pick_keeps_its_own_kind_beside_means() -> None:
    halves = Elementwise("/", (Indices(), Const(2)))
    kinds = Elementwise("if", (PARITY, Indices(), halves))
    others = Elementwise("if", (PARITY, halves, Indices()))
    outputs = [Aggregate(Select(Indices(), Indices(), op), values, 7)
               for op in ("<", "<=", ">", ">=", "!=") for values in (kinds, others)]  # fmt: skip
    for one, other in ((0, 0), (0, 1), (1, 0), (1, 1)):  # one key for all, all keys for one
        selector = SelectorOr(
            Select(Indices(), Const(one), "=="), Select(Const(other), Indices(), "==")
        )
        outputs += [Aggregate(selector, values, 7) for values in (kinds, others)]
    given = [tuple("abcdef"[:length]) for length in (1, 2, 3, 6)]
    for some in (given, *([each] for each in given)):
        assert fast_results(outputs, some) == plain_results(outputs, some)


def test_only_numbers_have_a_mean() -> None:
    is_odd = Elementwise("==", (PARITY, Const(1)))
    values = [is_odd, Tokens(), Elementwise("if", (is_odd, is_odd, Indices())), Indices()]
    values += [Elementwise("if", (is_odd, Indices(), is_odd)), Const(True), Const("a"), Const(2)]
    for value, op in itertools.product(values, COMPARISONS):
        picked = Aggregate(Select(Indices(), Indices(), op), value, value.value if isinstance(
            value, Const) else "" if value == Tokens() else 0)  # fmt: skip
        for length in (1, 2, 3, 5):
            given = [tuple("abcde"[:length])]
            for some in (given, [("x",), *given]):
                assert fast_results([picked], some) == plain_results([picked], some)


def test_keys_count_as_often_as_filters_say() -> None:
    first, letter = Select(Indices(), Const(2), "<"), Select(Tokens(), Const("a"), "==")
    both = SelectorAnd(first, letter)
    crossed = SelectorOr(SelectorAnd(both, SelectorNot(SAME)), SelectorAnd(SAME, SelectorNot(both)))
    outputs = [Aggregate(each, Indices(), -1) for each in (
        SelectorOr(SAME, first), SelectorOr(SAME, both), SelectorNot(SelectorOr(both, SAME)),
        SelectorAnd(SAME, SelectorOr(first, letter)), SelectorAnd(SAME, SelectorNot(both)),
        crossed, SelectorNot(crossed), SelectorOr(BEFORE, SelectorAnd(letter, SelectorNot(SAME))),
    )]  # fmt: skip
    either = SelectorOr(SelectorAnd(SAME, BEFORE), SelectorAnd(BEFORE, letter))
    twice = SelectorOr(either, SelectorAnd(letter, SAME))  # two of three
    assert -2 in signed_sum(twice).values()
    outputs += [Aggregate(each, Indices(), -1) for each in (twice, SelectorNot(twice))]
    outputs += [Aggregate(SelectBest(each.selector, Score(scores, Const(sign))), Indices(), -1)
                for each in outputs for scores in (Indices(), SQUARES)
                for sign in (1, -1)]  # fmt: skip
    given = [tuple("abcadbeacb"), tuple("ba"), ("b",)]
    assert fast_results(outputs, given) == plain_results(outputs, given)


@pytest.mark.parametrize("tokens", [(300, -298), (300, -298, 5), (5, 300), (300,), (300, 200)])
def test_a_token_beyond_the_budget_of_digits_passes_through_where_it_is_picked_alone(
    tokens: tuple[int, ...],
) -> None:
    limits = Limits(number_digits=1)
    mean = Aggregate(Select(Indices(), Indices(), "<="), Tokens())
    told: list[object] = []
    for compute in (
        lambda: plain.evaluate([mean], tokens, limits)[mean],
        lambda: evaluate.evaluate([mean], [tokens], limits)[mean][0],
    ):
        try:
            told.append(compute())
        except EvaluationError as failed:
            told.append((failed.node, failed.position, failed.error.message))
    assert told[0] == told[1]


def test_lone_picks_need_no_common_denominator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "MOST_SCALED_BITS", 1000)
    tokens = tuple(Fraction(1, 2**80 + number) for number in range(9))
    before = Elementwise("-", (Indices(), Const(1)))
    lone = Aggregate(Select(Indices(), before, "=="), Tokens())
    assert fast_results([lone], [tokens]) == plain_results([lone], [tokens])
    several = Aggregate(Select(Indices(), before, "<="), Tokens())
    with pytest.raises(EvaluationError) as caught:
        evaluate.evaluate([several], [(1, 2), tokens])
    assert (caught.value.node, caught.value.number) == (several, 1)
    assert "9 floats with so many different denominators" in caught.value.error.message


@pytest.mark.parametrize("length", [999, 1000, 1001, 1500])
def test_long_sequences_of_few_different_whole_numbers_come_out_as_they_are(length: int) -> None:
    outputs: list[Any] = [
        Elementwise("-", (Elementwise("%", (Indices(), Const(modulus))), Const(shift)))
        for modulus in (2, 7, length // 4 - 1, length // 4, length // 4 + 1, length)
        for shift in (0, 3, 2**40, 2**70)
    ]
    outputs += [Elementwise("*", (outputs[at], Const(2**40))) for at in (0, -2)]
    around = Elementwise("-", (Elementwise("*", (PARITY, Const(2**41))), Const(2**40)))
    outputs.append(around)
    tokens = tuple("ab" * length)[:length]
    assert fast_results(outputs, [tokens]) == plain_results(outputs, [tokens])
