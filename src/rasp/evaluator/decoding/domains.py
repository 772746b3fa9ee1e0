"""Atoms in, small whole numbers out: what an s-op has held so far, and how two s-ops compare.

An s-op of a decode loop holds few different atoms, and the same ones at every step. Each gets a
code, and everything is computed with codes; code 0 says that a value could not be computed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rasp.atoms import Atom

Array: TypeAlias = npt.NDArray[Any]

FAILED = 0
EXACT = 2**52
"""Doubles hold whole numbers, and sums of them, exactly below this."""
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Domain:
    """The atoms that an s-op has held, numbered from 1.

    >>> domain = Domain()
    >>> [domain.code(atom) for atom in ("a", 1, True, "a")]
    [1, 2, 3, 1]
    """

    def __init__(self) -> None:
        self.atoms: list[Atom] = [""]  # the first has no meaning: it is the place of FAILED
        self.has_strings = self.has_numbers = False
        self._codes: dict[tuple[type, Atom], int] = {}
        self._numbers: tuple[int, Array, Array, int] | None = None
        self._strings = np.zeros(1, bool)

    def code(self, atom: Atom) -> int:
        """Return the code of an atom; 1, 1.0 and True are three atoms."""
        key = (type(atom), atom)
        found = self._codes.get(key)
        if found is None:
            found = self._codes[key] = len(self.atoms)
            self.atoms.append(atom)
            self.has_strings |= isinstance(atom, str)
            self.has_numbers |= not isinstance(atom, str)
        return found

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
    def numbers(self) -> tuple[Array, Array, int]:
        """For each code, a numerator over one denominator, and whether it has no mean."""
        if self._numbers is None or self._numbers[0] != len(self.atoms):
            self._numbers = (len(self.atoms), *self._scaled())
        return self._numbers[1:]

    def _scaled(self) -> tuple[Array, Array, int]:
        has_mean = [not isinstance(atom, (str, bool)) for atom in self.atoms]
        values = [
            Fraction(atom) if has else Fraction(0)
            for atom, has in zip(self.atoms, has_mean, strict=True)
        ]
        below = lcm(*(value.denominator for value in values))
        scaled = [value.numerator * (below // value.denominator) for value in values]
        if below >= EXACT or any(abs(number) >= EXACT for number in scaled):
            return np.zeros(1), np.zeros(1), 0
        without_mean = ~np.array(has_mean)
        without_mean[FAILED] = False
        return np.array(scaled, np.float64), without_mean.astype(np.float64), below


class Comparison:
    """How the codes of two domains compare: as their ranks do."""

    def __init__(self, keys: Domain, queries: Domain, op: str) -> None:
        self.keys, self.queries = keys, queries
        self.compare = COMPARE[op]
        self._sizes = (0, 0)
        self._ranks = (np.zeros(1), np.zeros(1))

    def ranks(self) -> tuple[Array, Array]:
        """Numbers for both domains' codes that compare as their atoms do."""
        sizes = (len(self.keys.atoms), len(self.queries.atoms))
        if sizes != self._sizes:
            sides = [[_sortable(atom) for atom in side.atoms] for side in (self.keys, self.queries)]
            rank = {atom: at for at, atom in enumerate(sorted({*sides[0], *sides[1]}))}
            found = [np.array([rank[atom] for atom in side]) for side in sides]
            self._ranks, self._sizes = (found[0], found[1]), sizes
        return self._ranks

    def table(self) -> Array:
        """A bool for every pair of codes. (queries, keys)"""
        keys, queries = self.ranks()
        return self.compare(keys[None, :], queries[:, None])  # type: ignore[no-any-return]

    def between(self, keys: Array, queries: Array) -> Array:
        """A bool for every pair of positions. (batch, queries, keys)"""
        key_ranks, query_ranks = self.ranks()
        return self.compare(  # type: ignore[no-any-return]
            key_ranks[keys][:, None, :], query_ranks[queries][:, :, None]
        )


def _sortable(atom: Atom) -> tuple[bool, Any]:
    """Numbers come before strings, which is all that `==` and `!=` need to know."""
    return isinstance(atom, str), atom
