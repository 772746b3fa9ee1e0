"""What the search has made so far: s-ops and selectors, each once, the smallest way to write it.

Two expressions with the same values at every position of every example are one to the search.
The first that comes is kept, so expressions must come by size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rasp.atoms import Atom, show_literal
from rasp.finding.atom_codes import Array
from rasp.finding.example_grid import Fingerprints


class Part(NamedTuple):
    """An expression of a bank: a selector or an s-op, and its number."""

    is_selector: bool
    number: int


@dataclass(frozen=True)
class Recipe:
    """How an expression is written: `{}` in the text stands for each part, in order.

    `heads` are the heads that it takes, a number for each; `size` counts the words of the text.
    """

    text: str
    parts: tuple[Part, ...] = ()
    size: int = 1
    heads: frozenset[int] = frozenset()


def literal(atom: Atom) -> str:
    """Write an atom inside a recipe's text, where braces stand for themselves when doubled."""
    return show_literal(atom).replace("{", "{{").replace("}", "}}")


class Bank:
    """Rows of values without repetition, with the level, the size and the recipe of each.

    >>> bank = Bank(Fingerprints(2), np.int16, cells=2)
    >>> row = np.array([[1, 2]], dtype=np.int16)
    >>> bank.offer(row, 0, lambda place: Recipe("tokens")), bank.offer(row, 1, Recipe)
    ([0], [])
    """

    def __init__(self, prints: Fingerprints, dtype: type, cells: int) -> None:
        self._prints = prints
        self._seen: set[bytes] = set()
        self._rows = np.zeros((1024, cells), dtype=dtype)
        self._levels = np.zeros(1024, dtype=np.int16)
        self._sizes = np.zeros(1024, dtype=np.int16)
        self.recipes: list[Recipe] = []
        self.offered = 0

    def __len__(self) -> int:
        return len(self.recipes)

    @property
    def rows(self) -> Array:
        return self._rows[: len(self)]

    @property
    def levels(self) -> Array:
        return self._levels[: len(self)]

    @property
    def sizes(self) -> Array:
        return self._sizes[: len(self)]

    def offer(self, rows: Array, level: int, recipe: Callable[[int], Recipe]) -> list[int]:
        """Take the rows that are new; `recipe` says how the one at a place is written."""
        self.offered += len(rows)
        if not len(rows):
            return []
        seen = self._seen
        fresh = [
            place
            for place, mark in enumerate(self._prints.of(rows))
            if mark not in seen and not seen.add(mark)  # type: ignore[func-returns-value]
        ]
        if not fresh:
            return []
        first = len(self)
        last = first + len(fresh)
        while last > len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._levels = np.concatenate([self._levels, self._levels])
            self._sizes = np.concatenate([self._sizes, self._sizes])
        made = [recipe(place) for place in fresh]
        self._rows[first:last] = rows[fresh]
        self._levels[first:last] = level
        self._sizes[first:last] = [one.size for one in made]
        self.recipes += made
        return list(range(first, last))

    def smallest(self, level: int, most: int, among: Array | None = None) -> Array:
        """Return the numbers of the smallest expressions up to a level."""
        allowed = self.levels <= level
        if among is not None:
            allowed &= among
        numbers = np.flatnonzero(allowed)
        return numbers[np.argsort(self.sizes[numbers], kind="stable")[:most]]
