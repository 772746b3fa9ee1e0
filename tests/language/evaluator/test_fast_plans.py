"""Plans: the signed sum is the selector itself, each shape gets its strategy, and plans print."""

from __future__ import annotations

import functools
import itertools
import random

import pytest

from rasp.language.evaluator import explain_plan
from rasp.language.evaluator.fast import algebra
from rasp.language.evaluator.fast.algebra import cover, signed_sum
from rasp.language.evaluator.fast.conjunctions import Best, Conjunction, Pair, TooManyTerms, outcome
from rasp.language.evaluator.fast.key_plan import plan_best, plan_sums
from rasp.language.evaluator.plain import EvaluationError, evaluate
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
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
from strategies.graphs import TEXT, Graphs

BEFORE = Select(Indices(), Indices(), "<")
SAME = Select(Tokens(), Tokens(), "==")
SMALLER = Select(Tokens(), Tokens(), "<")
AT_ZERO = Select(Indices(), Const(0), "==")
LENGTHS = Elementwise("+", (Indices(), Const(3)))
GROUPED = Select(Elementwise("%", (Indices(), Const(2))), Indices(), "==")
WIDER = Select(LENGTHS, Indices(), ">")


def selection_of(conjunction: Conjunction, tokens: tuple[str, ...]) -> list[list[bool]]:
    """A conjunction's cells, straight from its meaning."""
    needed: list[Node] = [side for pair, _ in conjunction for side in (pair.keys, pair.queries)
                          if isinstance(side, SOp)]  # fmt: skip
    values = evaluate(needed, tokens)
    size = range(len(tokens))
    return [[all(allowed & outcome(values[pair.keys][key], values[pair.queries][query])  # type: ignore[index]
                 for pair, allowed in conjunction) for key in size] for query in size]  # fmt: skip


def random_selectors(count: int) -> list[Selector]:
    """Selectors without select_best, of one to six comparisons."""
    found: list[Selector] = []
    for seed in itertools.count():
        graphs = Graphs(random.Random(seed), TEXT)
        selector = graphs.selector_tree(2, 1 + seed % 6)
        if not any(isinstance(node, SelectBest) for node in _within(selector)):
            found.append(selector)
        if len(found) == count:
            return found
    raise AssertionError


def _within(node: Node) -> set[Node]:
    return {node}.union(*(_within(needed) for needed in node.needs))


def test_signed_sums_and_covers_pick_what_the_selector_picks() -> None:
    compared = 0
    for selector in random_selectors(150):
        try:
            check_sums(selector, ("a", "c", "b", "a", "b"))
        except (EvaluationError, TooManyTerms):
            continue
        compared += 1
    assert compared > 75


def check_sums(selector: Selector, tokens: tuple[str, ...]) -> None:
    """Add up the conjunctions' own cells."""
    wanted = evaluate([selector], tokens)[selector]
    terms, covering = signed_sum(selector), cover(selector)
    size = range(len(tokens))
    cells = {term: selection_of(term, tokens) for term in {*terms, *covering}}
    total = [[sum(times * cells[term][query][key] for term, times in terms.items())
              for key in size] for query in size]  # fmt: skip
    union = [[any(cells[term][query][key] for term in covering)
              for key in size] for query in size]  # fmt: skip
    assert total == wanted
    assert union == wanted


@pytest.mark.parametrize(
    ("selector", "strategies"),
    [
        (SAME, ["groups"]),
        (SelectorNot(SAME), ["groups", "groups"]),
        (BEFORE, ["sorted ranges"]),
        (SelectorNot(BEFORE), ["sorted ranges"]),
        (SelectorAnd(SAME, BEFORE), ["sorted ranges"]),
        (SelectorOr(SMALLER, SelectorAnd(SAME, BEFORE)), ["sorted ranges", "sorted ranges"]),
        (SelectorOr(SMALLER, SAME), ["sorted ranges"]),
        (SelectorAnd(SMALLER, SelectorNot(SMALLER)), []),
        (SelectorOr(SMALLER, SelectorNot(SMALLER)), ["groups"]),
        (SelectorAnd(SMALLER, BEFORE), ["dominance"]),
        (Select(Const(1), Const(1), "=="), ["groups"]),
        (Select(Const(1), Const("a"), "=="), []),
        (SelectorAnd(AT_ZERO, Select(Indices(), Const(1), "==")), []),
        (SelectorOr(SAME, AT_ZERO), ["groups", "groups"]),
    ],
)
def test_each_shape_gets_its_strategy(selector: Selector, strategies: list[str]) -> None:
    plan = plan_sums(selector)
    assert plan.blocked is None
    assert [term.meeting.strategy for term in plan.terms] == strategies


def test_sums_in_which_a_conjunction_counts_twice_are_right() -> None:
    one, other = SelectorAnd(SAME, BEFORE), SelectorAnd(SMALLER, WIDER)
    either = SelectorOr(
        SelectorAnd(one, SelectorNot(other)), SelectorAnd(SelectorNot(one), other)
    )  # fmt: skip
    alike = SelectorAnd(Select(Tokens(), Const("a"), "=="), Select(Const(1), Indices(), "<"))
    tokens = ("a", "c", "b", "a", "b")
    crossed = SelectorOr(SelectorAnd(one, SelectorNot(alike)), SelectorAnd(SelectorNot(one), alike))
    for selector in (
        either, SelectorNot(either), SelectorAnd(alike, either), SelectorAnd(either, alike),
        crossed, SelectorNot(crossed), SelectorAnd(crossed, other), SelectorAnd(other, crossed),
        SelectorAnd(WIDER, crossed), SelectorAnd(crossed, WIDER), SelectorAnd(crossed, crossed),
        SelectorOr(crossed, SelectorNot(either)), SelectorAnd(SelectorNot(crossed), either),
    ):  # fmt: skip
        check_sums(selector, tokens)


@pytest.mark.parametrize(
    ("selector", "filters"),
    [
        (SelectorAnd(AT_ZERO, Select(Indices(), Const(5), "<")), 1),
        (SelectorAnd(Select(Indices(), Const(5), "<"), AT_ZERO), 1),
        (SelectorAnd(AT_ZERO, Select(Tokens(), Const("a"), "==")), 2),
        (SelectorAnd(Select(Tokens(), Const(5), "=="), Select(Tokens(), Const("b"), "!=")), 1),
        (SelectorAnd(Select(Tokens(), Const("b"), "=="), Select(Tokens(), Const(5), "!=")), 1),
    ],
)
def test_what_an_equality_decides_is_not_asked_again(selector: Selector, filters: int) -> None:
    """Turned round, comparisons with constants are those of queries."""
    [term] = plan_sums(selector).terms
    assert [len(weight) for weight, _ in term.weights] == [filters]
    [term] = plan_sums(turned(selector)).terms
    assert len(term.meeting.query_filters) == filters
    both = SelectorAnd(selector, turned(selector))
    [term] = plan_sums(both).terms
    assert len(term.meeting.query_filters) == len(term.weights[0][0]) == filters
    check_sums(selector, ("a", "c", "b"))
    check_sums(both, ("a", "c", "b"))


def turned(selector: Selector) -> Selector:
    """The selector with keys for queries and queries for keys."""
    if isinstance(selector, SelectorAnd):
        return SelectorAnd(turned(selector.left), turned(selector.right))
    assert isinstance(selector, Select)
    back = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    return Select(selector.queries, selector.keys, back.get(selector.op, selector.op))


@pytest.mark.parametrize(
    "pair",
    [
        (AT_ZERO, Select(Indices(), Const(1), "==")),
        (AT_ZERO, Select(Indices(), Const(0), ">")),
        (Select(Indices(), Const(3), "=="), Select(Indices(), Const(3), "<")),
        (Select(Tokens(), Const("a"), "=="), Select(Tokens(), Const(1), "==")),
    ],
)
def test_what_an_equality_rules_out_is_never_picked(pair: tuple[Select, Select]) -> None:
    for one, other in (pair, pair[::-1]):
        selector = SelectorAnd(one, other)
        assert plan_sums(selector).terms == plan_best(selector).terms == ()
        assert plan_sums(turned(selector)).terms == ()
        mixed = SelectorAnd(one, turned(other))  # of different positions
        assert plan_sums(mixed).terms != ()


def test_two_orders_have_a_shortcut_to_the_best_and_three_have_none() -> None:
    for selector in (SAME, BEFORE, SelectorAnd(SAME, BEFORE), SelectorOr(SAME, SMALLER)):
        assert plan_best(selector).blocked is None
    either = SelectorOr(SAME, SelectorAnd(SMALLER, BEFORE))
    for selector in (SelectorAnd(SMALLER, BEFORE), either):
        assert plan_best(selector).blocked is None
    three = SelectorAnd(SelectorAnd(SMALLER, BEFORE), WIDER)
    assert "3 orders" in (plan_best(three).blocked or "")
    assert "3 orders" in (plan_best(SelectorOr(three, SAME)).blocked or "")
    four = SelectorAnd(three, Select(Elementwise("*", (Indices(), Indices())), Indices(), "<="))
    for number, selector in ((3, three), (4, four)):
        [term] = plan_sums(selector).terms
        assert (len(term.meeting.ranges), term.meeting.strategy) == (number, "blocked")
    assert "3 different keys" in (plan_sums(SelectorOr(three, SAME)).blocked or "")


def test_three_orders_are_made_in_blocks_within_their_groups() -> None:
    plan = plan_sums(SelectorAnd(SAME, SelectorAnd(SelectorAnd(SMALLER, BEFORE), WIDER)))
    assert plan.terms == ()  # a token is not both equal and smaller
    equal = Select(Tokens(), Const("b"), "<")
    same_first = Select(Elementwise("at", (Indices(), Const(1))), Indices(), "==")
    orders = SelectorAnd(SelectorAnd(SMALLER, BEFORE), SelectorAnd(WIDER, equal))
    plan = plan_sums(SelectorAnd(same_first, orders))
    assert plan.blocked is not None
    assert "3 different keys" in plan.blocked
    assert [pair.keys for pair in plan.grouping] == [same_first.keys]


def joined(join: type[SelectorAnd] | type[SelectorOr], parts: list[Selector]) -> Selector:
    return functools.reduce(join, parts)


def test_as_many_terms_are_added_as_a_key_may_count_times_and_no_more() -> None:
    keys: list[Selector] = [Select(Indices(), Const(number), "==") for number in range(13)]
    queries = [turned(key) for key in keys]
    fitting = SelectorAnd(joined(SelectorOr, keys[:8]), joined(SelectorOr, queries[:8]))
    terms = signed_sum(fitting)
    assert sum(map(abs, terms.values())) == len(cover(fitting)) == 64
    check_sums(
        SelectorAnd(joined(SelectorOr, keys[:3]), joined(SelectorOr, queries[:3])), ("a",) * 5
    )
    for plan in (signed_sum, cover):
        with pytest.raises(TooManyTerms):
            plan(SelectorAnd(joined(SelectorOr, keys), joined(SelectorOr, queries[:5])))


@pytest.mark.parametrize(("op", "most", "terms"), [("==", 24, 1), ("!=", 6, 64)])
def test_conjunctions_are_as_long_as_they_may_be(op: str, most: int, terms: int) -> None:
    shifted = [Elementwise("*", (Indices(), Const(number))) for number in range(most + 1)]
    parts: list[Selector] = [Select(each, Indices(), op) for each in shifted]
    for plan in (cover, signed_sum):
        assert len(plan(joined(SelectorAnd, parts[:most]))) == terms
        with pytest.raises(TooManyTerms):
            plan(joined(SelectorAnd, parts))


def test_the_work_of_a_plan_is_the_pairs_that_are_multiplied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = SelectorOr(SAME, BEFORE), SelectorNot(SelectorAnd(SMALLER, WIDER))
    crossed = SelectorAnd(one, other)
    joined = len(signed_sum(one)) * len(signed_sum(other))
    wanted = [(SelectorAnd(SAME, BEFORE), 1, 1), (crossed, 1 + 1 + joined, 2 * 2)]
    for selector, pairs, both_sides in wanted:
        for count, plan in ((pairs, signed_sum), (both_sides, cover)):
            monkeypatch.setattr(algebra, "MOST_WORK", count)
            plan(selector)
            monkeypatch.setattr(algebra, "MOST_WORK", count - 1)
            with pytest.raises(TooManyTerms):
                plan(selector)


def test_too_many_terms_are_made_in_blocks() -> None:
    different: Selector = Select(Tokens(), Tokens(), "!=")
    for number in range(8):
        shifted = Elementwise("+", (Indices(), Const(number)))
        different = SelectorAnd(different, Select(shifted, Indices(), "!="))
    assert plan_sums(different).blocked is not None
    assert plan_best(different).blocked is not None


def test_select_best_is_one_more_equality() -> None:
    best = SelectBest(BEFORE, Score(Indices(), Const(1)))
    [term] = plan_sums(best).terms
    assert term.meeting.equalities == {Pair(Indices(), Best(BEFORE, Score(Indices(), Const(1))))}
    assert plan_sums(SelectBest(BEFORE, Score(Indices(), Const(0)))) == plan_sums(BEFORE)


def test_deep_selectors_are_planned_without_recursion() -> None:
    deep: Selector = SAME
    for _ in range(3000):
        deep = SelectorNot(deep)
    assert plan_sums(deep) == plan_sums(SAME)


def test_a_plan_gives_reasons_for_what_it_does_and_its_price() -> None:
    orders = SelectorAnd(SMALLER, BEFORE)
    prices = {
        "groups": "time O(n) but for numbering what occurs, memory O(n)",
        "sorted ranges": "time O(n log n), memory O(n)",
        "dominance": "time O(n log n), memory O(n)",
        "blocked": "time O(n²), memory O(n · block)",
    }
    made = {"groups": SAME, "sorted ranges": BEFORE, "dominance": orders,
            "blocked": SelectorAnd(orders, WIDER)}  # fmt: skip
    for one, other in itertools.product(made, repeat=2):
        told = explain_plan([Aggregate(made[one], Const(1)), Aggregate(made[other], Const(2))])
        dearest = max(one, other, key=list(prices).index)
        assert told.endswith("\n" + prices[dearest])
        for strategy in ("groups", "sorted ranges", "dominance"):
            assert (f"\n{strategy}: " in told) == (strategy in (one, other))


def test_a_plan_says_what_is_cheap_and_what_is_not() -> None:
    cheap = explain_plan([Aggregate(SelectorAnd(SAME, BEFORE), Const(1))])
    assert "sorted ranges   indices < indices and tokens == tokens" in cheap
    assert "time O(n log n), memory O(n)" in cheap
    orders = SelectorAnd(SelectorAnd(SMALLER, BEFORE), WIDER)
    dear = explain_plan([Aggregate(orders, Indices())])
    assert "blocked" in dear
    assert dear.splitlines()[2].endswith("O(n · block) memory")
    within = explain_plan([Aggregate(SelectorAnd(GROUPED, orders), Indices())]).splitlines()
    assert within[2].endswith("O(n · block) memory, within groups where (indices % 2) == indices")
    best = SelectBest(BEFORE, Score(Tokens(), Const(-1)))
    assert "the lowest tokens of each row" in explain_plan([Aggregate(best, Indices())])
