"""A conjunct in; how its scores lie, over all pairs of a query and a key, out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rasp.compiler.emitting.stream_errors import LARGEST_COUNT, UNIT
from rasp.compiler.planning.scores import Conjunct

CELLS_AT_ONCE = 1_000_000
"""How many numbers a check holds in memory at once."""


@dataclass(frozen=True)
class Extent:
    """Of some queries: how matches score, how deep others fall, how large the terms are."""

    low: float
    high: float
    depth: float
    size: float
    size_anywhere: float
    """The same as `size`, of pairs that do not match as well."""
    terms: int


def extent_of(conjunct: Conjunct) -> Extent:
    """Look at every pair, some queries at a time."""
    together = max(1, CELLS_AT_ONCE // max(1, len(conjunct.key_values)))
    found = [
        _extent(conjunct, slice(start, start + together))
        for start in range(0, len(conjunct.query_values), together)
    ]
    return Extent(
        min(each.low for each in found),
        max(each.high for each in found),
        min(each.depth for each in found),
        max(each.size for each in found),
        max(each.size_anywhere for each in found),
        max(each.terms for each in found),
    )


def _extent(conjunct: Conjunct, rows: slice) -> Extent:
    asked, sent = conjunct.query_values[rows], conjunct.key_values
    references, truth = conjunct.references[rows, None], conjunct.truth[rows]
    scores = asked @ sent.T - references
    depth = float("inf") if truth.all() else float(-scores[~truth].max())
    if conjunct.level is not None:  # what does not match has a place, too, and must keep to it
        scores = np.where(truth, scores, scores - float(conjunct.level))
        truth = np.ones_like(truth)
    sizes = np.abs(asked) @ np.abs(sent).T + np.abs(references)
    most = float(sizes.max(initial=0.0))
    terms = int(((asked != 0).astype(np.float32) @ (sent != 0).T.astype(np.float32)).max(initial=0))
    if not truth.any():
        return Extent(0.0, 0.0, depth, 0.0, most, terms)
    low, high = float(scores[truth].min()), float(scores[truth].max())
    return Extent(low, high, depth, float(sizes[truth].max()), most, terms)


def carried(
    values: np.ndarray, off: np.ndarray, still: np.ndarray, others: np.ndarray, truth: np.ndarray
) -> tuple[float, float]:
    """What errors of one side's values do to the scores: of all pairs, and of matches.

    `still` are the values that come without rounding, and what they are off all the same.
    """
    if not off.any():
        return 0.0, 0.0
    sizes = np.abs(others).T  # (product, other)
    every = float((off @ sizes).max(initial=0.0))
    held = np.where(values == still[0], still[1], off)
    kinds, kind = np.unique(held, axis=0, return_inverse=True)
    matches = [truth[kind.reshape(-1) == place].any(axis=0) for place in range(len(kinds))]
    return every, float(((kinds @ sizes) * np.array(matches)).max(initial=0.0))


def rounded(size: float, terms: int, grain: float) -> float:
    """How far off the sum of some products can be: not at all, where they are small multiples."""
    exact = bool(grain) and 2 * size <= LARGEST_COUNT * grain
    return 0.0 if exact else terms * UNIT * size
