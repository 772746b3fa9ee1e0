"""Columns: atoms go in and come out unchanged, operators and codes agree with the atoms' own."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from rasp.atoms import Atom
from rasp.errors import RaspError
from rasp.evaluator.fast.coding import codes_of
from rasp.evaluator.fast.columns import from_atoms
from rasp.evaluator.fast.elementwise import elementwise
from rasp.evaluator.fast.sums import limbs
from rasp.graph import OPERATORS, apply_operator

SOME: list[Atom] = [
    True, False, 0, 1, -1, 2, 7, -3,
    Fraction(1, 2), Fraction(-1, 2), Fraction(5, 2), Fraction(3), Fraction(-7, 3), Fraction(0),
    2**31, 2**61, 2**62, -(2**62), 2**63, 3**40, 10**30, Fraction(2**61, 3), Fraction(1, 2**61),
    Fraction(10**25, 7), "", "a", "b", "ab", "3", "-2", "1.5", "é", "\U0001f600",
]  # fmt: skip
TWO_OPERANDS = [op for op, row in OPERATORS.items() if row.arity == 2]
ONE_OPERAND = [op for op, row in OPERATORS.items() if row.arity == 1]


def test_atoms_keep_their_kinds() -> None:
    for atoms in ([True, 1, Fraction(1)], ["b", "a"], [2**80, 1], [Fraction(1, 3), False], SOME):
        found = from_atoms(atoms).atoms(len(atoms))
        assert [(type(atom), atom) for atom in found] == [(type(atom), atom) for atom in atoms]


def test_one_atom_stands_for_all_positions() -> None:
    assert from_atoms([Fraction(3, 2)]).atoms(3) == [Fraction(3, 2)] * 3


@pytest.mark.parametrize("op", TWO_OPERANDS)
def test_operators_of_two_agree_with_the_table_on_every_pair(op: str) -> None:
    check_agreement(op, list(itertools.product(SOME, SOME)))


@pytest.mark.parametrize("op", ONE_OPERAND)
def test_operators_of_one_agree_with_the_table(op: str) -> None:
    check_agreement(op, [(atom,) for atom in SOME])


@pytest.mark.parametrize("op", TWO_OPERANDS)
@pytest.mark.parametrize("constant", [2, -1, 0, Fraction(2, 3), 2**70, "ab", True], ids=repr)
def test_a_constant_operand_agrees_too(op: str, constant: Atom) -> None:
    check_agreement(op, [(atom, constant) for atom in SOME], constants=(1,))
    check_agreement(op, [(constant, atom) for atom in SOME], constants=(0,))


@pytest.mark.parametrize("members", [1, 3, 30])
def test_look_ups_agree_with_the_table(members: int) -> None:
    items: list[Atom] = [*range(members), Fraction(1, 2), "a", True]
    every = range(1, 1 + len(items))
    check_agreement("at", [(atom, *items) for atom in SOME], constants=every)
    check_agreement("in", [(atom, *items) for atom in SOME], constants=every)
    pairs = [part for item in items for part in (item, item)]
    check_agreement("lookup", [(atom, *pairs) for atom in SOME], constants=range(1, 1 + len(pairs)))
    check_agreement("lookup", [(atom, atom, 5, 1, 6) for atom in SOME], constants=(2, 3, 4))
    check_agreement("at", [(1, atom, 5, atom) for atom in SOME], constants=(0, 2))


def check_agreement(
    op: str, rows: list[tuple[Atom, ...]], constants: tuple[int, ...] | range = ()
) -> None:
    """Compare a whole column with the operator table, atom by atom."""
    columns = [from_atoms([row[at] for row in rows[:1]] if at in constants else
                          [row[at] for row in rows]) for at in range(len(rows[0]))]  # fmt: skip
    column, failed = elementwise(op, columns)
    found = column.atoms(len(rows))
    for at, row in enumerate(rows):
        is_failed = failed is not None and bool(failed[at if len(failed) > 1 else 0])
        try:
            wanted = apply_operator(op, row)
        except RaspError:
            assert is_failed, (op, row)
            continue
        assert not is_failed, (op, row)
        assert (type(found[at]), found[at]) == (type(wanted), wanted), (op, row)


def test_codes_compare_as_the_atoms_do() -> None:
    large = 2**52
    near = [Fraction(large - 1, large - 3), Fraction(large + 1, large - 1), Fraction(large, 7)]
    for atoms in (SOME, near, [5, -3, 5], ["b", "a"], [2**62, -(2**62), 0], [Fraction(1, 3), 1]):
        half = len(atoms) // 2
        codes = codes_of([from_atoms(atoms[:half]), from_atoms(atoms[half:])])
        found = [*codes.arrays[0].tolist(), *codes.arrays[1].tolist()]
        assert min(found) >= 0 and max(found) < codes.size
        for (one, first), (other, second) in itertools.product(
            zip(atoms, found, strict=True), repeat=2
        ):
            assert (first == second) == (one == other)
            if isinstance(one, str) == isinstance(other, str):
                assert (first < second) == (one < other)  # type: ignore[operator]


@pytest.mark.parametrize("size", [2**20, 2**52, 2**61, 2**80, 2**2000])
def test_fractions_with_close_doubles_are_told_apart(size: int) -> None:
    rng = random.Random(size)
    close = [Fraction(size + rng.randint(-9, 9), size - rng.randint(10, 90)) for _ in range(200)]
    close += [Fraction(rng.randint(-size, size), rng.randint(1, size)) for _ in range(200)]
    close += [Fraction(0), -close[0], 1 / Fraction(size), *close[:50]]
    rng.shuffle(close)
    [codes] = codes_of([from_atoms(close)]).arrays
    ranks = {value: rank for rank, value in enumerate(sorted(set(close)))}
    assert codes.tolist() == [ranks[value] for value in close]


@pytest.mark.parametrize("values", [[1, -2, 3], [2**60, -(2**61), 5], [2**200, -(3**100), 7]])
def test_sums_of_limbs_are_the_exact_sum(values: list[int]) -> None:
    numerators = from_atoms(values).numerators
    cut = limbs(numerators)
    sums = [weight.sum(keepdims=True).astype("int64") for weight in cut.weights]
    assert cut.joined(sums).tolist() == [sum(values)]
