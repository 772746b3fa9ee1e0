"""Lengths in, the shape of a batch out: many lengths in one batch with next to no padding.

Examples sorted by length are cut into as many strata as a batch has slots, and every batch takes
one example from each stratum. So each batch mixes all lengths (batches of like lengths train
badly), slot by slot the lengths hardly differ from batch to batch, and shapes never change: a slot
is as long as the longest of its stratum. The slots' tokens lie one after the other, in one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rasp.base.errors import RaspValueError


@dataclass(frozen=True)
class SlotLayout:
    """The lengths of a batch's slots."""

    slots: tuple[int, ...]

    @property
    def batch(self) -> int:
        return len(self.slots)

    @property
    def size(self) -> int:
        """Tokens in a batch, padding included."""
        return sum(self.slots)

    @property
    def cells(self) -> int:
        """Cells of a batch's attention: each slot's length squared, added up."""
        return sum(length * length for length in self.slots)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each slot's tokens begin. (batch,)"""
        return np.concatenate([[0], np.cumsum(self.slots)[:-1]]).astype(np.int64)

    @cached_property
    def slot_of(self) -> np.ndarray:
        """Each token's slot. (size,)"""
        return np.repeat(np.arange(self.batch), self.slots)

    @cached_property
    def position_of(self) -> np.ndarray:
        """Each token's position in its slot. (size,)"""
        return np.concatenate([np.arange(length) for length in self.slots])

    @cached_property
    def cell_starts(self) -> np.ndarray:
        """Where each slot's cells begin. (batch,)"""
        squares = np.square(np.array(self.slots, np.int64))
        return np.concatenate([[0], np.cumsum(squares)[:-1]]).astype(np.int64)

    @cached_property
    def cell_tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """Each cell's query and key, as places in the row of tokens. (cells,), (cells,)"""
        ends = [np.arange(start, start + length)
                for start, length in zip(self.starts, self.slots, strict=True)]  # fmt: skip
        queries = [np.repeat(end, len(end)) for end in ends]
        keys = [np.tile(end, len(end)) for end in ends]
        return np.concatenate(queries), np.concatenate(keys)


def lay_out(lengths: Sequence[np.ndarray], batch: int) -> SlotLayout:
    """Return a layout that fits every stratum of several sets of examples, each sorted by length.

    >>> lay_out([np.array([1, 2, 2, 5])], 2).slots
    (2, 5)
    """
    slots = np.zeros(batch, np.int64)
    for own_lengths in lengths:
        if len(own_lengths) % batch:
            raise RaspValueError(
                f"{len(own_lengths)} examples cannot be dealt out in batches of {batch}",
                hint="take a number of examples that the batch divides",
            )
        slots = np.maximum(slots, own_lengths.reshape(batch, -1).max(axis=1))
    return SlotLayout(tuple(int(length) for length in slots))


def deal(seed: Sequence[int], batch: int, batches: int) -> np.ndarray:
    """Return which examples each batch takes, every one once. (batches, batch)"""
    random = np.random.Generator(np.random.Philox(list(seed)))
    within = random.permuted(np.tile(np.arange(batches), (batch, 1)), axis=1)  # (batch, batches)
    return (within + np.arange(batch)[:, None] * batches).T.astype(np.int32)
