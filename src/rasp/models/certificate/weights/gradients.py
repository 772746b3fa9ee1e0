"""Heads and hidden units in, how much more of the embedded input what they add can depend on, out.

Let g bound the length of the gradient of each dimension of the stream. A row of weights then has
a gradient of at most Σ |weight| g; over dimensions that nothing has been added to yet, whose
gradients are at right angles, one of √Σ weight². A score q · k is the row k W_Q for a given key,
and the row q W_K for a given query. What comes out of a softmax is Σ a v, where the a add up to 1.
Where the values v change, it changes by no more than one of them. Where the scores s change, it
changes by Σ a (ds) (v - mean of v): at most the largest |ds| times the mean deviation of what is
sent. That is half the range of the values where several keys share the attention, and next to
nothing where all that is picked sends one value. The sink asks, too: what it gives to others is
little, but may change fast, since it may ask for much more than any other position.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rasp.models.certificate.program.tables import Array
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.certificate.weights.reading import HeadSide
from rasp.models.certificate.weights.scores import HeadScores
from rasp.models.certificate.weights.sink import Sink, gets_of_others
from rasp.models.certificate.weights.stream import Stream


def head_gradient(
    stream: Stream, head: HeadWeights, scorer: HeadScores, sink: Sink | None, deviation: Array
) -> Array:
    """(channel,): the gradient of what a head moves, to whatever position; `deviation` is that of
    each channel.
    """
    by_query = _most(stream, scorer.keys, head.query)
    if sink is not None:
        by_query = max(
            by_query, _of_product(stream, sink.read(head.key, head.key_bias), head.query)
        )
    steep = deviation * (by_query + _most(stream, scorer.queries, head.key))
    if sink is not None:
        asked = sink.read(head.query, head.query_bias)
        score = by_query + _of_product(stream, asked, head.key)
        steep = np.maximum(steep, 2 * gets_of_others(stream, sink, head) * score)
    return np.asarray(lengths(stream, head.value) + steep)


def _of_product(stream: Stream, side: tuple[Array, Array], matrix: Array) -> float:
    """How long the gradient of a score is, at most, one side of which is this, off by so much."""
    number, off = side
    return float(lengths(stream, (number @ matrix)[None])[0] + off @ lengths(stream, matrix))


@dataclass(frozen=True, eq=False)
class Ways:
    """By which ways the embedded input reaches some hidden units: the number that they read, and
    each dimension beside it that holds 0. That is nothing to the number, but can change it.
    """

    weights: Array  # (unit, way)
    gradients: Array  # (way,): how long the gradient of each is, at most

    def of(self, on: Array, near: Array, out: Array) -> Array:
        """(point, dimension): how much what the units add can change, at most.

        By one way, units that are on change together; one that may be on or off adds no more than
        it does by itself.
        """
        total, size = np.zeros((len(on), len(out))), np.abs(out).T
        for weights, gradient in zip(self.weights.T, self.gradients, strict=True):
            together = np.abs((on * weights) @ out.T)
            total += (together + (near * np.abs(weights)) @ size) * gradient
        return total


def ways_into(stream: Stream, inside: Array, row: Array, signs: Array) -> Ways:
    """The ways into units that read a row, forwards or backwards, and what is beside it."""
    beside = (stream.size == 0) & (stream.error == 0) & inside.any(axis=0)
    weights = np.column_stack([signs, inside[:, beside]])
    return Ways(weights, np.append(lengths(stream, row[None]), stream.gradient[beside]))


def lengths(stream: Stream, rows: Array) -> Array:
    """(row,): how long the gradients of rows of weights are, at most."""
    plain = stream.gradient == 1.0
    others = np.abs(rows[:, ~plain]) @ stream.gradient[~plain]
    return np.asarray(np.linalg.norm(rows[:, plain], axis=1) + others)


def _most(stream: Stream, side: HeadSide, matrix: Array) -> float:
    """The longest gradient of what the other side reads, times what this one can be."""
    total = float(side.largest_error @ lengths(stream, matrix))
    if len(side.pieces) == 1:
        return total + float(lengths(stream, (side.pieces[0].value + side.constant) @ matrix).max())
    tables = [side.constant[None], *(piece.value for piece in side.pieces)]
    return total + sum(float(lengths(stream, table @ matrix).max(initial=0.0)) for table in tables)
