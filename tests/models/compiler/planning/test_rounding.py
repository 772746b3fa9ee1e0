"""Numbers that are rounded on the way: slopes, many classes, sums that cancel."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.language.graph import Program
from rasp.models.compiler import compile
from rasp.models.compiler.compact import build
from rasp.models.compiler.planning.piecewise import chords
from rasp.models.compiler.planning.plan import make_plan
from rasp.models.compiler.settings import read_settings


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
    monkeypatch.setattr("rasp.models.compiler.planning.scores.MANY_CLASSES", 3)
    program = rasp.run("out = aggregate(select(tokens, tokens, ==), indices, 0);")["out"]
    settings = read_settings("abcdefg", 4, None, False, True, "paper", "compact")
    plan = make_plan({"out": program.node}, settings, Program())
    assert len(plan.heads[0][0].products) == 3  # two digits, and the sum of their squares
    model, certificate = build(plan, Program())
    assert certificate.exact and model("gacg") == program("gacg")


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
