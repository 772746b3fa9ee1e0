"""Which inputs must be tested: none is left out, and those that decide for others do so rightly."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import rasp
import rasp.teaching.gallery
from rasp import aggregate, indices, select, tokens, tokens_int, tokens_str, where
from rasp.insight.equivalence.suitable_inputs import choose_inputs
from rasp.insight.equivalence.token_flow import compared_constants, only_asks_for_equality
from rasp.insight.equivalence.tried_inputs import InputsToTry, fresh_tokens

same = select(tokens, tokens, "==")


@pytest.mark.parametrize("known", [0, 1, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_each_input_over_any_alphabet_is_a_renaming_of_exactly_one_that_is_tried(
    known: int, length: int
) -> None:
    constants = tuple("(){}"[:known])
    inputs = InputsToTry(constants, any_alphabet=True, known=known).with_unknown(length)
    tested = list(inputs.of_length(length))
    assert len(set(tested)) == len(tested) == inputs.count(length)

    def canonical(given: tuple[Any, ...]) -> tuple[Any, ...]:
        names: dict[Any, Any] = {constant: constant for constant in constants}
        fresh = iter(inputs.alphabet[known:])
        return tuple(names[token] if token in names else names.setdefault(token, next(fresh))
                     for token in given)  # fmt: skip

    others = ("x", "y", "z", "u", "v")[:length]
    assert {canonical(given) for given in product((*constants, *others), repeat=length)} == set(
        tested
    )


def test_an_alphabet_is_tried_whole_and_after_its_prefix() -> None:
    inputs = InputsToTry(("a", "b"), prefix=("§",))
    assert list(inputs.of_length(1)) == [("§",)]
    assert list(inputs.of_length(3)) == [("§", *rest) for rest in product("ab", repeat=2)]
    assert [inputs.count(length) for length in range(4)] == [0, 1, 2, 4]


def test_fresh_tokens_are_fresh_and_never_run_out() -> None:
    assert fresh_tokens(("a", "c"), 3) == ("b", "d", "e")
    assert len(set(fresh_tokens(("a", "t3"), 100)) - {"a", "t3"}) == 100


OPAQUE = {
    "equal": same,
    "moved": aggregate(select(indices, 1, "=="), tokens, "-"),
    "compared with a constant": where(tokens == "a", 1, 2),
    "chosen": where(indices == 0, tokens, "x") == tokens,
    "looked up": tokens.lookup({"a": 1, "b": 2}),
    "one of a list": tokens.is_in("abc"),
    "read as strings": tokens_str == "a",
    "unread": indices + 1,
}
NOT_OPAQUE = {
    "ordered": select(tokens, tokens, "<"),
    "ordered by position": tokens < "b",
    "joined": tokens + tokens,
    "repeated": tokens * indices,
    "read as ints": tokens_int,
    "asked for its truth": ~tokens,
    "a condition": where(tokens, 1, 2),
    "joined by and": tokens & (indices == 0),
    "scored": rasp.score(tokens, 1),
    "ordered after a move": aggregate(select(indices, 1, "=="), tokens, "-") < "b",
    "ordered after a choice": where(indices == 0, tokens, "x") > "b",
}


@pytest.mark.parametrize("name", OPAQUE)
def test_programs_that_only_ask_for_equality_are_known(name: str) -> None:
    assert only_asks_for_equality([OPAQUE[name].node])


@pytest.mark.parametrize("name", NOT_OPAQUE)
def test_programs_that_look_into_tokens_are_known(name: str) -> None:
    assert not only_asks_for_equality([NOT_OPAQUE[name].node])


def test_a_token_that_stands_for_others_is_no_answer_of_the_programs() -> None:
    """`a` and `T` are answers here: trying them would show nothing."""
    assert not rasp.equivalent(tokens, where(indices == 0, tokens, where(tokens == "x", "x", "a")))
    assert not rasp.equivalent(
        aggregate(select(indices, 0, "=="), tokens), where(tokens == "x", tokens.at(0), "a")
    )


def test_constants_are_found_wherever_tokens_meet_them() -> None:
    def met(handle: Any) -> list[Any]:
        return compared_constants([handle.node])

    assert met(where(tokens == "a", "T", "F")) == ["a"]
    assert met(tokens.is_in("xy")) == ["x", "y"]
    assert met(aggregate(select(indices, 1, "=="), tokens, "-") == "z") == ["-", "z"]
    assert met(where(indices == 0, tokens, where(indices == 1, "p", "q")) == tokens) == ["p", "q"]
    assert met((tokens + tokens).is_in(["()", "{}"])) == ["(", ")", "{", "}"]
    assert met(tokens_int % 3 == 1) == [1, 3]
    assert met(select(tokens, "k", "!=")) == ["k"]
    assert met(tokens.lookup({"a": "b"})) == ["a"]
    assert met(indices == 5) == []


def test_the_alphabet_is_of_the_kind_that_the_programs_compute_on() -> None:
    def chosen(*handles: Any) -> InputsToTry:
        return choose_inputs([handle.node for handle in handles], is_everything=True)

    assert chosen(rasp.lib.average(tokens)).alphabet == (0, 1, 2)
    assert chosen(tokens + "x", tokens).alphabet == ("a", "b", "c")
    assert set(chosen(tokens_int == 1).alphabet) == {"0", "1", "2"}
    assert {"?", "→"} < set(chosen(rasp.programs.load("set_inference")).alphabet)
    assert chosen(tokens == 1).alphabet == (1, 0, 2)
    assert "+" in chosen(rasp.programs.load("long_addition")).alphabet
    assert "a" not in chosen(rasp.programs.load("long_addition")).alphabet
    assert chosen(indices).reads_tokens is False
    assert chosen(tokens == "(").any_alphabet
    assert chosen(tokens == "(").known == 1
