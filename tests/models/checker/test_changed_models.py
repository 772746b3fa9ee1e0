"""Every array and every claim matters: a model with one of them changed is refused, or it is right
on every input. Programs, vocabularies and promises are changed, too.
"""

from __future__ import annotations

import random

import pytest
import swaps
from mutants import mutants, with_arrays
from robust_models import robust_kinds, robust_model, verdict

from models import expected_of, mistakes_in


@pytest.mark.parametrize("name", robust_kinds())
def test_a_model_as_it_was_compiled_passes(name: str) -> None:
    model, outputs = robust_model(name)
    found = verdict(model, outputs)
    assert found.holds, found.reason
    assert not mistakes_in(model, expected_of(model, outputs))


@pytest.mark.slow
@pytest.mark.parametrize("name", robust_kinds())
def test_a_changed_number_is_refused_or_makes_no_difference(name: str) -> None:
    model, outputs = robust_model(name)
    wanted, refused = expected_of(model, outputs), 0
    for label, arrays in mutants(model.weights.arrays(), 60, 0):
        if verdict(model, outputs, arrays).holds:
            assert not mistakes_in(with_arrays(model, arrays), wanted), label
        else:
            refused += 1
    assert refused


@pytest.mark.slow
@pytest.mark.parametrize("name", robust_kinds())
def test_what_is_accepted_of_changed_models_is_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swaps, "verdict", verdict)
    model, outputs = robust_model(name)
    trials = list(swaps.judge(model, outputs, 30, random.Random(name)))
    assert [trial for trial in trials if trial.why] == []
