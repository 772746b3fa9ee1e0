"""Selectors too long for a plan, batches, clocks: the answers stay."""

from __future__ import annotations

import random
from types import ModuleType

import pytest
from oracle import agree, strained

from rasp.base.errors import RaspLimitError, RaspTypeError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source, Span
from rasp.language import evaluator
from rasp.language.evaluator import apply, evaluate_batch, explain_plan
from rasp.language.evaluator.fast import algebra, conjunctions, key_plan
from rasp.language.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.language.evaluator.plain import EvaluationError
from rasp.language.evaluator.plain import evaluate as evaluate_plain
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Program,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    Tokens,
)
from rasp.language.graph.origins import Definition, Origin
from strategies.graphs import TEXT, Graphs

SAME = Select(Tokens(), Tokens(), "==")
BEFORE = Select(Indices(), Indices(), "<")
SMALLER = Select(Tokens(), Tokens(), "<")
PARITY = Elementwise("%", (Indices(), Const(3)))


def home_of(limit: str) -> ModuleType:
    return algebra if hasattr(algebra, limit) else conjunctions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "value"),
    [(limit, value) for limit in ("MOST_WORK", "MOST_TERMS", "MOST_COMPARISONS")
     for value in (0, 1, 2, 5, 12)],
)  # fmt: skip
def test_whatever_a_plan_may_cost_the_answers_stay(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_of(limit), limit, value)
    monkeypatch.setattr(key_plan, "_plans", {})
    monkeypatch.setattr(key_plan, "_best_plans", {})
    for seed in range(12):
        graphs = Graphs(random.Random(seed), TEXT)
        selector = graphs.selector_tree(2, 1 + seed % 6)
        best = SelectBest(selector, Score(Indices(), Const(1)))
        agree([Aggregate(selector, Indices(), 0)], tuple("abcab"), tuple("ba"))
        agree([Aggregate(best, Indices(), 0)], tuple("abcab"), tuple("ba"))


@pytest.mark.parametrize(
    ("limit", "selector"),
    [
        ("MOST_WORK", SelectorAnd(SAME, BEFORE)),
        ("MOST_TERMS", SelectorOr(SAME, BEFORE)),
        ("MOST_COMPARISONS", SelectorAnd(SAME, BEFORE)),
    ],
)
def test_a_plan_that_costs_too_much_is_given_up(
    limit: str, selector: Selector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_plan, "_plans", {})
    monkeypatch.setattr(key_plan, "_best_plans", {})
    assert key_plan.plan_sums(selector).blocked is None
    assert key_plan.plan_best(selector).blocked is None
    monkeypatch.setattr(key_plan, "_plans", {})
    monkeypatch.setattr(key_plan, "_best_plans", {})
    monkeypatch.setattr(home_of(limit), limit, 0)
    assert (
        key_plan.plan_sums(selector).blocked
        == "its comparisons multiply out to too many conjunctions"
    )
    assert key_plan.plan_best(selector).blocked == key_plan.plan_sums(selector).blocked


@pytest.mark.parametrize("times", range(1, 5))
def test_nots_inside_one_another_take_turns(times: int) -> None:
    for inner in (SAME, SelectorOr(SAME, BEFORE), SelectorAnd(SMALLER, BEFORE)):
        selector: Selector = inner
        for _ in range(times):
            selector = SelectorNot(selector)
        crossed = SelectorOr(SelectorNot(selector), SelectorAnd(selector, BEFORE))
        for each in (selector, crossed, SelectorAnd(SelectorNot(crossed), SAME)):
            best = SelectBest(each, Score(Indices(), Const(1)))
            lowest = SelectBest(
                SelectorNot(best), Score(Indices(), Elementwise("-", (Indices(), Const(2))))
            )
            agree([Aggregate(node, Indices(), -1) for node in (each, best, lowest)], tuple("abcab"))


def many(join: type[SelectorAnd] | type[SelectorOr], parts: list[Selector]) -> Selector:
    joined = parts[0]
    for part in parts[1:]:
        joined = join(joined, part)
    return joined


@pytest.mark.parametrize("join", [SelectorAnd, SelectorOr])
@pytest.mark.parametrize("op", ["==", "!=", "<"])
@pytest.mark.parametrize("count", [20, 30, 70])
def test_selectors_of_very_many_comparisons_agree(
    join: type[SelectorAnd] | type[SelectorOr], op: str, count: int
) -> None:
    shifted = [Elementwise("*", (Indices(), Const(number))) for number in range(count)]
    selector = many(join, [Select(each, Indices(), op) for each in shifted])
    best = SelectBest(selector, Score(Indices(), Const(-1)))
    agree([Aggregate(selector, Indices(), -1), Aggregate(best, Indices(), -1)], tuple("abcde"))
    crossed = SelectorAnd(SelectorOr(selector, SAME), SelectorOr(SMALLER, SelectorNot(selector)))
    agree([Aggregate(crossed, Indices(), -1)], tuple("abcab"))


def test_blocks_within_groups_of_keys_and_other_groups_of_queries() -> None:
    following = Elementwise("%", (Elementwise("+", (Indices(), Const(1))), Const(3)))
    squares = Elementwise("%", (Elementwise("*", (Indices(), Indices())), Const(7)))
    orders = SelectorAnd(SelectorAnd(SMALLER, BEFORE), Select(squares, Indices(), "<="))
    selector = SelectorAnd(Select(PARITY, following, "=="), orders)
    best = SelectBest(selector, Score(squares, Const(1)))
    assert key_plan.plan_sums(selector).blocked is not None
    assert key_plan.plan_sums(selector).grouping
    for each in (selector, best):
        found: list[Node] = [Aggregate(each, Indices(), -1)]
        agree(found, tuple("abcadbeacbdceabd"), tuple("edcbaabcde"), ("a",))
        with strained():
            agree(found, tuple("abcadbeacbdceabd"), tuple("edcbaabcde"), ("a",))


# Plans in words


@pytest.mark.parametrize(
    ("node", "lines"),
    [
        (Indices(), ["elementwise work only: time O(n), memory O(n)"]),
        (
            Aggregate(SelectorAnd(SMALLER, SelectorNot(SMALLER)), Const(1)),
            ["  nothing         never picks"],
        ),
        (
            Aggregate(SelectorNot(SAME), Const(1)),
            ["  groups          -1 × tokens == tokens", "  groups          all keys"],
        ),
        (
            Aggregate(SelectorAnd(SAME, Select(Indices(), Const(1), ">")), Const(1)),
            ["  groups          tokens == tokens; keys where indices > 1"],
        ),
        (
            Aggregate(SelectorAnd(SAME, Select(Const(1), Indices(), ">")), Const(1)),
            ["  groups          tokens == tokens; queries where 1 > indices"],
        ),
        (
            Aggregate(SelectBest(BEFORE, Score(Indices(), Const(1))), Const(1)),
            [
                "  the highest indices of each row",
                "  sorted ranges   indices < indices and indices == its row's best",
            ],
        ),
        (
            Aggregate(SelectBest(BEFORE, Score(Indices(), Indices())), Const(1)),
            ["  the highest or lowest indices of each row, by the sign of the query's score"],
        ),
        (
            Aggregate(Select(PARITY, Indices(), "=="), Const(1)),
            ["  groups          (indices % 3) == indices"],
        ),
    ],
)  # fmt: skip
def test_a_plan_tells_what_is_done(node: Node, lines: list[str]) -> None:
    told = explain_plan([node]).splitlines()
    for line in lines:
        assert line in told


def test_a_plan_calls_things_by_their_names() -> None:
    counted = Aggregate(Select(PARITY, PARITY, "=="), Const(1))
    told = explain_plan([counted], Program.named({PARITY: "parity", counted: "counted"}))
    assert "counted = aggregate(select(parity, parity, ==), 1)" in told
    assert "parity == parity" in told


def test_keys_of_several_merits_are_told_with_what_each_counts() -> None:
    first, letter = Select(Indices(), Const(0), "=="), Select(Tokens(), Const("a"), "==")
    told = explain_plan([Aggregate(SelectorAnd(SAME, SelectorOr(first, letter)), Const(1))])
    assert "groups          tokens == tokens; a key counts " in told
    assert told.count("+1 where") == 2
    assert 'tokens == "a"' in told


# Doors and clocks


def test_an_error_points_at_the_expression_that_failed_or_names_it() -> None:
    inverse = Elementwise("/", (Const(1), Indices()))
    span = Span(Source("demo", "x = 1 / indices;"), 4, 15)
    with pytest.raises(RaspValueError) as caught:
        apply(inverse, "abc", Program(definitions=(Definition(made={inverse: Origin(span)}),)))
    assert caught.value.span is span
    assert "in `" not in caught.value.message
    with pytest.raises(RaspValueError, match="in `1 / indices`"):
        apply(inverse, "abc")
    with pytest.raises(RaspValueError, match="in `1 / here`"):
        evaluate_batch([inverse], ["abc"], Program.named({Indices(): "here"}))


def test_matrices_of_just_the_largest_size_are_given_and_the_first_larger_one_is_numbered() -> None:
    limits = Limits(dense_cells=9)
    assert len(apply(SAME, "abc", limits=limits)) == 3
    with pytest.raises(RaspLimitError, match=r"4 × 4 cells .*, in input 2 "):
        evaluate_batch([SAME], ["abc", "a", "abcd"], limits=limits)


def test_an_input_that_cannot_be_read_is_numbered_unless_it_is_the_only_one_known() -> None:
    with pytest.raises(RaspTypeError) as caught:
        evaluate_batch([Indices()], [None, "a"])
    assert "in input" not in caught.value.message
    with pytest.raises(RaspTypeError, match=r"in input 1 \(the first is 0\)"):
        evaluate_batch([Indices()], ["a", None])


def test_a_chunk_may_be_just_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "CHUNK_TOKENS", 4)
    inputs = ["ab", "cd", "e", "fgh", "ij"]
    chunks = list(evaluator._chunks(inputs, DEFAULT_LIMITS, is_dense=False))
    assert [[len(tokens) for tokens in chunk] for chunk, _ in chunks] == [[2, 2], [1, 3], [2]]


def test_an_input_that_cannot_be_read_is_the_last_that_is_looked_at() -> None:
    chunks = list(evaluator._chunks(["ab", None, "cd"], DEFAULT_LIMITS, is_dense=False))
    assert [list(map(tuple, chunk)) for chunk, _ in chunks] == [[("a", "b")]]
    assert chunks[0][1] is not None


def test_chunks_of_matrices_keep_to_their_cells() -> None:
    limits = Limits(dense_cells=20)
    inputs = ["abc", "ab", "abcd", "a", "ab"]
    sizes = [[len(tokens) for tokens in chunk]
             for chunk, _ in evaluator._chunks(inputs, limits, is_dense=True)]  # fmt: skip
    assert sizes == [[3, 2], [4, 1], [2]]
    found = evaluate_batch([SAME], inputs, limits=limits)
    assert [len(values[SAME]) for values in found] == list(map(len, inputs))


@pytest.mark.parametrize("evaluate", [
    lambda node, limits: evaluate_plain([node], ("a", "b"), limits),
    lambda node, limits: evaluate_fast([node], [("a", "b")], limits),
], ids=["plain", "fast"])  # fmt: skip
def test_where_the_time_is_up_the_node_that_took_it_is_named(evaluate) -> None:  # type: ignore[no-untyped-def]
    node = Aggregate(SAME, Indices())
    with pytest.raises(EvaluationError) as caught:
        evaluate(node, Limits(seconds=-1))
    assert isinstance(caught.value.error, RaspLimitError)
    assert caught.value.position is None
    assert caught.value.node in (Tokens(), Indices())


def test_a_mean_of_too_many_digits_is_refused_where_it_is() -> None:
    huge = Elementwise("^", (Const(10), Elementwise("*", (Indices(), Const(1300)))))
    sums = Aggregate(Select(Indices(), Indices(), "<="), Elementwise("/", (Const(1), huge)))
    agree([sums], tuple("abcd"), tuple("abcde"))
    power = Elementwise("^", (Elementwise("+", (Indices(), Const(2))), Const(7000)))
    mean = Aggregate(SAME, Elementwise("/", (Const(1), power)))
    agree([mean], ("a", "a"), ("a", "b"))
    with pytest.raises(EvaluationError) as caught:
        evaluate_plain([mean], ("a", "a"))
    assert (caught.value.node, caught.value.position) == (mean, 0)
    assert isinstance(caught.value.error, RaspLimitError)
    assert evaluate_plain([mean], ("a", "b"))


def test_a_selection_beyond_the_plain_budget_is_refused_with_its_size() -> None:
    for node, refused in ((SAME, SAME), (Aggregate(SAME, Indices()), SAME)):
        with pytest.raises(EvaluationError) as caught:
            evaluate_plain([node], tuple("abc"), Limits(plain_cells=8))
        assert caught.value.node is refused
        assert "3 × 3 cells is over the limit of 8" in caught.value.error.message
        assert evaluate_plain([node], tuple("abc"), Limits(plain_cells=9))
