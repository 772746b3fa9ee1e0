"""A selector that is a strict order of the positions gives each of them a rank of its own."""

from __future__ import annotations

from itertools import product

import pytest

import rasp
from rasp.models.certificate.program.orders import ABOVE, BELOW, EQUAL, is_strict_order

CONDITIONS = list(product((BELOW, EQUAL, ABOVE), repeat=2))
"""How a key compares with a query: in a value, and in its index."""


def ranks(chosen: frozenset[tuple[int, ...]], values: tuple[int, ...]) -> list[int]:
    """How many keys each query picks, of the keys that compare with it as is `chosen`."""

    def compared(one: int, other: int) -> int:
        return (BELOW, EQUAL, ABOVE)[(one > other) - (one < other) + 1]

    return [
        sum(
            (compared(values[key], values[query]), compared(key, query)) in chosen
            for key in range(len(values))
            if key != query
        )
        for query in range(len(values))
    ]


def test_strict_orders_are_those_conditions_whose_ranks_all_differ() -> None:
    """All 64 conditions on a value and an index, on every input of four values of 0, 1 and 2."""
    possible = [case for case in CONDITIONS if case[1] != EQUAL]
    found = 0
    for picked in product([False, True], repeat=len(possible)):
        chosen = frozenset(case for case, there in zip(possible, picked, strict=True) if there)
        differ = all(len(set(ranks(chosen, values))) == 4 for values in product(range(3), repeat=4))
        assert is_strict_order(lambda case: case in chosen, [False, True]) == differ  # noqa: B023
        found += differ
    assert found == 6  # by index alone in either direction, or by value and then by index


SMALLER = "select(tokens, tokens, <) or select(tokens, tokens, ==) and select(indices, indices, <)"


@pytest.mark.parametrize(
    ("order", "is_one"),
    [
        (SMALLER, True),
        ("select(indices, indices, >)", True),
        ("select(tokens, tokens, <)", False),
        ("select(tokens, tokens, <=)", False),
        (SMALLER.replace("<)", "<=)", 1), False),
        ("select(tokens, tokens, <) or select(indices, indices, <)", False),
    ],
)
def test_a_pick_by_rank_is_a_value_and_no_mean(order: str, is_one: bool) -> None:
    """By a strict order one key has a rank; by another several may, and their mean is a float."""
    handle = rasp.run(f"out = aggregate(select(selector_width({order}), 1, ==), tokens);")["out"]
    model = rasp.compile(handle, vocabulary=[1, 2, 4], max_length=4)
    atoms = model.readouts[0].atoms
    assert all(isinstance(atom, int) for atom in atoms) == is_one
    for tokens in product([1, 2, 4], repeat=4):
        assert model(list(tokens)) == handle(list(tokens))
