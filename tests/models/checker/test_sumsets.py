"""What keys can add up to is what trying all of them finds, however large the numbers are."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rasp.models.checker.relations import TooMuch
from rasp.models.checker.sumsets import Packing, sums_by_length

NEAR = [0, 1, -1, 7, 2**53, 2**53 + 1, 2**62, 2**62 - 1, 2**63, -(2**63), 2**63 - 1, 2**64]
VECTORS = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.sampled_from(NEAR)), min_size=1, max_size=3
)
POSITIONS = st.lists(VECTORS, min_size=1, max_size=4)


def brute(
    options: list[list[tuple[int, int]]], own: list[list[tuple[int, int]]]
) -> set[tuple[int, ...]]:
    """All sums in which one position takes one of its own options."""
    found = set()
    for chosen in range(len(options)):
        ways = [own[at] if at == chosen else options[at] for at in range(len(options))]
        for way in product(*ways):
            found.add(tuple(map(sum, zip(*way, strict=True))))
    return found


@given(POSITIONS, st.data())
@settings(max_examples=300)
def test_sums_are_those_that_trying_finds(
    options: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    own = [data.draw(st.lists(st.sampled_from(every), max_size=2)) for every in options]
    packing = Packing.of([vector for every in options for vector in every], len(options))
    packed = [[frozenset(map(packing.packed, part)) for part in parts] for parts in (options, own)]
    sums = sums_by_length(packed[0], packed[1], None, 10**6)
    for length, numbers in enumerate(sums, 1):
        assert {*map(packing.unpacked, numbers)} == brute(options[:length], own[:length])


@given(POSITIONS)
def test_sums_that_do_not_fit_are_left_out_on_the_way(options: list[list[tuple[int, int]]]) -> None:
    packing = Packing.of([vector for every in options for vector in every], len(options))
    packed = [frozenset(map(packing.packed, every)) for every in options]
    sums = sums_by_length(packed, packed, lambda number: packing.unpacked(number)[0] < 2, 10**6)
    for length, numbers in enumerate(sums, 1):
        wanted = {total for total in brute(options[:length], options[:length]) if total[0] < 2}
        assert {*map(packing.unpacked, numbers)} == wanted


def test_too_many_sums_are_a_budget() -> None:
    with pytest.raises(TooMuch, match="sums"):
        sums_by_length([frozenset(range(1000))] * 9, [frozenset(range(1000))] * 9, None, 10_000)
