"""What rows of weights read of the residual stream: numbers by the states of variables, with how
far float32 can be off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.tables import Array, Space, places_among
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.arrays import check_cells
from rasp.models.certificate.weights.precision import Precision
from rasp.models.certificate.weights.rounding import DOUBLE, EXACT, SLACK, TINY, UNIT, grains


@dataclass(frozen=True, eq=False)
class Parts:
    """Of some readings, over some combinations (combination, reading): four numbers each."""

    value: Array
    """Not a number where no input has the combination."""
    error: Array
    mass: Array
    """The sum of the sizes of all that is added up."""
    count: Array
    """How many numbers other than 0 that is."""

    @property
    def four(self) -> tuple[Array, Array, Array, Array]:
        return self.value, self.error, self.mass, self.count

    @property
    def there(self) -> Array:
        """(combination,): whether an input has it."""
        return np.asarray(~np.isnan(self.value).any(axis=1))

    def plus(self, other: Parts) -> Parts:
        return Parts(self.value + other.value, self.error + other.error,
                     self.mass + other.mass, self.count + other.count)  # fmt: skip

    def at(self, places: Array | slice) -> Parts:
        return Parts(self.value[places], self.error[places], self.mass[places], self.count[places])


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of some readings that is a function of these variables alone."""

    space: Space
    parts: Parts


@dataclass(frozen=True, eq=False)
class Reading:
    """Linear functions of the stream: a constant plus functions of different variables."""

    base: Parts  # (1, reading)
    pieces: list[Piece]
    grain: Array  # (reading,)
    powers: Array  # (reading,): whether all weights are powers of two
    most: Array  # (reading,): the largest sum of sizes, by the sizes of the dimensions
    terms: Array  # (reading,): how many dimensions are read

    def on(self, values: ProvedValues, space: Space) -> Parts:
        """The whole over a space that has all its variables."""
        check_cells(space.size, len(self.most))
        total = self.base.at(np.zeros(space.size, int))
        for piece in self.pieces:
            total = total.plus(piece.parts.at(located(values, piece.space, space)))
        return self.within(total)

    def only(self, column: int) -> Reading:
        """One of the readings, without its parts."""
        mine = [array[[column]] for array in (self.grain, self.powers, self.most, self.terms)]
        return Reading(self.base, [], *mine)

    def within(self, parts: Parts) -> Parts:
        """The same, with no more mass and numbers than the dimensions that are read have."""
        return Parts(parts.value, parts.error, np.minimum(parts.mass, self.most),
                     np.minimum(parts.count, self.terms))  # fmt: skip

    def rounding(self, parts: Parts, bias: Array, sign: Array | float = 1.0) -> Array:
        """How far off float32 can be where it adds up a reading, times a sign, and a bias.

        Whatever the order, no sum on the way is beyond all that is positive, or all that is
        negative: with m for the sum of sizes and v for the whole, beyond (m + |v|) / 2. Where
        nothing is rounded, the whole is a multiple of the grain: else float64 has rounded it here.
        """
        mass = parts.mass + np.abs(bias)
        count = parts.count + (bias != 0)
        grain = np.where(bias != 0, np.minimum(self.grain, grains(bias)), self.grain)
        whole = sign * parts.value + bias
        most = (mass + np.fmin(np.abs(whole) + parts.error, mass)) / 2
        exact = (most <= EXACT * grain) & (grain > 0)
        exact &= ~np.isfinite(whole) | (np.rint(whole / grain) * grain == whole)
        if exact.all():
            return np.zeros(exact.shape)
        sums = most * np.maximum(count - 1, 0) + mass * ~self.powers
        off = SLACK * UNIT * sums + DOUBLE * mass + 2 * TINY * count
        return np.asarray(np.where(exact, 0.0, off))


@dataclass(frozen=True, eq=False)
class UnitGroup:
    """What some hidden units add, by the state of their inputs."""

    space: Space
    points: Array  # (combination,)
    dims: Array
    table: Array  # (point, dimension)
    error: Array  # (point, dimension)


def located(values: ProvedValues, inner: Space, outer: Space) -> Array:
    """(combination of the outer space,): its place in the inner one; -1 where it is not there."""
    if inner is outer:
        return np.arange(outer.size)
    if not inner.variables:
        return np.zeros(outer.size, int)
    sizes = values.sizes(inner.variables)
    rows = [values.states_on(variable, outer) for variable in inner.variables]
    fine = np.all([row >= 0 for row in rows], axis=0)
    places = np.full(outer.size, -1)
    places[fine] = places_among([row[fine] for row in rows], inner.grid, sizes)
    return places


def projected(parts: Parts, onto: Array, size: int) -> Parts:
    """The middle of all that lands on one place; how far that is from the ends is an error."""
    fine = onto >= 0
    count = parts.value.shape[1]
    low, high = np.full((size, count), np.inf), np.full((size, count), -np.inf)
    np.minimum.at(low, onto[fine], parts.value[fine])
    np.maximum.at(high, onto[fine], parts.value[fine])
    most = []
    for array in (parts.error, parts.mass, parts.count):
        largest = np.zeros((size, count))
        np.maximum.at(largest, onto[fine], array[fine])
        most.append(largest)
    empty = low > high  # no input is in this state
    low[empty] = high[empty] = 0.0
    value = np.where(empty, np.nan, (low + high) / 2)
    return Parts(value, most[0] + (high - low) / 2, most[1], most[2])


def constant_part(parts: Parts) -> Parts:
    """What should be constant: how far it is not counts as error."""
    held = projected(parts, np.zeros(len(parts.value), int), 1)
    return replace(held, value=np.nan_to_num(held.value))


@dataclass(frozen=True, eq=False)
class SidePart:
    """A part of a side that is a function of some variables."""

    space: Space
    value: Array  # (combination, column): counted from the first
    error: Array
    there: Array  # (combination,): whether an input has it

    @property
    def columns(self) -> Array:
        """(column,): whether it has to do with a column at all."""
        return np.asarray(self.value.any(axis=0) | self.error.any(axis=0))


@dataclass(frozen=True, eq=False)
class HeadSide:
    """Queries or keys of a head."""

    constant: Array  # (column,)
    error: Array  # (column,)
    pieces: list[SidePart]
    grain: Array  # (column,)
    most: Array  # (column,): the largest size

    @property
    def largest_error(self) -> Array:
        """(column,): how far off it is, in any state."""
        errors = [piece.error.max(axis=0, initial=0.0) for piece in self.pieces]
        return np.asarray(sum(errors, self.error))

    def largest(self, weights: Array) -> float:
        """The largest Σ |number| · weight over what it can be, its own errors aside."""
        if len(self.pieces) == 1:
            return float((np.abs(self.pieces[0].value + self.constant) @ weights).max())
        sums = [float((np.abs(piece.value) @ weights).max(initial=0.0)) for piece in self.pieces]
        return float(np.abs(self.constant) @ weights) + sum(sums)

    def of(
        self, values: ProvedValues, space: Space, chosen: Sequence[int]
    ) -> tuple[Array, Array, Array]:
        """Some of the pieces over a space: values, errors, and whether an input has that."""
        check_cells(space.size, len(self.constant))
        total, error = np.zeros((2, space.size, len(self.constant)))
        there = np.ones(space.size, bool)
        for piece in (self.pieces[number] for number in chosen):
            places = located(values, piece.space, space)
            total, error = total + piece.value[places], error + piece.error[places]
            there &= (places >= 0) & piece.there[places]
        return total, error, there


def side_of(reading: Reading, bias: Array) -> HeadSide:
    """A reading with its bias; rounding is looked at state by state where one piece is all."""
    constant, error = reading.base.value[0] + bias, reading.base.error[0]
    parts = [piece.parts for piece in reading.pieces]
    off = [part.error for part in parts]
    if len(parts) == 1:
        whole = reading.within(reading.base.plus(parts[0]))
        off = [off[0] + reading.rounding(whole, bias)]
    else:
        mass = reading.base.mass + sum(part.mass.max(axis=0) for part in parts)
        count = reading.base.count + sum(part.count.max(axis=0) for part in parts)
        worst = reading.within(Parts(np.full_like(mass, np.inf), reading.base.error, mass, count))
        error = (worst.error + reading.rounding(worst, bias))[0]
    pieces, most = [], np.zeros_like(constant)
    for piece, wrong in zip(reading.pieces, off, strict=True):
        there = piece.parts.there
        if not there.any():
            raise Refused("no input has any of the states that are claimed")
        first = piece.parts.value[there.argmax()]
        value = np.nan_to_num(piece.parts.value - first)
        pieces.append(SidePart(piece.space, value, wrong, there))
        constant, most = constant + first, most + np.abs(value).max(axis=0)
    most = most + np.abs(constant)
    grain = np.where(bias != 0, np.minimum(reading.grain, grains(bias)), reading.grain)
    exact = (error == 0) & np.all([(wrong == 0).all(axis=0) for wrong in off], axis=0)
    grain = np.where(exact & (most <= EXACT * grain), grain, 0.0)
    return HeadSide(constant, error, pieces, grain, most)


def rounded(side: HeadSide, precision: Precision) -> HeadSide:
    """What a side is as numbers of a coarser precision, column by column.

    Where a column is a function of one piece, that is rounded state by state, with all that it may
    be off; elsewhere it counts as off by what rounding can change.
    """
    if precision.is_float32:
        return side
    active = np.array([piece.columns for piece in side.pieces])
    count = active.sum(axis=0) if len(active) else np.zeros(len(side.constant), int)
    error = side.error + precision.unit * (side.most + side.largest_error)
    constant, pieces = side.constant.copy(), []
    alone = count == 0
    constant[alone], error[alone] = precision.ends(side.constant[alone], side.error[alone])
    for piece, used in zip(side.pieces, active, strict=True):
        mine = (count == 1) & used
        middle, around = precision.ends(side.constant + piece.value, side.error + piece.error)
        first = middle[piece.there.argmax()]
        constant[mine], error[mine] = first[mine], 0.0
        value, off = (
            np.where(mine, middle - first, piece.value),
            np.where(mine, around, piece.error),
        )
        pieces.append(SidePart(piece.space, value, off, piece.there))
    sizes = [np.abs(piece.value).max(axis=0, initial=0.0) for piece in pieces]
    return HeadSide(
        constant, error, pieces, np.zeros_like(side.grain), sum(sizes, np.abs(constant))
    )
