"""Programs that end in a head, found from what its selector would have to pick.

Where the values are known, what is wanted says for each row which keys are right. A selector ends
a program if it picks right keys only; so all of them are asked at once, packed, and so are pairs
of them, their first and last picks, bools that mark keys, and s-ops that say a place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rasp.insight.finding.atom_codes import BOOL, NUMBER, Array
from rasp.insight.finding.enumeration import Enumeration
from rasp.insight.finding.example_grid import pack
from rasp.insight.finding.expression_bank import BankPart, Recipe, literal
from rasp.insight.finding.search_banks import CHUNK
from rasp.insight.finding.selector_growth import first_of

MOST_SELECTORS = 260
MOST_VALUES = 5
MOST_BOOLS = 12_000
MOST_COUNTING = 30
MOST_PLACES = 10_000


@dataclass(frozen=True)
class Ending:
    """A program that gives what is wanted: its last expression, and its layers."""

    recipe: Recipe
    level: int


class LastHeads:
    """Finds programs whose last step is a head, for one enumeration."""

    def __init__(self, made: Enumeration) -> None:
        self.made, self.codes, self.sops = made, made.codes, made.sops
        grid = made.grid
        self.target = grid.target[grid.care]
        self.kind = int(self.codes.kinds(self.target[:1])[0])

    def moves(self, level: int) -> Iterator[Ending]:
        """Find the programs of a layer that end in a head: what it picks is what is wanted."""
        numbers = self.made.selectors.smallest(level, 40_000)
        bools = self.sops.smallest(level - 1, MOST_BOOLS, self.made.kinds == BOOL)
        bools = bools[~self.made.is_literal(bools)]
        shape = (-1, self.made.grid.planes, self.made.words)
        held = [pack((self.sops.rows[chunk] == self.codes.true)[:, self.made.grid.keys])
                for chunk in np.array_split(bools, 1 + len(bools) // CHUNK)]  # fmt: skip
        marked = np.concatenate(held).reshape(shape)
        for value in self._values(level):
            yield from self._placing(BankPart(False, value), level)
        if self.kind == NUMBER:
            yield from self._reduced(level)
            yield from self._counting(bools, marked, level)
        for text, allowed, needed, single, parts, extra in self._questions(level):
            self.made.check_time()
            fits = _Fit(pack(allowed & self.made.grid.exists), pack(needed[None])[0], single)
            for selector, depth in (
                *self._picking(numbers, fits),
                *self._marking(bools, marked, fits),
            ):
                yield self._headed(text, selector, depth, parts, extra)

    def _counting(self, bools: Array, marked: Array, level: int) -> Iterator[Ending]:
        """How many of the keys that a selector picks have a bool that is true."""
        made = self.made
        wanted = made.grid.target
        counts = np.array([atom if type(atom) is int and 0 <= atom < 64 else 64
                           for atom in self.codes.atoms])[wanted]  # fmt: skip
        bits = [pack(((counts >> bit) & 1 == 1)[None])[0] for bit in range(7)]
        free = pack(~made.grid.care[None])[0]
        bank = made.selectors
        own = bank.smallest(level, 2 * MOST_COUNTING, bank.levels == level)
        others = bank.smallest(level, MOST_COUNTING, bank.costs > 1)
        for simple in np.union1d(own, others).tolist():
            rows = marked & bank.rows[simple].reshape(1, made.grid.planes, made.words)
            for place in np.flatnonzero(_is_width(rows, bits, free))[:3].tolist():
                parts = BankPart(True, simple), BankPart(False, int(bools[place]))
                recipe = self.made.recipe("selector_width({} and select({}, True, ==))", *parts,
                                      extra=4, heads=(-1, -2))  # fmt: skip
                yield Ending(recipe, level)

    def _reduced(self, level: int) -> Iterator[Ending]:
        """The largest, the smallest, the sum or the mean of an s-op, of all or so far."""
        made, care = self.made, self.made.grid.care
        usable = (made.kinds == NUMBER) & (self.sops.levels == level - 1)
        numbers = self.sops.smallest(level - 1, MOST_PLACES, usable)
        worth = np.array(
            [0.0 if isinstance(atom, str) else float(atom) for atom in self.codes.atoms]
        )
        wanted = worth[made.grid.target]
        for start in range(0, len(numbers), CHUNK):
            chunk = numbers[start : start + CHUNK]
            rows = worth[self.sops.rows[chunk]]
            for simple, count, among in ((made.simple[0], "length", "select_all"),
                                         (made.upto, "(indices + 1)", "{}")):  # fmt: skip
                dense = made.dense(np.array([simple]))
                most, least, total = _reductions(dense[0], rows, made.grid.keys)
                best = f"aggregate(select_best({among}, score({{}}, %d)), {{}})"
                for held, text in ((most, best % 1), (least, best % -1),
                                   (total, f"({count} * aggregate({among}, {{}}))"),
                                   (total / dense[0].sum(axis=0),
                                    f"aggregate({among}, {{}})")):  # fmt: skip
                    fits = (abs(held - wanted)[:, care] < 1e-9).all(axis=1)
                    for number in chunk[fits][:3].tolist():
                        used = [BankPart(False, int(number))] * (1 + ("score" in text))
                        used = [BankPart(True, simple), *used] if among == "{}" else used
                        yield Ending(made.recipe(text, *used, heads=(-1,), extra=2), level)

    def _placing(self, value: BankPart, level: int) -> Iterator[Ending]:
        """An s-op that says from where each value comes, or where it goes."""
        grid = self.made.grid
        numbers = self.sops.smallest(level - 1, MOST_PLACES, self.made.kinds == NUMBER)
        places = np.array([atom if type(atom) is int and 0 <= atom < 99 else 99
                           for atom in self.codes.atoms])  # fmt: skip
        row = self.sops.rows[value.number]
        for start in range(0, len(numbers), CHUNK):
            chunk = numbers[start : start + CHUNK]
            place = places[self.sops.rows[chunk]]
            inside = place < grid.lengths
            at = np.where(inside, grid.starts + place, 0)
            taken = (row[at] == grid.target) | ~grid.care
            put = ((grid.target[at] == row) | ~grid.care[at]) & inside
            fill = np.zeros_like(inside)
            np.put_along_axis(fill, at, inside, axis=1)
            most = int(np.bincount(self.target).argmax())
            is_most = (grid.target == most) | ~grid.care
            for text, right, picked in (
                ("aggregate(select(indices, {}, ==), {}", taken, inside),
                ("aggregate(select({}, indices, ==), {}", put | ~inside, fill),
            ):
                whole = (right & (picked | ~grid.care)).all(axis=1)
                partly = np.where(picked | (right is not taken), right, True).all(axis=1)
                partly &= (picked | is_most).all(axis=1)
                default = f", {literal(self.codes.atoms[most])})"
                for fits, end in ((whole, ")"), (partly & ~whole, default)):
                    for number in chunk[fits].tolist()[:3]:
                        places_part = BankPart(False, int(number))
                        recipe = self.made.recipe(
                            text + end, places_part, value, extra=2, heads=(-1,)
                        )
                        yield Ending(recipe, level)

    def _headed(
        self, text: str, selector: Recipe, depth: int, values: tuple[BankPart, ...], extra: int
    ) -> Ending:
        """Write a head: its selector goes into the first place of the text."""
        known = [self.sops.recipe(value.number) for value in values]
        recipe = Recipe(
            text.replace("{}", selector.text, 1), (*selector.parts, *values),
            extra + selector.size + sum(one.size for one in known),
            selector.heads.union({-1}, *(one.heads for one in known)),
        )  # fmt: skip
        return Ending(recipe, max([depth, *(int(self.sops.levels[one.number]) + 1
                                            for one in values)]))  # fmt: skip

    def _questions(
        self, level: int
    ) -> Iterator[tuple[str, Array, Array, bool, tuple[BankPart, ...], int]]:
        """For each way to read a head: the keys that are right, and the rows that must pick."""
        grid = self.made.grid
        free = ~grid.care
        if self.kind == BOOL:
            for answer, text in ((self.codes.true, "has_focus({})"),
                                 (self.codes.false, "(not has_focus({}))")):  # fmt: skip
                wanted = grid.care & (grid.target == answer)
                if wanted.any() and not (wanted | free).all():
                    yield (
                        text,
                        np.broadcast_to(wanted | free, grid.keys.shape),
                        wanted,
                        False,
                        (),
                        1,
                    )
        counts = np.bincount(self.target)
        defaults: list[int | None] = [None, int(counts.argmax())]
        for value in self._values(level):
            right = (self.sops.rows[value][grid.keys] == grid.target) | free
            for default in defaults:
                if default is not None and not counts[default]:
                    continue
                needed = grid.care & (grid.target != (default or 0))
                atom = 0 if default is None else self.codes.atoms[default]
                is_usual = default is None or (atom == 0 and self.kind == NUMBER)
                written = "" if is_usual else f", {literal(atom)}"
                yield (f"aggregate({{}}, {{}}{written})", right, needed, self.kind != NUMBER,
                       (BankPart(False, value),), 1 + bool(written))  # fmt: skip

    def _values(self, level: int) -> list[int]:
        """The simplest s-ops that a last head could move."""
        literal = self.made.is_literal(np.arange(len(self.sops)))
        usable = (self.made.kinds == self.kind) & ~literal
        values: list[int] = self.sops.smallest(level - 1, MOST_VALUES, usable).tolist()
        return values

    def _picking(self, numbers: Array, fits: _Fit) -> Iterator[tuple[Recipe, int]]:
        """Selectors, and pairs of them, that pick right keys only, and pick where they must."""
        made = self.made
        bank = made.selectors
        words = bank.rows[numbers].reshape(-1, made.grid.planes, made.words)
        covers = fits.could(words)
        numbers, words = numbers[covers], words[covers]
        levels = bank.levels
        for text, place in fits.among(words, "{}", 6):
            one = BankPart(True, int(numbers[place]))
            yield self.made.recipe(text, one, extra=2 * ("best" in text)), int(levels[one.number])
        few, chosen = numbers[:MOST_SELECTORS], words[:MOST_SELECTORS]
        for place, number in enumerate(few.tolist()):
            both = chosen[place + 1 :] & chosen[place]
            for text, other in fits.among(both, "({} and {})", 3):
                mate = int(few[place + 1 + other])
                recipe = self.made.recipe(text, BankPart(True, number), BankPart(True, mate),
                                      extra=1 + 2 * ("best" in text))  # fmt: skip
                yield recipe, int(max(levels[[number, mate]]))

    def _marking(self, bools: Array, marked: Array, fits: _Fit) -> Iterator[tuple[Recipe, int]]:
        """Keys at which a bool is true, among all, or those on one side of the query."""
        made = self.made
        could = fits.could(marked)
        bools, marked = bools[could], marked[could]
        for simple in made.simple[:5]:
            where = made.selectors.rows[simple].reshape(1, made.grid.planes, made.words)
            base = "select({}, True, ==)"
            base = base if simple == made.simple[0] else f"({base} and {{}})"
            for text, place in fits.among(marked & where, base, 3):
                parts = (BankPart(False, int(bools[place])), BankPart(True, simple))[
                    : base.count("{}")
                ]
                yield (self.made.recipe(text, *parts, extra=2 + 2 * ("best" in text)),
                       int(self.sops.levels[bools[place]]) + 1)  # fmt: skip


@dataclass(frozen=True)
class _Fit:
    """What a selection must be: the keys it may pick, the rows that must, and whether once."""

    good: Array
    must: Array
    single: bool

    def could(self, words: Array) -> Array:
        """Which selections pick a right key in every row that must."""
        hit = np.bitwise_or.reduce(words & self.good, axis=1)
        could: Array = ((hit & self.must) == self.must).all(axis=1)
        return could

    def among(self, words: Array, text: str, most: int) -> Iterator[tuple[str, int]]:
        """Which selections fit as they are, or reduced to the first or last pick of each row."""
        order = range(words.shape[1])
        for wrapped, reduced in (("{}", words), ("select_best({}, score(indices, -1))", None),
                                 ("select_best({}, score(indices, 1))", None)):  # fmt: skip
            rows = words if reduced is not None else first_of(
                words, order if "-1" in wrapped else order[::-1])  # fmt: skip
            for place in np.flatnonzero(_right(rows, self.good, self.must, self.single))[:most]:
                yield wrapped.replace("{}", text), int(place)


def _reductions(dense: Array, rows: Array, keys: Array) -> tuple[Array, Array, Array]:
    """The largest, the smallest and the sum of what each position picks of several rows."""
    most = np.full(rows.shape, -np.inf)
    least, total = np.full(rows.shape, np.inf), np.zeros(rows.shape)
    for picked, places in zip(dense, keys, strict=True):
        values = rows[:, places]
        np.maximum(most, values, out=most, where=picked)
        np.minimum(least, values, out=least, where=picked)
        np.add(total, values, out=total, where=picked)
    return most, least, total


def _is_width(rows: Array, bits: list[Array], free: Array) -> Array:
    """Which selections pick as many keys as wanted: counted in binary, 64 rows at a time."""
    digits: list[Array] = [np.zeros_like(rows[:, 0]) for _ in bits]
    for plane in range(rows.shape[1]):
        carry = rows[:, plane]
        for place in range((plane + 1).bit_length()):
            digits[place], carry = digits[place] ^ carry, digits[place] & carry
    wrong: Array = np.zeros_like(digits[0])
    for digit, bit in zip(digits, bits, strict=True):
        wrong |= digit ^ bit
    return np.asarray(~(wrong & ~free).any(axis=1))


def _right(rows: Array, good: Array, must: Array, single: bool) -> Array:
    """Which selections pick good keys only, pick in each row that must, and once if asked."""
    fine = np.asarray(~(rows & ~good).any(axis=(1, 2)))
    kept = np.flatnonzero(fine)
    if not len(kept):
        return fine
    once = np.zeros_like(rows[kept][:, 0])
    twice = np.zeros_like(once)
    for plane in range(rows.shape[1]):
        twice |= once & rows[kept, plane]
        once |= rows[kept, plane]
    fine[kept] = ((once & must) == must).all(axis=1)
    if single:
        fine[kept] &= ~twice.any(axis=1)
    return fine
