"""The bounds of a feed-forward's rounding hold in whatever order its numbers are added."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rasp
from rasp.compiler import compile
from rasp.compiler.build import build
from rasp.compiler.planning.piecewise import chords, one_sided, quiet_point, steps
from rasp.compiler.planning.plan import make_plan
from rasp.compiler.settings import read_settings
from rasp.errors import RaspUnsupportedError
from rasp.graph import Program


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=9), st.data())
def test_units_that_face_away_from_zero_are_off_there(
    table: list[int], data: st.DataObject
) -> None:
    """A function that is 0 on one stretch only is exactly 0 there, whatever the rounding."""
    low = data.draw(st.integers(0, len(table) - 1))
    high = data.draw(st.integers(low, len(table) - 1))
    values = [Fraction(0 if low <= place <= high else value or 1)
              for place, value in enumerate(table)]  # fmt: skip
    points = [Fraction(place) for place in range(len(values))]
    made = one_sided(steps(points, values), quiet_point(points, values, points[0]), points[0])
    if not made:
        return
    signs = np.array([float(sign) for _, sign in made])
    bias = np.array([-sign * float(position) for position, sign in made])
    out = np.array([[float(change) for change in made.values()]])
    there = np.arange(low, high + 1.0)[:, None] + [-0.01, 0.0, 0.01]  # (point, end of its error)
    assert not np.maximum(there[..., None] * signs + bias, 0).any()
    held = np.maximum(np.arange(len(values))[:, None] * signs + bias, 0) @ out[0]
    assert np.allclose(held - held[low], [float(value) for value in values])


@given(st.dictionaries(st.integers(-40, 40), st.integers(-9, 9), min_size=2, max_size=9))
def test_slopes_are_multiples_of_a_power_of_two(table: dict[int, int]) -> None:
    points, values = zip(*sorted(table.items()), strict=True)
    kinks = chords(list(map(Fraction, points)), list(map(Fraction, values)))
    assert all(Fraction(change * 128).denominator == 1 for change in kinks.values())


def test_what_one_position_gives_is_right_though_its_score_is_not() -> None:
    """The best key weighs nearly 1, so noise in what is compared ends there."""
    text = """smallest = aggregate(select_best(select_all, score(tokens, -1)), tokens);
    out = aggregate(select_best(select(tokens, smallest, ==), score(indices, -1)), indices);"""
    model = compile(
        rasp.run(text)["out"], vocabulary=list(range(9)), max_length=12, style="compact"
    )
    assert model.certificate is not None and model.certificate.exact
    for given_ in ([3], [4, 1, 8, 1], [7, 7, 2, 0, 0, 5]):
        assert model(given_) == [given_.index(min(given_))] * len(given_)


def test_many_classes_are_numbered_in_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rasp.compiler.planning.scores.MANY_CLASSES", 3)
    program = rasp.run("out = aggregate(select(tokens, tokens, ==), indices, 0);")["out"]
    settings = read_settings("abcdefg", 4, None, False, True, "paper", "compact")
    plan = make_plan({"out": program.node}, settings, Program())
    (name,) = [each.text for each in plan.heads[0][0].conjuncts]
    plan = make_plan({"out": program.node}, settings, Program(), {name: 1})
    (conjunct,) = plan.heads[0][0].conjuncts
    assert len(conjunct.products) == 3  # two digits, and the sum of their squares
    scores = conjunct.query_values @ conjunct.key_values.T - conjunct.references[:, None]
    assert ((scores == 0) == conjunct.truth).all()
    assert scores[~conjunct.truth].max() <= -64
    assert build(plan, Program())[1].holds


CANCELLING = {
    "two heads in one dimension": (
        """x = aggregate(select(indices, 0, ==), 16777216 if tokens == 777 else 0);
        y = aggregate(select(indices, 1, ==), 1 if tokens < 500 else 0); out = x + y;""",
        4, [[777, 3], [777, 600], [3, 777]],
    ),
    "a read-out far from what it reads": (
        """f = 900 + ((500 if tokens == 777 else 499 if tokens == 778 else 498 if tokens == 779
            else 0) / 1024);
        out = aggregate(select(indices, 0, ==), f) - 900;""",
        2, [[777], [778], [779], [3]],
    ),
    "a constant that float32 does not hold": (
        """v = aggregate(select(indices, 0, ==), 499999 + (1 if tokens < 500 else 0)) - 499999.03;
        s = select(tokens, 777, ==); out = selector_width(s) * aggregate(s, v);""",
        8, [[777, 777], [3, 777, 777], [777]],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CANCELLING)
def test_numbers_that_cancel_are_right_or_refused(name: str) -> None:
    text, length, inputs = CANCELLING[name]
    program = rasp.run(text)["out"]
    with contextlib.suppress(RaspUnsupportedError):
        model = compile(program, vocabulary=list(range(1000)), max_length=length, style="compact")
        for each in inputs:
            assert model(each) == program(each)
