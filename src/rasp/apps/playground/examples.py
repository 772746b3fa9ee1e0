"""Examples with what they should give in, which of them hold out; and tokens edited in place."""

from __future__ import annotations

from typing import Any

from rasp.apps.playground.budgets import LIMITS, MOST_EXAMPLES
from rasp.apps.playground.requests import Ran, example_text, find_handle, read_example, run_text
from rasp.base.atoms import Atom, read_input
from rasp.base.errors import RaspError, RaspValueError
from rasp.base.input_text import read_tokens
from rasp.language.meaning.shown_values import show_answer


def check_examples(request: dict[str, Any]) -> dict[str, Any]:
    """Say of each example what its s-op gives, and whether that is what was expected.

    >>> example = {"name": "x", "input": "ab", "expected": "[0, 1]"}
    >>> check_examples({"program": "x = indices;", "examples": [example]})
    {'examples': [{'got': '[0, 1]', 'holds': True}]}
    """
    ran = run_text(request.get("program"))
    given = request.get("examples")
    listed = given if isinstance(given, list) else []
    return {"examples": [_checked(ran, one) for one in listed[:MOST_EXAMPLES]]}


def _checked(ran: Ran, example: object) -> dict[str, Any]:
    fields = example if isinstance(example, dict) else {}
    try:
        values = _values(ran, fields.get("name"), fields.get("input"))
        return {
            "got": show_answer(values),
            "holds": is_expected(values, str(fields.get("expected", ""))),
        }
    except RaspError as error:
        return {"got": "", "holds": False, "error": error.message}


def _values(ran: Ran, name: object, text: object) -> list[Atom]:
    handle = find_handle(ran, name)
    return list(read_input(handle(list(read_example(text))), LIMITS))


def is_expected(values: list[Atom], expected: str) -> bool:
    """Tell whether values are those that somebody wrote, as a list or as letters.

    >>> is_expected(["b", "a"], "ba"), is_expected([1, 2], "[1,2]"), is_expected([True], "[1]")
    (True, True, False)
    """
    if show_answer(values) == expected.strip():
        return True
    try:
        wanted = read_input(read_tokens(expected.strip(), LIMITS), LIMITS)
    except RaspError:
        return False
    return [(isinstance(one, bool), one) for one in values] == [
        (isinstance(one, bool), one) for one in wanted
    ]


def edit_token(request: dict[str, Any]) -> dict[str, Any]:
    """Return the example with another token at a position; an empty one is taken away.

    >>> edit_token({"example": "abc", "at": 1, "token": "x"})["example"]
    'axc'
    >>> edit_token({"example": "[1, 2]", "at": 0, "token": ""})["example"]
    '[2]'
    """
    tokens = list(read_example(request.get("example")))
    at, text = request.get("at"), request.get("token")
    if not isinstance(at, int) or not 0 <= at <= len(tokens) or not isinstance(text, str):
        raise RaspValueError("there is no such token", hint="choose one that is on the page")
    tokens[at : at + 1] = [_token(text, tokens)] if text else []
    return {"example": example_text(read_example(example_text(tokens)))}


def _token(text: str, tokens: list[Atom]) -> Atom:
    """A number where the tokens are numbers, and a text elsewhere."""
    if not tokens or any(isinstance(token, str) for token in tokens):
        return text
    [token] = read_input(read_tokens(f"[{text}]", LIMITS), LIMITS)
    return token
