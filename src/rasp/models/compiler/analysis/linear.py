"""Linear functions of what the residual stream can hold: the algebra every stage speaks.

A coordinate is a number that exists at each position: whether the token is the i-th of the
vocabulary, whether the index is p (`GroundIs`), what a head put out (`HeadOutput`), or
whether a feed-forward's input has got as far as a given state (`planning.features.Reached`). Each
is one object, and equal to itself alone. A `Linear` is a constant plus a weighted sum of
coordinates. Functions that are equal at every position are equal as `Linear`s: one token and one
index are left out as the base line, since the others determine them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, partial
from math import gcd, lcm
from typing import TypeAlias, TypeVar

from rasp.models.certificate.claims import INDEX, TOKEN
from rasp.models.certificate.program import tables
from rasp.models.compiler.settings import Settings

ZERO = Fraction(0)
Key = TypeVar("Key")


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate:
    """A number that exists at each position."""

    @property
    @abstractmethod
    def order(self) -> int:
        """A number for each kind; the least comes first where there is a choice."""


@dataclass(frozen=True, eq=False)
class GroundIs(Coordinate):
    """1 where the token is the one at a place of the vocabulary (or the index is that place), else
    0; see `ground_is`.
    """

    ground: int
    """`TOKEN` or `INDEX`."""
    place: int

    @property
    def order(self) -> int:
        return 1 if self.ground == INDEX else 3


ground_is = cache(GroundIs)
"""The coordinate of a place of the vocabulary, or of an index."""
token_is, index_is = partial(ground_is, TOKEN), partial(ground_is, INDEX)
Kind = TypeVar("Kind", bound=Coordinate)
Shape: TypeAlias = frozenset[tuple[Coordinate, Fraction]]


@dataclass(frozen=True, eq=False)
class Linear:
    """`constant + Σ weight · coordinate`.

    >>> Linear(Fraction(2), {token_is(1): Fraction(3)})
    Linear(2 + 3·GroundIs(ground=0, place=1))
    """

    constant: Fraction = Fraction(0)
    parts: Mapping[Coordinate, Fraction] = field(default_factory=dict)

    def __repr__(self) -> str:
        parts = (f"{weight}·{coordinate}" for coordinate, weight in self.parts.items())
        return f"Linear({' + '.join([str(self.constant), *parts])})"

    @cached_property
    def shape(self) -> Shape:
        """A value that is equal for functions that differ by a constant alone."""
        return frozenset(self.parts.items())

    @property
    def key(self) -> tuple[Fraction, Shape]:
        """A value that is equal for equal functions."""
        return self.constant, self.shape

    @property
    def is_constant(self) -> bool:
        return not self.parts

    def __add__(self, other: Linear) -> Linear:
        if not self.parts or not other.parts:
            return Linear(self.constant + other.constant, self.parts or other.parts)
        parts = {**self.parts, **other.parts}
        for coordinate in self.parts.keys() & other.parts.keys():
            parts[coordinate] = self.parts[coordinate] + other.parts[coordinate]
            if not parts[coordinate]:
                del parts[coordinate]
        return Linear(self.constant + other.constant, parts)

    def __sub__(self, other: Linear) -> Linear:
        return self + other.times(-1)

    def times(self, factor: Fraction | int) -> Linear:
        if not factor:
            return Linear()
        return Linear(self.constant * factor, scaled(self.parts, factor))

    def plus(self, constant: Fraction | int) -> Linear:
        return Linear(self.constant + constant, self.parts)

    def of(self, kind: type[Kind]) -> dict[Kind, Fraction]:
        """The part made of one kind of coordinate."""
        return {coordinate: weight for coordinate, weight in self.parts.items()
                if isinstance(coordinate, kind)}  # fmt: skip


def scaled(weights: Mapping[Key, Fraction | int], factor: Fraction | int) -> dict[Key, Fraction]:
    """Multiply weights; most are few objects many times, and stay that."""
    objects = {id(weight): weight for weight in weights.values()}
    scaled = {key: Fraction(weight * factor) for key, weight in objects.items()}
    return {coordinate: scaled[id(weight)] for coordinate, weight in weights.items()}


def total(terms: Iterable[Linear]) -> Linear:
    """Add linear functions up."""
    return sum(terms, Linear())


def of_ground(variable: int, table: Sequence[Fraction], settings: Settings) -> Linear:
    """The function of the token, or of the index, that is the table's entry for each of them."""
    exact = tables.of_ground(variable, table, settings)
    return Linear(exact.constant, {ground_is(part.variable, part.state): weight
                                   for part, weight in exact.parts.items()})  # fmt: skip


def content(weights: Iterable[Fraction]) -> Fraction:
    """The largest number of which all weights are whole multiples.

    >>> content([Fraction(3), Fraction(-9, 2)])
    Fraction(3, 2)
    """
    weights = list(weights)
    unit = lcm(*(weight.denominator for weight in weights))
    whole = (weight.numerator * (unit // weight.denominator) for weight in weights)
    return Fraction(gcd(*whole), unit)
