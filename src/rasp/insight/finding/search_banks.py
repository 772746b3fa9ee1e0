"""The banks of one round, what they begin with, and how they take what is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import process_time

import numpy as np
from numpy.typing import ArrayLike

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import answers
from rasp.insight.finding.atom_codes import Array
from rasp.insight.finding.building_blocks import Blocks
from rasp.insight.finding.example_grid import ExampleGrid, Fingerprints, pack, unpack
from rasp.insight.finding.expression_bank import Bank, BankPart, Recipe, literal

CHUNK = 512
PLANES_CHUNK = 128
"""Selections, or rows spread over their keys, that are computed at once."""


class SearchTimeOver(Exception):
    """The time is over."""


@dataclass(frozen=True)
class Widths:
    """How many expressions of each sort take part in making larger ones."""

    core: int = 40
    """S-ops of earlier layers that selectors compare."""
    paired: int = 14
    """Of these, those that are compared with one another, each with each."""
    combined: int = 100
    """Selectors that are combined with one another."""
    values: int = 60
    """S-ops that a simple selector aggregates; of bools, a hundred times as many."""
    aggregated: int = 1500
    """Selectors that aggregate the simplest values."""
    operands: int = 350
    """S-ops that become operands, at each layer."""
    elementwise: int = 60_000
    """Elementwise candidates, at each layer."""

    def scaled(self, factor: float) -> Widths:
        """The same for a wider or narrower round."""
        root = factor**0.5
        return Widths(
            int(self.core * root), int(self.paired * root), int(self.combined * root),
            int(self.values * root), int(self.aggregated * factor), int(self.operands * root),
            int(self.elementwise * factor),
        )  # fmt: skip


class SearchBanks:
    """The banks of one round, and how they grow."""

    def __init__(self, grid: ExampleGrid, constants: Sequence[Atom], blanks: Sequence[Atom],
                 widths: Widths, deadline: float) -> None:  # fmt: skip
        self.grid, self.codes, self.widths = grid, grid.codes, widths
        self.deadline = deadline
        self.blanks = blanks
        self.sops = Bank(Fingerprints(grid.size), np.int16, grid.size)
        self.words = -(-grid.size // 64)
        cells = grid.planes * self.words
        self.selectors = Bank(Fingerprints(cells, step=1), np.uint64, cells)
        self._kinds = np.zeros(1024, dtype=np.int8)
        self._width_codes = np.array(
            [self.codes.code(count) for count in range(grid.planes + 1)], dtype=np.int16
        )
        self.literals = 0
        self.simple: list[int] = []
        """Selectors that may aggregate anything, such as all keys and those before."""
        self._start(constants)

    @property
    def candidates(self) -> int:
        """How many candidates were computed and looked up."""
        return self.sops.offered + self.selectors.offered

    @property
    def kinds(self) -> Array:
        """The class of each s-op's atoms; -1 for constants, and where bools and numbers mix."""
        return self._kinds[: len(self.sops)]

    def check_time(self) -> None:
        if process_time() > self.deadline:
            raise SearchTimeOver

    def _start(self, constants: Sequence[Atom]) -> None:
        grid = self.grid
        tokens = {atom for atoms in grid.inputs for atom in atoms}
        self._base(grid.tokens, "tokens")
        self._base(grid.indices, "indices")
        if all(
            isinstance(token, str) and token.isdecimal() and token.isascii() for token in tokens
        ):
            self._base(self.codes.apply("int", grid.tokens), "tokens_int")
        self.first_literal = len(self.sops)
        for atom in constants:
            cost = 1 + (not isinstance(atom, str) and atom not in (0, 1, 2))
            self._base(np.full(grid.size, self.codes.code(atom)), literal(atom), cost)
        self.literals = len(self.sops)
        for name, members in _classes(tokens):
            held = [token in members for atoms in grid.inputs for token in atoms]
            self._base(np.where(held, self.codes.true, self.codes.false), name, 2)

    def add_blocks(self, blocks: Blocks) -> None:
        """Take the building blocks that a user gave: each is one word, in the layer it takes."""
        grid = self.grid
        for block in blocks.blocks:
            heads = frozenset(-2 - count for count in range(block.heads))
            said = answers([block.handle.node], grid.inputs)
            values = [value for one in said if not isinstance(one, RaspError) for value in one[0]]
            if len(values) < grid.size:
                continue
            recipe = partial(_as_it_is, Recipe(block.text, heads=heads))
            if not block.is_selector:
                codes = np.array([[self.codes.code(atom) for atom in values]], dtype=np.int16)
                self.offer(codes, block.level, 1, block.heads, recipe)
                continue
            dense = np.zeros((1, *grid.keys.shape), dtype=bool)
            for column, row in enumerate(values):
                dense[0, : len(row), column] = row
            self.offer_selectors(dense, block.level + 1, 1, block.heads, recipe)

    def _base(self, row: Array, text: str, cost: int = 1) -> None:
        self.offer(row[None].astype(np.int16), 0, cost, 0, lambda place: Recipe(text, size=cost))

    def offer(self, rows: Array, level: int, costs: ArrayLike, heads: ArrayLike,
               recipe: Callable[[int], Recipe]) -> list[int]:  # fmt: skip
        """Take s-ops that are defined everywhere; constants only while the literals come."""
        self.check_time()
        kept = rows.min(axis=1, initial=1) > 0
        if self.literals:
            kept &= (rows != rows[:, :1]).any(axis=1)
        if not kept.all():
            places = np.flatnonzero(kept)
            self.sops.offered += len(rows) - len(places)
            costs, heads = (np.broadcast_to(one, len(rows))[places] for one in (costs, heads))
            new = self.sops.offer(rows[places], level, costs, heads,
                                  lambda place: recipe(int(places[place])))  # fmt: skip
        else:
            new = self.sops.offer(rows, level, costs, heads, recipe)
        if new:
            if len(self.sops) > len(self._kinds):
                self._kinds = np.resize(self._kinds, 2 * len(self.sops))
            kinds = self.codes.kinds(self.sops.rows[new])
            uniform = kinds.max(axis=1) == kinds.min(axis=1)
            self._kinds[new] = np.where(uniform, kinds[:, 0], -1)
        return new

    def recipe(
        self, text: str, *parts: BankPart, heads: tuple[int, ...] = (), extra: int = 1
    ) -> Recipe:
        """Write one expression with the parts of others."""
        known = [self.recipe_of(part) for part in parts]
        size = extra + sum(one.size for one in known)
        return Recipe(text, parts, size, frozenset(heads).union(*(one.heads for one in known)))

    def recipe_of(self, part: BankPart) -> Recipe:
        """Return how a part is written."""
        return (self.selectors if part.is_selector else self.sops).recipe(part.number)

    def is_literal(self, numbers: Array) -> Array:
        """Tell which s-ops are literals."""
        return (numbers >= self.first_literal) & (numbers < self.literals)

    def offer_selectors(self, dense: Array, level: int, costs: ArrayLike, heads: ArrayLike,
                         recipe: Callable[[int], Recipe]) -> list[int]:  # fmt: skip
        words = pack(dense)
        return self.selectors.offer(words.reshape(len(words), -1), level, costs, heads, recipe)

    def dense(self, numbers: Array) -> Array:
        rows = self.selectors.rows[numbers].reshape(len(numbers), self.grid.planes, self.words)
        return unpack(np.ascontiguousarray(rows), self.grid.size)


def _as_it_is(recipe: Recipe, place: int) -> Recipe:
    return recipe


def every_pair(left: Array, right: Array) -> tuple[Array, Array]:
    """Every pair of one number and another."""
    return np.repeat(left, len(right)), np.tile(right, len(left))


def _classes(tokens: set[Atom]) -> list[tuple[str, set[str]]]:
    """Classes of characters that a program is likely to ask for, as it would write them."""
    words = {token for token in tokens if isinstance(token, str) and len(token) == 1}
    classes = []
    for members in (set("aeiou"), set("0123456789"), set("([{<"), set(")]}>")):
        found = sorted(words & members)
        if 1 < len(found) < len(tokens):
            listed = ", ".join(literal(token) for token in found)
            classes.append((f"(tokens in [{listed}])", set(found)))
    return classes
