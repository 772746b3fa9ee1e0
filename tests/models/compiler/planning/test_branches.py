"""A large table with a choice in it is a sum of smaller ones; equal strings have equal codes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from agreement import assert_agrees

import rasp
from rasp.models.compiler import compile
from rasp.models.compiler.analysis.tables import NumberedTable
from rasp.models.compiler.analysis.variables import Variable
from rasp.models.compiler.planning import features


def variable(size: int) -> Variable:
    return Variable(0, tuple((place, Fraction(place)) for place in range(size)), False)


def test_the_parts_of_a_choice_add_up_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "LARGE", 1)
    inputs = choice, left, right = variable(3), variable(7), variable(8)
    rows = list(product(range(3), range(7), range(8)))
    table = [None if (a, c) == (1, 2) else Fraction([b * b, c * c, c][a]) for a, b, c in rows]
    parts = features.branches(NumberedTable.of(inputs, table))
    assert {frozenset(part.inputs) for part in parts} == {
        frozenset({choice, left}), frozenset({choice, right})
    }  # fmt: skip
    for place, row in enumerate(rows):
        state = dict(zip(inputs, row, strict=True))
        terms = [part.values[part.places[tuple(map(state.get, part.inputs))]] for part in parts]
        if table[place] is not None:
            assert sum(term for term in terms if term is not None) == table[place]


def test_a_table_without_a_choice_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "LARGE", 1)
    inputs = variable(4), variable(5), variable(6)
    table = [Fraction(a * b * c) for a, b, c in product(range(4), range(5), range(6))]
    whole = NumberedTable.of(inputs, table)
    assert features.branches(whole) == [whole]


@pytest.mark.parametrize("text", [
    'out = shift(tokens, 1, "") == tokens;',
    'out = shift(tokens, 1, "") != shift(tokens, -1, "");',
    'out = aggregate(select(tokens, "b", ==), tokens) == shift(tokens, 2, "-");',
    'out = {"a": "b", "b": "c", "c": "d"}[tokens] == shift(tokens, -1, "a");',
    'out = shift(tokens, 1, "") == "a" or shift(tokens, 1, "") != shift(tokens, 1, "-");',
])  # fmt: skip
def test_strings_are_compared_by_codes(text: str) -> None:
    node = rasp.run(text)["out"].node
    model = compile({"out": node}, vocabulary="abc", max_length=5, style="compact")
    assert_agrees(model, node)
