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
from rasp.compiler.emitting.bounds import Bounds
from rasp.compiler.emitting.rounding import Units, added, added_by_all, measured
from rasp.compiler.emitting.stream_errors import Added, Summands, grain_of
from rasp.compiler.emitting.weights import Emitter
from rasp.compiler.planning.piecewise import chords, one_sided, quiet_point, steps
from rasp.compiler.planning.plan import make_plan
from rasp.compiler.settings import read_settings
from rasp.errors import RaspUnsupportedError
from rasp.graph import Program

Array = np.ndarray
DIMS = 3


class Block:
    """Random hidden units that read z, a sum of a few numbers, at some points."""

    def __init__(self, rng: np.random.Generator, terms: int, whole: bool) -> None:
        count, points = int(rng.integers(1, 30)), int(rng.integers(1, 8))
        if whole:
            self.weights = 2.0 ** rng.integers(0, 3, terms)
            self.parts = rng.integers(-50, 50, (points, terms)).astype(float)
            bias, out = rng.integers(-99, 99, count), rng.integers(-9, 9, (DIMS, count))
        else:
            self.weights = rng.normal(size=terms).astype(np.float32).astype(float) * 10
            self.parts = rng.normal(size=(points, terms)).astype(np.float32).astype(float)
            bias, out = rng.normal(size=count) * 10, rng.normal(size=(DIMS, count)) * 1000
        self.weights = self.weights.astype(np.float32).astype(float)
        self.units = Units(rng.choice([-1.0, 1.0], count), bias.astype(float), out.astype(float))
        self.points = self.parts @ self.weights
        hidden = np.maximum(self.points[:, None] * self.units.signs + self.units.bias, 0)
        self.aim = hidden @ self.units.out.T  # (point, dimension)
        products = self.parts * self.weights
        grain = grain_of(products) if whole else 0.0
        mass = float(np.abs(products).sum(axis=1).max())
        self.z = Summands(0.0, mass, terms, not whole, grain)

    def bounded(self) -> Added:
        return added(self.units, self.points, (self.aim - self.aim[0]).T, self.z)

    def numbers(self, point: int, rng: np.random.Generator) -> Array:
        """(unit, dimension): what is added up, in float32, each z put together in some order."""
        small = np.float32
        found = []
        for sign, bias, out in zip(
            self.units.signs, self.units.bias, self.units.out.T, strict=True
        ):
            terms = (sign * self.weights).astype(small) * self.parts[point].astype(small)
            inside = summed([*terms, small(bias)], rng)
            found.append(np.maximum(inside, small(0)) * out.astype(small))
        return np.array(found, small)


def summed(numbers: list[np.float32] | Array, rng: np.random.Generator) -> np.float32:
    """Add in float32: from the left, from the largest, or two by two; all in a random order."""
    left = [np.float32(number) for number in numbers]
    rng.shuffle(left)
    how = rng.integers(3)
    if how == 1:
        left.sort(key=lambda number: -float(number))
    while len(left) > 1:
        if how == 2:
            place = int(rng.integers(len(left) - 1))
            left[place : place + 2] = [left[place] + left[place + 1]]
        else:
            left[:2] = [left[0] + left[1]]
    return left[0] if left else np.float32(0)


@pytest.mark.parametrize("seed", range(40))
def test_no_order_of_adding_rounds_beyond_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = [Block(rng, int(rng.integers(1, 4)), whole=False) for _ in range(rng.integers(1, 3))]
    dims = np.arange(DIMS)
    found = added_by_all(DIMS, [(dims, block.bounded()) for block in blocks])
    points = [int(rng.integers(len(block.points))) for block in blocks]
    aim = sum(block.aim[point] for block, point in zip(blocks, points, strict=True))
    worst = np.zeros(DIMS)
    for _ in range(5):
        numbers = np.concatenate(
            [block.numbers(point, rng) for block, point in zip(blocks, points, strict=True)]
        )
        got = np.array([summed(numbers[:, dim], rng) for dim in range(DIMS)], float)
        worst = np.maximum(worst, np.abs(got - aim))
    assert (worst <= found.bound()).all()
    assert (found.bound() < 1e-4 * (found.up + found.down)).all()


@pytest.mark.parametrize("seed", range(20))
def test_whole_numbers_are_added_exactly_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    block = Block(rng, int(rng.integers(1, 4)), whole=True)
    assert not block.bounded().bound().any()
    for point in range(len(block.points)):
        numbers = block.numbers(point, rng)
        got = [summed(numbers[:, dim], rng) for dim in range(DIMS)]
        assert got == block.aim[point].tolist()


def test_what_is_too_large_for_float32_is_not_called_exact() -> None:
    signs, bias = np.ones(3), np.zeros(3)
    points, wanted = np.array([0.0, 2.0**23]), np.array([[0.0, 2.0**23]])
    z = Summands(0.0, 2.0**23, 1, False, 1.0)
    fine = added(Units(signs, bias, np.array([[1.0, 1.0, -1.0]])), points, wanted, z)
    assert not fine.bound().any()
    large = added(Units(signs, bias, np.array([[2.0, 2.0, -3.0]])), points, wanted, z)
    assert large.bound()[0] > 1


def test_a_point_that_is_off_counts_at_both_ends() -> None:
    units = Units(np.ones(1), np.zeros(1), np.array([[4.0]]))
    points, wanted = np.array([1.0, 2.0]), np.array([[0.0, 4.0]])
    found = added(units, points, wanted, Summands(0.25, 2.0, 1, False, 0.0))
    assert 1.0 <= found.bound()[0] < 1.001


def test_a_measurement_is_no_less_than_what_it_measures() -> None:
    rng = np.random.default_rng(1)
    block = Block(rng, 1, whole=False)
    found = measured(block.units, block.points, (block.aim - block.aim[0]).T, 0.0)
    assert (found.bound() > 0).all() and (found.bound() < 1).all()
    assert (found.bound() <= block.bounded().bound()).all()


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
    numbers = np.array([float(value) for value in values])
    z = Summands(0.01, float(len(values)), 2, True, 0.0)
    found = added(Units(signs, bias, out), np.arange(len(values), dtype=float),
                  (numbers - numbers[0])[None], z)  # fmt: skip
    assert found.still.all()
    assert found.bound()[0] < 0.01


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


def test_matches_of_noisy_numbers_score_without_noise() -> None:
    """Made with care, what a match reads is 0, which hidden units that are off add exactly."""
    text = """m = aggregate(select(tokens, tokens, <=), indices);
    out = selector_width(select(m, m, ==));"""
    program = rasp.run(text)["out"]
    settings = read_settings("abc", 5, None, False, True, "paper", "compact")
    plan = make_plan({"out": program.node}, settings, Program())
    (text,) = [each.text for each in plan.heads[1][0].conjuncts]
    errors = []
    for care in ({}, {text: 1}, {text: 2}):
        plan = make_plan({"out": program.node}, settings, Program(), care)
        emitter = Emitter(plan)
        bounds = Bounds(plan, emitter, emitter.weights())
        bounds.walk()
        found = bounds._conjunct(plan.heads[1][0].conjuncts[0])
        errors.append((found.error, found.match_error))
    assert errors[0][1] > errors[1][1] > 1e-6 > errors[2][1]


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
    emitter = Emitter(plan)
    assert all(check.holds for check in Bounds(plan, emitter, emitter.weights()).walk())


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
