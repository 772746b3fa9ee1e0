"""Sums that a head can make are listed all, and no others: compared with every choice of keys."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rasp.models.certificate import Refused
from rasp.models.certificate.program import reach
from rasp.models.certificate.program.reach import (
    Row,
    joint_sums,
    means,
    pair_sums,
    subset_sums,
    sums,
    sums_after,
    whole_sums,
)


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


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_two_are_those_of_every_choice(seed: int) -> None:
    draw = random.Random(seed)
    ones, others = ([Fraction(draw.randint(-9, 9), draw.choice([1, 2, 3])) for _ in range(4)]
                    for _ in range(2))  # fmt: skip
    assert pair_sums(ones, others) == sorted({one + other for one in ones for other in others})
    step = others[0] or Fraction(1)
    expected = {one + count * step for place, one in enumerate(ones)
                for count in range(place + 1, len(ones) + 1)}  # fmt: skip
    assert sums_after(ones, step) == sorted(expected)


@given(st.lists(st.integers(-4, 4).map(Fraction), min_size=1, max_size=6), st.integers(1, 3))
def test_means_and_subset_sums_are_those_of_every_choice(values: list[Fraction], most: int) -> None:
    picked = [keys for count in range(1, most + 1) for keys in product(values, repeat=count)]
    assert means(values, most) == sorted({sum(keys) / len(keys) for keys in picked})
    once = product(*([Fraction(0), value] for value in values))
    assert subset_sums(values) == sorted({sum(keys, Fraction(0)) for keys in once})


@pytest.mark.parametrize(
    "grow",
    [
        lambda: sums([Fraction(1), Fraction(1000), Fraction(10**6)], 90, 0),
        lambda: subset_sums([Fraction(30_000_000)]),
        lambda: pair_sums(map(Fraction, range(5000)), map(Fraction, range(5000))),
    ],
)
def test_sets_that_grow_too_large_are_counted_before_they_are_listed(
    grow: Callable[[], list[Fraction]],
) -> None:
    with pytest.raises(Refused, match="too large to be listed"):
        grow()


def test_fractions_that_no_unit_fits_are_not_added_up() -> None:
    """Each of 80 such numbers took 20 MB, in units of all of them."""
    odd = [Fraction(1, 10**4000 + number) for number in range(10)]
    for add in (pair_sums, lambda one, other: sums(one, 2, 0), lambda one, _: subset_sums(one)):
        with pytest.raises(Refused, match="too different to be added up"):
            add(odd, odd)


def test_many_sums_are_added_in_whole_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seventeen million sums of fractions took more than a minute, for one claimed variable."""
    thirds = [Fraction(number, 3) for number in range(5)]

    def added(*_: object) -> None:
        raise AssertionError("two fractions are added")

    for name in ("__add__", "__radd__"):
        monkeypatch.setattr(Fraction, name, added)
    assert pair_sums(thirds, thirds) == [Fraction(number, 3) for number in range(9)]
    assert sums_after(thirds, thirds[1])[0] == thirds[1]


@given(
    st.lists(st.tuples(*[st.integers(-3, 3).map(Fraction)] * 2), min_size=1, max_size=3),
    st.integers(1, 4),
)
def test_rows_add_up_as_all_choices_of_them_do(rows: list[Row], most: int) -> None:
    choices = [
        each for count in range(1, most + 1) for each in combinations_with_replacement(rows, count)
    ]
    added = {each: tuple(map(sum, zip(*each, strict=True))) for each in choices}
    assert joint_sums(rows, most) == sorted({(Fraction(0),) * 2, *added.values()})
    assert joint_sums(rows, most, by_count=True) == sorted({
        tuple(number / len(each) for number in row) for each, row in added.items()
    })  # fmt: skip


@pytest.mark.slow
def test_rows_that_take_too_long_to_add_up_are_given_up() -> None:
    rows = [(Fraction(place), Fraction(place**2)) for place in range(20)]
    assert joint_sums(rows, 200) is None
    assert joint_sums(rows, 200, by_count=True) is None
