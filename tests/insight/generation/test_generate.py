"""`rasp.generate`: what is appended, when it ends, and what is said when it goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.base.errors import RaspError
from rasp.insight.generation import Question, Rules, generate_each, steps

COPY = """
bar = aggregate(select(tokens, "|", ==), indices);
made = length - 1 - bar;
copy = aggregate(select(indices, made, ==), tokens) if made < bar else "";
count = made if made < 3 else "";
half = (length + 1) / 2 if length < 6 else "";
names = tokens;
"""
WILD = Path(__file__).resolve().parents[4] / "shared" / "wild"


def handle(name: str, text: str = COPY) -> Any:
    return rasp.run(text)[name]


def test_a_batch_of_inputs_of_different_lengths_is_copied() -> None:
    generations = rasp.generate(handle("copy"), ["abc|", "|", "hello|"])
    assert ["".join(map(str, each.tokens)) for each in generations] == ["abc", "", "hello"]
    assert all(each.stopped for each in generations)


def test_numbers_become_the_tokens_that_people_expect() -> None:
    assert rasp.generate(handle("count"), ["a|"])[0].tokens == ["0", "1", "2"]
    assert rasp.generate(handle("half"), ["abc"])[0].tokens == ["2", "2.5", "3"]


def test_an_input_of_numbers_grows_by_numbers() -> None:
    double = handle("twice", "twice = 2 * tokens_int;")
    assert rasp.generate(double, [[1, 3]], most=3)[0].tokens == [6, 12, 24]
    assert rasp.generate(double, [[1, 3]], stop=24)[0].tokens == [6, 12]


def test_a_program_that_never_stops_is_cut_off() -> None:
    generation = rasp.generate(handle("names"), ["ab"], most=4)[0]
    assert generation.tokens == ["b"] * 4
    assert not generation.stopped
    assert (
        rasp.generate(handle("copy"), ["ab|"], stop=None, most=5)[0].tokens == list("ab") + [""] * 3
    )


def test_another_position_may_be_read() -> None:
    assert rasp.generate(handle("names"), ["ab"], most=2, at=0)[0].tokens == ["a", "a"]
    with pytest.raises(RaspError, match="no position 5 in an input of 2 tokens, in input 1"):
        rasp.generate(handle("names"), ["abcdefg", "ab"], at=5)


def test_steps_come_one_at_a_time() -> None:
    told = steps(handle("count"), "a|")
    first = next(told)
    assert (first.step, first.value, first.token) == (0, 0, "0")
    assert [(step.step, step.value, step.token) for step in told] == [
        (1, 1, "1"), (2, 2, "2"), (3, "", None)
    ]  # fmt: skip


FAILS = 'next = "x" if 1 / (length - 6) < 1 else "y";'


def test_an_error_says_at_which_step_of_which_input() -> None:
    failing = handle("next", FAILS)
    with pytest.raises(RaspError, match=r"division by zero.*at step 3 of generating \(the first"):
        list(steps(failing, "abc"))
    done = generate_each(failing, ["abcdefg", "abc", "ab"], Rules(most=2))
    assert next(done).tokens == ["y", "x"]
    failed = generate_each(failing, ["abcdefg", "abc", "abcdef"], Rules(most=4))
    assert len(next(failed).tokens) == 4
    with pytest.raises(RaspError, match=r"at step 3 of generating .*, in input 1 "):
        next(failed)


def test_errors_are_those_of_the_first_input_that_fails_though_a_later_one_fails_sooner() -> None:
    with pytest.raises(RaspError, match=r"at step 4 .*, in input 0 "):
        rasp.generate(handle("next", FAILS), ["ab", "abcde"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": "abc"}, "many inputs are a list"),
        ({"inputs": ["abc"], "most": 0}, "`most` is a whole number above 0"),
        ({"inputs": [""]}, "the input is empty"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RaspError, match=message):
        rasp.generate(handle("copy"), **arguments)


def test_only_an_s_op_generates() -> None:
    with pytest.raises(RaspError, match="only an s-op gives tokens, and this is a selector"):
        rasp.generate(handle("same", "same = select(tokens, tokens, ==);"), ["a"])
    with pytest.raises(RaspError, match="what generates is a handle"):
        rasp.generate("copy", ["a"])  # type: ignore[arg-type]


def test_an_input_that_fails_leaves_the_others_of_its_batch_alone() -> None:
    question = Question(handle("next", FAILS).node)
    inputs = [tuple("a" * length) for length in (6, 1, 6, 2, 7, 6, 3)]
    together = question.answers(inputs)
    alone = [question.answers([given])[0] for given in inputs]
    assert [str(answer) for answer in together] == [str(answer) for answer in alone]
    assert [isinstance(answer, RaspError) for answer in together] == [
        len(given) == 6 for given in inputs
    ]


@pytest.mark.slow
@pytest.mark.skipif(not WILD.exists(), reason="the program of others is not here")
def test_a_program_of_a_thousand_lines_gives_its_logical_forms() -> None:
    output = rasp.run((WILD / "rasp-for-cogs.rasp").read_text(encoding="utf-8"))["output"]
    known = json.loads((WILD / "sentences.json").read_text())
    inputs = [[*each["sentence"].split(), "|"] for each in known]
    for generation, each in zip(rasp.generate(output, inputs), known, strict=True):
        assert generation.tokens == each["logical_form"], each["sentence"]
        assert generation.stopped
