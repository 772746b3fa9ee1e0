"""Each exercise can be solved, is not solved from the start, and needs no word not yet taught."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import rasp
from rasp.apps.playground.exercises import EXERCISES, Lesson
from rasp.apps.playground.page_answers import answer
from rasp.language.meaning.shown_values import show_answer

pytestmark = pytest.mark.slow

SPECIFICATIONS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "double": lambda tokens: [2 * at for at in range(len(tokens))],
    "is_a": lambda tokens: [token == "a" for token in tokens],
    "every_other": lambda tokens: [t if at % 2 == 0 else "-" for at, t in enumerate(tokens)],
    "first": lambda tokens: [tokens[0]] * len(tokens),
    "previous": lambda tokens: ["-", *tokens[:-1]],
    "reverse": lambda tokens: tokens[::-1],
    "fraction": lambda tokens: [Fraction(tokens.count("a"), len(tokens))] * len(tokens),
    "hist": lambda tokens: [tokens.count(token) for token in tokens],
    "seen_before": lambda tokens: [tokens[:at].count(t) for at, t in enumerate(tokens)],
    "sort": sorted,
    "balance": lambda tokens: [
        tokens[: at + 1].count("(") - tokens[: at + 1].count(")") for at in range(len(tokens))
    ],
    "palindrome": lambda tokens: [tokens == tokens[::-1]] * len(tokens),
}


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_solution_does_what_the_story_says(exercise: Lesson) -> None:
    solution = rasp.run(exercise.solution)[exercise.output]
    wanted = SPECIFICATIONS[exercise.name]
    found = rasp.equivalent(solution, wanted, alphabet=exercise.alphabet, max_length=6, random=50)
    assert found.same and found.failing == 0, found


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_solution_is_right_and_the_start_is_not(exercise: Lesson) -> None:
    told = answer({"kind": "exercise", "name": exercise.name, "program": exercise.solution})
    assert told["is_right"], told
    told = answer({"kind": "exercise", "name": exercise.name, "program": exercise.start})
    assert told["is_right"] is False and told["is_shortest"]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.name)
def test_the_start_runs_on_its_example_or_says_what_to_fix(exercise: Lesson) -> None:
    told = answer({"kind": "run", "program": exercise.start, "example": exercise.example})
    assert told["errors"] == []
    named = {row["name"] for row in told["rows"]} | {each["name"] for each in told["failed"]}
    assert exercise.output in named
    assert exercise.hints and exercise.example in exercise.shown


def test_a_counterexample_shows_both_answers() -> None:
    program = "reverse = tokens;"
    told = answer({"kind": "exercise", "name": "reverse", "program": program})
    assert told["got"] == show_answer(list(told["input"]))
    assert told["wanted"] == show_answer(SPECIFICATIONS["reverse"](list(told["input"])))


def test_a_selector_is_no_answer() -> None:
    told = answer({"kind": "exercise", "name": "hist", "program": "hist = select_all;"})
    assert "should be an s-op" in told["error"]["message"]


@pytest.mark.parametrize("name", ["hist", "sort_bos", "dyck2", "fraction_of_a", "long_addition"])
def test_a_gallery_program_is_an_exercise_too(name: str) -> None:
    told = answer({"kind": "program", "name": name})["exercise"]
    assert told["shows"][0]["answer"].startswith("[") and told["story"][0]
    asked = {"kind": "exercise", "name": told["name"]}
    assert answer(asked | {"program": told["solution"]})["is_right"]
    wrong = answer(asked | {"program": told["start"]})
    assert wrong["is_right"] is False and wrong["is_shortest"]


def test_an_answer_that_fails_somewhere_is_wrong_there() -> None:
    program = (
        "hist = selector_width(select(tokens, tokens, ==)) if tokens != 0 else 1 / (length - 2);"
    )
    told = answer({"kind": "exercise", "name": "gallery:hist", "program": program})
    assert told["is_right"] is False and "fails: division by zero" in told["got"]
