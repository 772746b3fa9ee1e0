"""What anything reads in, the dimensions of the residual stream out: a basis, nothing more.

Each reader asks for a linear function of the coordinates. In the order of time, a function
that is no combination of the dimensions so far becomes one more dimension: there are as many as
these functions have rank, unless some must not be mixed because of rounding (`add_by_writer`,
`add_alone`). Which combination it is, is found by elimination, in fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from rasp.compiler.analysis.linear import (
    Coordinate,
    IndexIs,
    Key,
    Linear,
    Shape,
    TokenIs,
    content,
    scaled,
)
from rasp.compiler.analysis.rounding import is_power_of_two
from rasp.compiler.analysis.times import layer_at
from rasp.compiler.analysis.variables import HeadOutput
from rasp.compiler.planning.features import Group, Reached
from rasp.compiler.planning.rounded_sums import FINEST, last_layer

FEW, LARGEST_WEIGHT = 2, 1024
"""What is read from so few dimensions with weights up to this needs none of its own."""
ALONE = 2
"""How much finer than what it holds the grid of a dimension is that one function has alone."""
Exact: TypeAlias = Fraction | int
"""Whole numbers are ints here, which add and multiply much faster."""


@dataclass(frozen=True)
class Demand:
    """Somebody reads `linear` at a time (see `analysis.times`)."""

    time: int
    linear: Linear
    is_read_at_once: bool = False
    """Whether a feed-forward reads it, while what its layer's heads add is being rounded."""
    is_noisy: bool = False
    """Whether that feed-forward looks between what it should be."""


@dataclass(eq=False)
class Layout:
    """The dimensions, and how to read any demanded function from them."""

    dimensions: list[Linear] = field(default_factory=list)
    """What each dimension holds (without constants)."""
    _echelon: list[tuple[Coordinate, dict[Coordinate, Exact], dict[int, Exact]]] = field(
        default_factory=list
    )
    _pivots: dict[Coordinate, int] = field(default_factory=dict)
    _weights_of: dict[Shape, dict[int, Exact]] = field(default_factory=dict)
    """How what was read before is made of dimensions."""
    fineness: dict[int, int] = field(default_factory=dict)
    """How much finer than what they hold dimensions are rounded, where that is not as usual."""
    separates_writers: bool = False
    """Whether what different blocks write is in different dimensions: each is written once, so
    that it is rounded once, and exact from then on."""
    _own_dimensions: dict[Shape, int] = field(default_factory=dict)
    """The dimensions of functions that are not read from others."""

    def add(self, demand: Demand) -> None:
        """Make sure that a function can be read."""
        remainder, rows = self._reduced(demand.linear)
        if remainder:
            self._append(self._without_readable_parts(demand.linear))
        else:
            self._weights_of[demand.linear.shape] = self._weights(rows)

    def _append(self, linear: Linear) -> None:
        """A dimension for a function; the echelon form has it if others do not tell it."""
        remainder, rows = self._reduced(linear)
        new = len(self.dimensions)
        unit = content(linear.parts.values())
        self.dimensions.append(linear.times(1 / unit))
        if not remainder:
            return
        # A weight of 1 makes no fractions of the others; so it is the pivot, where there is one.
        pivot = min(
            remainder, key=lambda part: (abs(abs(Fraction(remainder[part])) - 1), part.order)
        )
        scale = Fraction(remainder[pivot])
        row_weights = scaled(self._weights(rows), -1 / scale)
        row_weights[new] = unit / scale
        self._pivots[pivot] = len(self._echelon)
        row_parts = _with_ints(scaled(remainder, 1 / scale))
        self._echelon.append((pivot, row_parts, _with_ints(row_weights)))

    def add_by_writer(self, demand: Demand) -> None:
        """Make sure that what each block adds to a function can be read, without rounding."""
        for part in _by_writer(demand.linear):
            key, _ = _shape(part)
            if key in self._own_dimensions:
                continue
            remainder, rows = self._reduced(part)
            used = self._weights(rows)
            if not remainder and len(used) <= FEW and all(map(_is_plain, used.values())):
                continue
            self._own_dimensions[key] = len(self.dimensions)
            self._append(part)

    def add_alone(self, demand: Demand) -> None:
        """Give a function a dimension of its own, unless it is read from one that is rounded.

        While a dimension holds a large constant, only a power of two times it is exact.
        """
        layer = layer_at(demand.time)
        read = [(place, weight) for place, weight in self.read(demand.linear).items()
                if last_layer(self.dimensions[place]) == layer]  # fmt: skip
        if not read or (len(read) == 1 and is_power_of_two(read[0][1])):
            return
        if self.separates_writers:
            self.fineness[len(self.dimensions)] = ALONE
        unit = content(demand.linear.parts.values())
        self._weights_of[demand.linear.shape] = {len(self.dimensions): unit}
        self.dimensions.append(demand.linear.plus(-demand.linear.constant).times(1 / unit))

    def _without_readable_parts(self, linear: Linear) -> Linear:
        """Leave out the parts that can be read already: the dimension is simpler, and cleaner."""
        kept: dict[Coordinate, Fraction] = {}
        kinds: dict[object, dict[Coordinate, Fraction]] = {}
        for coordinate, weight in linear.parts.items():
            kind = coordinate.group if isinstance(coordinate, Reached) else type(coordinate)
            kinds.setdefault(kind, {})[coordinate] = weight
        for parts in kinds.values():
            if self._reduced(Linear(Fraction(0), parts))[0]:
                kept |= parts
        return Linear(Fraction(0), kept)

    def read(self, linear: Linear) -> Mapping[int, Exact]:
        """The weights with which the dimensions add up to a function, its constant aside."""
        if linear.shape not in self._weights_of:
            self._weights_of[linear.shape] = self._read(linear)
        return self._weights_of[linear.shape]

    def _read(self, linear: Linear) -> dict[int, Exact]:
        total: dict[int, Exact] = {}
        for part in _by_writer(linear) if self.separates_writers else [linear]:
            key, unit = _shape(part) if self.separates_writers else (frozenset(), Fraction(0))
            used: Mapping[int, Exact] = {}
            if key in self._own_dimensions:
                used = {self._own_dimensions[key]: unit}
            else:
                remainder, rows = self._reduced(part)
                assert not remainder, "a function is read that nobody asked for"
                used = self._weights(rows)
            for place, weight in used.items():
                total[place] = total.get(place, 0) + weight
        return {place: weight for place, weight in total.items() if weight}

    def written_by_groups(self) -> Counter[Group]:
        """How many dimensions each group of hidden units writes."""
        return Counter(group for dimension in self.dimensions
                       for group in {step.group for step in dimension.of(Reached)})  # fmt: skip

    def can_read(self, linear: Linear) -> bool:
        """Whether a function is a combination of the dimensions."""
        return not self._reduced(linear)[0]

    def _reduced(self, linear: Linear) -> tuple[dict[Coordinate, Exact], dict[int, Exact]]:
        """Subtract rows of the echelon form until no pivot is left: what remains, and how much of
        each row was subtracted.
        """
        remainder = _with_ints(linear.parts)
        subtracted: dict[int, Exact] = {}
        pending = sorted({self._pivots[part] for part in remainder if part in self._pivots})
        waiting = set(pending)
        while pending:
            row = pending.pop(0)
            waiting.discard(row)
            pivot, row_parts, _ = self._echelon[row]
            factor = remainder.get(pivot)
            if not factor:
                continue
            for coordinate in _subtract(remainder, row_parts, factor):
                later = self._pivots.get(coordinate)
                if later is not None and later not in waiting:
                    waiting.add(later)
                    pending.append(later)
            subtracted[row] = subtracted.get(row, 0) + factor
        return remainder, subtracted

    def _weights(self, rows: Mapping[int, Exact]) -> dict[int, Exact]:
        """The weights of dimensions in a sum of rows of the echelon form."""
        weights: dict[int, Exact] = {}
        for row, factor in rows.items():
            for place, weight in self._echelon[row][2].items():
                weights[place] = weights.get(place, 0) + factor * weight
        return {place: weight for place, weight in weights.items() if weight}


def _subtract(
    remainder: dict[Coordinate, Exact], row_parts: Mapping[Coordinate, Exact], factor: Exact
) -> list[Coordinate]:
    """Subtract a multiple of a row, in place; return its coordinates that are still there."""
    left_over = []
    for coordinate, weight in row_parts.items():
        left = remainder.get(coordinate, 0) - (weight if factor == 1 else factor * weight)
        if left:
            remainder[coordinate] = left
            left_over.append(coordinate)
        else:
            remainder.pop(coordinate, None)
    return left_over


def _by_writer(linear: Linear) -> list[Linear]:
    """The parts of a function that different heads and groups write; and those of the embedding."""
    writers: dict[object, dict[Coordinate, Fraction]] = {}
    for coordinate, weight in linear.parts.items():
        match coordinate:
            case Reached(group=group):
                writer: object = group
            case HeadOutput():
                writer = coordinate
            case _:
                writer = None
        writers.setdefault(writer, {})[coordinate] = weight
    return [Linear(Fraction(0), parts) for parts in writers.values()]


def _shape(linear: Linear) -> tuple[Shape, Fraction]:
    """A function up to a factor, and the factor."""
    unit = content(linear.parts.values())
    return linear.times(1 / unit).shape, unit


def _is_plain(weight: Exact) -> bool:
    """Whether a weight is a whole number of few bits, with which float32 rounds nothing."""
    number = Fraction(weight)
    return number.denominator == 1 and abs(number) <= LARGEST_WEIGHT


def _with_ints(weights: Mapping[Key, Exact]) -> dict[Key, Exact]:
    """The same weights, with whole numbers as ints."""
    objects = {id(weight): weight for weight in weights.values()}
    as_ints = {key: weight.numerator if weight.denominator == 1 else weight
             for key, weight in objects.items()}  # fmt: skip
    return {key: as_ints[id(weight)] for key, weight in weights.items()}


def lay_out(demands: Iterable[Demand], separates_writers: bool = False) -> Layout:
    """Choose the dimensions: earlier readers first, then simpler functions.

    What the embedding alone decides is there from the start, so that the simplest come first
    whoever reads them: what holds 0 or 1 is exact, and so is what is made of such dimensions.
    """
    layout = Layout(separates_writers=separates_writers)
    placed: set[Shape] = set()
    for demand in sorted(demands, key=_order):
        if demand.linear.shape not in placed:
            placed.add(demand.linear.shape)
            layout.add_by_writer(demand) if separates_writers else layout.add(demand)
            if demand.is_read_at_once and not demand.is_noisy:
                layout.add_alone(demand)
            elif demand.is_read_at_once and separates_writers:
                layout.fineness |= dict.fromkeys(layout.read(demand.linear), FINEST)
    return layout


def _order(demand: Demand) -> tuple[int, int, int]:
    """When it is read, and how simple it is: of how few heads' outputs, of how few parts."""
    parts = demand.linear.parts
    is_embedded = all(isinstance(coordinate, TokenIs | IndexIs) for coordinate in parts)
    outs = sum(isinstance(coordinate, HeadOutput) for coordinate in parts)
    return 0 if is_embedded else demand.time, outs, len(parts)
