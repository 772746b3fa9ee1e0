"""A head in, how much more of the embedded input its outputs can depend on, out.

Let g bound the length of the gradient of each dimension of the stream. A row of weights then has
a gradient of at most Σ |weight| g, a score q · k one of Σ |k| |W_Q| g + Σ |q| |W_K| g. Where the
scores s change, what comes out of a softmax changes by Σ a (ds) (v - mean of v): at most the
largest |ds| times the mean deviation of what is sent. That is half the range of the values where
several keys share the attention, and next to nothing where all that is picked sends one value.
"""

from __future__ import annotations

import numpy as np

from rasp.certificate.arrays import HeadArrays
from rasp.certificate.scores import Scorer, Side
from rasp.certificate.stream import Stream
from rasp.certificate.tables import Array


def head_gradient(
    stream: Stream, head: HeadArrays, scorer: Scorer, sink: Array | None, deviation: Array
) -> Array:
    """(channel,): the gradient of what a head moves; `deviation` is that of each channel."""
    asked, sent = np.abs(head.query) @ stream.gradient, np.abs(head.key) @ stream.gradient
    by_query = _most(scorer.keys, asked)
    if sink is not None:
        by_query = max(by_query, float(np.abs(sink) @ asked))
    score = by_query + _most(scorer.queries, sent)
    return np.asarray(np.abs(head.value) @ stream.gradient + deviation * score)


def _most(side: Side, weights: Array) -> float:
    """The largest Σ |number| · weight over what a side can be, with all that is wrong with it."""
    wrong = side.error + sum(off.max(axis=0, initial=0.0) for _, _, off, _ in side.pieces)
    return side.largest(weights) + float(wrong @ weights)
