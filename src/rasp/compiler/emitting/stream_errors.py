"""How large and how wrong each dimension of the residual stream can be, as a model runs.

Most dimensions are exact: they hold multiples of a power of two (their grain) that float32 adds
and multiplies without rounding. Averages are not, nor is what is made from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

import numpy as np

from rasp.compiler.analysis.linear import (
    IndexIs,
    Linear,
    TokenIs,
    index_values,
    token_values,
    weighted,
)
from rasp.compiler.analysis.variables import HeadOutput
from rasp.compiler.emitting.weights import Array, Emitter, Weights, group_changes
from rasp.compiler.planning.features import Group, Reached
from rasp.compiler.planning.plan import Plan
from rasp.compiler.refusals import Refusal

UNIT = 2.0**-24
"""The largest relative error of one float32 operation."""
LARGEST_COUNT = 2.0**24
"""How many times a power of two float32 holds without rounding."""
SLACK = 1.01
"""For products of small relative errors, and for the rounding of the bounds themselves."""
NORM = 2.0
"""How many such errors a LayerNorm that should change nothing leaves in each dimension."""


@dataclass(frozen=True)
class Read:
    """A linear function as a reader gets it."""

    size: float
    error: float
    grain: float
    """A power of two of which its values are exact multiples; 0 where there is none."""
    rounding: float = 0.0
    """The part of the error that comes from reading alone."""


@dataclass(frozen=True, eq=False)
class Added:
    """What a block adds to each dimension: some numbers, in whatever order."""

    error: Array
    """How far off it is even if nothing is rounded as it is added up."""
    up: Array
    """The largest sum of the positive numbers that are added up."""
    down: Array
    """The same of the negative ones, as a size."""
    terms: Array
    """How many numbers are added up at most."""
    grain: Array
    """A power of two of which they are exact multiples; 0 where there is none, and infinite where
    nothing is added."""
    size: Array
    """The largest size of their sum."""
    still: Array
    """Whether there are no numbers at all wherever their sum should be 0."""

    def bound(self, held: Array | float = 0.0) -> Array:
        """How far off what is added can be, to what holds so much already, in any order."""
        reach = np.maximum(np.maximum(self.up, self.down), self.size) + held
        exact = (self.grain > 0) & (reach <= LARGEST_COUNT * self.grain)
        rounding = SLACK * UNIT * (self.up + self.down + self.terms * reach)
        return np.asarray(self.error + np.where(exact, 0.0, rounding))


@dataclass(frozen=True)
class Summands:
    """The numbers that add up to a linear function."""

    error: float
    """How far off their sum is before any of them is added."""
    mass: float
    """The largest sum of their sizes."""
    terms: int
    """How many there are at once, at most."""
    scaled: bool
    """Whether they are rounded as they are made."""
    grain: float
    """A power of two of which they are exact multiples; 0 where there is none."""


class Stream:
    """Bounds for each dimension; they grow as the model's blocks write."""

    def __init__(self, plan: Plan, emitter: Emitter, weights: Weights) -> None:
        self.plan, self.emitter = plan, emitter
        self._sizes: dict[int, tuple[Linear, float, float]] = {}
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
                isinstance(each, TokenIs | IndexIs) for each in dimension.parts
            )
        nobody: list[Group | None] = [None]
        self.owners = nobody * emitter.offset + [_owner(each) for each in plan.layout.dimensions]
        """The group that makes a dimension, where nothing else has a part in it."""
        self.still = np.array([owner is not None for owner in self.owners] or [False])
        """Whether a dimension is exact wherever it should hold 0."""
        self._tables: dict[Group, tuple[Array, Array]] = {}
        self._reads: dict[tuple[int, Fraction], tuple[Linear, Read]] = {}
        """What was read since something was written; the functions are kept for their identity."""
        self.error = self._embedding_error(weights)
        largest = np.abs(self.tokens).max(axis=0) + np.abs(self.positions).max(axis=0)
        self.held = np.maximum(largest, self.size * (np.arange(emitter.size) < emitter.offset))
        """How large each dimension can be by now."""
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
        key = id(linear.parts)
        if key not in self._sizes:
            low = high = 0.0
            for values in self._ranges(linear.plus(-linear.constant)):
                known = [float(value) for value in {id(value): value for value in values}.values()]
                low, high = low + min(known), high + max(known)
            self._sizes[key] = linear, low, high
        _, low, high = self._sizes[key]
        constant = float(linear.constant)
        return max(abs(low + constant), abs(high + constant))

    def _ranges(self, linear: Linear) -> list[list[Fraction]]:
        settings = self.plan.settings
        ranges = [token_values(linear, settings), index_values(linear, settings)]
        outs = linear.of(HeadOutput)
        groups = {step.group for step in linear.of(Reached)}
        try:
            reach = self.plan.analysis.range_of(weighted(outs)) if outs else [Fraction(0)]
            ranges.append([reach[0], reach[-1]])
        except Refusal:  # too many to be listed: bound each of them alone
            ranges += [[weight * code for _, code in output.states]
                       for output, weight in outs.items()]  # fmt: skip
        return [*ranges, *(_levels(linear, group) for group in groups)]

    def read(self, linear: Linear) -> Read:
        """Bound what a reader of a function gets."""
        key = (id(linear.parts), linear.constant)
        if key not in self._reads:
            self._reads[key] = linear, self._read(linear)
        return self._reads[key][1]

    def _read(self, linear: Linear) -> Read:
        constant, given = self.emitter.constant(linear), self.summands(linear)
        grain = min(given.grain, grain_of(np.array([constant])))
        size, mass = self.size_of(linear), given.mass + abs(constant)
        if grain and mass <= LARGEST_COUNT * grain:
            return Read(size, given.error + abs(constant) * self.norms, grain)
        numbers = given.terms + bool(constant)
        sums = given.mass * given.scaled + size * (numbers > 1) + mass * max(0, numbers - 2)
        rounding = SLACK * UNIT * sums + abs(float(np.float32(constant)) - constant)
        error = given.error + rounding + abs(constant) * self.norms
        return Read(size, error, 0.0, rounding)

    def summands(self, linear: Linear) -> Summands:
        """What is added up where a function is read, its constant aside."""
        row = self.emitter.row(linear)
        used = np.flatnonzero(row)
        weights = np.abs(row[used])
        mass, terms = self._mass(row, used)
        grain = float((grains_of(row[used]) * self.grain[used]).min(initial=2.0**20))
        powers = bool((np.log2(weights) % 1 == 0).all())
        cast = float(np.abs(row[used] - row[used].astype(np.float32)) @ self.size[used])
        error = float(weights @ self.error[used]) + cast + mass * self.norms
        return Summands(error, mass, terms, not powers, grain)

    def _mass(self, row: Array, used: Array) -> tuple[float, int]:
        """The largest sum of sizes that is added up at once, and of how many numbers.

        What the embedding alone made is exact, and mostly zeros.
        """
        pure, others = used[self.embedded[used]], used[~self.embedded[used]]
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
        owners = {self.owners[dim] for dim in used.tolist()}
        if len(owners) != 1 or None in owners:
            return float("inf") if len(used) else 0.0
        (group,) = owners
        assert group is not None
        if group not in self._tables:
            self._tables[group] = self._table(group)
        dims, sizes = self._tables[group]
        return float((np.abs(row[dims]) @ sizes).max(initial=0.0))

    def _table(self, group: Group) -> tuple[Array, Array]:
        """The dimensions that one group alone makes, and how large each is in each state."""
        dims = np.flatnonzero([owner is group for owner in self.owners])
        sizes = np.zeros((len(dims), group.size))
        for values, dim in zip(sizes, dims.tolist(), strict=True):
            place = dim - self.emitter.offset
            values[:] = -float(self.emitter.shifts[place])
            for state, change in group_changes(self.plan.layout.dimensions[place], group).items():
                values[state:] += float(change)
        return dims, np.delete(np.abs(sizes), sorted(group.undefined), axis=1)

    def still_at(self, linear: Linear) -> tuple[float, float]:
        """The value at which a reader gets a function without rounding, and its error there."""
        row, constant = self.emitter.row(linear), self.emitter.constant(linear)
        used = np.flatnonzero(row)
        if len(used) != 1 or not self.still[used[0]] or float(np.float32(constant)) != constant:
            return float("nan"), 0.0
        reach = float(np.abs(row[used]) @ self.size[used]) + abs(constant)
        return constant, reach * self.norms

    def write(self, added: Added) -> None:
        """A layer's heads or feed-forward have written."""
        touched = np.isfinite(added.grain)
        both = np.minimum(self.grain, added.grain)
        bound = replace(added, grain=both).bound(self.held)
        exact = touched & (bound == 0) & (both > 0)
        self.error = self.error + np.where(touched, bound, 0.0)
        self.grain = np.where(touched, np.where(exact, both, 0.0), self.grain)
        self.held = self.held + np.where(touched, added.size, 0.0)
        self.still &= ~touched | added.still
        self._reads.clear()
        self._normalise()

    def _normalise(self) -> None:
        """What a LayerNorm does to a tolerant model: the last bits of every dimension."""
        if self.plan.settings.tolerant:
            self.grain = np.zeros_like(self.grain)
            self.norms += NORM * UNIT


def _levels(linear: Linear, group: Group) -> list[Fraction]:
    """Everything that a group can add to a function."""
    changes = group_changes(linear, group)
    levels = list(accumulate(changes.values()))
    return levels if 0 in changes else [Fraction(0), *levels]


def _owner(dimension: Linear) -> Group | None:
    owners = {each.group if isinstance(each, Reached) else None for each in dimension.parts}
    return owners.pop() if len(owners) == 1 else None


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


def grains_of(numbers: Array) -> Array:
    """The same for each number alone; for 0, which is a multiple of everything, 2^20."""
    scaled = np.abs(numbers) * 2.0**20
    fine = (scaled == np.round(scaled)) & (scaled < 2.0**62)
    whole = np.where(fine, scaled, 0.0).astype(np.int64)
    grains = np.where(fine, (whole & -whole) / 2.0**20, 0.0)
    return np.asarray(np.where(numbers == 0, 2.0**20, grains))
