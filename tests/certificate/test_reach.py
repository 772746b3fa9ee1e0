"""Sums that a head can make are listed all, and no others: compared with every choice of keys."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from rasp.certificate.program import reach
from rasp.certificate.program.reach import sums, whole_sums


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("least", [0, 1])
def test_sums_are_those_of_every_choice(seed: int, least: int) -> None:
    draw = random.Random(seed)
    values = {Fraction(draw.randint(-4, 4), draw.choice([1, 2, 3])) for _ in range(3)}
    most = draw.randint(1, 4)
    every = [picked for count in range(least, most + 1) for picked in product(values, repeat=count)]
    assert sums(values, most, least) == sorted({sum(picked, Fraction(0)) for picked in every})


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("by_count", [False, True])
@pytest.mark.parametrize("most_ways", [0, 400_000])
def test_joint_sums_are_those_of_every_choice(
    seed: int, by_count: bool, most_ways: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "MOST_WAYS", most_ways)
    draw = random.Random(seed)
    rows = {(Fraction(draw.randint(-2, 3)), Fraction(draw.randint(0, 9))) for _ in range(3)}
    most = draw.randint(1, 4)
    expected = {
        (count if by_count else 1, *(int(sum(row[place] for row in picked)) for place in (0, 1)))
        for count in range(1 if by_count else 0, most + 1)
        for picked in product(rows, repeat=count)
    }
    found = whole_sums(rows, most, by_count)
    assert found is not None
    assert {tuple(row) for row in found[0].tolist()} == expected
