"""What anything reads in, the dimensions of the residual stream out: a basis, nothing more.

Each reader asks for a linear function of the coordinates. In the order of time, a function
that is not a combination of the dimensions so far becomes one more dimension: there are as many as
these functions have rank, unless some must not be mixed because of rounding (`add_by_writer`,
`add_alone`). Which combination it is, is found by elimination, in fractions.

In a careful plan, large constants round what heads add. That is off by a few parts in 2^21, since
exp and division are. But a float32 between 2^23·g and 2^24·g is a multiple of g. So a dimension
that holds C = 1.5·2^23·g from the start is rounded to a multiple of g as a head adds to it, and
whole numbers come out exact. The feed-forward of that layer reads it with C in its biases, and then
one hidden unit takes C away. Cost: 1 hidden unit for each layer in which something is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from rasp.models.compiler.analysis.linear import (
    Coordinate,
    Key,
    Linear,
    Shape,
    content,
    scaled,
    total,
)
from rasp.models.compiler.analysis.rounding import (
    ROOM,
    is_power_of_two,
    power_of_two_in,
    rough_error,
)
from rasp.models.compiler.analysis.times import layer_at
from rasp.models.compiler.analysis.variables import HeadOutput, default_code
from rasp.models.compiler.planning.features import Reached

FEW, LARGEST_WEIGHT = 2, 1024
"""What is read from so few dimensions with weights up to this needs none of its own."""
ALONE = 2
"""How much finer than what it holds the grid of a dimension is that one function has alone."""
FINER, FINEST = 4, 1 << 20
"""How much finer than the numbers themselves the grid may be: feed-forwards look between them."""
ZERO = Fraction(0)
Exact: TypeAlias = Fraction | int
"""Whole numbers are ints here, which add and multiply much faster."""
Row: TypeAlias = dict[Coordinate | int, Exact]
"""A weighted sum of coordinates and of dimensions, which go by their numbers."""


@dataclass(frozen=True)
class Demand:
    """Somebody reads `linear` at a time (see `analysis.times`)."""

    time: int
    linear: Linear
    is_read_at_once: bool = False
    """Whether a feed-forward reads it, while what its layer's heads add is being rounded."""
    is_inexact: bool = False
    """Whether that feed-forward looks between what it should be."""


@dataclass(eq=False)
class Layout:
    """The dimensions, and how to read any demanded function from them."""

    separates_writers: bool = False
    """Whether what different blocks write is in different dimensions: each is written once, so
    that it is rounded once, and exact from then on."""
    dimensions: list[Linear] = field(default_factory=list)
    """What each dimension holds (without constants); nothing, besides its mark, in the sink's."""
    fineness: dict[int, int] = field(default_factory=dict)
    """How much finer than what they hold dimensions are rounded, where that is not as usual."""
    _rows: dict[Coordinate, Row] = field(default_factory=dict)
    """The echelon form: sums that are 0, by pivots. None holds the pivot of an earlier one."""
    _weights_of: dict[Shape, dict[int, Exact]] = field(default_factory=dict)
    """How what was read before is made of dimensions."""
    _own_dimensions: dict[Shape, int] = field(default_factory=dict)
    """The dimensions of functions that are not read from others."""

    def add(self, linear: Linear) -> None:
        """Make sure that a function can be read: what is readable of it needs no dimension."""
        if not self.can_read(linear):
            new = (part for part in _parts_by(_kind, linear) if not self.can_read(part))
            self._append(total(new))

    def add_by_writer(self, linear: Linear) -> None:
        """Make sure that what each block adds to a function can be read, without rounding."""
        for part in _parts_by(_writer, linear):
            shape, weights = _without_factor(part)[0].shape, self._reduced(part)
            is_read = len(weights) <= FEW and all(
                isinstance(place, int) and _is_plain(weight) for place, weight in weights.items()
            )
            if not is_read and shape not in self._own_dimensions:
                self._own_dimensions[shape] = len(self.dimensions)
                self._append(part)

    def add_alone(self, linear: Linear, layer: int) -> None:
        """Give a function a dimension of its own, unless it is read from one that is rounded.

        While a dimension holds a large constant, only a power of two times it is exact.
        """
        read = [weight for place, weight in self.read(linear).items()
                if last_layer(self.dimensions[place]) == layer]  # fmt: skip
        if not read or (len(read) == 1 and is_power_of_two(read[0])):
            return
        if self.separates_writers:
            self.fineness[len(self.dimensions)] = ALONE
        self._weights_of[linear.shape] = self._new_dimension(linear)

    def _append(self, linear: Linear) -> None:
        """A dimension for a function; the echelon form has it if others do not tell it."""
        row = self._reduced(linear)
        remainder = [part for part in row if isinstance(part, Coordinate)]
        row |= {place: -unit for place, unit in self._new_dimension(linear).items()}
        if not remainder:
            return
        # A weight of 1 makes no fractions of the others; so it is the pivot, where there is one.
        pivot = min(remainder, key=lambda part: (abs(abs(Fraction(row[part])) - 1), part.order))
        zero = scaled(row, 1 / Fraction(row[pivot]))
        self._rows[pivot] = _with_ints(zero)

    def _new_dimension(self, linear: Linear) -> dict[int, Exact]:
        """A dimension for a function up to a factor and a constant; return how to read it."""
        dimension, unit = _without_factor(linear)
        self.dimensions.append(dimension)
        return {len(self.dimensions) - 1: unit}

    def can_read(self, linear: Linear) -> bool:
        """Whether a function is a combination of the dimensions."""
        return all(isinstance(place, int) for place in self._reduced(linear))

    def read(self, linear: Linear) -> Mapping[int, Exact]:
        """The weights with which the dimensions add up to a function, its constant aside."""
        if linear.shape not in self._weights_of:
            row: Row = {}
            for part in _parts_by(_writer, linear) if self.separates_writers else [linear]:
                _add(row, self._read(part), 1)
            weights = {place: weight for place, weight in row.items() if isinstance(place, int)}
            assert len(weights) == len(row), "a function is read that nobody asked for"
            self._weights_of[linear.shape] = weights
        return self._weights_of[linear.shape]

    def _read(self, part: Linear) -> Row:
        if self._own_dimensions:
            own, unit = _without_factor(part)
            if own.shape in self._own_dimensions:
                return {self._own_dimensions[own.shape]: unit}
        return self._reduced(part)

    def _reduced(self, linear: Linear) -> Row:
        """A function as a sum of dimensions, and of coordinates without a pivot: what they do not
        tell. Each row of the echelon form takes its pivot away.
        """
        row = _with_ints(linear.parts)
        for pivot, zero in self._rows.items():
            if factor := row.get(pivot):
                _add(row, zero, -factor)
        return row


def _add(sums: dict[Key, Exact], terms: Mapping[Key, Exact], factor: Exact) -> None:
    """Add a multiple of some terms, in place; sums that are 0 are left out."""
    for key, term in terms.items():
        changed = sums.get(key, 0) + (term if factor == 1 else factor * term)
        if changed:
            sums[key] = changed
        else:
            sums.pop(key, None)


def _parts_by(sort: Callable[[Coordinate], object], linear: Linear) -> list[Linear]:
    """A function as a sum of functions of coordinates of one sort each."""
    parts: dict[object, dict[Coordinate, Fraction]] = {}
    for coordinate, weight in linear.parts.items():
        parts.setdefault(sort(coordinate), {})[coordinate] = weight
    return [Linear(ZERO, weights) for weights in parts.values()]


def _kind(coordinate: Coordinate) -> object:
    return coordinate.group if isinstance(coordinate, Reached) else coordinate.order


def _writer(coordinate: Coordinate) -> object:
    """The head's output or group that writes a coordinate; None for the embedding."""
    match coordinate:
        case Reached(group=group):
            return group
        case HeadOutput():
            return coordinate
    return None


def _without_factor(linear: Linear) -> tuple[Linear, Fraction]:
    """A function up to a factor and a constant, and the factor."""
    unit = content(linear.parts.values())
    return Linear(ZERO, scaled(linear.parts, 1 / unit)), unit


def _is_plain(weight: Exact) -> bool:
    """Whether a weight is a whole number of few bits, with which float32 rounds nothing."""
    number = Fraction(weight)
    return number.denominator == 1 and abs(number) <= LARGEST_WEIGHT


def _with_ints(weights: Mapping[Coordinate, Exact] | Mapping[Coordinate | int, Exact]) -> Row:
    """The same weights, with whole numbers as ints."""
    return {key: weight.numerator if weight.denominator == 1 else weight
            for key, weight in weights.items()}  # fmt: skip


def lay_out(
    demands: Iterable[Demand], separates_writers: bool = False, has_sink: bool = False
) -> Layout:
    """Choose the dimensions: the sink's, then those of earlier readers, and of simpler functions.

    What the embedding alone decides is there from the start, so that the simplest come first
    whoever reads them: what holds 0 or 1 is exact, and so is what is made of such dimensions.
    """
    layout = Layout(separates_writers, [Linear()] * has_sink)
    placed: set[Shape] = set()
    for demand in sorted(demands, key=_order):
        if demand.linear.shape not in placed:
            placed.add(demand.linear.shape)
            add = layout.add_by_writer if separates_writers else layout.add
            add(demand.linear)
            if demand.is_read_at_once and not demand.is_inexact:
                layout.add_alone(demand.linear, layer_at(demand.time))
            elif demand.is_read_at_once and separates_writers:
                layout.fineness |= dict.fromkeys(layout.read(demand.linear), FINEST)
    return layout


def _order(demand: Demand) -> tuple[int, int, int]:
    """When it is read, and how simple it is: of how few heads' outputs, of how few parts."""
    parts = demand.linear.parts
    is_embedded = all(_writer(coordinate) is None for coordinate in parts)
    outs = len(demand.linear.of(HeadOutput))
    return 0 if is_embedded else demand.time, outs, len(parts)


def last_layer(dimension: Linear) -> int:
    """The layer of the last head that writes a dimension; 0 where none does, or rounding it would
    not make it exact.
    """
    outputs = dimension.of(HeadOutput)
    is_inexact = any(output.is_inexact for output in outputs)
    return 0 if is_inexact else max((output.layer for output in outputs), default=0)


def rounding_constant(dimension: Linear, length: int, fineness: int) -> float:
    """The constant C with which a dimension is rounded; 0 where it is not."""
    if not last_layer(dimension):
        return 0.0
    moved, unit, constant = ZERO, Fraction(1), ZERO
    for coordinate, weight in dimension.parts.items():
        if isinstance(coordinate, HeadOutput):
            codes = {code for _, code in coordinate.states} | {default_code(coordinate)}
            moved += 2 * abs(weight) * max(map(abs, codes))
            unit = min([unit, *(power_of_two_in(weight * code) for code in codes if code)])
        else:
            constant += abs(weight)
            unit = min(unit, power_of_two_in(weight))
    # C is 2^22 steps of the grid from either end of its range: what is added takes half of that.
    grid = Fraction(1, 2**20)
    while (
        fineness * grid < unit
        or grid < ROOM * rough_error(moved, length)
        or constant + moved > grid * 2**21
    ):
        grid *= 2
    return float(grid * 3 * 2**22) if unit > 0 and grid <= unit else 0.0
