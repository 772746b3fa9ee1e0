"""`rasp.evaluate`: many inputs at once give what one at a time gives."""

from __future__ import annotations

import random

import pytest

import rasp

NAMES = rasp.run("""
hist = histf(tokens);
first = not has_prev(tokens);
sorted = sort(tokens, tokens);
same = select(tokens, tokens, ==);
three = 3;
""")


def words(count: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices("abcde", k=rng.randint(1, 80))) for _ in range(count)]


def test_a_handle_on_many_inputs_gives_one_list_each() -> None:
    inputs = words(60)
    assert rasp.evaluate(NAMES["sorted"], inputs) == [sorted(word) for word in inputs]
    assert rasp.evaluate(NAMES["hist"], []) == []


def test_a_whole_program_gives_its_s_ops_and_selectors_by_name() -> None:
    inputs = words(40, seed=1)
    for word, values in zip(inputs, rasp.evaluate(NAMES, inputs), strict=True):
        assert values == {name: NAMES[name](word) for name in ("hist", "first", "sorted", "same")}


def test_an_error_says_which_input_it_was() -> None:
    ints = rasp.run("x = tokens_int + 1;")["x"]
    with pytest.raises(rasp.RaspValueError, match=r"position 1 of \"1a\".*in input 2"):
        rasp.evaluate(ints, ["12", "3", "1a", "b"])


@pytest.mark.parametrize("wrong", ["hello", ["ab", 3], [""]])
def test_what_are_no_inputs_is_refused(wrong: object) -> None:
    with pytest.raises(rasp.RaspError) as caught:
        rasp.evaluate(NAMES["hist"], wrong)  # type: ignore[arg-type]
    assert caught.value.hint


def test_what_is_no_program_is_refused() -> None:
    with pytest.raises(rasp.RaspTypeError, match="a handle, or the names of a program"):
        rasp.evaluate("hist", ["hello"])  # type: ignore[arg-type]


def test_the_plan_of_a_program_names_what_it_sums() -> None:
    assert "groups" in rasp.explain_plan(NAMES["hist"])
    assert rasp.explain_plan(NAMES).count("aggregate(") >= 3
