"""Balls that hold the real numbers: a forward pass whose every rounding is charged.

A ball is a midpoint for each node and one radius: the node's real vector is no further from the
midpoint than that, in the 2-norm. Inputs are points, so radii hold rounding alone; each step
multiplies them by its Lipschitz constant *on the ball* and adds what computing the midpoint may
have lost. Radii are float64, computed from numbers that are not negative, so each is off by a
few hundred units in the last place at most; `up` makes up for that.

Each step has its argument in its docstring. ‖W‖ is the spectral norm, ‖W‖_F Frobenius', u the unit
roundoff of the midpoints, γₙ = n·u / (1 − n·u).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rasp.models.proving.activations import FUNCTIONS, SLOPES
from rasp.models.proving.digits import FUNCTION_ULPS, SMALLEST, Array, Digits, Numbers, gamma
from rasp.models.proving.network_table import (
    Activate,
    Affine,
    Attend,
    AttentionHead,
    Network,
    Normalise,
    PoolPositions,
)
from rasp.models.proving.prefixes import Prefixes
from rasp.models.proving.radii import UP, frobenius, norms, spectral, up


@dataclass(frozen=True, eq=False)
class Ball:
    """Real vectors, one for each node: no further than `radius` from `middle`."""

    middle: Numbers  # (node, number)
    radius: Array  # (node,)


@dataclass(frozen=True, eq=False)
class _Map:
    """A linear map as the midpoints take it, and what it does to radii."""

    weight: Numbers  # (in, out)
    bias: Numbers
    norm: float
    size: float
    """‖W‖_F."""
    offset: float
    """‖bias‖."""
    lost: float
    """What the bias leaves out."""


@dataclass(frozen=True, eq=False)
class _Head:
    """A head as the midpoints take it: maps, and the norms of products of maps."""

    query: _Map
    key: _Map
    value: _Map
    out: Numbers  # (inner, model)
    back: tuple[Array, Array]
    """The matrices of query (scaled) and key, which turn keys and queries into stream vectors."""
    scores: float
    """‖W_Qᵀ W_K‖ / √squared."""
    moved: float
    """‖W_O W_V‖."""
    out_norm: float
    out_size: float
    squared: float


class Balls:
    """The arithmetic of balls with midpoints of one kind of digits."""

    def __init__(self, digits: Digits) -> None:
        self.digits = digits
        self.u = digits.u
        self._ready: dict[Any, Any] = {}

    def _constants(self, step: Any, make: Callable[[Any], Any]) -> Any:
        """What is computed of a step once; the step is kept, so that it stays the same."""
        if step not in self._ready:
            self._ready[step] = make(step)
        return self._ready[step]

    def _map(self, part: Affine) -> _Map:
        lost = 0.0 if part.low is None else float(norms(part.low))
        lost *= 2.0**-53 if self.digits.holds_low else 1.0  # `low` is rounded, too
        return _Map(
            self.digits.constant(np.ascontiguousarray(part.weight.T)),
            self.digits.constant(part.bias, part.low),
            spectral(part.weight), frobenius(part.weight),
            float(norms(part.bias)),
            lost,
        )  # fmt: skip

    def embed(self, network: Network, layout: Prefixes) -> Ball:
        """One rounding of each sum."""
        tokens, positions, shift = self._constants(network, self._tables)
        middle, radius = tokens[layout.ids], np.zeros(len(layout.ids))
        for table, places in ((positions, layout.places), (shift, np.zeros_like(layout.places))):
            if table is not None:
                middle = middle + table[places]
                radius = up(radius + self.u * norms(self.digits.near(middle)))
        return Ball(middle, radius)

    def _tables(self, network: Network) -> list[Numbers | None]:
        shift = None if network.shift is None else network.shift[None]
        return [None if table is None else self.digits.constant(table)
                for table in (network.tokens, network.positions, shift)]  # fmt: skip

    def affine(self, x: Ball, step: Affine) -> Ball:
        """‖W·e‖ ≤ ‖W‖‖e‖. A product loses γₙ|W||x| ≤ γₙ‖W‖_F‖x‖, adding the bias u of both."""
        return self._affine(x, self._constants(step, self._map))

    def _affine(self, x: Ball, part: _Map) -> Ball:
        middle, lost = self._middle(x, part)
        return Ball(middle, up(part.norm * x.radius + lost))

    def _middle(self, x: Ball, part: _Map) -> tuple[Numbers, Array]:
        """The image of the midpoint, and what computing it may have lost."""
        terms = x.middle.shape[-1]
        middle = self.digits.matmul(x.middle, part.weight) + part.bias
        size = part.size * norms(self.digits.near(x.middle))
        share = self.digits.product_error(terms) * (1 + self.u) + self.u
        return middle, up(share * size + self.u * part.offset + part.lost)

    def add(self, x: Ball, y: Ball) -> Ball:
        """Radii add up; one rounding."""
        middle = x.middle + y.middle
        return Ball(middle, up(x.radius + y.radius + self.u * norms(self.digits.near(middle))))

    def normalise(self, x: Ball, step: Normalise) -> Ball:
        """c ↦ c / √(‖c‖²/n + ε) for the centred c.

        Centring is a projection: radii do not grow. The map's derivative is
        (1/s)(I − c·cᵀ/(n·s²)), whose norm is at most 1/s; on the ball, s is at least that of the
        shortest c there. Any two values differ by no more than 2√n. Of the midpoint, the mean
        loses γₙ of ‖x‖, centring u; a relative 2γₙ + 8u in s and the quotient covers square, sum,
        ε, root and division (numbers that are not negative), and 3u gain and shift.
        """
        digits, count = self.digits, x.middle.shape[-1]
        length = norms(digits.near(x.middle))
        mean = digits.sum(x.middle, -1) / float(count)
        centred = x.middle - mean.reshape(-1, 1)
        radius = up(x.radius + (gamma(count + 1, self.u) + self.u) * 2 * length)
        variance = digits.sum(centred * centred, -1) / float(count) + step.epsilon
        spread = digits.sqrt(variance)
        middle = centred / spread.reshape(-1, 1)
        shortest = np.maximum(norms(digits.near(centred)) / UP**2 - radius, 0.0)
        least = np.sqrt(shortest * shortest / count + step.epsilon) / UP
        with np.errstate(divide="ignore", invalid="ignore"):
            grown = np.where(radius > 0, radius / least, 0.0)
        lost = (2 * gamma(count, self.u) + 8 * self.u) * norms(digits.near(middle))
        radius = up(np.fmin(grown, 2.1 * count**0.5) + lost)
        return Ball(middle, radius) if step.is_folded else self._gained(Ball(middle, radius), step)

    def _gained(self, x: Ball, step: Normalise) -> Ball:
        gain, shift = self.digits.constant(step.gain), self.digits.constant(step.shift)
        middle = x.middle * gain + shift
        largest = float(np.abs(step.gain).max())
        lost = 2 * self.u * (largest * norms(self.digits.near(x.middle)) + float(norms(step.shift)))
        return Ball(middle, up(largest * x.radius + lost))

    def activate(self, x: Ball, step: Activate) -> Ball:
        """Each number of the midpoint by the function; the radius by its largest slope."""
        middle = FUNCTIONS[step.kind](x.middle, self.digits)
        slope, ulps = SLOPES[step.kind]
        count = x.middle.shape[-1]
        lost = ulps * self.u * (norms(self.digits.near(x.middle)) + count**0.5)
        return Ball(middle, up(slope * x.radius + lost))

    def pool(self, x: Ball, step: PoolPositions, layout: Prefixes) -> Ball:
        """Radii add up; a sum of n loses γₙ of the sum of lengths."""
        middle, count = self.digits.sum(x.middle[layout.nodes], 1), layout.nodes.shape[1]
        sizes = norms(self.digits.near(x.middle))[layout.nodes].sum(axis=1)
        radius = x.radius[layout.nodes].sum(axis=1) + gamma(count + 1, self.u) * sizes
        if step.kind == "mean":
            return Ball(middle / float(count), up(radius / count))
        return Ball(middle, up(radius))

    def attend(self, x: Ball, step: Attend, layout: Prefixes) -> Ball:
        """The sum of what the heads write (see `_head`), and the bias."""
        heads, bias = self._constants(step, self._heads)
        middle = bias + np.zeros(x.middle.shape)
        radius = np.zeros(len(x.radius))
        for head in heads:
            moved, lost = self._head(x, head, layout)
            middle = middle + self.digits.matmul(moved, head.out)
            share = self.digits.product_error(moved.shape[-1])
            size = head.out_size * norms(self.digits.near(moved))
            radius = radius + lost + share * size + self.u * norms(self.digits.near(middle))
        return Ball(middle, up(radius))

    def _heads(self, step: Attend) -> tuple[list[_Head], Numbers]:
        heads = [self._head_constants(head) for head in step.heads]
        return heads, self.digits.constant(step.bias)

    def _head_constants(self, head: AttentionHead) -> _Head:
        query, key, value = (self._map(part) for part in (head.query, head.key, head.value))
        root = head.squared**0.5
        scores, moved = head.query.weight.T @ head.key.weight, head.out @ head.value.weight
        slack = 1e-12  # of products of norms: more than γₙ for n up to 4,000
        out_size = frobenius(head.out)
        return _Head(
            query, key, value, self.digits.constant(np.ascontiguousarray(head.out.T)),
            (head.query.weight / root, head.key.weight),
            (spectral(scores) + slack * query.size * key.size) / root * UP,
            spectral(moved) + slack * out_size * value.size,
            spectral(head.out), out_size, head.squared,
        )  # fmt: skip

    def _head(self, x: Ball, head: _Head, layout: Prefixes) -> tuple[Numbers, Array]:
        """What one head moves (node, inner), and its share of the radius of what it writes.

        With e for errors of the stream, ρ and σ for what computing queries and keys lost,
        (q + Q·e + ρ)·(k + K·e' + σ) − q·k is at most ‖e‖‖Qᵀk‖ + ‖Kᵀq‖‖e'‖ + ‖QᵀK‖‖e‖‖e'‖
        + ‖ρ‖(‖k‖ + ‖K‖‖e'‖ + ‖σ‖) + ‖σ‖(‖q‖ + ‖Q‖‖e‖), and rounding: five products of a number
        of the query and one of the key.
        """
        digits = self.digits
        query, query_lost = self._middle(x, head.query)
        query = query / self.digits.sqrt(self.digits.constant(np.array(head.squared)))
        root = head.squared**0.5
        key, key_lost = self._middle(x, head.key)
        value, value_lost = self._middle(x, head.value)
        q, k = norms(digits.near(query)), norms(digits.near(key))
        query_lost = up(query_lost / root + 3 * self.u * q)
        share, r = digits.product_error(query.shape[-1]), x.radius
        asks = np.stack([
            r, self._back(query, head.back[1], head.key.size) + head.scores * r, query_lost,
            q + head.query.norm / root * r, share * q,
        ], axis=-1)  # fmt: skip
        answers = np.stack([
            self._back(key, head.back[0], head.query.size / root), r,
            k + head.key.norm * r + key_lost, key_lost, k,
        ], axis=-1)  # fmt: skip
        moved, lost = [], []
        for asking, asked in layout.groups:
            scores = digits.matmul(query[asking], digits.transposed(key[asked]))
            unsure = up(asks[asking] @ answers[asked].swapaxes(-1, -2))
            weights, unsure = self._softmax(scores, unsure)
            part = digits.matmul(weights, value[asked])
            sizes = norms(digits.near(value))[asked]
            spread = _Spread(digits.near(weights), unsure, sizes)
            lost.append((
                head.moved * spread.mean(r[asked])
                + head.out_norm * (spread.mean(value_lost[asked]) + spread.moved()
                                   + self._rounding(sizes))
            ).reshape(-1))  # fmt: skip
            moved.append(part.reshape(-1, part.shape[-1]))
        order = np.argsort(np.concatenate([asking.reshape(-1) for asking, _ in layout.groups]))
        return digits.stack(moved)[order], up(np.concatenate(lost)[order])

    def _back(self, x: Numbers, matrix: Array, size: float) -> Array:
        """Bounds on ‖Mᵀx‖; the product in float64 loses γₙ‖M‖_F‖x‖."""
        near = self.digits.near(x)
        return up(norms(near @ matrix) + 1e-12 * size * norms(near))

    def _softmax(self, scores: Numbers, unsure: Array) -> tuple[Numbers, Array]:
        """Attention, and by how much each score may be off for this to be its exact softmax.

        Subtracting the largest loses u of the difference, exp some ulps: both are as if the score
        were another. The division's share is in `_rounding`.
        """
        near = self.digits.near(scores)
        differences = scores - near.max(axis=-1, keepdims=True)
        powers = self.digits.exp(differences)
        total = self.digits.sum(powers, -1)
        off = self.u * (np.abs(self.digits.near(differences)) + FUNCTION_ULPS + 1)
        return powers / total[..., None], up(unsure + off)

    def _rounding(self, sizes: Array) -> Array:
        """What sum, division and the product with values lose, and underflow: of Σ‖v‖²'s root."""
        terms = sizes.shape[-1]
        share = gamma(terms + 2, self.u) + self.digits.product_error(terms) + terms * SMALLEST
        return up(share * norms(sizes))[:, None]


@dataclass(frozen=True, eq=False)
class _Spread:
    """An average by attention whose scores are unsure.

    Scores may be off by ε_j: then log(a'_j / a_j) = δ_j − log Σ a·e^δ lies within
    λ_j = e^η(ε_j + Σ a·ε), η the largest ε (Jensen below; e^ε − 1 ≤ ε·e^η above). So
    |a'_j − a_j| ≤ a_j·λ_j·e^λ. And whatever η is, Σ|a' − a| ≤ η: the derivative of softmax takes
    |δ| ≤ η to Σ a_j|δ_j − a·δ|, convex in δ, and 4p(1 − p)η ≤ η at corners; nor above 2.
    """

    attention: Array  # (group, asking, asked)
    unsure: Array  # (group, asking, asked)
    sizes: Array  # (group, asked): lengths of values

    @cached_property
    def largest(self) -> Array:
        return np.asarray(self.unsure.max(axis=-1))

    @cached_property
    def growth(self) -> Array:
        """e^λ for the largest λ, where η is below 1/4; else infinite."""
        eta = np.where(self.largest <= 0.25, self.largest, 0.25)
        return np.where(self.largest <= 0.25, np.exp(2 * eta * np.exp(eta)), np.inf)

    def mean(self, radii: Array) -> Array:
        """The most that Σ a'·r can be: at most e^λ·Σ a·r, and at most the largest r."""
        average = np.matmul(self.attention, radii[..., None])[..., 0]
        return np.asarray(np.fmin(up(self.growth * average), radii.max(axis=-1)[:, None]))

    def moved(self) -> Array:
        """The most that Σ|a' − a|‖v‖ can be."""
        weighed = self.attention * self.unsure
        each = np.matmul(weighed, self.sizes[..., None])[..., 0]
        average = np.matmul(self.attention, self.sizes[..., None])[..., 0]
        small = np.exp(np.fmin(self.largest, 0.25)) * self.growth
        small = small * (each + weighed.sum(axis=-1) * average)
        coarse = np.minimum(self.largest, 2.0) * self.sizes.max(axis=-1)[:, None]
        return up(np.fmin(small, coarse))
