"""Programs that random testing found: each must be refused with a reason, or be right."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import pytest

import rasp

FOUND: list[tuple[str, str, list[Any], Any]] = [
    ("last", "last = has_prev(indices[0]) or tokens + length;", ["0", "a"], "0"),
    ("last", 'last = pair_balance("a", "b") + histf(0) ^ 2.5;', ["a", "b"], "ba"),
    ("count", "count = indices + 9007199254740992;", ["a"], "a"),
    ("last", "last = [29103830456733703613, 0][indices];", ["a"], "a"),
    ("last", "last = aggregate(select(tokens, tokens, >), pow(7548472197, 2));", [0, -3], [0, -3]),
    ("far", 'far = aggregate(select_all, indices, "") * (tokens == "a");', ["a", "b"], "aba"),
]


@pytest.mark.parametrize(("name", "text", "vocabulary", "given"), FOUND)
def test_it_is_refused_with_a_reason_or_right(
    name: str, text: str, vocabulary: list[Any], given: Any
) -> None:
    handle = rasp.run(text)[name]
    refused: rasp.RaspError | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = rasp.compile(handle, vocabulary=vocabulary, max_length=3, style="compact")
        except rasp.RaspUnsupportedError as error:
            refused = error
    if refused is None:
        assert model(given) == handle(given)
    else:
        assert refused.hint


@pytest.mark.parametrize("key", ["-indices", "2 - indices", "indices % 2", "(indices - 1) ^ 2"])
def test_a_mask_that_hides_later_keys_goes_by_their_position_not_their_value(key: str) -> None:
    handle = rasp.run(f"seen = has_prev({key}); first = select({key}, {key}, <=) and "
                      "select(indices, indices, <=); count = selector_width(first);")  # fmt: skip
    for name in ("seen", "count"):
        model = rasp.compile(
            handle[name], vocabulary=["a"], max_length=4, causal=True, style="compact"
        )
        for length in range(1, 5):
            assert model("a" * length) == handle[name]("a" * length)


def test_numbers_beside_bools_are_averaged_where_no_bool_is_picked() -> None:
    text = (
        "seen = aggregate(not select(tokens, tokens, >), tokens if 0 != tokens else 0 != tokens);"
    )
    handle = rasp.run(text)["seen"]
    model = rasp.compile(handle, vocabulary=[-3, 2, 0], max_length=3, style="compact")
    for tokens in ([2, -3], [2, 2, -3], [-3, -3], [0]):
        assert model(tokens) == handle(tokens)


def test_numbers_beside_strings_are_not_averaged() -> None:
    handle = rasp.run('mixed = aggregate(select_all, "b" if tokens == "a" else indices);')["mixed"]
    with pytest.raises(rasp.RaspUnsupportedError, match="strings as well as numbers"):
        rasp.compile(handle, vocabulary="ab", max_length=3, style="compact")


@pytest.mark.parametrize("sum_of_lengths", ["+ length", "- length", "+ 2 * length - indices"])
def test_two_sums_that_are_both_the_length_are_one_number(sum_of_lengths: str) -> None:
    text = f'x = aggregate(select_all, indicator(tokens == "a")) * length {sum_of_lengths};'
    handle = rasp.run(text)["x"]
    model = rasp.compile(handle, vocabulary="a", max_length=4, style="compact")
    for length in range(1, 5):
        assert model("a" * length) == handle("a" * length)


@pytest.mark.parametrize("values", ["indices", "-tokens"])
def test_scores_keep_the_constants_of_products_that_cancel(values: str) -> None:
    text = f"""after = select(indices, indices, !=) and select(indices, indices, >=);
    out = aggregate(after and select(tokens, tokens, >), {values}, 1);"""
    handle = rasp.run(text)["out"]
    model = rasp.compile(handle, vocabulary=[0, 1], max_length=4, bos=9, style="compact")
    for tokens in ([9], [9, 0, 1], [9, 1, 0, 1], [9, 0, 1, 1]):
        assert model(tokens) == handle(tokens)


def test_large_numbers_that_cancel_are_not_taken_for_as_exact_as_they_were_measured() -> None:
    numbers = [857699, 676039, 329412]
    handle = rasp.run("out = aggregate(select(indices, indices, ==), tokens) % tokens_float;")[
        "out"
    ]
    model = rasp.compile(handle, vocabulary=numbers, max_length=3, style="compact")
    for given in product(numbers, repeat=3):
        assert model(list(given)) == handle(list(given))
