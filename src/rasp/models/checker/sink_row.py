"""The rule `sink`: a hidden position before all others, whose row of the stream is known.

Keys have it beside them in every head, so that a query that picks nothing attends to something. No
hidden unit fires there, and as a query it attends to itself: so it gets what it sends to itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.certificate.weights.arrays import FeedForwardWeights, HeadWeights
from rasp.models.certificate.weights.precision import FLOAT32, Precision
from rasp.models.checker.float_errors import QUOTIENT, SLACK, UNIT, rounding
from rasp.models.checker.relations import Array


@dataclass(frozen=True, eq=False)
class SinkRow:
    """What each dimension holds at the sink, and how far off that can be."""

    value: Array  # (dimension,)
    off: Array
    precision: Precision = FLOAT32

    def read(self, rows: Array, bias: Array) -> tuple[Array, Array]:
        """(reading,): what rows of weights read, and how far off."""
        held, wrong = self.precision.ends(self.value, self.off)
        value = rows @ held + bias
        size = np.abs(rows) @ (np.abs(held) + wrong) + np.abs(bias)
        count = (rows != 0).sum(axis=1) + (bias != 0)
        return self.precision.ends(value, np.abs(rows) @ wrong + rounding(count, size))

    @property
    def length(self) -> float:
        """The root of the sum of squares of the row, at most."""
        return float(np.linalg.norm(np.abs(self.value) + self.off))

    def disturbed(self, noise: float) -> SinkRow:
        """The same moved by the noise: a part of the root mean square of the row."""
        more = noise * self.length / np.sqrt(len(self.value))
        return SinkRow(self.value, self.off + more, self.precision)

    def after(
        self, heads: Sequence[HeadWeights], leaks: Sequence[float], largest: Sequence[Array]
    ) -> SinkRow:
        """What the heads of a layer make of it: each adds what the sink sends, but for what keys
        get of its attention (`leaks`), who send no more than `largest`."""
        value, off, size = self.value, self.off, np.abs(self.value) + self.off
        count = np.ones(len(value))
        for head, leak, others in zip(heads, leaks, largest, strict=True):
            sent, wrong = self.read(head.value, head.value_bias)
            wrong = wrong + (QUOTIENT + SLACK * self.precision.unit + 8 * UNIT) * np.abs(sent)
            wrong = wrong + 2 * leak * (np.abs(sent) + wrong + others)
            sent, wrong = self.precision.ends(sent, wrong)
            value, off = value + head.out @ sent, off + np.abs(head.out) @ wrong
            size = size + np.abs(head.out) @ (np.abs(sent) + wrong)
            count = count + (head.out != 0).sum(axis=1)
        moved = count > 1
        off = off + np.where(moved, rounding(count + len(heads), size), 0.0)
        return SinkRow(value, off, self.precision)

    def check_units(self, block: FeedForwardWeights) -> None:
        """Refuse a feed-forward of which some unit fires at the sink."""
        before, off = self.read(block.inside, block.bias)
        if (before + off > 0).any():
            raise Refused("a hidden unit fires at the sink")
