"""What a caller may ask of the compiler: each refusal with its exact message, and a way out."""

from __future__ import annotations

from typing import Any

import pytest

import rasp
from rasp.base.errors import RaspError, RaspValueError
from rasp.models.compiler import compile
from rasp.models.compiler.settings import read_settings

GIVEN: dict[str, Any] = {"vocabulary": "ab", "max_length": 4}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"vocabulary": ""}, "the vocabulary is empty"),
    ({"vocabulary": []}, "the vocabulary is empty"),
    ({"vocabulary": 3}, "an input is a string or a list of atoms, but this is the int 3"),
    ({"vocabulary": [1, 1.0]}, "the vocabulary holds 1 and 1.0, which are equal"),
    ({"vocabulary": [True, 1]}, "the vocabulary holds True and 1, which are equal"),
    ({"vocabulary": [1, 2], "bos": True}, "the vocabulary holds 1 and True, which are equal"),
    ({"vocabulary": [1, 2], "bos": 2.0}, "the vocabulary holds 2 and 2.0, which are equal"),
    ({"vocabulary": ["a", 1]}, "an alphabet holds strings or numbers, not both"),
    ({"bos": 1}, "a vocabulary holds strings or numbers, not both"),
    ({"vocabulary": "§", "bos": "§"}, 'the vocabulary holds nothing but the BOS "§"'),
    ({"max_length": True}, "`max_length` is a whole number"),
    ({"max_length": 2.0}, "`max_length` is a whole number"),
    ({"max_length": 0}, "`max_length` is between 1 and 4096, not 0"),
    ({"max_length": 4097}, "`max_length` is between 1 and 4096, not 4097"),
    ({"heads": "many"}, '`heads` is "paper" (as many heads as the schedule says) or "split"'),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_a_setting_that_makes_no_sense_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RaspError) as caught:
        compile(rasp.run("out = indices;")["out"], **(GIVEN | changed))
    assert caught.value.message == message
    assert caught.value.hint


@pytest.mark.parametrize("outputs", [3, [], {}, "hist", [None], {"a": rasp}])
def test_what_is_no_s_op_is_not_compiled(outputs: object) -> None:
    with pytest.raises(rasp.RaspTypeError) as caught:
        compile(outputs, **GIVEN)
    assert "compile" in caught.value.message
    assert caught.value.hint


def test_a_bos_comes_last_and_once() -> None:
    settings = read_settings("a§bab", 5, "§", False, True, "paper")
    assert settings.vocabulary == ("a", "b", "§")


def test_an_input_of_the_bos_alone_is_enough() -> None:
    handle = rasp.run("out = length;")["out"]
    model = compile(handle, vocabulary="§", max_length=1, bos="§")
    assert model("§") == handle("§")


@pytest.mark.parametrize(
    ("vocabulary", "given"), [([1, 2], [2, 1.0]), ([0, 1], [True]), ([True, False], [0])]
)
def test_a_token_of_another_kind_is_another_token(vocabulary: list[Any], given: list[Any]) -> None:
    """To the program 1 and 1.0 differ: as strings, and bools have no mean."""
    handle = rasp.run("out = tokens_str;")["out"]
    model = compile(handle, vocabulary=vocabulary, max_length=3)
    with pytest.raises(RaspValueError, match=r"the token \S+ at position \d is not in the vocab"):
        model(given)
    assert model(vocabulary) == handle(vocabulary)
