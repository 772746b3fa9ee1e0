"""Seldom met reasons, forms and searches of the architecture part, each against the evaluator."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import permutations, product

import pytest

import rasp
from rasp.insight.equivalence.answering import Input, answers
from rasp.insight.schedule import explain, fit, placing, schedule
from rasp.insight.schedule.patterns import Pattern, stays_within
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    expression,
)
from rasp.language.graph.normal import normal_form
from rasp.language.graph.reach import reach
from rasp.language.graph.sum_form import is_number, linear
from strategies.graphs import random_outputs

HERE = Indices()
MIXED = Elementwise("*", (HERE, Tokens()))


def of(op: str, *operands: SOp | int | str) -> Elementwise:
    nodes = (each if isinstance(each, SOp) else Const(each) for each in operands)
    return Elementwise(op, tuple(nodes))


# Sums and normal forms

SUMS: list[SOp] = [
    of("negate", HERE), of("plus", HERE), of("-", of("negate", HERE), 2), of("*", HERE, 3),
    of("*", 3, of("+", HERE, 1)), of("*", "ab", HERE), of("*", HERE, "ab"), of("+", HERE, Tokens()),
    of("+", Tokens(), Tokens()), of("*", HERE, HERE), of("*", Tokens(), 2), of("/", HERE, 2),
    of("round", HERE), Tokens(), HERE, Const(4), Const("a"), of("+", of("-", Tokens(), 1), 1),
    of("-", of("*", HERE, 2), HERE), of("-", HERE, HERE), of("+", "a", "b"),
]  # fmt: skip


@pytest.mark.parametrize("s_op", SUMS, ids=expression)
def test_a_sum_has_the_value_of_what_it_is_made_of(s_op: SOp):
    terms, constant = linear(s_op)
    for tokens in ((3, 1, 4), (0, 0), (7,)):
        try:
            wanted = evaluate([s_op], tokens)[s_op]
        except EvaluationError:  # not of these tokens
            continue
        if terms == frozenset([(s_op, 1)]):
            continue
        parts = evaluate([part for part, _ in terms] or [HERE], tokens)
        for position in range(len(tokens)):
            total = sum(times * parts[part][position] for part, times in terms) + constant
            assert total == wanted[position]


@pytest.mark.parametrize("s_op", SUMS, ids=expression)
def test_what_is_sure_to_be_a_number_never_holds_a_string(s_op: SOp):
    for tokens in ((3, 1, 4), ("b", "a"), ("", "x")):
        try:
            found = evaluate([s_op], tokens)[s_op]
        except EvaluationError:
            continue
        assert not (is_number(s_op) and any(isinstance(atom, str) for atom in found))


def test_sums_are_taken_apart_as_far_as_they_are_sure():
    assert linear(of("negate", HERE)) == linear(of("-", 0, HERE))
    assert linear(of("plus", HERE)) == linear(HERE)
    assert linear(of("*", HERE, 2)) == linear(of("+", HERE, HERE))
    assert linear(of("*", "ab", HERE))[0] == {(of("*", "ab", HERE), 1)}
    assert is_number(of("*", HERE, 2))
    assert is_number(of("+", Tokens(), 1))
    assert not is_number(of("*", Tokens(), 2))
    assert not is_number(of("+", Tokens(), Tokens()))
    deep: SOp = HERE
    for _ in range(50):
        deep = of("-", deep, 1)
    assert is_number(deep)
    assert len(linear(deep)[0]) == 1


@pytest.mark.parametrize("queries", [HERE, Tokens()], ids=expression)
def test_comparisons_with_factors_of_every_size_and_sign_are_told_apart(queries: SOp):
    factors = (-2, -1, Fraction(-1, 2), Fraction(1, 2), 1, 2)
    alike: dict[object, list[list[list[bool]]]] = {}
    for one, other, apart, op in product(factors, factors, (0, 1), COMPARISONS):
        keys = of("*", of("-", HERE, 0), Const(one))
        asked = of("+", of("*", of("-", queries, 0), Const(other)), apart)
        selector = Select(keys, asked, op)
        rows = evaluate([selector], (3, 0, 1, 2, -1))[selector]
        alike.setdefault(normal_form(selector), []).append(rows)
    for found in alike.values():
        assert all(rows == found[0] for rows in found)
    assert len(alike) < 6 * 6 * 2 * 6  # some are the same, written otherwise


def test_sums_of_several_terms_have_one_form_however_they_are_written():
    terms = [HERE, of("round", Tokens()), of("indicator", Tokens()), of("int", Tokens())]
    for (one, other), times in product(permutations(terms, 2), ((2, 3), (-3, 2), (5, -7))):
        first, second = of("*", one, times[0]), of("*", other, times[1])
        ways = [
            of("-", first, of("negate", second)),
            of("-", second, of("negate", first)),
            of("-", of("-", first, 3), of("-", of("negate", second), 3)),
        ]
        scaled = [of("*", way, factor) for way in ways for factor in (1, 4, 9)]
        for op in ("==", "<"):
            forms = {normal_form(Select(way, of("*", HERE, factor), op))
                     for way, factor in zip(scaled, (1, 4, 9) * 3, strict=True)}  # fmt: skip
            assert len(forms) == 1


@pytest.mark.parametrize("apart", [-2, Fraction(-1, 2), 0, Fraction(1, 2), 1, 3])
def test_sums_that_leave_only_numbers_are_decided(apart: int | Fraction):
    for op in COMPARISONS:
        selector = Select(of("-", HERE, HERE), Const(apart), op)
        picks = {cell for row in evaluate([selector], ("a", "b"))[selector] for cell in row}
        assert picks == {normal_form(selector)}
        assert isinstance(normal_form(selector), bool)


@pytest.mark.parametrize("op", ["+", "-", "*", "negate", "plus", "- and *"])
def test_sums_of_any_depth_are_written_without_running_out_of_stack(op: str):
    left: SOp = of("-", HERE, 1)
    right: SOp = of("-", HERE, 1)
    for _ in range(3_000):
        if op in ("negate", "plus"):
            left, right = of(op, left), of(op, right)
        elif op == "- and *":
            left, right = of("-", of("*", left, 2), 1), of("-", 1, of("*", 2, right))
        else:
            left, right = of(op, left, 1), of(op, 1, right)
    for s_op in (left, right):
        assert len(linear(s_op)[0]) == 1
        assert normal_form(Select(s_op, s_op, "==")) == normal_form(Select(s_op, s_op, "=="))


def test_atoms_without_an_order_have_no_settled_comparison():
    for op in ("<", "<=", ">", ">="):
        assert not isinstance(normal_form(Select(Const("a"), Const(1), op)), bool)
    assert normal_form(Select(Const("a"), Const("b"), "<")) is True
    assert normal_form(Select(Const(2), Const(True), "<=")) is False


# How far selectors look


def at_least(distance: int) -> Selector:
    """Keys so far after the query, or further."""
    return Select(HERE, of("+", HERE, distance), ">=")


def at_most(distance: int) -> Selector:
    return Select(HERE, of("+", HERE, distance), "<=")


@pytest.mark.parametrize(("low", "high"), list(product(range(-3, 4), repeat=2)))
def test_a_reach_is_what_the_selector_picks(low: int, high: int):
    one = SelectorAnd(at_least(low), at_most(high))
    either = SelectorOr(one, SelectorAnd(at_least(low + 1), at_most(high - 1)))
    for selector in (one, either, SelectorOr(one, one)):
        rows = evaluate([selector], tuple("abcdefghi"))[selector]
        distances = {key - query for query, row in enumerate(rows)
                     for key, is_picked in enumerate(row) if is_picked}  # fmt: skip
        least, most = reach(normal_form(selector))
        assert distances == set(range(low, high + 1))
        assert all(least <= distance <= most for distance in distances)
        for text in ("causal", "window:1", "window:3", "strided:2", "strided:3", "block:2"):
            pattern = Pattern.read(text)
            if stays_within(pattern, [selector]):
                assert fit(Aggregate(selector, Tokens()), attention=text, alphabet=[1, 2])


def test_the_best_of_a_selector_reaches_no_further_and_the_rest_anywhere():
    best = SelectBest(at_least(2), Score(HERE, Const(1)))
    assert reach(normal_form(best)) == reach(normal_form(at_least(2))) == (2, math.inf)
    assert reach(normal_form(SelectorNot(best))) == (-math.inf, math.inf)
    assert reach(normal_form(SelectorNot(SelectorNot(best)))) == (2, math.inf)


def test_a_selector_that_picks_nothing_stays_within_everything():
    nothing = SelectorOr(
        SelectorAnd(at_least(2), at_most(-1)), SelectorAnd(at_least(3), at_most(1))
    )
    for text in ("causal", "window:0", "strided:1", "block:1"):
        assert stays_within(Pattern.read(text), [Aggregate(nothing, HERE)])


# Reasons


def test_a_program_without_attention_says_so():
    told_why = explain(of("+", HERE, 1)).why_so_deep
    assert told_why == ("nothing moves between positions, so no attention is needed",)
    told = fit(MIXED, layers=1)
    assert told
    assert "takes a feed-forward, to work on tokens and indices together" in str(told)
    assert "before the first attention" in str(
        fit(Aggregate(Select(MIXED, MIXED, "=="), HERE), layers=1)
    )


@pytest.mark.parametrize("seed", [90, 91])
def test_a_width_that_no_span_forces_is_told_as_what_was_searched(
    seed: int, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("scipy", reason="the exact schedule needs SciPy")
    outputs = random_outputs(seed, 12 + seed % 32)
    exact = explain(outputs).why_so_wide
    monkeypatch.setattr(placing, "SECONDS_FOR_AUTO", 0)
    greedy = explain(outputs).why_so_wide
    if schedule(outputs, "exact").width < 2:
        assert exact == ()
    elif "every one was considered" in exact[0]:
        assert greedy == ("no narrower placement was found",)


def test_of_attentions_that_share_a_head_one_is_named():
    same, before = Select(Tokens(), Tokens(), "=="), Select(HERE, HERE, "<")
    one, two = Aggregate(same, HERE), Aggregate(same, Const(1))
    other = Aggregate(before, HERE)
    told = explain(of("+", of("+", one, two), other)).why_so_wide
    assert told[0] == "layer 1 has 2 selectors that no other layer can take:"
    assert len(told) == 3


# Searches


def test_one_letter_is_tried_at_every_length():
    prev = Aggregate(Select(HERE, of("-", HERE, 1), "=="), HERE, 0)
    found = fit(prev, attention="window:0", alphabet="a")
    assert not found
    assert found.counterexample is not None
    odd = Aggregate(Select(of("%", Aggregate(Select(HERE, HERE, "<="), HERE), 2), Const(5), "=="),
                    HERE)  # fmt: skip
    kept = fit(odd, attention="causal", alphabet="a")
    assert kept
    assert "random" not in str(kept)


def test_without_numpy_answers_are_the_same(monkeypatch: pytest.MonkeyPatch):
    same = Select(Tokens(), Tokens(), "==")
    outputs = [Aggregate(same, HERE), of("/", 1, HERE)]
    some = [tuple(text) for text in product("ab", repeat=4)]
    for asked in (outputs[:1], outputs):
        wanted = answers(asked, some)
        monkeypatch.setitem(sys.modules, "rasp.language.evaluator.fast.evaluate", None)
        found = answers(asked, some)
        monkeypatch.undo()
        assert list(map(str, found)) == list(map(str, wanted))


def test_an_error_of_the_plain_evaluator_is_the_answer_on_its_input():
    inverse = of("/", 6, Tokens())
    given: list[Input] = [(1, 2), (0,), (3,)] * 5
    found = answers([inverse], given)
    assert [isinstance(each, rasp.RaspError) for each in found] == [False, True, False] * 5
    assert found[0] == [[6, 3]]


def test_nothing_is_suggested_where_no_input_can_be_computed():
    broken = Aggregate(Select(of("/", HERE, 0), HERE, "=="), Tokens())
    other = Aggregate(Select(HERE, of("/", HERE, 0), "=="), Tokens())
    assert explain([broken, other]).suggestions == ()
