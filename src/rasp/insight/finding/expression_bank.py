"""What the search has made so far: s-ops and selectors, each once, the smallest way to write it.

Two expressions with the same values at every position of every example are one to the search.
The first that comes is kept, so expressions must come by size.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rasp.base.atoms import Atom, show_literal
from rasp.insight.finding.atom_codes import Array
from rasp.insight.finding.example_grid import Fingerprints


class BankPart(NamedTuple):
    """An expression of a bank: a selector or an s-op, and its number."""

    is_selector: bool
    number: int


@dataclass(frozen=True)
class Recipe:
    """How an expression is written: `{}` in the text stands for each part, in order.

    `heads` are the heads that it takes, a number for each; `size` counts the words of the text.
    """

    text: str
    parts: tuple[BankPart, ...] = ()
    size: int = 1
    heads: frozenset[int] = frozenset()


def literal(atom: Atom) -> str:
    """Write an atom inside a recipe's text, where braces stand for themselves when doubled."""
    return show_literal(atom).replace("{", "{{").replace("}", "}}")


class Bank:
    """Rows of values without repetition, with the level, the cost and the recipe of each.

    A recipe is made when somebody asks for it. Where the same row comes again with fewer heads,
    its recipe is replaced, and with it what is written of everything that uses the row.

    >>> bank = Bank(Fingerprints(2), np.int16, cells=2)
    >>> row = np.array([[1, 2]], dtype=np.int16)
    >>> [bank.offer(row, 0, [1], [0], lambda place: Recipe("tokens")) for _ in range(2)]
    [[0], []]
    >>> bank.recipe(0).text
    'tokens'
    """

    def __init__(self, prints: Fingerprints, dtype: type, cells: int) -> None:
        self._prints = prints
        self._seen: dict[bytes, int] = {}
        """For each fingerprint, the how-manieth candidate was the first to have it."""
        self._number_of = np.zeros(1 << 16, dtype=np.int32)
        """For each candidate that was the first, its number."""
        self._rows: Array = np.zeros((1024, cells), dtype=dtype)
        self._facts = np.zeros((3, 1024), dtype=np.int16)
        self._sources: list[tuple[Callable[[int], Recipe], Array]] = []
        self._starts: list[int] = []
        self._recipes: dict[int, Recipe] = {}
        self._count = self.offered = self._looked_up = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> Array:
        return self._rows[: len(self)]

    @property
    def levels(self) -> Array:
        return self._facts[0, : len(self)]

    @property
    def costs(self) -> Array:
        return self._facts[1, : len(self)]

    @property
    def heads(self) -> Array:
        return self._facts[2, : len(self)]

    def recipe(self, number: int) -> Recipe:
        """Return how a row is written."""
        known = self._recipes.get(number)
        if known is None:
            source = bisect_right(self._starts, number) - 1
            make, places = self._sources[source]
            known = self._recipes[number] = make(int(places[number - self._starts[source]]))
            self._facts[2, number] = len(known.heads)
        return known

    def offer(self, rows: Array, level: int, costs: ArrayLike, heads: ArrayLike,
              recipe: Callable[[int], Recipe]) -> list[int]:  # fmt: skip
        """Take the rows that are new; `recipe` says how the one at a place is written.

        `heads` is how many they take at least.
        """
        self.offered += len(rows)
        if not len(rows):
            return []
        candidates = range(self._looked_up, self._looked_up + len(rows))
        self._looked_up += len(rows)
        known = np.array(list(map(self._seen.setdefault, self._prints.of(rows), candidates)))
        is_new = known == candidates
        fresh = np.flatnonzero(is_new)
        first, last = self._count, self._count + len(fresh)
        self._make_room(last)
        self._number_of[candidates[0] + fresh] = np.arange(first, last)
        if len(fresh):
            self._rows[first:last] = rows[fresh]
            for place, fact in enumerate((level, costs, heads)):
                self._facts[place, first:last] = np.broadcast_to(fact, len(rows))[fresh]
            self._sources.append((recipe, fresh))
            self._starts.append(first)
            self._count = last
        if level and len(fresh) < len(rows):
            again = np.flatnonzero(~is_new)
            self._replace(again, self._number_of[known[again]], np.broadcast_to(heads, len(rows)),
                          recipe)  # fmt: skip
        return list(range(first, last))

    def _make_room(self, count: int) -> None:
        while count > len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._facts = np.concatenate([self._facts, self._facts], axis=1)
        while self._looked_up > len(self._number_of):
            self._number_of = np.concatenate([self._number_of, self._number_of])

    def _replace(self, places: Array, numbers: Array, heads: Array,
                 recipe: Callable[[int], Recipe]) -> None:  # fmt: skip
        """Write rows with fewer heads where that is how they came again."""
        for one in np.flatnonzero(heads[places] < self.heads[numbers]).tolist():
            number, better = int(numbers[one]), recipe(int(places[one]))
            if len(better.heads) < len(self.recipe(number).heads):
                self._recipes[number] = better
                self._facts[2, number] = len(better.heads)

    def smallest(self, level: int, most: int, among: Array | None = None) -> Array:
        """Return the numbers of the cheapest expressions up to a level."""
        allowed = self.levels <= level
        if among is not None:
            allowed &= among
        numbers = np.flatnonzero(allowed)
        return numbers[np.argsort(self.costs[numbers], kind="stable")[:most]]
