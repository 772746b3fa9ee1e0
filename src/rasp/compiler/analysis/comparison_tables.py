"""Two lists of atoms and a comparison in, the table of its truth out, query by key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.analysis.subset_sums import in_size_order
from rasp.operators import COMPARE


def comparison_table(
    keys: Sequence[Atom | None], queries: Sequence[Atom | None], op: str
) -> np.ndarray:
    """Compare every key with every query; an atom that cannot be there matches nothing.

    Numbers come before strings: a program that orders one against the other has no value there.

    >>> comparison_table([1, 2], [2], "<").tolist()
    [[True, False]]
    """
    atoms = (atom for atom in (*keys, *queries) if atom is not None)
    ranks = {atom: place for place, atom in enumerate(in_order(atoms))}
    left = _ranks_of(keys, ranks)[None, :]
    right = _ranks_of(queries, ranks)[:, None]
    truth: np.ndarray = COMPARE[op](left, right)
    return truth & (left >= 0) & (right >= 0)


def _ranks_of(atoms: Sequence[Atom | None], ranks: dict[Atom, int]) -> np.ndarray:
    return np.array([-1 if atom is None else ranks[atom] for atom in atoms], np.int64)


def in_order(atoms: Iterable[Atom]) -> list[Atom]:
    """Different atoms in an order of all of them: numbers, then strings."""
    different = set(atoms)
    numbers = in_size_order(atom for atom in different if not isinstance(atom, str))
    return [*numbers, *sorted(atom for atom in different if isinstance(atom, str))]


def classes(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of a table of truths, in order, and which of them each row is.

    >>> different, places = classes(np.array([[True, False], [False, True], [True, False]]))
    >>> different.astype(int).tolist(), places.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1])
    """
    packed = np.ascontiguousarray(np.packbits(rows, axis=1))
    texts = packed.view(f"S{packed.shape[1]}")[:, 0]  # rows as bytes, in the same order
    _, first, places = np.unique(texts, return_index=True, return_inverse=True)
    return rows[first], places
