"""The fast parts of the search against the plain evaluator, the meaning of the language."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import answer
from rasp.insight.finding.atom_codes import AtomCodes
from rasp.insight.finding.enumeration import Enumeration
from rasp.insight.finding.example_grid import ExampleGrid, Fingerprints, pack, unpack
from rasp.insight.finding.expression_bank import Bank, BankPart, Recipe
from rasp.insight.finding.function_texts import function_texts
from rasp.insight.finding.search_banks import Widths
from rasp.insight.finding.wording import program_text
from rasp.language.embedding.namespace import run
from rasp.language.operators import apply_operator

FAR = 1e18


def enumerated(inputs: list[tuple[Atom, ...]], constants: list[Atom], blanks: list[Atom]
               ) -> Enumeration:  # fmt: skip
    """A small enumeration of two layers."""
    grid = ExampleGrid.of(inputs, [None] * len(inputs), AtomCodes())
    widths = Widths(core=8, paired=4, combined=8, values=6, aggregated=60, operands=25,
                    elementwise=600)  # fmt: skip
    made = Enumeration(grid, constants, blanks, widths, FAR)
    made.grow_elementwise(0)
    for layer in (1, 2):
        made.grow_selectors(layer)
        made.grow_aggregates(layer)
        made.grow_elementwise(layer)
    return made


LETTERS = [tuple("abca"), tuple("b"), tuple("ccab"), tuple("ab")]
NUMBERS: list[tuple[Atom, ...]] = [(3, 1, 2, 1), (0,), (5, -2), (1, 1, 4)]


@pytest.mark.parametrize(
    ("inputs", "constants"),
    [(LETTERS, ["a", "b", 0, 1, True, False]), (NUMBERS, [0, 1, 2, True, False])],
)
def test_every_kind_of_row_is_what_the_plain_evaluator_says(
    inputs: list[tuple[Atom, ...]], constants: list[Atom]
) -> None:
    made = enumerated(inputs, constants, ["_", ""])
    random = Random(0)
    for number in random.sample(range(made.literals, len(made.sops)), 200):
        text = program_text(made.sops.recipe(number), made)
        codes = made.sops.rows[number]
        said = [atom for tokens in inputs for atom in plain(text, tokens)]
        assert said == [made.codes.atoms[code] for code in codes], text


def test_every_kind_of_selection_is_what_the_plain_evaluator_says() -> None:
    made = enumerated(LETTERS, ["a", "b", 0, 1, True, False], ["_", ""])
    for number in Random(1).sample(range(len(made.selectors)), 120):
        recipe = made.selectors.recipe(number)
        counted = made.recipe("selector_width({})", BankPart(True, number))
        text = program_text(counted, made)
        widths = made.dense(np.array([number]))[0].sum(axis=0).tolist()
        assert [width for tokens in LETTERS for width in plain(text, tokens)] == widths, recipe


def plain(text: str, tokens: tuple[Atom, ...]) -> list[Any]:
    outcome = answer([run(text)["answer"].node], tokens)
    assert not isinstance(outcome, RaspError), (text, outcome)
    return outcome[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "==", "<"])
def test_a_table_says_what_the_operator_means(op: str) -> None:
    codes = AtomCodes()
    atoms: list[Atom] = [0, 1, -3, 7, True, "a", "ab"]
    for one, other in product(atoms, repeat=2):
        sides = (np.array([codes.code(one)]), np.array([codes.code(other)]))
        [code] = codes.apply(op, *sides).tolist()
        try:
            assert codes.atoms[code] == apply_operator(op, (one, other))
        except RaspError:
            assert code == -1


def test_bools_are_not_numbers_and_whole_floats_are_ints() -> None:
    codes = AtomCodes()
    assert codes.code(True) != codes.code(1)
    one_half = codes.apply("/", np.array([codes.code(4)]), np.array([codes.code(2)]))
    assert one_half.tolist() == [codes.code(2)]


def test_packing_loses_nothing() -> None:
    rows = np.random.default_rng(0).random((3, 5, 71)) < 0.5
    assert (unpack(pack(rows), 71) == rows).all()


def test_the_same_row_is_kept_once_and_fewer_heads_win() -> None:
    bank = Bank(Fingerprints(3), np.int16, 3)
    row = np.array([[1, 2, 3]], dtype=np.int16)
    bank.offer(row, 1, 2, 2, lambda place: Recipe("dear", heads=frozenset({1, 2})))
    assert bank.offer(row, 1, 5, 1, lambda place: Recipe("cheap", heads=frozenset({1}))) == []
    assert (len(bank), bank.offered, bank.recipe(0).text) == (1, 2, "cheap")


def test_a_function_is_written_as_a_threshold_a_list_or_a_table() -> None:
    assert "({} >= 3)" in dict(function_texts({1: False, 2: False, 3: True}, 9))
    assert '({} in ["a"])' in dict(function_texts({"a": True, "b": False, "c": False}, 9))
    assert "(2 * {} + 1)" in dict(function_texts({0: 1, 1: 3, 2: 5}, 9))
    assert '{{"a": 5, "b": 2, "c": 7}}[{}]' in dict(function_texts({"a": 5, "b": 2, "c": 7}, 9))
