"""Bugs planted in the robust compiler are caught by the checker alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from models import Kind, compiled, expected_of, mistakes_in, outputs_of
from rasp.base.errors import RaspError
from rasp.models.certificate import Weights
from rasp.models.compiler.model import certificate
from rasp.models.compiler.robust import attention, lines, steps
from rasp.models.compiler.robust.arrays import Writer

pytestmark = pytest.mark.slow
ROBUST = {"style": "robust"}
SOME = (
    Kind('out = aggregate(select(indices, 1, <=), indicator(tokens == "a"));', "ab", 4, ROBUST),
    Kind("out = selector_width(select(tokens, tokens, ==));", "abc", 3, ROBUST),
    Kind('out = aggregate(select(indices, indices - 1, ==), tokens, "?");', "ab", 4, ROBUST),
    Kind('out = count(tokens, "a") > indices;', "ab", 4, ROBUST),
    Kind("out = histf(histf(tokens));", "abc", 3, ROBUST),
)  # fmt: skip


def of_heads(change: Callable[[Any], object]) -> Callable[[Weights], object]:
    return lambda weights: [change(head) for layer in weights.heads for head in layer]


def of_units(change: Callable[[Any], object]) -> Callable[[Weights], object]:
    return lambda weights: [change(block) for block in weights.feed_forwards if block.bias.size]


def zero(array: np.ndarray) -> None:
    array[...] = 0


def swap(array: np.ndarray) -> None:
    array[[0, 1]] = array[[1, 0]]


WRITTEN: dict[str, Callable[[Weights], object]] = {
    "two tokens share an embedding": lambda w: w.tokens.__setitem__(0, w.tokens[1]),
    "two tokens are swapped": lambda w: swap(w.tokens),
    "positions are shifted": lambda w: w.positions.__setitem__(
        slice(None), np.roll(w.positions, 1, axis=0)),
    "no positions": lambda w: zero(w.positions),
    "the sink's row is lost": lambda w: zero(w.tokens[-1]),
    "queries are lost": of_heads(lambda head: zero(head.query)),
    "keys are lost": of_heads(lambda head: zero(head.key)),
    "values are lost": of_heads(lambda head: zero(head.value)),
    "a bias of values is off": of_heads(lambda head: head.value_bias.__iadd__(0.25)),
    "the sink is a key like any other": of_heads(lambda head: zero(head.key[:, 0])),
    "outputs are halved": of_heads(lambda head: head.out.__imul__(0.5)),
    "scores are a tenth": of_heads(lambda head: head.query.__imul__(0.1)),
    "scores have the wrong sign": of_heads(lambda head: head.query.__imul__(-1)),
    "hidden units are off by one": of_units(lambda block: block.bias.__isub__(1)),
    "hidden units lose their bias": of_units(lambda block: zero(block.bias)),
    "hidden units add the wrong way": of_units(lambda block: block.out.__imul__(-1)),
    "a hidden unit is lost": of_units(lambda block: zero(block.out[:, :1])),
    "hidden units fire at the sink": of_units(lambda block: zero(block.inside[:, 0])),
    "a read-out has no bias": lambda w: [out.bias.__isub__(out.bias + 9 * np.arange(len(out.bias)))
                                         for out in w.readouts],
    "answers are swapped": lambda w: [swap(out.weight) for out in w.readouts],
}  # fmt: skip
PLANNED: dict[str, Callable[[pytest.MonkeyPatch], object]] = {
    "matches score too little apart": lambda patch: patch.setattr(
        attention, "strength_of", lambda *given: 1.0),
    "the sink of a sum weighs a hundred times as much": lambda patch: patch.setattr(
        attention, "boost_of", lambda length: 9.0),
    "steps are not steep": lambda patch: patch.setattr(steps, "STEEP", 0.4),
    "the truth is turned round": lambda patch: patch.setattr(
        attention, "truth_of", lambda *given, right=attention.truth_of: ~right(*given)),
    "a value is not less its default": lambda patch: patch.setattr(
        attention, "default_code", lambda output: Fraction(1)),
    "numbers are counted in another unit": lambda patch: patch.setattr(
        attention, "unit_of", lambda *given: 3.0),
    "a threshold is at another weight of the sink": lambda patch: patch.setattr(
        lines, "sink_weight", lambda blocks: Fraction(100)),
}  # fmt: skip
assert len(WRITTEN) + len(PLANNED) >= 25


@pytest.mark.parametrize("bug", [*WRITTEN, *PLANNED])
def test_a_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # whatever a model answers to random inputs is called right: the checker alone decides
    monkeypatch.setattr(certificate, "_agrees", lambda *_: True)
    if bug in PLANNED:
        PLANNED[bug](monkeypatch)
    else:
        monkeypatch.setattr(Writer, "weights", _spoilt(Writer.weights, WRITTEN[bug]))
    caught, wrong = 0, []
    for kind in SOME:
        try:
            model = compiled(kind)
        except (RaspError, AssertionError, ValueError, LookupError, ArithmeticError):
            caught += 1
            continue
        if mistakes_in(model, expected_of(model, outputs_of(model))):
            wrong.append(kind.text)
    assert caught
    assert not wrong


def _spoilt(right: Callable[[Writer], Weights], spoil: Callable[[Weights], object]) -> Any:
    def weights(self: Writer) -> Weights:
        found = right(self)
        spoil(found)
        return found

    return weights
