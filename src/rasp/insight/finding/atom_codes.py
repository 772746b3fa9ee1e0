"""Atoms as small integers, so that an operator is one look-up in a table of what it gives.

Every atom that a search meets gets a code, in the order in which it turns up. The table of an
operator is filled from `rasp.operators`, a pair at a time, when the pair first occurs: what the
search computes is what the language means, exact fractions included. Numbers are coded by what
they are worth (2 and 2.0 are one code, as they are for `==`); bools stay apart from them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.operators import apply_operator

Codes: TypeAlias = NDArray[np.int16]
Array: TypeAlias = NDArray[Any]

UNDEFINED, UNKNOWN = -1, 0
"""An operator that fails has no value there; 0 is a cell of a table that nobody asked for yet."""
BOOL, NUMBER, STRING = 0, 1, 2
MOST_ATOMS = 4000
LARGEST = 10**5
FINEST = 5000
LARGEST_SUM = 4096
LONGEST_STRING = 24


def class_of(atom: Atom) -> int:
    """Say whether an atom is a bool, a number or a string.

    >>> class_of(True), class_of(Fraction(1, 2)), class_of("a")
    (0, 1, 2)
    """
    return BOOL if isinstance(atom, bool) else STRING if isinstance(atom, str) else NUMBER


class AtomCodes:
    """The atoms of one search, their codes, and the tables of the operators on them.

    >>> codes = AtomCodes()
    >>> one, two = codes.code(1), codes.code(2)
    >>> codes.atoms[codes.apply("+", np.array([one]), np.array([two]))[0]]
    3
    """

    def __init__(self) -> None:
        self.atoms: list[Atom] = [False]  # code 0 is not an atom
        self._codes: dict[tuple[int, Atom], int] = {}
        self._tables: dict[str, Codes] = {}
        self._means: dict[int, Codes] = {}
        self._kinds: Array = np.zeros(0, dtype=np.int8)
        self._fractions: Array = np.zeros((0, 2), dtype=np.int64)
        self.false, self.true = self.code(False), self.code(True)

    def code(self, atom: Atom) -> int:
        """Return an atom's code; -1 where it is too large or there are too many."""
        kind = class_of(atom)
        known = self._codes.get((kind, atom))
        if known is not None:
            return known
        if len(self.atoms) >= MOST_ATOMS or _is_huge(atom):
            return UNDEFINED
        if isinstance(atom, Fraction) and atom.denominator == 1:
            atom = atom.numerator
        self.atoms.append(atom)
        self._codes[kind, atom] = len(self.atoms) - 1
        return len(self.atoms) - 1

    def kinds(self, codes: Array) -> Array:
        """Return the class of each code."""
        if len(self._kinds) < len(self.atoms):
            self._kinds = np.array([class_of(atom) for atom in self.atoms], dtype=np.int8)
        return self._kinds[codes]

    def ranks(self) -> Codes:
        """Return the place of each code in the order of numbers, and in that of strings."""
        ranks = np.zeros(len(self.atoms), dtype=np.int16)
        for kind in (BOOL, NUMBER, STRING):
            same = [code for code, atom in enumerate(self.atoms) if class_of(atom) == kind]
            for place, code in enumerate(sorted(same, key=lambda one: self.atoms[one])):
                ranks[code] = place
        return ranks

    def apply(self, op: str, *operands: Array) -> Codes:
        """Apply an operator of one, two or three operands to codes, elementwise."""
        table = self._tables.get(op)
        if table is None:
            shape = (MOST_ATOMS,) * len(operands)
            table = self._tables[op] = np.zeros(int(np.prod(shape)), dtype=np.int16)
        place = operands[0].astype(np.intp)
        for operand in operands[1:]:
            place = place * MOST_ATOMS + operand
        result = table.take(place)
        if not result.all():
            self._fill(op, table, np.unique(place[result == UNKNOWN]), len(operands))
            result = table.take(place)
        return result

    def _fill(self, op: str, table: Codes, places: Array, arity: int) -> None:
        meaning = OWN_OPERATORS.get(op) or (lambda *atoms: apply_operator(op, atoms))
        for place in places.tolist():
            codes = (place // MOST_ATOMS, place % MOST_ATOMS) if arity == 2 else (place,)
            try:
                table[place] = self.code(meaning(*[self.atoms[code] for code in codes]))
            except RaspError:
                table[place] = UNDEFINED

    def numerators(self, rows: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return each row's numbers over their common denominator, and that; 0 if too large."""
        if len(self._fractions) < len(self.atoms):
            exact = [Fraction(0 if isinstance(atom, str) else atom) for atom in self.atoms]
            self._fractions = np.array(
                [(number.numerator, number.denominator) for number in exact], dtype=np.int64
            )
        over, under = self._fractions[rows, 0], self._fractions[rows, 1]
        common = np.lcm.reduce(under, axis=1)
        common[common > FINEST] = 0
        scaled = over * (common[:, None] // under)
        common[abs(scaled).max(axis=1) > LARGEST] = 0
        return scaled, common

    def means(self, sums: Array, counts: Array, common: int) -> Codes:
        """Return the codes of `sums / (counts * common)`; -1 where a count is 0, or above 63."""
        table = self._means.get(common)
        if table is None:
            table = np.zeros((2 * LARGEST_SUM + 1) * 64, dtype=np.int16)
            self._means[common] = table
        inside = (abs(sums) <= LARGEST_SUM) & (counts < 64)
        place = np.where(inside, (sums + LARGEST_SUM) * 64 + counts, 0).astype(np.intp)
        result = table.take(place)
        if not result.all():
            for one in np.unique(place[result == UNKNOWN]).tolist():
                total, count = one // 64 - LARGEST_SUM, one % 64
                table[one] = self.code(Fraction(total, count * common)) if count else UNDEFINED
            result = table.take(place)
        return result


def _is_huge(atom: Atom) -> bool:
    if isinstance(atom, str):
        return len(atom) > LONGEST_STRING
    return abs(atom.numerator) > LARGEST or atom.denominator > FINEST


def _without_prefix(whole: Atom, start: Atom) -> Atom:
    if isinstance(whole, str) and isinstance(start, str) and start and whole.startswith(start):
        return whole[len(start) :]
    raise RaspError("not a beginning")


OWN_OPERATORS: dict[str, Callable[..., Atom]] = {"without prefix": _without_prefix}
"""What the search asks for on its way back from an answer; no program has these."""
