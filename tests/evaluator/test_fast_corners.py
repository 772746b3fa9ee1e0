"""Numbers too wide for their codes, selectors too long for a plan, clocks: the answers stay."""

from __future__ import annotations

import random
from fractions import Fraction
from types import ModuleType

import pytest
from random_graphs import TEXT, Graphs, fast_results, plain_results, strained

from rasp import evaluator
from rasp.atoms import Atom
from rasp.errors import RaspLimitError, RaspTypeError, RaspValueError
from rasp.evaluator import apply, evaluate_batch, explain_plan
from rasp.evaluator.fast import algebra, conjunctions, plan
from rasp.evaluator.fast.coding import codes_of
from rasp.evaluator.fast.columns import from_atoms
from rasp.evaluator.fast.evaluate import evaluate as evaluate_fast
from rasp.evaluator.plain import EvaluationError
from rasp.evaluator.plain import evaluate as evaluate_plain
from rasp.graph import (
    COMPARISONS,
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
from rasp.graph.origins import Definition, Origin
from rasp.limits import DEFAULT_LIMITS, Limits
from rasp.source import Source, Span

SAME = Select(Tokens(), Tokens(), "==")
BEFORE = Select(Indices(), Indices(), "<")
SMALLER = Select(Tokens(), Tokens(), "<")
PARITY = Elementwise("%", (Indices(), Const(3)))
ALIKE = Select(PARITY, PARITY, "==")


def agree(outputs: list[Node], *inputs: tuple[Atom, ...]) -> None:
    assert fast_results(outputs, inputs) == plain_results(outputs, inputs)


# Wide numbers


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


# Long selectors


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
    monkeypatch.setattr(plan, "_plans", {})
    monkeypatch.setattr(plan, "_best_plans", {})
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
    monkeypatch.setattr(plan, "_plans", {})
    monkeypatch.setattr(plan, "_best_plans", {})
    assert plan.plan_sums(selector).blocked is None
    assert plan.plan_best(selector).blocked is None
    monkeypatch.setattr(plan, "_plans", {})
    monkeypatch.setattr(plan, "_best_plans", {})
    monkeypatch.setattr(home_of(limit), limit, 0)
    assert (
        plan.plan_sums(selector).blocked == "its comparisons multiply out to too many conjunctions"
    )
    assert plan.plan_best(selector).blocked == plan.plan_sums(selector).blocked


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
    assert plan.plan_sums(selector).blocked is not None
    assert plan.plan_sums(selector).grouping
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
