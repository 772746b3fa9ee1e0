"""Examples laid end to end: position i of all of them, and the keys each position can pick.

A sequence is a row of codes over all positions of all examples. A selection is a stack of planes:
plane l holds, for each position, whether it picks the l-th key of its own example. So what is
done with a selection is done to whole planes at a time, and packed, to 64 positions in a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rasp.base.atoms import Atom
from rasp.insight.finding.atom_codes import Array, AtomCodes, Codes

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class ExampleGrid:
    """Inputs laid end to end, and what is wanted at some of the positions.

    >>> grid = ExampleGrid.of([("a", "b"), ("c",)], [("b", "a"), None], AtomCodes())
    >>> grid.keys.tolist(), grid.care.tolist()
    ([[0, 0, 2], [1, 1, 0]], [True, True, False])
    """

    inputs: tuple[tuple[Atom, ...], ...]
    codes: AtomCodes
    target: Codes
    """What is wanted; 0 where anything will do."""
    tokens: Codes
    indices: Codes
    starts: Array
    """Where each position's example begins."""
    lengths: Array

    @classmethod
    def of(
        cls, inputs: Sequence[tuple[Atom, ...]], outputs: Sequence[Any], codes: AtomCodes
    ) -> ExampleGrid:
        flat: list[int] = []
        target: list[int] = []
        indices: list[int] = []
        for tokens, answer in zip(inputs, outputs, strict=True):
            flat += [codes.code(token) for token in tokens]
            indices += [codes.code(place) for place in range(len(tokens))]
            wanted = answer if answer is not None else (None,) * len(tokens)
            target += [0 if atom is None else codes.code(atom) for atom in wanted]
        sizes = [len(tokens) for tokens in inputs]
        starts = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        wanted, given, places = (np.array(row, dtype=np.int16) for row in (target, flat, indices))
        return cls(tuple(inputs), codes, wanted, given, places, starts, np.repeat(sizes, sizes))

    @property
    def size(self) -> int:
        return len(self.target)

    @property
    def planes(self) -> int:
        """How many keys there are at most."""
        return int(self.lengths.max())

    @cached_property
    def care(self) -> Array:
        """The positions at which something is wanted."""
        wanted: Array = self.target != 0
        return wanted

    @cached_property
    def place(self) -> Array:
        """Each position's place in its example, from 0."""
        return np.arange(self.size) - self.starts

    @cached_property
    def exists(self) -> Array:
        """Which keys exist: (plane, position)."""
        return np.arange(self.planes)[:, None] < self.lengths

    @cached_property
    def keys(self) -> Array:
        """The position of each key; 0 where it does not exist: (plane, position)."""
        return np.where(self.exists, self.starts + np.arange(self.planes)[:, None], 0)

    @cached_property
    def at_end(self) -> Array:
        """The last position of each position's example."""
        return self.starts + self.lengths - 1


def pack(rows: Array) -> Words:
    """Pack bools along the last axis, 64 to a word."""
    squeezed = np.packbits(rows, axis=-1, bitorder="little")
    missing = -squeezed.shape[-1] % 8
    if missing:
        squeezed = np.pad(squeezed, [(0, 0)] * (rows.ndim - 1) + [(0, missing)])
    return np.ascontiguousarray(squeezed).view(np.uint64)


def unpack(words: Words, size: int) -> Array:
    """Turn packed bools back."""
    rows = np.unpackbits(words.view(np.uint8), axis=-1, count=size, bitorder="little")
    return rows.view(bool)


class Fingerprints:
    """128 bits of each row: rows that differ have different ones, but for one chance in 2^64.

    >>> prints = Fingerprints(5, seed=0)
    >>> one, other = prints.of(np.array([[1, 2, 3, 4, 5], [1, 2, 3, 4, 6]], dtype=np.int16))
    >>> one == other
    False
    """

    def __init__(self, cells: int, seed: int = 0, step: int = 4) -> None:
        draw = np.random.default_rng(seed)
        self.words = -(-cells // step)
        self.step = step
        numbers = draw.integers(0, 2**64, size=(4, self.words), dtype=np.uint64)
        self.added, self.first, self.second, self.third = numbers | np.uint64(1)

    def of(self, rows: Array) -> list[bytes]:
        """Return the fingerprint of each row: codes, or packed words."""
        if self.step == 4:
            whole = np.zeros((len(rows), 4 * self.words), dtype=np.int16)
            whole[:, : rows.shape[1]] = rows
            rows = whole.view(np.uint64)
        mixed = (rows + self.added) * self.first
        mixed ^= mixed >> np.uint64(32)
        both = np.empty((len(rows), 2), dtype=np.uint64)
        both[:, 0] = (mixed * self.second).sum(axis=1)
        both[:, 1] = (mixed * self.third).sum(axis=1)
        prints: list[bytes] = both.view("V16").ravel().tolist()
        return prints
