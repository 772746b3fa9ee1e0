"""From what is wanted, back: the last step of a program, found without making it first.

Each way to end a program turns what is wanted into a question that tables answer at once: which
s-op has exactly these values; of which s-op is it a function; which one would be missing from a
sum; which conditions choose between two that are each right somewhere; which selector picks, in
each row, only keys whose value is the one wanted there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rasp.insight.finding.atom_codes import BOOL, NUMBER, STRING, Array
from rasp.insight.finding.choices import ChoiceSearch, distinct
from rasp.insight.finding.enumeration import Enumeration
from rasp.insight.finding.example_grid import Fingerprints
from rasp.insight.finding.expression_bank import BankPart, Recipe
from rasp.insight.finding.function_texts import function_texts
from rasp.insight.finding.last_heads import Ending
from rasp.insight.finding.search_banks import CHUNK

LARGEST_TABLE = 40
MOST_LEAVES = 160
MOST_CONDITIONS = 1200
MOST_INVERTED = 10_000
MOST_ALIKE = 60


class Closing:
    """Finds the ends of programs, for one enumeration."""

    def __init__(self, made: Enumeration) -> None:
        self.made, self.codes, self.sops = made, made.codes, made.sops
        self.care = np.flatnonzero(made.grid.care)
        self.target = made.grid.target[self.care]
        self.kind = int(self.codes.kinds(self.target[:1])[0])
        self._looked_at = 0

    def endings(self, level: int) -> Iterator[Ending]:
        """Find the programs of a layer that end in an elementwise step."""
        for recipe, depth in [*self._direct(), *self._functions(level), *self._inverted(level),
                              *self._equalities(level), *self._choices(level)]:  # fmt: skip
            yield Ending(recipe, depth)

    def _direct(self) -> Iterator[tuple[Recipe, int]]:
        rows = self.sops.rows[self._looked_at :, self.care]
        first, self._looked_at = self._looked_at, len(self.sops)
        for number in (np.flatnonzero((rows == self.target).all(axis=1)) + first).tolist():
            yield self.sops.recipe(number), int(self.sops.levels[number])

    # ------------------------------------------------------------------ functions of one s-op

    def _functions(self, level: int) -> Iterator[tuple[Recipe, int]]:
        """S-ops that decide what is wanted: a table, a threshold or a line says how."""
        for number in self._deciding(level):
            row = self.sops.rows[number, self.care]
            keys, first, counts = np.unique(row, return_index=True, return_counts=True)
            table = {self.codes.atoms[key]: self.codes.atoms[value] for key, value
                     in zip(keys.tolist(), self.target[first].tolist(), strict=True)}  # fmt: skip
            if len(table) > 1:
                depth = int(self.sops.levels[number])
                is_plain = self.sops.costs[number] <= 3 or self.made.kinds[number] == STRING
                is_known = counts.min() >= (2 if is_plain else 4)
                most = LARGEST_TABLE if is_plain else 4
                for text, extra in function_texts(table, most if is_known else 0):
                    yield self.made.recipe(text, BankPart(False, number), extra=extra), depth

    def _deciding(self, level: int) -> list[int]:
        numbers = np.flatnonzero((self.sops.levels <= level) & (self.made.kinds >= 0))
        found: list[int] = []
        size = len(self.codes.atoms)
        for start in range(0, len(numbers), CHUNK):
            chosen = numbers[start : start + CHUNK]
            rows = self.sops.rows[chosen][:, self.care].astype(np.intp)
            rows += np.arange(len(chosen))[:, None] * size
            says = np.zeros(len(chosen) * size, dtype=np.int16)
            says[rows] = self.target
            found += chosen[(says[rows] == self.target).all(axis=1)].tolist()
        return sorted(found, key=lambda one: int(self.sops.costs[one]))[:60]

    # ------------------------------------------------------------------ two operands

    def _inverted(self, level: int) -> Iterator[tuple[Recipe, int]]:
        """`x + y` and the like: what x leaves to be wanted is looked up among all s-ops."""
        numbers = self.sops.smallest(level, MOST_INVERTED, self.made.kinds == self.kind)
        if self.kind == BOOL or not len(numbers):
            return
        prints = Fingerprints(len(self.care))
        rows = np.ascontiguousarray(self.sops.rows[numbers][:, self.care])
        known: dict[bytes, int] = {}
        for number, mark in zip(numbers.tolist(), prints.of(rows), strict=True):
            known.setdefault(mark, number)
        for text, op, is_turned in _INVERSES[self.kind]:
            for start in range(0, len(rows), CHUNK):
                chunk = np.arange(start, min(start + CHUNK, len(rows)))
                for width in (1, 4, len(self.care)):  # most fail at once: do not compute the rest
                    sides = np.broadcast_to(self.target, (len(chunk), len(self.care))), rows[chunk]
                    first, second = sides[::-1] if is_turned else sides
                    left = self.codes.apply(op, first[:, :width], second[:, :width])
                    defined = np.flatnonzero(left.min(axis=1, initial=1) > 0)
                    chunk, left = chunk[defined], left[defined]
                for place, mark in zip(chunk.tolist(), prints.of(left), strict=True):
                    other = known.get(mark)
                    if other is not None:
                        number = int(numbers[place])
                        depth = int(max(self.sops.levels[[number, other]]))
                        yield (
                            self.made.recipe(text, BankPart(False, number), BankPart(False, other)),
                            depth,
                        )

    def _equalities(self, level: int) -> Iterator[tuple[Recipe, int]]:
        """`x == y`: s-ops alike where the answer is true are a few; which differ elsewhere?"""
        if self.kind != BOOL:
            return
        for sign, truth in (("==", self.codes.true), ("!=", self.codes.false)):
            alike = self.care[self.target == truth]
            other = self.care[self.target != truth]
            prints = Fingerprints(len(alike))
            for kind in (NUMBER, STRING):
                numbers = self.sops.smallest(level, MOST_INVERTED, self.made.kinds == kind)
                groups: dict[bytes, list[int]] = {}
                rows = np.ascontiguousarray(self.sops.rows[numbers][:, alike])
                for number, mark in zip(numbers.tolist(), prints.of(rows), strict=True):
                    groups.setdefault(mark, []).append(number)
                for group in groups.values():
                    yield from self._unlike(group[:MOST_ALIKE], other, sign)

    def _unlike(self, group: list[int], places: Array, sign: str) -> Iterator[tuple[Recipe, int]]:
        rows = self.sops.rows[group][:, places]
        for place, number in enumerate(group[:-1]):
            differ = (rows[place + 1 :] != rows[place]).all(axis=1)
            for mate in np.flatnonzero(differ)[:2].tolist():
                pair = [number, group[place + 1 + mate]]
                recipe = self.made.recipe(
                    f"({{}} {sign} {{}})", *(BankPart(False, one) for one in pair)
                )
                yield recipe, int(max(self.sops.levels[pair]))

    # ------------------------------------------------------------------ choices

    def _choices(self, level: int) -> Iterator[tuple[Recipe, int]]:
        """`x if condition else …`: a short list of conditions, each with what is right there."""
        numbers = self.sops.smallest(level, 40_000, self.made.kinds == self.kind)
        right = self.sops.rows[numbers][:, self.care] == self.target
        numbers, right = distinct(numbers, right, MOST_LEAVES, by_cover=True)
        conditions = self.sops.smallest(level, 40_000, self.made.kinds == BOOL)
        held = self.sops.rows[conditions][:, self.care] == self.codes.true
        conditions, held = distinct(conditions, held, MOST_CONDITIONS)
        if not len(conditions) or not len(numbers):
            return
        search = ChoiceSearch(self.made, numbers, right, conditions, held)
        for depth in (1, 2, 3):
            found = search.cover(np.ones(len(self.care), dtype=bool), depth)
            for recipe in found:
                yield recipe, self._level_of(recipe)
            if found:
                return

    def _level_of(self, recipe: Recipe) -> int:
        return max((int(self.sops.levels[part.number]) for part in recipe.parts), default=0)


_INVERSES: dict[int, tuple[tuple[str, str, bool], ...]] = {
    NUMBER: (("({} + {})", "-", False), ("({} - {})", "-", True), ("({} * {})", "/", False),
             ("({} / {})", "/", True)),
    STRING: (("({} + {})", "without prefix", False),),
}  # fmt: skip
"""How x and the unknown make what is wanted; what gives the unknown; whether x comes first."""
