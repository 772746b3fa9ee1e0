"""Selectors with equal normal forms pick the same pairs; the common rewrites are recognised."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from rasp.insight.schedule import schedule
from rasp.language.evaluator.plain import evaluate
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
)
from rasp.language.graph.normal import normal_form

SAME = Select(Tokens(), Tokens(), "==")
BEFORE = Select(Indices(), Indices(), "<")
AT = Select(Indices(), Indices(), "==")
EVERYWHERE = Select(Const(1), Const(1), "==")
NOWHERE = Select(Const(1), Const(2), "==")
FIRST = Elementwise("==", (Indices(), Const(0)))
LAST_SAME = SelectBest(SAME, Score(Indices(), Const(1)))
HERE = Indices()
LENGTH = Aggregate(EVERYWHERE, HERE)
DOUBLE = Elementwise("+", (Tokens(), Tokens()))


def _node(value):
    return value if isinstance(value, SOp) else Const(value)


def plus(left, right):
    return Elementwise("+", (_node(left), _node(right)))


def less(left, right):
    return Elementwise("-", (_node(left), _node(right)))


def times(left, right):
    return Elementwise("*", (_node(left), _node(right)))


EQUAL = [
    (SelectorAnd(SAME, BEFORE), SelectorAnd(BEFORE, SAME)),
    (SelectorOr(SAME, SelectorOr(BEFORE, AT)), SelectorOr(SelectorOr(AT, SAME), BEFORE)),
    (SelectorNot(SelectorNot(SAME)), SAME),
    (SelectorNot(SAME), Select(Tokens(), Tokens(), "!=")),
    (SelectorNot(BEFORE), Select(Indices(), Indices(), ">=")),
    (SelectorNot(SelectorAnd(SAME, BEFORE)), SelectorOr(SelectorNot(SAME), SelectorNot(BEFORE))),
    (SelectorOr(BEFORE, AT), Select(Indices(), Indices(), "<=")),
    (SelectorAnd(SAME, EVERYWHERE), SAME),
    (SelectorOr(SAME, NOWHERE), SAME),
    (SelectorOr(SAME, EVERYWHERE), EVERYWHERE),
    (SelectorAnd(SAME, SelectorNot(SAME)), NOWHERE),
    (SelectorAnd(SAME, SAME), SAME),
    (Select(FIRST, Const(True), "=="), Select(Elementwise("not", (FIRST,)), Const(False), "==")),
    (Select(FIRST, Const(False), "!="), Select(FIRST, Const(True), "==")),
    (Select(FIRST, Const(True), "=="), Select(FIRST, Const(1), "==")),
    (Select(FIRST, Const(True), "!="), Select(FIRST, Const(0), "==")),
    (Select(Const(True), FIRST, "=="), Select(Const(False), Elementwise("not", (FIRST,)), "==")),
    (Select(Const(False), FIRST, "!="), Select(Const(1), FIRST, "==")),
    (
        Select(Elementwise("not", (Tokens(),)), Const(False), "=="),
        Select(Elementwise("bool", (Tokens(),)), Const(True), "=="),
    ),
    (Select(Const("a"), Const("b"), "<"), EVERYWHERE),
    (SelectBest(SAME, Score(Indices(), Const(2))), LAST_SAME),
    (SelectorNot(SelectorNot(LAST_SAME)), LAST_SAME),
    (SelectorOr(LAST_SAME, SelectorNot(LAST_SAME)), EVERYWHERE),
    (Select(HERE, less(HERE, 1), "=="), Select(plus(HERE, 1), HERE, "==")),
    (
        Select(HERE, less(less(LENGTH, 1), HERE), "=="),
        Select(HERE, less(less(LENGTH, HERE), 1), "=="),
    ),
    (Select(less(0, HERE), less(0, HERE), "<"), Select(HERE, HERE, ">")),
    (Select(times(HERE, 2), times(2, HERE), "<="), Select(HERE, HERE, "<=")),
    (Select(less(HERE, HERE), Const(1), "<"), EVERYWHERE),
    (Select(HERE, Const(True), "=="), Select(less(HERE, 1), Const(0), "==")),
]

DIFFERENT = [
    (BEFORE, Select(Indices(), Indices(), ">")),  # keys and queries are roles
    (Select(Tokens(), Const("a"), "=="), Select(Const("a"), Tokens(), "==")),
    (SelectBest(SAME, Score(Indices(), Const(-1))), LAST_SAME),
    (SelectBest(SAME, Score(Indices(), Const(0))), LAST_SAME),
    (
        SelectBest(SAME, Score(Indices(), Const(0))),
        SelectBest(SAME, Score(Indices(), Const(-1))),
    ),
    (SelectBest(SAME, Score(HERE, HERE)), SelectBest(SAME, Score(HERE, Const(-1)))),
    (Select(Tokens(), Const(True), "=="), Select(Tokens(), Const(False), "!=")),  # tokens: any atom
    (Select(Tokens(), Const(1), "=="), Select(Tokens(), Const(2), "==")),
    (Select(FIRST, Const(True), "=="), Select(FIRST, Const(0), "==")),
    (
        Select(FIRST, Const(True), "=="),
        Select(Elementwise("<", (HERE, Const(0))), Const(True), "=="),
    ),
    (Select(FIRST, Const(True), "=="), Select(Const(True), FIRST, "==")),
    (
        Select(Elementwise("not", (Tokens(),)), Const(True), "=="),
        Select(Elementwise("not", (Tokens(),)), Const(0), "=="),
    ),
    (  # a token that is not zero counts as true, and is not `True`
        Select(Elementwise("not", (Tokens(),)), Const(True), "!="),
        Select(Tokens(), Const(True), "=="),
    ),
    (  # strings are joined, and joining has an order
        Select(plus(Tokens(), DOUBLE), Tokens(), "=="),
        Select(plus(DOUBLE, Tokens()), Tokens(), "=="),
    ),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_selectors_have_equal_forms_and_share_a_head(one: Selector, other: Selector):
    assert normal_form(one) == normal_form(other)
    pair = Elementwise("+", (Aggregate(one, Indices()), Aggregate(other, Const(1))))
    assert schedule(pair).heads_per_layer[-1] == 1
    picks = evaluate([one, other], ("b", "a", "b", "a"))
    assert picks[one] == picks[other]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_selectors_that_can_differ_have_heads_of_their_own(one: Selector, other: Selector):
    pair = Elementwise("+", (Aggregate(one, Indices()), Aggregate(other, Const(1))))
    assert schedule(pair).heads_per_layer == (2,)


def random_selector(random: Random, depth: int) -> Selector:
    number = random.randint(-2, 2)
    s_ops = [
        plus(HERE, number), less(number, HERE), times(number, Tokens()), plus(Tokens(), HERE),
        less(Tokens(), plus(number, HERE)), Indices(), Tokens(), Const(1), Const(True), FIRST,
        Elementwise("not", (FIRST,)), Elementwise("not", (Tokens(),)),
        Elementwise("bool", (FIRST,)),
    ]  # fmt: skip
    if depth == 0:
        return Select(random.choice(s_ops), random.choice(s_ops), random.choice(COMPARISONS))
    one, other = random_selector(random, depth - 1), random_selector(random, depth - 1)
    match random.randint(0, 3):
        case 0:
            return SelectorAnd(one, other)
        case 1:
            return SelectorOr(one, other)
        case 2:
            return SelectorNot(one)
    return SelectBest(one, Score(random.choice(s_ops), Const(random.choice((-1, 0, 1, 2, True)))))


@pytest.mark.slow
def test_random_selectors_with_equal_forms_pick_the_same():
    random = Random(0)
    groups: dict[object, set[Selector]] = {}
    for _ in range(6_000):
        selector = random_selector(random, random.randint(0, 2))
        groups.setdefault(normal_form(selector), set()).add(selector)
    inputs = [(0, 1, 2, 0), (1, True, 3), (2,), (5, 0, 1, 1, False)]
    compared = 0
    for form, group in groups.items():
        for one, other in combinations(list(group)[:12], 2):
            compared += 1
            for tokens in inputs:
                picks = evaluate([one, other], tokens)
                assert picks[one] == picks[other]
                if isinstance(form, bool):
                    assert {cell for row in picks[one] for cell in row} == {form}
    assert compared > 500
