"""Columns: atoms go in and come out unchanged, operators and codes agree with the atoms' own."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.evaluator.fast.coding import codes_of
from rasp.language.evaluator.fast.columns import from_atoms, merged_tables
from rasp.language.evaluator.fast.elementwise import distinct, elementwise
from rasp.language.evaluator.fast.range_sums import limbs
from rasp.language.graph import OPERATORS, apply_operator

SOME: list[Atom] = [
    True, False, 0, 1, -1, 2, 7, -3,
    Fraction(1, 2), Fraction(-1, 2), Fraction(5, 2), Fraction(3), Fraction(-7, 3), Fraction(0),
    2**31, 2**61, 2**62, -(2**62), 2**63, 3**40, 10**30, Fraction(2**61, 3), Fraction(1, 2**61),
    Fraction(10**25, 7), "", "a", "b", "ab", "3", "-2", "1.5", "é", "\U0001f600",
]  # fmt: skip
NARROW: list[Atom] = [
    True, False, 0, 1, -1, 2, 3, 7, -3, 61, 62, 2**30 + 1, -(2**31), 2**61, 1 - 2**62, 2**62 - 1,
    Fraction(1, 2), Fraction(-1, 2), Fraction(3, 2), Fraction(5, 2), Fraction(-5, 2), Fraction(3),
    Fraction(-7, 3), Fraction(7, 3), Fraction(0), Fraction(2**61, 3), Fraction(-1, 2**61),
    Fraction(1, 2**40 + 1), Fraction(1, 2**40 - 1), Fraction(2**31, 2**31 - 1),
]  # fmt: skip
"""Numbers that machine integers hold: none of them sends a column to the operator table."""
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
def test_operators_of_two_agree_on_what_machine_integers_hold(op: str) -> None:
    check_agreement(op, list(itertools.product(NARROW, NARROW)))
    whole = [atom for atom in NARROW if not isinstance(atom, Fraction)]
    check_agreement(op, list(itertools.product(whole, whole)))


@pytest.mark.parametrize("op", ONE_OPERAND)
def test_operators_of_one_agree_on_what_machine_integers_hold(op: str) -> None:
    check_agreement(op, [(atom,) for atom in NARROW])


@pytest.mark.parametrize("op", [*ONE_OPERAND, *TWO_OPERANDS, "if", "at", "in", "lookup"])
def test_columns_of_few_positions_agree_as_long_ones_do(op: str) -> None:
    rng = random.Random(op)
    row = OPERATORS[op]
    strings = [atom for atom in SOME if isinstance(atom, str)]
    for _ in range(150):
        arity = row.arity if op not in ("at", "in", "lookup") else rng.choice((1, 3, 5, 21))
        pools = [rng.choice((NARROW, NARROW[:9], NARROW[16:24], strings, strings[:2], SOME))
                 for _ in range(arity)]  # fmt: skip
        rows = [tuple(map(rng.choice, pools)) for _ in range(rng.randint(1, 4))]
        constants = tuple(at for at in range(arity) if rng.random() < rng.choice((0.1, 0.9)))
        rows = [tuple(rows[0][at] if at in constants else each[at] for at in range(arity))
                for each in rows]  # fmt: skip
        check_agreement(op, rows, constants)


@pytest.mark.parametrize("op", TWO_OPERANDS)
def test_numbers_beyond_all_doubles_agree_beside_small_ones(op: str) -> None:
    huge = [2**2000, Fraction(2**2000, 3), Fraction(1, 2**2000)]
    for one, other in itertools.product(huge, [1, -2, Fraction(1, 3), *huge]):
        check_agreement(op, [(one, other)])
        check_agreement(op, [(other, one), (1, one)], constants=(1,))


def test_quotients_are_in_lowest_terms_whatever_comes_first() -> None:
    for top in (1, -1, 2, 6, True):
        check_agreement("/", [(top, 4), (top, 3), (top, -6)], constants=(0,))
        for other in (2, 4, -3):
            check_agreement("/", [(top, 4), (other, 6)])
            check_agreement("/", [(top, 4), (other, 6), (2, 10)])


def test_choices_and_look_ups_keep_the_kind_of_each_position() -> None:
    some: list[Atom] = [1, Fraction(1, 2), True, Fraction(2), 2**70]
    for (one, other), last, test in itertools.product(
        itertools.permutations(some, 2), some, (True, False)
    ):
        check_agreement("if", [(test, one, last), (not test, other, last)], constants=(2,))
        check_agreement("if", [(test, last, one), (not test, last, other)], constants=(1,))
        check_agreement("if", [(test, one, other), (not test, other, one)])
        check_agreement("at", [(0, one, last), (1, other, last)], constants=(2,))
        check_agreement("at", [(0, one, last), (1, last, other)])
    for large in (2**70, -(2**70), "a", Fraction(1)):
        check_agreement("at", [(1, 5, 6), (large, 5, 6), (-1, 5, 6)], constants=(1, 2))
        check_agreement("at", [(large, 5, 6), (0, 5, 7)])


def test_tables_of_strings_are_joined_and_numbers_left_alone() -> None:
    atoms: list[list[Atom]] = [[3, 4], ["b", "a"], ["c", "b"], [Fraction(1, 2), "c"], ["d"]]
    columns = [from_atoms(some) for some in atoms]
    table, numerators = merged_tables(columns)
    assert table == ("a", "b", "c", "d")
    for some, found in zip(atoms, numerators, strict=True):
        assert found.tolist() == [table.index(atom) if isinstance(atom, str) else atom.numerator
                                  for atom in some]  # fmt: skip


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
        if not isinstance(wanted, str):
            parts = [part[at if len(part) > 1 else 0] for part in column.parts[1:]]
            assert parts == [wanted.numerator, wanted.denominator], "not in lowest terms"


@pytest.mark.parametrize("columns", [1, 2, 9, 12])
def test_combinations_are_told_apart_however_many_could_occur(columns: int) -> None:
    rng = random.Random(columns)
    rows = [tuple(rng.randrange(256) for _ in range(columns)) for _ in range(300)]
    rows += [(number,) * columns for number in range(256)]  # so 256 different ones in each
    rows += [(number, *rows[0][1:]) for number in range(256)]  # these differ in the first alone
    rows += [(*rows[0][:-1], number) for number in range(256)]
    first, inverse = distinct([from_atoms(list(column)) for column in zip(*rows, strict=True)])
    assert [rows[first[number]] for number in inverse] == rows
    assert len(first) == len(set(rows))


@pytest.mark.parametrize("bits", [4, 10, 40, 61, 62, 63, 64, 70])
def test_a_number_is_too_large_from_its_first_bit_too_many_on(bits: int) -> None:
    most = 2**bits - 1
    for atoms in ([most, most + 1], [-most, -most - 1], [Fraction(1, most), Fraction(1, most + 1)],
                  [True, most + 1], [Fraction(most, 2), Fraction(most + 2, 2)],
                  [0, Fraction(most + 2, most)]):  # fmt: skip
        too_large = from_atoms(atoms).too_large(bits)
        assert too_large is not None
        assert too_large.tolist() == [False, True]
        assert from_atoms(atoms[:1]).too_large(bits) is None
    many = [f"{number}" for number in range(100)]
    assert from_atoms([0, *many]).too_large(bits) is None


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


@pytest.mark.parametrize("power", [40, 52, 61, 80, 1074, 1080])
def test_few_fractions_with_equal_doubles_are_ranked_in_any_order(power: int) -> None:
    size = 2**power
    close = [Fraction(size + number, size - 3) for number in (-2, 1, 5)]
    tiny = [Fraction(1, size + number) for number in (9, 4, 1)]
    for values in (close, tiny, [Fraction(0), *tiny], [-tiny[0], Fraction(0), tiny[2]]):
        for atoms in itertools.permutations([*values, values[0] + 1]):
            codes = codes_of([from_atoms([atom]) for atom in atoms])
            ranks = [sorted(set(atoms)).index(atom) for atom in atoms]
            assert [int(array[0]) for array in codes.arrays] == ranks
            assert codes.size == len(set(atoms))


def test_fractions_whose_doubles_stand_the_wrong_way_round_are_ranked_rightly() -> None:
    lower = Fraction(2306186256306117889, 2315188293338354944)
    higher = Fraction(2306186256307603712, 2315188293339846401)
    near = [value.numerator / float(value.denominator) for value in (lower, higher)]
    assert lower < higher and near[0] - near[1] > 2.0**-51 * near[0]
    for atoms in ([lower, higher], [higher, lower], [1, higher, 0, lower, -higher, -lower]):
        [codes] = codes_of([from_atoms(list(atoms))]).arrays
        assert codes.tolist() == [sorted(atoms).index(atom) for atom in atoms]


def test_whole_numbers_too_far_apart_for_their_distance_are_ranked() -> None:
    atoms = [[2**62 - 1, -5, 7], [1 - 2**62], [0, 2**62 - 1, 2**61], [True, -(2**61)]]
    codes = codes_of([from_atoms(list(some)) for some in atoms])
    ranks = sorted({atom for some in atoms for atom in some})
    wanted = [[ranks.index(atom) for atom in some] for some in atoms]
    assert [array.tolist() for array in codes.arrays] == wanted
    assert codes.size == len(ranks)


@pytest.mark.parametrize("values", [[1, -2, 3], [2**60, -(2**61), 5], [2**200, -(3**100), 7]])
def test_sums_of_limbs_are_the_exact_sum(values: list[int]) -> None:
    numerators = from_atoms(values).numerators
    cut = limbs(numerators)
    sums = [weight.sum(keepdims=True).astype("int64") for weight in cut.weights]
    assert cut.joined(sums).tolist() == [sum(values)]
