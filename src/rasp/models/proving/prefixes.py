"""Inputs as one forest: what begins alike is computed once.

In a causal model, a position's numbers depend on nothing after it. So the rows of a batch are put
in order, and a *node* is a position whose ids up to here are those of no row before. Where a model
sees the whole input, every position of every row is a node of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rasp.models.proving.digits import Array


@dataclass(frozen=True)
class Prefixes:
    """The nodes of a batch of inputs of one length."""

    ids: Array  # (node)
    places: Array  # (node): its position
    nodes: Array  # (row, position): its node
    groups: tuple[tuple[Array, Array], ...]
    """Who looks at whom: nodes that ask (group, asking) and nodes that are asked (group, asked)."""


def lay_out(ids: Array, causal: bool) -> Prefixes:
    """Arrange rows of ids (row, position), which are in order.

    >>> lay_out(np.array([[0, 0], [0, 1], [1, 0]]), causal=True).nodes.tolist()
    [[0, 1], [0, 2], [3, 4]]
    """
    rows, columns = ids.shape
    if not causal:
        nodes = np.arange(rows * columns).reshape(rows, columns)
        places = np.tile(np.arange(columns), rows)
        return Prefixes(ids.reshape(-1), places, nodes, ((nodes, nodes),))
    is_new = np.ones((rows, columns), bool)
    is_new[1:] = np.logical_or.accumulate(ids[1:] != ids[:-1], axis=1)
    number = np.cumsum(is_new.reshape(-1)).reshape(rows, columns) - 1
    first = np.maximum.accumulate(np.where(is_new, np.arange(rows)[:, None], 0), axis=0)
    nodes = number[first, np.arange(columns)]
    groups = []
    for column in range(columns):
        own = np.flatnonzero(is_new[:, column])
        groups.append((nodes[own, column : column + 1], nodes[own, : column + 1]))
    return Prefixes(ids[is_new], np.nonzero(is_new)[1], nodes, tuple(groups))


def words(letters: int, length: int, start: int, stop: int) -> Array:
    """Words of a length in order, as places in an alphabet: those from `start` up to `stop`.

    >>> words(2, 3, 2, 5).tolist()
    [[0, 1, 0], [0, 1, 1], [1, 0, 0]]
    """
    number = np.arange(start, stop)[:, None]
    powers = np.array([letters**place for place in range(length - 1, -1, -1)], dtype=np.int64)
    return number // powers % letters


def parts(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Ranges that cover 0 … total, each no longer than `size`.

    >>> list(parts(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, total, size):
        yield start, min(start + size, total)
