"""The sink: its row of the stream, what is read of it, and what a layer makes of it.

The sink is a position before all others. Keys have it beside them in every head, so that a query
that picks nothing attends to something; what it holds must hardly change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.tables import Array
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.certificate.weights.precision import FLOAT32, Precision
from rasp.models.certificate.weights.rounding import EXACT, SLACK, TINY, UNIT, check_size, grains
from rasp.models.certificate.weights.stream import Stream

EXP = 2.0**-21
"""The relative error of one exponential, and of one division, of a softmax."""
LARGEST = 60.0
"""Exponents beyond this are cut off: what they give is useless anyway."""


def exp(exponent: float) -> float:
    return float(np.exp(min(exponent, LARGEST)))


@dataclass(eq=False)
class Sink:
    """The sink's own row of the stream; it should never change."""

    row: Array
    error: Array
    precision: Precision = FLOAT32

    def rounded(self) -> Sink:
        """As numbers of a coarser precision."""
        return Sink(*self.precision.ends(self.row, self.error), self.precision)

    def read(self, weight: Array, bias: Array) -> tuple[Array, Array]:
        """(row,): what rows of weights read of the sink, and how far off float32 can be.

        Nothing is rounded where all terms are multiples of one power of two and add up to less
        than 2^24 of it; nor where two numbers of float32 cancel.
        """
        terms = np.hstack([weight * self.row, bias[:, None]])  # (row, dimension + 1)
        value, mass = terms.sum(axis=1), np.abs(terms).sum(axis=1)
        count = (terms != 0).sum(axis=1)
        exact = mass <= EXACT * grains(terms).min(axis=1)
        exact |= (count <= 2) & (value == 0) & (terms.astype(np.float32) == terms).all(axis=1)
        wrong = np.abs(weight) @ self.error
        count, mass = count + (weight != 0) @ (self.error > 0).astype(int), mass + wrong
        exact &= wrong == 0
        check_size(mass)
        rounding = np.where(exact, 0.0, SLACK * UNIT * count * mass + 2 * TINY * count)
        return self.precision.ends(value, rounding + wrong)

    def sends(self, row: Array, bias: float) -> tuple[float, float]:
        """What one row of values reads of it, and how far off."""
        value, off = self.read(row[None], np.array([bias]))
        return float(value[0]), float(off[0])

    def check_size(self) -> None:
        check_size(np.abs(self.row) + self.error)

    def length(self) -> float:
        """The root of the sum of squares of the row, at most."""
        return float(np.linalg.norm(self.row) + np.linalg.norm(self.error))

    def disturb(self, moved: float) -> None:
        """Let every dimension move by so much."""
        self.error = self.error + moved


def pass_sink(stream: Stream, sink: Sink, heads: Sequence[HeadWeights]) -> None:
    """What the heads of a layer add to the sink's row, and how far that can be off: as a query,
    the sink sees only itself, or scores itself far above all keys. What these add is rounded beside
    its own value: as in `attention`, it costs as much again.

    Rounding is bounded by the sizes of all that is added. What should be 0 and is not is added to
    a number of float32, so that rounding at most doubles it, each time that something is added.
    """
    seen = sink.rounded()
    charge = EXP + SLACK * (stream.precision.unit + stream.precision.moved)
    total, mass, count, error, times = np.zeros((5, len(sink.row)))
    for head in heads:
        value, off = seen.read(head.value, head.value_bias)
        off = off + (charge + 4 * SLACK * UNIT) * np.abs(value) + TINY * (value != 0)
        off = off + 2 * gets_of_others(stream, seen, head)
        total, error = total + head.out @ value, error + np.abs(head.out) @ off
        times = times + (head.out != 0) @ (off > 0)
        mass, count = mass + np.abs(head.out) @ np.abs(value), count + (head.out != 0).sum(axis=1)
    check_size(np.abs(sink.row) + mass)
    unit = SLACK * (UNIT + stream.precision.stored)
    most = unit * times * (np.abs(sink.row) + mass + error) + 2 * TINY * times
    error = error + np.minimum((2.0 ** np.minimum(times, 1000) - 1) * error, most)
    rounding = SLACK * UNIT * (count + 1) * (np.abs(sink.row) + mass) + 2 * TINY * count
    sink.row = sink.row + total
    again = (mass > 0) & ((sink.row != total) | (count > 1))  # else it is rounded as it is read
    rounding += again * stream.precision.stored * (count + 1) * (np.abs(sink.row) + mass)
    sink.error = sink.error + error + np.where(mass > 0, rounding, 0.0)


def gets_of_others(stream: Stream, sink: Sink, head: HeadWeights) -> Array:
    """(channel,): how far what the sink gets from a head is from its own value, as other keys have
    a share of its attention.
    """
    value, off = sink.read(head.value, head.value_bias)
    low, high = stream.largest(head.value)
    others = np.maximum(np.abs(low), np.abs(high)) + np.abs(head.value_bias)
    return np.asarray(_given_to_others(stream, sink, head) * (np.abs(value) + off + others))


def _given_to_others(stream: Stream, sink: Sink, head: HeadWeights) -> float:
    """How much of the sink's attention goes to other keys, at most; what it asks for and what it
    sends may be off, and that is rounded, too.
    """
    if stream.values.inputs.causal:
        return 0.0
    asked, asked_off = sink.read(head.query, head.query_bias)
    sent, sent_off = sink.read(head.key, head.key_bias)
    _, best = stream.largest((asked @ head.key)[None])
    above = float(best[0] + asked @ head.key_bias - asked @ sent)
    sizes = np.abs(head.key) @ stream.size + np.abs(head.key_bias)  # of any other key
    most, sizes = np.abs(asked) + asked_off, sizes + np.abs(sent) + sent_off
    count = (head.key != 0).sum(axis=1) + 1 + np.count_nonzero(most)
    rounding = SLACK * (UNIT * count + 2 * stream.precision.unit)
    above += float(most @ (rounding * sizes) + asked_off @ sizes + np.abs(asked) @ sent_off)
    return stream.values.inputs.max_length * exp(above)


def check_sink_units(sink: Sink, inside: Array, bias: Array, name: str) -> None:
    """No hidden unit may fire at the sink."""
    before, off = sink.read(inside, bias)
    if (before + off > 0).any():
        raise Refused("a hidden unit fires at the sink", name)
