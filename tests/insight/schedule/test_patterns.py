"""Attention patterns: what each allows, as a table and as a selector; how far selectors reach."""

from __future__ import annotations

from random import Random

import pytest

from rasp.base.errors import RaspError
from rasp.insight.schedule.patterns import Pattern, stays_within, under
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
    Tokens,
)
from rasp.language.graph.normal import normal_form
from rasp.language.graph.reach import reach

from .allowed_pairs import allows

PATTERNS = [
    "causal", "window:0", "window:2", "strided:1", "strided:2", "strided:3", "block:1", "block:3",
    "bigbird:0,0,1", "bigbird:1,2,0", "bigbird:1,1,2", "bigbird:0,0,0",
]  # fmt: skip


def allowed_rows(pattern: Pattern, length: int) -> list[list[bool]]:
    return [
        [allows(pattern, query, key, length) for key in range(length)] for query in range(length)
    ]


@pytest.mark.parametrize("text", PATTERNS)
def test_a_pattern_s_selector_picks_exactly_what_it_allows(text: str):
    pattern = Pattern.read(text)
    assert str(pattern) == text
    for length in (1, 2, 3, 5, 8, 13):
        selector = pattern.selector(length)
        assert evaluate([selector], ("a",) * length)[selector] == allowed_rows(pattern, length)


@pytest.mark.parametrize("text", PATTERNS)
def test_a_pattern_allows_everything_exactly_up_to_its_unrestricted_length(text: str):
    pattern = Pattern.read(text)
    free = pattern.unrestricted_length()
    for length in range(1, 12):
        allows_all = all(all(row) for row in allowed_rows(pattern, length))
        if free is None or length <= free:
            assert allows_all
        elif length == free + 1:
            assert not allows_all


def test_patterns_are_what_their_documentation_says():
    def keys(text: str, query: int) -> list[int]:
        return [key for key in range(12) if allows(Pattern.read(text), query, key, 12)]

    assert keys("window:2", 4) == [2, 3, 4, 5, 6]
    assert keys("causal", 2) == [0, 1, 2]
    assert keys("block:4", 5) == [4, 5, 6, 7]
    assert keys("strided:4", 9) == [1, 5, 6, 7, 8, 9, 10, 11]
    bigbird = Pattern.read("bigbird:1,1,2")
    rows = allowed_rows(bigbird, 20)
    assert all(rows[0]) and all(row[0] for row in rows)
    assert all(sum(row) <= 3 + 1 + 2 for row in rows[1:])
    assert rows == allowed_rows(bigbird, 20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("windows:2", "there is no attention pattern `windows:2`"),
        ("", "there is no attention pattern ``"),
        ("window", "`window` is not a `window` pattern"),
        ("window:two", "`window:two` is not a `window` pattern"),
        ("window:-1", "`window:-1` is not a `window` pattern"),
        ("causal:1", "`causal:1` is not a `causal` pattern"),
        ("bigbird:1,2", "`bigbird:1,2` is not a `bigbird` pattern"),
        ("block:0", "`block:0` has a step of 0"),
        ("window:301", "`window:301` has a number over 300"),
    ],
)
def test_a_pattern_that_is_none_is_refused(text: str, message: str):
    with pytest.raises(RaspError) as raised:
        Pattern.read(text)
    assert raised.value.message == message
    assert raised.value.hint


def random_selector(random: Random, depth: int) -> Selector:
    here = Indices()
    number = Const(random.randint(-3, 3))
    places = [here, Elementwise("+", (here, number)), Elementwise("-", (here, number)),
              Elementwise("+", (number, here)), number, Tokens(),
              Elementwise("*", (here, number))]  # fmt: skip
    if depth == 0:
        return Select(random.choice(places), random.choice(places), random.choice(COMPARISONS))
    one, other = random_selector(random, depth - 1), random_selector(random, depth - 1)
    match random.randint(0, 3):
        case 0:
            return SelectorAnd(one, other)
        case 1:
            return SelectorOr(one, other)
        case 2:
            return SelectorNot(one)
    return SelectBest(one, Score(here, number))


def test_no_selector_looks_further_than_its_reach():
    random = Random(5)
    bounded = 0
    for _ in range(800):
        selector = random_selector(random, random.randint(0, 2))
        low, high = reach(normal_form(selector))
        bounded += low > -100 or high < 100
        tokens = tuple(random.randint(-3, 3) for _ in range(6))
        rows = evaluate([selector], tokens)[selector]
        picked = [key - query for query, row in enumerate(rows) for key in range(6) if row[key]]
        assert all(low <= distance <= high for distance in picked)
    assert bounded > 200


@pytest.mark.parametrize("text", PATTERNS)
def test_what_provably_stays_within_a_pattern_is_not_changed_by_it(text: str):
    random, pattern, proved = Random(6), Pattern.read(text), 0
    for _ in range(400):
        selector = random_selector(random, random.randint(0, 2))
        output = Aggregate(selector, Indices(), -1)
        if not stays_within(pattern, [output]):
            continue
        proved += 1
        for length in (1, 4, 7):
            tokens = tuple(random.randint(-3, 3) for _ in range(length))
            (cut,) = under(pattern, [output], length)
            values = evaluate([output, cut], tokens)
            assert values[output] == values[cut]
    assert proved > 5


def test_under_a_pattern_no_aggregate_sees_a_forbidden_pair():
    """Negation and select_best come before the cut, so that neither can undo it."""
    random, pattern = Random(7), Pattern.read("window:1")
    for _ in range(300):
        output = Aggregate(random_selector(random, 2), Indices(), -100)
        (cut,) = under(pattern, [output], 6)
        rows = evaluate([cut.selector], tuple(random.randint(-3, 3) for _ in range(6)))
        for query, row in enumerate(rows[cut.selector]):
            assert not any(row[key] for key in range(6) if abs(key - query) > 1)
