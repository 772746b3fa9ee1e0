"""Linear functions of what the residual stream can hold: the algebra every stage speaks.

A coordinate is a number that exists at each position: whether the token is the i-th of the
vocabulary (`TokenIs`), whether the index is p (`IndexIs`), what a head put out (`HeadOutput`), or
whether a feed-forward's input has got as far as a given state (`planning.features.Reached`). Each
is one object, and equal to itself alone. A `Linear` is a constant plus a weighted sum of
coordinates. Functions that are equal at every position are equal as `Linear`s: one token and one
index are left out as the base line, since the others determine them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from math import gcd, lcm
from typing import ClassVar, TypeAlias, TypeVar

from rasp.certificate.claims import INDEX, TOKEN
from rasp.certificate.program import tables
from rasp.compiler.settings import Settings

ZERO = Fraction(0)
Key = TypeVar("Key")


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate:
    """A number that exists at each position."""

    order: ClassVar[int]
    """Which kind comes first where there is a choice."""


@dataclass(frozen=True, eq=False)
class TokenIs(Coordinate):
    """1 where the token is the one at a place of the vocabulary, else 0; see `token_is`."""

    place: int
    order: ClassVar[int] = 3


@dataclass(frozen=True, eq=False)
class IndexIs(Coordinate):
    """1 where the index is a certain one, else 0; see `index_is`."""

    place: int
    order: ClassVar[int] = 1


token_is = cache(TokenIs)
"""The coordinate of a place of the vocabulary."""
index_is = cache(IndexIs)
"""The coordinate of an index."""
Kind = TypeVar("Kind", bound=Coordinate)
Shape: TypeAlias = frozenset[tuple[Coordinate, Fraction]]


@dataclass(frozen=True, eq=False)
class Linear:
    """`constant + Σ weight · coordinate`.

    >>> Linear(Fraction(2), {token_is(1): Fraction(3)})
    Linear(2 + 3·TokenIs(place=1))
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
    coordinate_of = {TOKEN: token_is, INDEX: index_is}
    parts = {coordinate_of[part.variable](part.state): weight
             for part, weight in exact.parts.items()}  # fmt: skip
    return Linear(exact.constant, parts)


def token_values(linear: Linear, settings: Settings) -> list[Fraction]:
    """What the token coordinates add, for each token."""
    return [linear.parts.get(token_is(token), ZERO) for token in range(len(settings.vocabulary))]


def index_values(linear: Linear, settings: Settings) -> list[Fraction]:
    """What the index coordinates add, for each index."""
    return [linear.parts.get(index_is(index), ZERO) for index in range(settings.max_length)]


def content(weights: Iterable[Fraction]) -> Fraction:
    """The largest number of which all weights are whole multiples.

    >>> content([Fraction(3), Fraction(-9, 2)])
    Fraction(3, 2)
    """
    weights = list(weights)
    unit = lcm(*(weight.denominator for weight in weights))
    whole = (weight.numerator * (unit // weight.denominator) for weight in weights)
    return Fraction(gcd(*whole), unit)
