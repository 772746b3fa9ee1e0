"""The arrays in; which token, index or answer each dimension is about, if it is about one, out.

Dimensions of a one-hot block are read for the same purpose. What tells them apart is read off the
arrays: the one row of the embedding that is not 0 there, or the one answer that scores by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rasp.atoms import Atom, show
from rasp.certificate import Array, Readout, Weights

MOST_TOKENS_NAMED = 3


def dimension_states(
    weights: Weights, vocabulary: Sequence[Atom], readouts: Sequence[Readout]
) -> Iterator[str]:
    """For each dimension, such as `tokens == "a"`, or an answer; "" where it is about many."""
    tokens, positions = weights.tokens[: len(vocabulary)], weights.positions
    for dim in range(tokens.shape[1]):
        named, index = _alike(tokens[:, dim]), _alike(positions[:, dim])
        if 0 < len(named) <= MOST_TOKENS_NAMED and not positions[:, dim].any():
            yield " or ".join(f"tokens == {show(vocabulary[token])}" for token in named)
        elif len(index) == 1 and not tokens[:, dim].any():
            yield f"indices == {index[0]}"
        else:
            yield _answer(weights, readouts, dim)


def _answer(weights: Weights, readouts: Sequence[Readout], dim: int) -> str:
    """The one answer that scores higher by a dimension."""
    for readout, arrays in zip(readouts, weights.readouts, strict=True):
        scores = arrays.weight[:, dim]
        if readout.scored and scores.any():
            higher = _alike(scores - scores.min())
            return show(readout.atoms[higher[0]]) if len(higher) == 1 else ""
    return ""


def _alike(column: Array) -> list[int]:
    """Where a column is not 0, if it is the same everywhere there; else nothing."""
    places = np.flatnonzero(column)
    return places.tolist() if len(set(column[places].tolist())) == 1 else []
