"""Every program agrees with its specification: on all tiny inputs, and on random ones to 100.

`python -m rasp.teaching.gallery.gallery_check --count 1000` is the long version of this file.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rasp.base.atoms import kind_of, read_input
from rasp.teaching.gallery import entries, entry, load
from rasp.teaching.gallery.catalogue import IGNORED, Entry
from rasp.teaching.gallery.gallery_check import (
    check_programs,
    disagreements,
    fast,
    plain,
    random_inputs,
)

pytestmark = pytest.mark.slow

EVERY = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)


@EVERY
def test_the_program_is_what_its_specification_says(entry: Entry) -> None:
    node = load(entry.name).node
    tiny = list(entry.inputs.tiny(400))
    assert len(tiny) > 5
    inputs = [*tiny, *random_inputs(entry, 40, longest=100)]
    assert next(disagreements(entry, node, inputs, fast), None) is None


@EVERY
def test_the_plain_evaluator_says_the_same(entry: Entry) -> None:
    node = load(entry.name).node
    inputs = [
        *entry.inputs.tiny(40),
        *random_inputs(entry, 8, longest=24, seed=1),
        *random_inputs(entry, 1, longest=100, seed=2),
    ]
    assert next(disagreements(entry, node, inputs, plain), None) is None


@EVERY
def test_random_inputs_are_inputs_the_program_is_for(entry: Entry) -> None:
    for length in (1, 2, 3, 7, 30, 100):
        for seed in range(5):
            tokens = entry.inputs.sample(Random(seed), length)
            assert 1 <= len(tokens) <= max(length, 4)
            assert entry.inputs.accepts(tokens)
            assert len({isinstance(token, str) for token in tokens}) == 1


@EVERY
def test_random_inputs_have_more_than_one_answer(entry: Entry) -> None:
    """Or the comparison would show little: a yes or no must be both, in good measure."""
    answers = [entry.specification(given) for given in random_inputs(entry, 300, longest=12)]
    values = [value for answer in answers for value in answer if value is not IGNORED]
    assert len(set(values)) > 1
    if set(values) == {True, False}:
        assert 0.03 < values.count(True) / len(values) < 0.97


def test_a_program_that_is_wrong_is_found_out() -> None:
    left, right = entry("rotate_left"), load("rotate_right").node
    inputs = list(left.inputs.tiny(100))
    found = next(disagreements(left, right, inputs, plain))
    assert found.tokens == ("a", "a", "b")
    assert str(found) == ('rotate_left("aab") is ["b", "a", "a"], but should be ["a", "b", "a"]')


def test_an_answer_of_another_kind_is_wrong() -> None:
    counts = entry("hist")
    as_floats = replace(
        counts, specification=lambda tokens: [float(n) for n in counts.specification(tokens)]
    )
    found = next(disagreements(as_floats, load("hist").node, ["a"], plain))
    assert kind_of(found.computed[0]) == "int"
    assert kind_of(found.specified[0]) == "float"


def test_positions_of_a_bos_are_ignored_and_others_are_not() -> None:
    with_bos, node = entry("hist_bos"), load("hist_bos").node
    assert with_bos.specification(read_input("§aa")) == [IGNORED, 2, 2]
    assert not list(disagreements(with_bos, node, ["§aba"], plain))
    assert list(disagreements(with_bos, load("hist").node, ["§aa", "a§a"], plain))


def test_the_long_check_reports_each_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_programs([entry("reverse"), entry("median")], count=20)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["reverse", "median"]
    assert lines[-1] == "2 programs, 0 of them wrong"
