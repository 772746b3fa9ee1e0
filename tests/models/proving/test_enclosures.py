"""Each function's enclosure against mpmath, on random and extreme numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath_reference import activation, exactly, mp

from rasp.models.proving.activations import FUNCTIONS, GELU_SLOPE
from rasp.models.proving.digits import FUNCTION_ULPS, Digits, Float64, gamma
from rasp.models.proving.double_double import DoubleDouble, TwoFloats
from rasp.models.proving.enclosures import Ball, Balls
from rasp.models.proving.network_table import ACTIVATIONS, Activate, Normalise
from rasp.models.proving.radii import spectral, up


def numbers(random: np.random.Generator, count: int) -> Any:
    """Numbers of every size, and those at which functions turn, vanish or overflow."""
    sizes = random.normal(size=count) * 10.0 ** random.uniform(-12, 2.5, size=count)
    extreme = [0.0, -0.0, 1.0, -1.0, 2**0.5, -(2**0.5), -0.7517916, 9.0, -9.0, 8.999999, 30.0,
               -30.0, -700.0, -745.2, -1000.0, 1e-300, -1e-300, 5e-324, 350.0]  # fmt: skip
    return np.concatenate([extreme, sizes])[:count]


KINDS: dict[str, Callable[[], Digits]] = {"float64": Float64, "double-double": DoubleDouble}


def check_functions(digits: Digits, count: int) -> None:
    x = numbers(np.random.default_rng(3), count)
    cases = {"exp": np.minimum(x, 0.0), "tanh": x, "erf": x, "sqrt": np.abs(x) + 1e-30}
    for name, points in cases.items():
        found = exactly(getattr(digits, name)(digits.constant(points)))
        for point, value in zip(points.tolist(), found.tolist(), strict=True):
            real = getattr(mp, name)(mp.mpf(point))
            scale = 1 if name in ("tanh", "erf") and digits.u < 1e-20 else abs(real)
            limit = FUNCTION_ULPS * digits.u * scale + mp.mpf(2) ** -1000
            assert abs(value - real) <= limit, (name, point)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_are_within_eight_units(kind: str) -> None:
    check_functions(KINDS[kind](), 600)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_functions_are_within_eight_units_on_many_numbers(kind: str) -> None:
    check_functions(KINDS[kind](), 100_000)


def check_balls(kind: str, digits: Digits, count: int) -> None:
    """Both ends of each interval, and a point inside, stay in the ball of the middle."""
    random = np.random.default_rng(5)
    middle = numbers(random, count)
    radius = np.abs(numbers(random, count)[::-1]) * random.integers(0, 2, count)
    ball = Ball(digits.constant(middle[:, None]), radius)
    found = Balls(digits).activate(ball, Activate(kind))
    centre = exactly(found.middle)[:, 0]
    for place in range(count):
        for share in (-1, 0.3, 1):
            x = mp.mpf(middle[place]) + mp.mpf(share) * mp.mpf(radius[place])
            assert abs(activation(kind, x) - centre[place]) <= found.radius[place], (kind, x)


@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_activations_keep_their_intervals(kind: str) -> None:
    check_balls(kind, Float64(), 300)
    check_balls(kind, DoubleDouble(), 300)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_activations_keep_100_000_intervals(kind: str) -> None:
    check_balls(kind, Float64(), 100_000)


def test_no_slope_of_gelu_is_above_the_one_charged() -> None:
    for kind in ("gelu", "gelu_tanh"):
        steps = [activation(kind, mp.mpf(place + 1) / 500) - activation(kind, mp.mpf(place) / 500)
                 for place in range(-3000, 3000)]  # fmt: skip
        assert 1.12 < max(steps) * 500 < GELU_SLOPE
    assert set(FUNCTIONS) == set(ACTIVATIONS)


@pytest.mark.parametrize("seed", range(30))
def test_a_layer_norm_keeps_its_ball(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 9))
    middle = random.normal(size=(1, count)) * 10.0 ** random.integers(-3, 4)
    if seed % 3 == 0:  # nearly constant: the variance is all rounding
        middle = 1e3 + middle * 1e-9
    radius = np.array([10.0 ** random.uniform(-14, 1)])
    step = Normalise(random.normal(size=count), random.normal(size=count), 10.0 ** -(seed % 12))
    ball = Balls(Float64()).normalise(Ball(middle, radius), step)
    for _ in range(30):
        push = random.normal(size=count)
        push *= radius[0] * 0.999999 / np.linalg.norm(push)
        x = [mp.mpf(one) + mp.mpf(other) for one, other in zip(middle[0], push, strict=True)]
        mean = sum(x) / count
        spread = mp.sqrt(sum((one - mean) ** 2 for one in x) / count + mp.mpf(step.epsilon))
        real = [(one - mean) / spread * mp.mpf(gain) + mp.mpf(shift)
                for one, gain, shift in zip(x, step.gain, step.shift, strict=True)]  # fmt: skip
        off = sum(
            (one - mp.mpf(other)) ** 2 for one, other in zip(real, ball.middle[0], strict=True)
        )
        assert mp.sqrt(off) <= ball.radius[0]


@pytest.mark.parametrize("seed", range(20))
def test_an_average_by_unsure_attention_stays_in_its_spread(seed: int) -> None:
    from rasp.models.proving.enclosures import _Spread

    random = np.random.default_rng(seed)
    count = int(random.integers(1, 6))
    scores, values = random.normal(size=count) * 3, random.normal(size=(count, 2))
    unsure = np.abs(random.normal(size=count)) * 10.0 ** random.uniform(-6, 1)

    def attention(x: Any) -> Any:
        powers = np.exp(x - x.max())
        return powers / powers.sum()

    sizes = np.linalg.norm(values, axis=1)
    spread = _Spread(attention(scores)[None, None], unsure[None, None], sizes[None])
    limit, most = float(spread.moved()[0, 0]), float(spread.mean(sizes[None])[0, 0])
    for _ in range(200):
        moved = attention(scores + unsure * random.choice([-1, 1, 0.4], size=count))
        assert np.abs((moved - attention(scores)) * 1.0) @ sizes <= limit * (1 + 1e-9) + 1e-15
        assert moved @ sizes <= most * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 7), (16, 16), (64, 200)])
def test_the_spectral_norm_is_bounded_closely(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(sum(shape))
    for scale in (1e-30, 1.0, 1e30):
        matrix = random.normal(size=shape) * scale
        true = float(np.linalg.norm(matrix, 2))
        assert true * (1 - 1e-9) <= spectral(matrix) <= true * 1.05
    assert 0 < spectral(np.zeros(shape)) < 1e-100, "squares of small numbers vanish"
    rank_one = np.outer(np.arange(shape[0]) + 1.0, np.arange(shape[1]) + 1.0)
    assert spectral(rank_one) == pytest.approx(float(np.linalg.norm(rank_one, 2)), rel=1e-6)


@pytest.mark.parametrize("terms", [1, 2, 7, 64, 300])
def test_double_double_products_of_matrices_are_as_near_as_charged(terms: int) -> None:
    random = np.random.default_rng(terms)
    digits = DoubleDouble()

    def draw(*shape: int) -> TwoFloats:
        high = random.normal(size=shape) * 10.0 ** random.uniform(-8, 8, size=shape)
        return digits.constant(high, high * 2.0**-54 * random.uniform(-1, 1, size=shape))

    x, y = draw(3, terms), draw(terms, 2)
    real = exactly(x) @ exactly(y)
    found = exactly(digits.matmul(x, y))
    for row in range(3):
        for column in range(2):
            sizes = mp.norm(list(exactly(x)[row])) * mp.norm(list(exactly(y)[:, column]))
            limit = digits.product_error(terms) * sizes
            assert abs(found[row, column] - real[row, column]) <= limit


def test_double_double_arithmetic_keeps_its_unit() -> None:
    random = np.random.default_rng(1)
    digits = DoubleDouble()
    x, y = (digits.constant(random.normal(size=500) * 10.0 ** random.uniform(-9, 9, 500),
                            random.normal(size=500) * 1e-28) for _ in range(2))  # fmt: skip
    a, b = exactly(x), exactly(y)
    for found, real in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b)):
        off = np.array([abs(one - two) <= digits.u * abs(two) * 8
                        for one, two in zip(exactly(found), real, strict=True)])  # fmt: skip
        assert off.all()


def test_radii_are_rounded_up() -> None:
    assert up(np.array(1.0)) > 1 and up(np.array(0.0)) > 0
    assert gamma(10, 2.0**-53) >= 10 * 2.0**-53
