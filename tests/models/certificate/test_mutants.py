"""Every array matters: a model with a number changed is refused, or is right on every input."""

from __future__ import annotations

import pytest
from mutants import outcome

from models import KINDS, mistakes, model_of, verdict


@pytest.mark.parametrize("name", KINDS)
def test_a_model_as_it_was_compiled_passes(name: str) -> None:
    model, outputs = model_of(name)
    found = verdict(model, outputs)
    assert found.holds, found.reason
    assert not mistakes(name, model)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_changed_number_is_refused_or_makes_no_difference(name: str) -> None:
    refused, right, total, wrong = outcome(name, 60)
    assert not wrong
    bears_changes = name.startswith("robust")
    assert refused > (0 if bears_changes else total / 4)
    assert refused + right == total
