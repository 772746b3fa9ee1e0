"""How large and how wrong each dimension of the residual stream can be, as a model runs.

Most dimensions are exact: they hold multiples of a power of two (their grain) that float32 adds
and multiplies without rounding. Averages are not, nor is what is made from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.compiler.features import Group
from rasp.compiler.linear import Linear, index_values, token_values
from rasp.compiler.plan import Plan
from rasp.compiler.refusals import Refusal
from rasp.compiler.weights import Array, Emitter, Weights

UNIT = 2.0**-24
"""The largest relative error of one float32 operation."""
NORM = 2.0
"""How many such errors a LayerNorm that should change nothing leaves in each dimension."""


@dataclass(frozen=True)
class Read:
    """A linear function as a reader gets it."""

    size: float
    error: float
    grain: float
    """A power of two of which its values are exact multiples; 0 where there is none."""


class Stream:
    """Bounds for each dimension; they grow as the model's blocks write."""

    def __init__(self, plan: Plan, emitter: Emitter, weights: Weights) -> None:
        self.plan, self.emitter = plan, emitter
        self._sizes: dict[object, float] = {}
        self.size = np.zeros(emitter.size)
        for place, dimension in enumerate(plan.layout.dimensions):
            held = dimension.plus(-emitter.shifts[place])
            self.size[place + emitter.offset] = self.size_of(held)
        if emitter.offset:
            self.size[0] = 1.0
        self.tokens = weights.tokens[: len(plan.settings.vocabulary)]
        self.positions = weights.positions
        self.embedded = np.ones(emitter.size, bool)
        """Whether a dimension holds nothing but the embedding."""
        for place, dimension in enumerate(plan.layout.dimensions):
            self.embedded[place + emitter.offset] = all(
                each[0] in ("tok", "idx") for each in dimension.parts
            )
        self.error = self._embedding_error(weights)
        self.norms = 0.0
        """The relative error that LayerNorms have left in all that the stream holds by now."""
        self.grain = np.array([
            0.0 if self.error[place] else grain_of(np.append(tokens, positions))
            for place, (tokens, positions) in enumerate(
                zip(weights.tokens.T, weights.positions.T, strict=True))
        ])  # fmt: skip
        self._normalise()

    def _embedding_error(self, weights: Weights) -> Array:
        rows = weights.tokens[: len(self.plan.settings.vocabulary), None]
        exact = rows + weights.positions[None]
        rounded = rows.astype(np.float32) + weights.positions[None].astype(np.float32)
        return np.asarray(np.abs(rounded.astype(np.float64) - exact).max(axis=(0, 1)))

    def size_of(self, linear: Linear) -> float:
        """The largest size of a function, over everything its coordinates can be."""
        key = linear.key
        if key not in self._sizes:
            low = high = linear.constant
            for values in self._ranges(linear):
                low, high = low + min(values), high + max(values)
            self._sizes[key] = float(max(abs(low), abs(high)))
        return self._sizes[key]

    def _ranges(self, linear: Linear) -> list[list[Fraction]]:
        settings = self.plan.settings
        ranges = [token_values(linear, settings), index_values(linear, settings)]
        outs = linear.of("out")
        try:
            reach = self.plan.analysis.range_of(Linear(Fraction(0), outs))
            ranges.append([reach[0], reach[-1]])
        except Refusal:  # too many to be listed: bound each of them alone
            ranges += [[weight * code for _, code in each[1].states]
                       for each, weight in outs.items()]  # fmt: skip
        groups: dict[Group, list[Fraction]] = {}
        for coordinate, weight in linear.of("ff").items():
            groups.setdefault(coordinate[1], [Fraction(0)]).append(weight)
        return [*ranges, *groups.values()]

    def read(self, linear: Linear) -> Read:
        """Bound what a reader of a function gets."""
        row, constant = self.emitter.row(linear), self.emitter.constant(linear)
        used = np.flatnonzero(row)
        weights = np.abs(row[used])
        mass, terms = self._mass(row, used)
        grain = min(
            [grain_of(row[[dim]]) * self.grain[dim] for dim in used]
            + ([grain_of(np.array([constant]))] if constant else []),
            default=2.0**20,
        )
        exact = bool(grain) and (mass + abs(constant)) / grain <= 2.0**24
        size = self.size_of(linear)
        rounding = 0.0
        if not exact:
            powers = bool((np.log2(weights) % 1 == 0).all())
            cast = float(np.abs(row[used] - row[used].astype(np.float32)) @ self.size[used])
            steps = max(0, terms - 1) + (not powers)
            rounding = cast + steps * UNIT * mass + (UNIT * size if constant else 0.0)
        error = float(weights @ self.error[used]) + rounding + (mass + abs(constant)) * self.norms
        return Read(size, error, float(grain) if exact else 0.0)

    def _mass(self, row: Array, used: Array) -> tuple[float, int]:
        """The largest sum of sizes that is added up at once, and of how many numbers.

        What the embedding alone made is exact, and mostly zeros.
        """
        pure = np.array([dim for dim in used if self.embedded[dim]], int)
        others = np.array([dim for dim in used if not self.embedded[dim]], int)
        by_state = self._mass_by_state(row, others)
        mass = min(float(np.abs(row[others]) @ self.size[others]), by_state)
        terms = len(others)
        for table in (self.tokens, self.positions):
            sizes = np.abs(table[:, pure] * row[pure])
            mass += float(sizes.sum(axis=1).max(initial=0.0))
            terms += int((sizes > 0).sum(axis=1).max(initial=0))
        return mass, terms

    def _mass_by_state(self, row: Array, used: Array) -> float:
        """The largest sum of sizes that is added up at once, where one group makes all of it."""
        owners = set()
        for dim in used:
            parts = self.plan.layout.dimensions[dim - self.emitter.offset].parts
            owners |= {each[1] if each[0] == "ff" else None for each in parts}
        if len(owners) != 1 or None in owners:
            return float("inf") if len(used) else 0.0
        group = owners.pop()
        assert isinstance(group, Group)
        total = np.zeros(group.size)
        for dim in used:
            place = dim - self.emitter.offset
            values = np.full(group.size, -float(self.emitter.shifts[place]))
            for coordinate, weight in self.plan.layout.dimensions[place].of("ff").items():
                values[coordinate[2]] += float(weight)
            total += np.abs(row[dim] * values)
        return float(np.delete(total, sorted(group.undefined)).max(initial=0.0))

    def write(self, error: Array, grain: Array) -> None:
        """A layer's heads or feed-forward have written; grain is infinite where they have not."""
        touched = np.isfinite(grain)
        exact = touched & (error == 0) & (grain > 0)
        rounding = np.where(touched & ~(exact & (self.grain > 0)), UNIT * self.size, 0.0)
        self.error = self.error + error + rounding
        both = np.where(exact, np.minimum(self.grain, grain), 0.0)
        self.grain = np.where(touched, both, self.grain)
        self._normalise()

    def _normalise(self) -> None:
        """What a LayerNorm does to a tolerant model: the last bits of every dimension."""
        if self.plan.settings.tolerant:
            self.grain = np.zeros_like(self.grain)
            self.norms += NORM * UNIT


def grain_of(numbers: Array) -> float:
    """The largest power of two that divides all numbers; 0 where there is none above 2^-20."""
    found = np.abs(numbers[numbers != 0])
    if not found.size:
        return 2.0**20
    scaled = found * 2.0**20
    if (scaled != np.round(scaled)).any() or scaled.max() >= 2.0**62:
        return 0.0
    whole = int(np.bitwise_or.reduce(scaled.astype(np.int64)))
    return float((whole & -whole) / 2.0**20)
