"""Balls hold the real number: a whole forward pass against 50 digits, and float32 against both."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath_reference import Reference, exactly, mp, random_model

from rasp.base.errors import RaspError
from rasp.models.proving.architecture_rows import network_of
from rasp.models.proving.digits import Digits, Float64, ManyDigits
from rasp.models.proving.double_double import DoubleDouble
from rasp.models.proving.enclosures import Balls
from rasp.models.proving.network_table import forward
from rasp.models.proving.prefixes import lay_out
from rasp.models.proving.single_precision import Single


def inputs(random: np.random.Generator) -> Any:
    """Some inputs of one length, in order, no two alike."""
    length = int(random.integers(1, 6))
    rows = random.integers(0, 3, size=(4, length))
    return np.unique(rows, axis=0)


def holds(digits: Digits, seed: int, **given: Any) -> float:
    """Check that every ball of a random model holds the real logits; return the largest radius."""
    random = np.random.default_rng(seed)
    row, arrays = random_model(random, **given)
    ids = inputs(random)
    layout = lay_out(ids, row.causal)
    network = network_of(row, arrays)
    with np.errstate(all="ignore"):
        ball = forward(network, layout, Balls(digits))
    middle = exactly(ball.middle)
    reference = Reference(row, arrays)
    for nodes, tokens in zip(layout.nodes, ids.tolist(), strict=True):
        real = reference.logits(tokens)
        rows = [len(layout.nodes) and list(map(tuple, layout.nodes)).index(tuple(nodes))]
        for vector, node in zip(real, rows if row.pool else nodes, strict=True):
            pairs = zip(vector, middle[node], strict=True)
            off = mp.sqrt(sum((one - other) ** 2 for one, other in pairs))
            assert off <= ball.radius[node], (seed, row, off, ball.radius[node])
    return float(ball.radius.max())


@pytest.mark.parametrize("seed", range(12))
def test_every_ball_holds_the_real_logits(seed: int) -> None:
    assert holds(Float64(), seed) >= 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_every_ball_of_200_models_holds_the_real_logits(seed: int) -> None:
    assert holds(Float64(), seed) >= 0


@pytest.mark.parametrize("seed", range(1000, 1006))
def test_double_double_balls_hold_the_real_logits_and_are_narrow(seed: int) -> None:
    assert holds(DoubleDouble(), seed, layers=2) < 1e-8 * max(
        1e-12, holds(Float64(), seed, layers=2)
    )


def test_many_digits_give_balls_as_narrow_as_asked_for() -> None:
    assert holds(ManyDigits(160), 7, layers=1) < 1e-30


@pytest.mark.parametrize("seed", range(20))
def test_float32_is_near_the_real_logits(seed: int) -> None:
    random = np.random.default_rng(seed)
    row, arrays = random_model(random, epsilon=1e-3)
    ids = inputs(random)
    layout = lay_out(ids, row.causal)
    single = Single()
    logits = single.array(forward(network_of(row, arrays), layout, single))
    real = Reference(row, arrays).logits(ids[0].tolist()).astype(float)
    mine = logits[:1] if row.pool else logits[layout.nodes[0]]
    assert np.allclose(mine, real, rtol=1e-2, atol=1e-2 * max(1.0, float(np.abs(real).max())))


@pytest.mark.slow
def test_torch_computes_as_numpy_does() -> None:
    pytest.importorskip("torch")
    with pytest.raises(RaspError, match="cannot compute on `abacus`"):
        Single("abacus")
    for seed in range(10):
        random = np.random.default_rng(seed)
        row, arrays = random_model(random)
        layout = lay_out(inputs(random), row.causal)
        network = network_of(row, arrays)
        one, other = Single(), Single("cpu")
        mine, theirs = (each.array(forward(network, layout, each)) for each in (one, other))
        assert np.allclose(mine, theirs, rtol=1e-2, atol=1e-3 * max(1.0, float(np.abs(mine).max())))


def test_what_begins_alike_is_computed_once() -> None:
    rows = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1]])
    layout = lay_out(rows, causal=True)
    assert len(layout.ids) == 6
    assert layout.nodes[1, 1] == layout.nodes[2, 1] != layout.nodes[0, 1]
    assert len(lay_out(rows, causal=False).ids) == 9


def test_the_oracle_knows_more_digits_than_are_tested() -> None:
    assert mp.dps == 50 and mpmath.mp.dps == 15  # nobody else's digits were changed
