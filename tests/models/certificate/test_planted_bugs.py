"""A faulty compiler is caught: bugs planted in planning and emitting all end in a refusal.

Random runs are switched off: what notices is the checker alone. A bug that changes nothing in a
model (some do not touch every model) does not count; each of them changes some.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from models import mistakes, model_of
from rasp.base.errors import RaspError
from rasp.models.certificate import Weights
from rasp.models.compiler import Transformer, compact
from rasp.models.compiler.emitting import emitter
from rasp.models.compiler.emitting.emitter import Emitter
from rasp.models.compiler.heads.pick_counts import PickCounts
from rasp.models.compiler.model import certificate
from rasp.models.compiler.planning import attention, features, outputs, scores

Plant = Callable[[pytest.MonkeyPatch], None]


def emitting(change: Callable[[Any], None]) -> Plant:
    """A bug in what is written: the finished weights are changed."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        whole = Emitter.weights

        def wrong(self: Emitter) -> Weights:
            found = whole(self)
            change(found)
            return found

        patch.setattr(Emitter, "weights", wrong)

    return plant


def calling(owner: Any, name: str, change: Callable[..., Any]) -> Plant:
    """A bug in one function: `change` gets the right one and its arguments."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        patch.setattr(owner, name, lambda *given, **named: change(right, *given, **named))

    return plant


def each_head(change: Callable[[Any], None]) -> Plant:
    return emitting(lambda found: [change(head) for layer in found.heads for head in layer])


def zero(array: np.ndarray) -> None:
    array[...] = 0


def swap_rows(array: np.ndarray) -> None:
    array[[0, 1]] = array[[1, 0]]


BUGS: dict[str, Plant] = {
    # -- emitting
    "two tokens share an embedding": emitting(lambda w: w.tokens.__setitem__(0, w.tokens[1])),
    "two tokens are swapped": emitting(lambda w: swap_rows(w.tokens)),
    "positions are shifted": emitting(lambda w: w.positions.__setitem__(
        slice(None), np.roll(w.positions, 1, axis=0))),
    "no positions": emitting(lambda w: zero(w.positions)),
    "queries are lost": each_head(lambda head: zero(head.query)),
    "keys are lost": each_head(lambda head: zero(head.key)),
    "values are lost": each_head(lambda head: zero(head.value)),
    "a bias of queries is lost": each_head(lambda head: zero(head.query_bias)),
    "the sink is a key like any other": each_head(lambda head: zero(head.key[:, 0])),
    "a bias of values is lost": each_head(lambda head: zero(head.value_bias)),
    "outputs are halved": each_head(lambda head: head.out.__imul__(0.5)),
    "scores are halved": each_head(lambda head: head.query.__imul__(0.5)),
    "scores have the wrong sign": each_head(
        lambda head: (head.query.__imul__(-1), head.query_bias.__imul__(-1))),
    "hidden units are off by one": emitting(
        lambda w: [block.bias.__isub__(1) for block in w.feed_forwards]),
    "hidden units lose their bias": emitting(
        lambda w: [zero(block.bias) for block in w.feed_forwards]),
    "hidden units add the wrong way": emitting(
        lambda w: [block.out.__imul__(-1) for block in w.feed_forwards]),
    "a hidden unit is lost": emitting(
        lambda w: [block.out[:, :1].__imul__(0) for block in w.feed_forwards]),
    "a read-out has no bias": emitting(lambda w: [zero(out.bias) for out in w.readouts]),
    "a read-out reads double": emitting(lambda w: [out.weight.__imul__(2) for out in w.readouts]),
    "the sink's row is lost": emitting(lambda w: zero(w.tokens[-1])),
    "half of each dimension": calling(Emitter, "column", lambda right, *given: right(*given) / 2),
    "constants are forgotten": calling(
        Emitter, "row", lambda right, *given: replace(right(*given), constant=0.0)),
    "the sink does not hold itself back": calling(
        Emitter, "_score_at_sink", lambda right, *given: -300.0),
    # -- planning
    "matches score too little apart": calling(
        attention, "strength_of", lambda right, *given: 1),
    "the sink is too high": calling(
        attention.Scoring, "sink", lambda right, *given: right(*given).plus(300)),
    "the sink is too low": calling(
        attention.Scoring, "sink", lambda right, *given: right(*given).plus(-300)),
    "a value is not less its default": calling(
        attention, "default_of", lambda right, *given: Fraction(0)),
    "what a match is worth": lambda patch: patch.setattr(
        emitter, "MATCH_WEIGHT", emitter.MATCH_WEIGHT * 1.5),
    "the truth is transposed": calling(
        scores, "truth_of", lambda right, *given: ~right(*given)),
    "a function loses its last change": calling(
        features, "_changes",
        lambda right, *given: (lambda first, steps: (first, dict([*steps.items()][:-1])))(
            *right(*given))),
    "kinks are shifted": calling(
        emitter, "smooth", lambda right, points, values, *rest: right(
            points, [*values[1:], values[0]], *rest)),
    "lines are shifted": calling(
        emitter, "chords", lambda right, points, values, *rest: right(
            points, [*values[1:], values[0]], *rest)),
    "codes of strings are all the same": calling(
        outputs, "_codes", lambda right, codes: right(dict.fromkeys(codes, Fraction(0)))),
    "a mean is taken for a lone pick": calling(
        PickCounts, "at_most_one", lambda right, *given: True),
    "nothing is ever empty": calling(
        PickCounts, "is_never_empty", lambda right, *given: True),
    "equal formulas are all that there is": calling(
        PickCounts, "one_value", lambda right, *given: True),
}  # fmt: skip
assert len(BUGS) >= 25
ROUNDING_BUGS: dict[str, Plant] = {
    "a constant is far too large": calling(
        emitter, "rounding_constant", lambda right, *given: right(*given) * 2.0**20),
    "a constant is not taken away": calling(
        Emitter, "constants_taken_away", lambda right, self, layer: right(self, layer) * 0),
    "half of a constant is taken away": calling(
        Emitter, "constants_taken_away", lambda right, self, layer: right(self, layer) / 2),
    "a constant is taken away a layer too late": calling(
        emitter, "last_layer", lambda right, dimension: right(dimension) + 1),
}  # fmt: skip
"""Bugs in how the residual stream rounds what heads add."""
ROUNDED = ("rounded counts", "rounded picks")
SOME = ("mean", "sum", "default", "select_best", "counts compared", "one head for an or",
        "two layers of counts")  # fmt: skip
"""Models in which each of them makes a difference."""


def compiled(name: str) -> Transformer | None:
    """Compile a model; None where it is refused."""
    try:
        return model_of.__wrapped__(name)[0]
    except (RaspError, AssertionError, ValueError, LookupError, ArithmeticError):
        return None


def numbers(model: Transformer) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model.weights.arrays().items()}


@pytest.fixture(scope="module")
def right_ones() -> dict[str, dict[str, bytes]]:
    return {name: numbers(model_of(name)[0]) for name in (*SOME, *ROUNDED)}


@pytest.mark.slow
@pytest.mark.parametrize("bug", [*BUGS, *ROUNDING_BUGS])
def test_a_bug_is_caught(
    bug: str, right_ones: dict[str, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if bug not in ROUNDING_BUGS:  # other ways to compile would not have the bug
        monkeypatch.setattr("rasp.models.compiler.build.compile_compact", compact.attempt)
    # whatever a model answers to random inputs is called right: the checker alone decides
    monkeypatch.setattr(certificate, "_agrees", lambda *_: True)
    (BUGS | ROUNDING_BUGS)[bug](monkeypatch)
    caught, missed = [], []
    for name in ROUNDED if bug in ROUNDING_BUGS else SOME:
        model = compiled(name)
        if model is None:
            caught.append(name)
        elif numbers(model) != right_ones[name]:  # another plan, which may be right as well
            missed.append((name, model))
    assert caught
    assert not [name for name, model in missed if mistakes(name, model)]
