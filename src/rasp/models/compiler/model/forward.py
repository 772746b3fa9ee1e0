"""The residual stream in; what a head or a feed-forward adds, and what a read-out chooses, out.

Plain softmax attention and ReLU feed-forwards in numpy; nothing here knows RASP.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rasp.models.certificate import Array, FeedForwardWeights, HeadWeights, Readout

# numpy's product of matrices may report an invalid value though all numbers are finite, before
# and after; and weights that are not picked underflow.
QUIET: dict[str, Any] = {"invalid": "ignore", "under": "ignore"}


@np.errstate(**QUIET)
def attend(x: Array, head: HeadWeights, allowed: Array | None, dtype: type) -> tuple[Array, Array]:
    """One head: its attention (batch, query, key) and what it adds (batch, position, model)."""
    queries = x @ head.query.T.astype(dtype) + head.query_bias.astype(dtype)
    keys = x @ head.key.T.astype(dtype) + head.key_bias.astype(dtype)
    scores = queries @ keys.transpose(0, 2, 1)
    if allowed is not None:
        scores = np.where(allowed, scores, dtype(-np.inf))
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    attention = weights / weights.sum(axis=-1, keepdims=True)
    values = x @ head.value.T.astype(dtype) + head.value_bias.astype(dtype)
    return attention, (attention @ values) @ head.out.T.astype(dtype)


@np.errstate(**QUIET)
def feed_forward(x: Array, block: FeedForwardWeights, dtype: type) -> Array:
    """What a feed-forward adds."""
    hidden = np.maximum(x @ block.inside.T.astype(dtype) + block.bias.astype(dtype), 0)
    return np.asarray(hidden @ block.out.T.astype(dtype))


def logit_places(readouts: Sequence[Readout]) -> Iterator[tuple[Readout, slice]]:
    """Each output, and where its scores (or its number) are when all are side by side."""
    start = 0
    for readout in readouts:
        end = start + (len(readout.atoms) if readout.scored else 1)
        yield readout, slice(start, end)
        start = end


def chosen(readout: Readout, scores: Array) -> Array:
    """(…, atom or 1) scores to (…) the place of the answer: of the best, or the nearest code."""
    if readout.scored:
        return np.asarray(scores.argmax(axis=-1))
    numbers, codes = scores[..., 0].astype(np.float64), np.array(readout.codes)
    if len(codes) == 1:
        return np.zeros(numbers.shape, int)
    right = np.clip(np.searchsorted(codes, numbers), 1, len(codes) - 1)
    left = right - 1
    return np.where(numbers - codes[left] <= codes[right] - numbers, left, right)
