"""Programs, claims and arrays that are not quite those of a model are refused, or are right."""

from __future__ import annotations

import random

import pytest
from beliefs import untrue
from swaps import change, honest_case, judge

from models import KINDS, model_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", KINDS)
def test_what_is_accepted_of_changed_models_is_right(name: str) -> None:
    model, outputs = model_of(name)
    trials = list(judge(model, outputs, 10, random.Random(name)))
    assert [trial for trial in trials if trial.why] == []


@pytest.mark.parametrize("name", KINDS)
def test_what_is_believed_of_changed_programs_is_true(name: str) -> None:
    """Whatever tables and facts follow from claims that hold, with the program or claims changed:
    all of it is so on every input.
    """
    model, outputs = model_of(name)
    chooser, case = random.Random(name), honest_case(model, outputs)
    assert list(untrue(case.claims, case.settings, outputs, chooser)) == ["accepted"]
    for _ in range(3):
        other = change(case, chooser)
        found = untrue(other.claims, other.settings, other.outputs, chooser)
        assert [what for what in found if what != "accepted"] == []
