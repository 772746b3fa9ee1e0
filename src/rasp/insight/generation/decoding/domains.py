"""Atoms in, small whole numbers out: what an s-op has held so far, and how two s-ops compare.

An s-op of a decode loop holds few different atoms, and the same ones at every step. Each gets a
code, and everything is computed with codes; code 0 says that a value could not be computed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rasp.base.atoms import Atom
from rasp.language.operators import COMPARE, ORDERINGS

Array: TypeAlias = npt.NDArray[Any]

FAILED = 0
LONGEST_STRING = 1_000
"""Characters of a string that is remembered; a program that makes longer ones is left alone."""
EXACT = 2**52
"""Doubles hold whole numbers, and sums of them, exactly below this."""


class NotPlanned(Exception):
    """The program does something that decoding does not: evaluate it from scratch."""


class GrowingDomain:
    """The atoms that an s-op has held so far, numbered from 1.

    >>> domain = GrowingDomain(lambda: None)
    >>> [domain.code(atom) for atom in ("a", 1, True, "a")]
    [1, 2, 3, 1]
    """

    def __init__(self, when_mixed: Callable[[], None]) -> None:
        self.when_mixed = when_mixed
        """Called once there are strings and numbers."""
        self.most = 1 << 62
        """Atoms that tables of this s-op have room for."""
        self.atoms: list[Atom] = [""]  # the first has no meaning: it is the place of FAILED
        self.has_strings = self.has_numbers = False
        self._codes: dict[tuple[type, Atom], int] = {}
        self._numbers: tuple[int, Array, Array, int] | None = None
        self._strings = np.zeros(1, bool)

    def code(self, atom: Atom) -> int:
        """Return the code of an atom; 1, 1.0 and True are three atoms."""
        key = (type(atom), atom)
        code = self._codes.get(key)
        if code is None:
            if len(self.atoms) >= self.most or (
                isinstance(atom, str) and len(atom) > LONGEST_STRING
            ):
                raise NotPlanned  # what is remembered must be small
            code = self._codes[key] = len(self.atoms)
            self.atoms.append(atom)
            self.has_strings |= isinstance(atom, str)
            self.has_numbers |= not isinstance(atom, str)
            if self.is_mixed:
                self.when_mixed()
        return code

    @property
    def is_mixed(self) -> bool:
        return self.has_strings and self.has_numbers

    @property
    def strings(self) -> Array:
        """For each code, whether it is a string."""
        if len(self._strings) != len(self.atoms):
            self._strings = np.array([isinstance(atom, str) for atom in self.atoms])
            self._strings[FAILED] = False
        return self._strings

    @property
    def signs(self) -> Array:
        """For each code, whether its number is below zero, zero or above."""
        return np.array([
            0 if isinstance(atom, str) else (atom > 0) - (atom < 0) for atom in self.atoms
        ])  # fmt: skip

    @property
    def numbers(self) -> tuple[Array, Array, int]:
        """For each code, a numerator over one denominator, and whether it has no mean.

        The denominator is 0 where doubles do not hold them exactly.
        """
        if self._numbers is None or self._numbers[0] != len(self.atoms):
            self._numbers = (len(self.atoms), *self._scaled())
        return self._numbers[1:]

    def _scaled(self) -> tuple[Array, Array, int]:
        has_mean = [not isinstance(atom, (str, bool)) for atom in self.atoms]
        values = [Fraction(0) if isinstance(atom, str) else Fraction(atom) for atom in self.atoms]
        below = lcm(*(value.denominator for value in values))
        scaled = [value.numerator * (below // value.denominator) for value in values]
        if below >= EXACT or any(abs(number) >= EXACT for number in scaled):
            return np.zeros(1), np.zeros(1), 0
        without_mean = ~np.array(has_mean)
        without_mean[FAILED] = False
        return np.array(scaled, np.float64), without_mean.astype(np.float64), below


class DomainComparison:
    """How the codes of two domains compare: as numbers that are given to them do."""

    def __init__(self, keys: GrowingDomain, queries: GrowingDomain, op: str) -> None:
        self.keys, self.queries = keys, queries
        self.compare = COMPARE[op]
        self.is_ordered = op in ORDERINGS
        self._sizes = (0, 0)
        self._ranks = (np.zeros(1), np.zeros(1))
        self._numbers: dict[Any, int] = {}

    def ranks(self) -> tuple[Array, Array]:
        """Numbers for both domains' codes that compare as their atoms do."""
        sizes = (len(self.keys.atoms), len(self.queries.atoms))
        if sizes != self._sizes:
            sides = [[_sortable(atom) for atom in side.atoms] for side in (self.keys, self.queries)]
            number = self._ordered(sides) if self.is_ordered else self._any(sides)
            ranks = [np.array([number[atom] for atom in side]) for side in sides]
            self._ranks, self._sizes = (ranks[0], ranks[1]), sizes
        return self._ranks

    def _ordered(self, sides: list[list[Any]]) -> dict[Any, int]:
        return {atom: at for at, atom in enumerate(sorted({*sides[0], *sides[1]}))}

    def _any(self, sides: list[list[Any]]) -> dict[Any, int]:
        for side in sides:
            for atom in side:
                self._numbers.setdefault(atom, len(self._numbers))
        return self._numbers

    def between(self, keys: Array, queries: Array) -> Array:
        """A bool for every pair of positions. (batch, queries, keys)"""
        key_ranks, query_ranks = self.ranks()
        return self.compare(  # type: ignore[no-any-return]
            key_ranks[keys][:, None, :], query_ranks[queries][:, :, None]
        )


def _sortable(atom: Atom) -> tuple[bool, Any]:
    """Numbers come before strings, which is all that `==` and `!=` need to know."""
    if isinstance(atom, Fraction) and atom.denominator == 1:
        return False, atom.numerator  # which is compared, and hashed, much faster
    return isinstance(atom, str), atom
