"""What `find` finds is right, small, and says honestly how sure it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rasp import equivalent, run
from rasp.apps.cli import main
from rasp.base.errors import RaspError
from rasp.base.source import Source
from rasp.insight.finding import StopReason, find
from rasp.insight.finding.example_text import read_examples
from rasp.insight.finding.language_learning import learned_program
from rasp.language.syntax import parse
from rasp.language.syntax.printer import print_program

QUICK = 20.0
"""Processor seconds; all of these take a few."""


def hist(tokens: list[Any]) -> list[int]:
    return [tokens.count(token) for token in tokens]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "cost"),
    [
        (lambda tokens: [len(tokens)] * len(tokens), (1, 1)),
        (lambda tokens: tokens[::-1], (2, 2)),
        (hist, (1, 2)),
        (lambda tokens: [token in tokens[:at] for at, token in enumerate(tokens)], (1, 1)),
        (lambda tokens: tokens[-1:] * len(tokens), (1, 1)),
        (sorted, (2, 3)),
        (lambda tokens: [len(set(tokens)) == 1] * len(tokens), (1, 1)),
    ],
)
def test_a_function_is_imitated_within_the_gallery_s_layers_and_heads(
    wanted: Callable[[list[Any]], Any], cost: tuple[int, int]
) -> None:
    found = find(wanted, seconds=QUICK, max_length=5)
    assert found.program is not None and found.proved_up_to == 5
    assert (found.layers, found.heads) <= cost
    assert equivalent(found.program, wanted, alphabet="abc", max_length=5, random=0)


@pytest.mark.slow
def test_three_examples_leave_a_rival_and_a_question_that_decides() -> None:
    found = find([(text, hist(list(text))) for text in ("hello", "aab", "abc")], seconds=8)
    assert found.program is not None and found.rival is not None
    assert "agrees with all 3 examples" in found.verdict and found.proved_up_to == 0
    question, rival = found.rival.question, found.rival.handle
    assert found.program(list(question)) != rival(list(question))
    for text in ("hello", "aab", "abc"):
        assert found.program(text) == rival(text) == hist(list(text))


@pytest.mark.slow
def test_what_is_found_is_text_that_formats_and_runs_alone() -> None:
    found = find([("ab", "ba"), ("abc", "cba"), ("hello", "olleh")], seconds=QUICK)
    assert print_program(parse(Source("found", found.text))) == found.text
    assert run(found.text)["answer"]("stop") == list("pots")


@pytest.mark.slow
def test_the_same_search_finds_the_same_program() -> None:
    pairs = [("ab", "ba"), ("abc", "cba"), ("hello", "olleh")]
    assert find(pairs, seconds=QUICK).text == find(pairs, seconds=QUICK).text


def test_where_time_is_over_it_says_so_and_finds_nothing() -> None:
    found = find(lambda tokens: [hash(tuple(tokens)) % 7 for _ in tokens], seconds=0.3)
    assert not found and found.stopped is StopReason.OUT_OF_TIME
    assert "nothing found up to 4 layers" in found.verdict


def test_positions_may_be_left_open() -> None:
    found = find([("abc", [None, "a", "b"]), ("xyzw", [None, "x", "y", "z"])], seconds=4)
    assert found.program is not None and found.program("pqr")[1:] == ["p", "q"]


def test_own_definitions_are_building_blocks() -> None:
    using = "strange = 7 * indices * indices + 3;"
    pairs = [("abcd", [4, 11, 32, 67]), ("ab", [4, 11]), ("abcdef", [4, 11, 32, 67, 116, 179])]
    found = find(pairs, using=using, seconds=4)
    assert found.text == f"{using}\n\nanswer = 1 + strange;\n"


def test_near_a_wrong_program_its_parts_are_words() -> None:
    wrong = run('w = aggregate(select(indices, indices - 5, ==), tokens, "?");')["w"]
    pairs = [("abcdefgh", "!!!!!abc"), ("uvwxyzr", "!!!!!uv"), ("abcdef", "!!!!!a")]
    found = find(pairs, like=wrong, seconds=6)
    assert found.program is not None and found.program("123456789") == list("!!!!!1234")


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([], "no examples"),
        ([("ab", [1, 2]), ("ab", [1, 3])], "two different outputs"),
        ([("ab", [1])], "2 tokens, but its output has 1"),
        ([("ab", ["a", "b"]), ("a", [1])], "some outputs are strings"),
        ([("ab", [None, None])], "no output says anything"),
    ],
)
def test_examples_that_no_program_can_give_are_refused(pairs: list[Any], said: str) -> None:
    with pytest.raises(RaspError, match=said):
        find(pairs)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("ab -> ba\nxyz->zyx\n", [("ab", ["b", "a"]), ("xyz", ["z", "y", "x"])]),
        ("ab -> True\nb -> False\n", [("ab", True), ("b", False)]),
        ("ab -> 2\nabc -> 3\n", [("ab", 2), ("abc", 3)]),
        ("[3, 1] -> [1, 3]\n# a remark\n", [([3, 1], [1, 3])]),
        ("input,output\nab,2\nabc,3\n", [("ab", 2), ("abc", 3)]),
        ('{"ab": [1, 1]}', [("ab", [1, 1])]),
        ('[{"input": "ab", "output": [1, 1]}]', [("ab", [1, 1])]),
    ],
)
def test_examples_are_read_as_people_write_them(text: str, pairs: list[Any]) -> None:
    assert read_examples(text) == pairs


@pytest.mark.parametrize("text", ["ab\n", "ab ->\n", "[1, 2", "a,b,c\n"])
def test_what_is_no_example_is_an_error_with_a_way_out(text: str) -> None:
    with pytest.raises(RaspError) as refused:
        read_examples(text)
    assert refused.value.hint


def test_a_language_becomes_a_program() -> None:
    begins = learned_program("ab", lambda tokens: tokens[:2] == ("a", "b"))
    assert begins is not None
    wanted = lambda tokens: [tokens[:2] == ["a", "b"]] * len(tokens)  # noqa: E731
    assert equivalent(begins, wanted, alphabet="ab", max_length=6, random=0)


def test_the_command_prints_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = tmp_path / "examples.txt"
    examples.write_text("ab -> 2\nabc -> 3\nabcd -> 4\na -> 1\n", encoding="utf-8")
    assert main(["find", str(examples), "--seconds", "8", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["text"], told["layers"], told["heads"]) == ("answer = length;\n", 1, 1)


def test_the_command_says_when_there_is_nothing_to_find(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["find"]) == 2
    assert "--function FILE:NAME" in capsys.readouterr().err
