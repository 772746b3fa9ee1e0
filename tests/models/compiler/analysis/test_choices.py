"""A sum with a choice in it, too large to be tabulated, becomes a choice between sums."""

from __future__ import annotations

import pytest
from agreement import assert_agrees

import rasp
import rasp.teaching.gallery
from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import compile
from rasp.models.compiler.analysis import joint_states

CHOICE = """first = select_best(select(tokens, "a", ==), score(indices, -1));
last = select_best(select(tokens, "b", ==), score(indices, 1));
found = aggregate(first, indices) if has_focus(first) else length;
at = aggregate(last, indices, -1);
"""


@pytest.mark.parametrize("place", ["at + found - indices", "indices - (at - found)"])
def test_a_choice_between_sums_is_right(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_states, "MOST_STATES", 1000)
    node = rasp.run(CHOICE + f"out = load_from_location(indices, {place});")["out"].node
    model = compile({"out": node}, vocabulary="ab", max_length=6, style="compact")
    assert_agrees(model, node)


def test_what_is_no_choice_between_sums_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_states, "MOST_STATES", 1000)
    handle = rasp.run(CHOICE + "out = load_from_location(indices, at * found - indices);")["out"]
    with pytest.raises(RaspUnsupportedError, match="combinations of values"):
        compile(handle, vocabulary="ab", max_length=6, style="compact")
