"""What is read of a block in, how few numbers say it out.

A block has K states, and each reader gives every state a number. States that no reader tells apart
are one state. Where the readers' numbers are mixtures of few functions, these few are what the
stream holds (a *narrow* block); and what a read-out alone tells apart is a code of bits, of which
neighbours differ in one. Else there is one dimension for each state. Cost: 1 dimension for each
function or bit, in place of 1 for each state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rasp.models.certificate import Array
from rasp.models.compiler.emitting.rows import Row

CLOSE = 1e-9
STEEPEST = 4.0
"""How many times the range of what it reads a reader's weights may add up to."""
NEAREST = 0.9
"""The smallest distance of two codes that a read-out tells apart, squared."""


@dataclass(frozen=True, eq=False)
class BlockCode:
    """What the dimensions of a block hold in each of its states."""

    codes: Array
    """(state, dimension)"""
    dims: list[int]
    is_hot: bool
    """Whether one dimension is 1 and all others are 0."""

    def recoded(self, row: Row, dims: Sequence[int]) -> Row:
        """A row that reads the code in place of the states of a block; raises `LookupError` where
        there is none.
        """
        if row.weights.keys().isdisjoint(dims):
            return row
        found = solved(self.codes, numbers_of([row], dims)[0], self.is_hot)
        if found is None:
            raise LookupError("a block does not hold what is read of it")
        read = zip(self.dims, map(float, found[0]), strict=True)
        others = {dim: weight for dim, weight in row.weights.items() if dim not in set(dims)}
        return Row(others | {dim: weight for dim, weight in read if weight},
                   row.constant + found[1])  # fmt: skip


def numbers_of(rows: Sequence[Row], dims: Sequence[int]) -> Array:
    """(row, state): what rows read in each state of a block."""
    numbers = [[row.weights.get(dim, 0.0) for dim in dims] for row in rows]
    return np.array(numbers).reshape(len(rows), len(dims))


def solved(codes: Array, read: Array, is_hot: bool) -> tuple[Array, float] | None:
    """Weights and a constant with which codes give each state a number; None if there are none."""
    if is_hot:
        weights, constant = read[codes.argmax(axis=0)], 0.0
    else:
        columns = np.hstack([codes, np.ones((len(codes), 1))])
        mixed = np.linalg.lstsq(columns, read, rcond=None)[0]
        weights, constant = np.where(np.abs(mixed[:-1]) > CLOSE, mixed[:-1], 0.0), float(mixed[-1])
    size = max(1.0, np.abs(read).max(initial=0.0))
    if np.abs(codes @ weights + constant - read).max(initial=0.0) > CLOSE * size:
        return None
    return weights, constant


def coded(read: Array, is_told: bool) -> tuple[Array, bool] | None:
    """(state, dimension): codes for the states of a block, and whether one of them is hot.

    `read` is (reader, state); `is_told` says that a read-out tells all states apart, whatever
    their codes are. None where nothing is gained.
    """
    states = read.shape[1]
    labels = np.arange(states) * float(is_told)
    _, firsts, which = np.unique(
        np.vstack([read, labels]), axis=1, return_index=True, return_inverse=True
    )
    order = np.argsort(np.argsort(firsts))  # classes in order of appearance
    which, firsts = order[which.reshape(-1)], np.sort(firsts)
    basis = _basis(read[:, firsts])
    bits = np.zeros((len(firsts), 0))
    if is_told and not _are_apart(basis):
        bits = _gray(states)
    few = np.hstack([basis, bits])
    if _is_worth(few.shape[1], basis.shape[1], len(firsts)) and _is_level(few, read[:, firsts]):
        return few[which], False
    return (np.eye(len(firsts))[which], True) if len(firsts) < states else None


def _is_worth(size: int, mixed: int, classes: int) -> bool:
    """Whether a code is so much smaller than a dimension for each class."""
    return size < classes if not mixed else size == 1 or 2 * size <= classes


def _basis(read: Array) -> Array:
    """(class, function): functions from 0 to 1 of which all rows are mixtures, with constants."""
    spread = read.max(axis=1) - read.min(axis=1)
    rows = read[spread > 0]
    rows = (rows - rows.min(axis=1)[:, None]) / spread[spread > 0][:, None]
    rows = np.unique(np.round(rows, 12), axis=0)
    rows = rows[np.argsort([len(np.unique(row)) for row in rows], kind="stable")]
    chosen = [np.ones(read.shape[1])]
    for row in rows:
        if np.linalg.matrix_rank(np.array([*chosen, row]), tol=1e-7) > len(chosen):
            chosen.append(row)
            if 2 * len(chosen) > read.shape[1] + 2:
                break  # as many as there are classes, nearly
    return np.array(chosen[1:]).reshape(-1, read.shape[1]).T


def _are_apart(codes: Array) -> bool:
    """Whether codes are far enough from each other."""
    distances = ((codes[:, None] - codes[None]) ** 2).sum(axis=2) + 2 * np.eye(len(codes))
    return bool(distances.min() >= NEAREST)


def _gray(count: int) -> Array:
    """(state, bit): a code of bits, of which neighbours differ in one."""
    places = np.arange(count)
    size = (count - 1).bit_length()
    return ((places ^ (places >> 1))[:, None] >> np.arange(size) & 1).astype(float)


def _is_level(codes: Array, read: Array) -> bool:
    """Whether all readers are moderate mixtures of codes."""
    for row in read:
        found = solved(codes, row, is_hot=False)
        if found is None or np.abs(found[0]).sum() > STEEPEST * (row.max() - row.min()) + CLOSE:
            return False
    return True


def nearest_rows(codes: Array) -> tuple[Array, Array]:
    """(code, dimension) and (code,): weights and constants of scores, the highest for the code that
    is nearest; the next is one less.
    """
    squares = (codes**2).sum(axis=1)
    distances = squares[:, None] + squares[None] - 2 * codes @ codes.T
    least = distances[distances > CLOSE].min(initial=np.inf)
    scale = 2.0 / least if np.isfinite(least) else 1.0
    return scale * codes, -scale * squares / 2
