"""Batches: results per input, errors of the first input that fails, budgets, linear memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from unittest.mock import patch

import pytest

import rasp
from rasp.base.errors import RaspLimitError, RaspTypeError, RaspValueError
from rasp.base.limits import Limits
from rasp.language import evaluator
from rasp.language.evaluator import apply, evaluate_batch, evaluate_each
from rasp.language.evaluator.fast import means
from rasp.language.evaluator.plain import evaluate as evaluate_plain
from rasp.language.graph import Aggregate, Const, Elementwise, Indices, Select, Tokens

SAME = Select(Tokens(), Tokens(), "==")
INVERSE = Elementwise("/", (Const(12), Elementwise("int", (Tokens(),))))
MEAN = Aggregate(SAME, Indices())


def ragged(count: int) -> list[str]:
    return ["abcab"[: 1 + number % 5] * (1 + number % 7) for number in range(count)]


def test_results_come_back_per_input_whatever_the_chunks() -> None:
    inputs = ragged(60)
    wanted = [evaluate_plain([MEAN, SAME], tuple(text)) for text in inputs]
    with patch.object(evaluator, "CHUNK_TOKENS", 37), patch.object(evaluator, "PLAIN_COST", 0):
        found = evaluate_batch([MEAN, SAME], inputs)
    assert [values[MEAN] for values in found] == [values[MEAN] for values in wanted]
    assert [values[SAME] for values in found] == [values[SAME] for values in wanted]


@pytest.mark.parametrize("plain_cost", [0, 10**9])
def test_the_error_is_that_of_the_first_input_that_fails(plain_cost: int) -> None:
    inputs = ["12", "34", "50", "x", "0"]
    with (
        patch.object(evaluator, "PLAIN_COST", plain_cost),
        pytest.raises(RaspValueError) as caught,
    ):
        evaluate_batch([INVERSE], inputs)
    assert "12 / 0" in caught.value.message
    assert 'at position 1 of "50"' in caught.value.message
    assert "in input 2 (the first is 0)" in caught.value.message


def test_an_earlier_input_that_fails_later_in_the_program_comes_first() -> None:
    """`int` fails on input 1 before the division, which fails on input 0, is looked at."""
    with patch.object(evaluator, "PLAIN_COST", 0), pytest.raises(RaspValueError, match="by zero"):
        evaluate_batch([INVERSE], ["10", "1x"])


def test_results_before_a_failing_input_are_given() -> None:
    found = evaluate_each([INVERSE], ["12", "3", "0", "4"])
    assert next(found)[INVERSE] == [12, 6]
    assert next(found)[INVERSE] == [4]
    with pytest.raises(RaspValueError, match="input 2"):
        next(found)


def test_an_unreadable_input_waits_for_its_turn() -> None:
    with pytest.raises(RaspValueError, match="by zero"):
        evaluate_batch([INVERSE], ["0", None])
    with pytest.raises(RaspTypeError, match="nothing, in input 1"):
        evaluate_batch([INVERSE], ["1", None])


def test_inputs_are_read_as_they_come() -> None:
    read = 0

    def inputs() -> Iterator[str]:
        nonlocal read
        while read < 1000:
            read += 1
            yield "abc"

    with patch.object(evaluator, "CHUNK_TOKENS", 30):
        next(evaluate_each([MEAN], inputs()))
    assert read < 20


def test_a_lone_input_has_no_number() -> None:
    with pytest.raises(RaspValueError) as caught:
        evaluate_batch([INVERSE], ["0"])
    assert "input 0" not in caught.value.message


def test_strings_in_one_input_and_numbers_in_another() -> None:
    inputs = ["abca", [1, 2, 1, 2.5], [True, 1], ["3", "3"]] * 10
    wanted = [apply(MEAN, given) for given in inputs]
    assert [values[MEAN] for values in evaluate_batch([MEAN], inputs)] == wanted


def test_a_selection_past_its_budget_names_its_size() -> None:
    with pytest.raises(RaspLimitError, match="6 × 6 cells is over the limit of 35"):
        apply(SAME, "abcdef", limits=Limits(dense_cells=35))
    with pytest.raises(RaspLimitError, match=r"200000 × 200000 cells .* input 1"):
        evaluate_batch([SAME], ["ab", "a" * 200_000])
    assert apply(MEAN, "aaaaaa", limits=Limits(dense_cells=35)) == [2.5] * 6


def test_an_input_past_its_budget_is_refused() -> None:
    with pytest.raises(RaspLimitError, match="4 tokens is over the limit of 3"):
        evaluate_batch([MEAN], ["abc", "abcd"], limits=Limits(input_length=3))


def test_long_inputs_go_past_the_plain_budget() -> None:
    assert apply(MEAN, "ab" * 3000, limits=Limits(plain_cells=100))[0] == 2999


def test_means_over_too_many_denominators_are_refused() -> None:
    inverse = Elementwise("/", (Const(1), Elementwise("+", (Indices(), Const(1)))))
    with (
        patch.object(means, "MOST_SCALED_BITS", 10_000),
        pytest.raises(RaspLimitError, match="the mean of 200 floats"),
    ):
        apply(Aggregate(SAME, inverse), "ab" * 100)


LIBRARY = rasp.run("""
sorted = sort(tokens, tokens);
seen = has_prev(tokens);
two_orders = selector_width(select(tokens, tokens, <) and select(indices, indices, <));
three = aggregate(select(tokens, tokens, <) and select(indices, indices, <)
                  and select(indices * indices % 7, tokens_int, >), indices);
""")


@pytest.mark.parametrize("name", ["sorted", "seen", "two_orders", "three"])
def test_memory_is_linear(name: str) -> None:
    length = 12_000
    tokens = tuple(str(position * 7919 % 10) for position in range(length))
    apply(LIBRARY[name].node, tokens[:200])
    tracemalloc.start()
    apply(LIBRARY[name].node, tokens)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < length * length // 4  # a selection of bools would be four times that


def test_without_numpy_everything_is_computed_plainly() -> None:
    wanted = apply(LIBRARY["sorted"].node, "hello" * 30)
    with patch.object(evaluator, "_has_numpy", lambda: False):
        assert apply(LIBRARY["sorted"].node, "hello" * 30) == wanted


def test_a_short_input_does_not_import_numpy() -> None:
    code = (
        "import sys, rasp\n"
        "assert rasp.run('h = histf(tokens);')['h']('hello') == [1, 1, 2, 2, 1]\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
