"""`rasp.map`: a Python function as a table, through every back end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rasp
from rasp import indices, select_all, tokens

INPUTS = ["abc", "cab", "aaaa", "b"]


def test_a_table_gives_what_the_function_gives() -> None:
    codes = rasp.map(ord, tokens, over="abc")
    for given in INPUTS:
        assert codes(given) == [ord(letter) for letter in given]


def test_several_s_ops_meet_in_one_table() -> None:
    def weigh(letter: str, place: int) -> str | int:
        return place * 2 if letter == "a" else -1

    weighed = rasp.map(weigh, tokens, indices, over=["abc", range(4)])
    for given in INPUTS:
        assert weighed(given) == [weigh(letter, place) for place, letter in enumerate(given)]


def test_one_domain_serves_all_s_ops() -> None:
    assert rasp.map(lambda x, y: x * y, tokens, indices, over=range(4))([3, 2]) == [0, 2]


def test_the_same_table_is_the_same_program() -> None:
    by_python = rasp.map(lambda letter: letter == "a", tokens, over="ab")
    by_text = rasp.run('same = {"a": True, "b": False}[tokens];')["same"]
    assert by_python.node is by_text.node


def test_a_table_compiles_and_compares() -> None:
    swapped = rasp.map({"a": "b", "b": "a"}.__getitem__, tokens, over="ab")
    model = rasp.compile(swapped, vocabulary="ab", max_length=4)
    assert model("abba") == ["b", "a", "a", "b"] == swapped("abba")
    same = rasp.where(tokens == "a", "b", "a")
    assert rasp.equivalent(swapped, same, alphabet="ab", max_length=3)


def test_fractions_reach_the_function_as_floats() -> None:
    assert rasp.map(lambda x: x + 1, tokens, over=[0.5, 1.5])([1.5]) == [2.5]


def test_an_atom_outside_the_domain_is_named() -> None:
    with pytest.raises(rasp.RaspValueError, match='no key "z"'):
        rasp.map(ord, tokens, over="abc")("az")


MISTAKES: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: rasp.map(ord, over="abc"), "needs an s-op", "rasp.map(str.upper"),
    (lambda: rasp.map(ord, select_all, over="abc"), "this is a selector", "aggregate"),  # type: ignore[arg-type]
    (lambda: rasp.map(ord, tokens, over=""), "lists no atoms", "what the s-ops can hold"),
    (
        lambda: rasp.map(max, tokens, indices, over=[[1]]),
        "1 lists of atoms for 2 s-ops",
        "one list",
    ),
    (lambda: rasp.map(ord, tokens, over=["ab"]), '`ord("ab")` fails: TypeError', "out of `over`"),
    (lambda: rasp.map(print, tokens, over="a"), '`print("a")` gives no atom', "return a bool"),
]


@pytest.mark.parametrize(("call", "message", "hint"), MISTAKES)
def test_mistakes_say_what_to_do(call: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        call()
    assert message in caught.value.message and hint in (caught.value.hint or "")
    assert caught.value.span is not None and "rasp.map" in caught.value.span.text
