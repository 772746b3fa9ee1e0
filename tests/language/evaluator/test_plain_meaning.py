"""The plain evaluator by hand: each kind of node on inputs small enough to check on paper."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError, RaspTypeError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS
from rasp.base.meter import Meter
from rasp.language.evaluator.plain import EvaluationError, evaluate, failure, mean, misfit
from rasp.language.graph import (
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
    SelectorOr,
    Tokens,
    TokensAs,
)

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
SAME = Select(Tokens(), Tokens(), "==")
BEFORE = Select(Indices(), Indices(), "<")
AFTER = Select(Indices(), Indices(), ">")


def value(node: Node, *tokens: Atom) -> list[Any]:
    return evaluate([node], tokens)[node]


def error(node: Node, *tokens: Atom) -> EvaluationError:
    with pytest.raises(EvaluationError) as caught:
        evaluate([node], tokens)
    return caught.value


def test_inputs_positions_and_constants() -> None:
    assert value(Tokens(), "a", "b") == ["a", "b"]
    assert value(Indices(), "a", "b", "c") == [0, 1, 2]
    assert value(Const("x"), "a", "b") == ["x", "x"]
    assert value(TokensAs("int"), "4", "-2") == [4, -2]
    assert value(TokensAs("string"), 4, True) == ["4", "True"]


def test_elementwise_work_stays_where_it_is() -> None:
    assert value(Elementwise("-", (Const(10), Indices())), "a", "b", "c") == [10, 9, 8]
    chosen = Elementwise("if", (Elementwise("==", (Tokens(), Const("a"))), Indices(), Const(-1)))
    assert value(chosen, "a", "b", "a") == [0, -1, 2]


@pytest.mark.parametrize("op", SIGNS)
def test_rows_ask_and_columns_answer(op: str) -> None:
    keys, queries = Elementwise("*", (Indices(), Const(2))), Elementwise("+", (Indices(), Const(1)))
    rows = value(Select(keys, queries, op), "a", "b", "c")
    for query, key in product(range(3), repeat=2):
        assert rows[query][key] is SIGNS[op](2 * key, query + 1)


def test_selectors_combine_cell_by_cell() -> None:
    one, other = value(SAME, "a", "b", "a"), value(BEFORE, "a", "b", "a")
    both, either = value(SelectorAnd(SAME, BEFORE), *"aba"), value(SelectorOr(SAME, BEFORE), *"aba")
    neither = value(SelectorNot(SelectorOr(SAME, BEFORE)), *"aba")
    for query, key in product(range(3), repeat=2):
        assert both[query][key] == (one[query][key] and other[query][key])
        assert either[query][key] == (one[query][key] or other[query][key])
        assert neither[query][key] == (not either[query][key])
    assert both == [[False, False, False], [False, False, False], [True, False, False]]


def test_scores_are_products_and_the_best_of_each_row_stay() -> None:
    scorer = Score(Tokens(), Elementwise("-", (Indices(), Const(1))))
    assert value(scorer, 3, 5, 5) == [[-3, -5, -5], [0, 0, 0], [3, 5, 5]]
    everything = Select(Const(1), Const(1), "==")
    assert value(SelectBest(everything, scorer), 3, 5, 5) == [
        [True, False, False],
        [True, True, True],
        [False, True, True],
    ]
    assert value(SelectBest(BEFORE, scorer), 3, 5, 4) == [
        [False, False, False],
        [True, False, False],
        [False, True, False],
    ]


def test_an_aggregate_is_a_default_a_pick_or_a_mean() -> None:
    assert value(Aggregate(BEFORE, Tokens(), 7), 1, 2, 5) == [7, 1, Fraction(3, 2)]
    assert type(value(Aggregate(BEFORE, Tokens(), 7), 1, 2, 5)[1]) is int
    assert value(Aggregate(BEFORE, Tokens(), "-"), "x", "y") == ["-", "x"]
    assert value(Aggregate(BEFORE, Elementwise("==", (Indices(), Const(0)))), "x", "y") == [0, True]
    means = value(Aggregate(SAME, Indices()), "a", "b", "a")
    assert means == [1, 1, 1]
    assert [type(each) for each in means] == [Fraction, int, Fraction]


@pytest.mark.parametrize(
    ("node", "tokens", "position", "message"),
    [
        (Tokens(), ("a", "b", 3), 2, '"a" is a string, 3 is not (at position 2 of ["a", "b", 3])'),
        (Tokens(), (3, 4, "b"), 2, '"b" is a string, 3 is not (at position 2 of [3, 4, "b"])'),
        (
            Elementwise("/", (Const(1), Elementwise("-", (Indices(), Const(1))))),
            ("a", "b", "c"), 1, '1 / 0',
        ),
        (Select(Tokens(), Indices(), "<"), ("a", "b"), 0, "at position 0"),
        (Score(Tokens(), Indices()), ("a", "b"), 0, '`score` multiplies numbers, but "a"'),
        (Score(Indices(), Tokens()), ("a", "b"), 0, '`score` multiplies numbers, but "a"'),
        (Aggregate(SAME, Tokens()), ("b", "a", "a"), 1, '2 values were picked, and strings'),
        (
            Aggregate(AFTER, Elementwise("==", (Indices(), Const(0)))),
            ("a", "b", "c", "d"), 0, "3 values were picked, and bools have no mean",
        ),
        (Aggregate(AFTER, Tokens()), ("a", "b"), 1, "the default 0 cannot be mixed with strings"),
        (
            Aggregate(SelectorAnd(SAME, BEFORE), Indices(), "-"), ("a", "b", "a"), 0,
            'the default "-" cannot be mixed with numbers',
        ),
    ],
)  # fmt: skip
def test_an_error_says_where(
    node: Node, tokens: tuple[Atom, ...], position: int, message: str
) -> None:
    failed = error(node, *tokens)
    assert failed.node is node
    assert failed.position == position
    assert message in failed.error.message
    assert f"(at position {position} of " in failed.error.message
    assert str(failed) == failed.error.message
    assert failed.error.hint
    assert failed.number == 0


def test_the_first_node_that_fails_is_told_at_its_first_failing_position() -> None:
    inverse = Elementwise("/", (Const(1), Tokens()))
    later = Elementwise("/", (inverse, Indices()))
    failed = error(later, 2, 0, 0)
    assert (failed.node, failed.position) == (inverse, 1)


def test_a_default_may_stand_alone_whatever_the_values() -> None:
    nothing = SelectorAnd(BEFORE, AFTER)
    assert value(Aggregate(nothing, Tokens(), 3), "a", "b") == [3, 3]
    assert value(Aggregate(nothing, Indices(), "-"), "a", "b") == ["-", "-"]
    assert value(Aggregate(BEFORE, Indices(), True), "a", "b") == [True, 0]


def test_a_mean_is_exact_and_of_numbers() -> None:
    tokens = ("x",)
    assert mean([1, 2, Fraction(1, 2)], Indices(), tokens, 0, Meter(DEFAULT_LIMITS)) == Fraction(
        7, 6
    )
    for wrong, kind in (("a", "strings"), (True, "bools")):
        with pytest.raises(EvaluationError) as caught:
            mean([1, wrong, 2], Indices(), tokens, 0, Meter(DEFAULT_LIMITS))
        assert isinstance(caught.value.error, RaspTypeError)
        assert f"3 values were picked, and {kind} have no mean" in caught.value.error.message


def test_words_about_defaults_name_the_kind_that_is_wanted() -> None:
    strings, numbers = misfit(0, ["a"]), misfit("-", [1])
    assert "with strings" in strings.message and '"-")' in (strings.hint or "")
    assert "with numbers" in numbers.message and ", 0)" in (numbers.hint or "")


def test_a_failure_adds_the_place_to_the_message() -> None:
    told: RaspError = RaspValueError("no", hint="yes")
    failed = failure(told, Indices(), ("a", "b"), 1)
    assert failed.error is told
    assert told.message == 'no (at position 1 of "ab")'
    assert (failed.node, failed.position) == (Indices(), 1)
