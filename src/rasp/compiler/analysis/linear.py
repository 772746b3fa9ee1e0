"""Linear functions of what the residual stream can hold: the algebra every stage speaks.

A coordinate is a number that exists at each position: whether the token is the i-th of the
vocabulary, whether the index is p, what a head put out, or whether a feed-forward's input has
got as far as a given state. A `Linear` is a constant plus a weighted sum of coordinates. Functions
that are equal at every position are equal as `Linear`s: one token and one index are left out as
the base line, since the others determine them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias, TypeVar

from rasp.compiler.settings import Settings

ZERO = Fraction(0)
Coordinate: TypeAlias = tuple[str, Any] | tuple[str, Any, int]
Key = TypeVar("Key")


@dataclass(frozen=True, eq=False)
class Linear:
    """`constant + Σ weight · coordinate`."""

    constant: Fraction = Fraction(0)
    parts: Mapping[Coordinate, Fraction] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Fraction, frozenset[tuple[Coordinate, Fraction]]]:
        """A value that is equal for equal functions."""
        return self.constant, frozenset(self.parts.items())

    @property
    def is_constant(self) -> bool:
        return not self.parts

    def __add__(self, other: Linear) -> Linear:
        if not self.parts or not other.parts:
            return Linear(self.constant + other.constant, self.parts or other.parts)
        parts = dict(self.parts)
        for coordinate, weight in other.parts.items():
            known = parts.get(coordinate)
            total = weight if known is None else known + weight
            if total:
                parts[coordinate] = total
            else:
                parts.pop(coordinate, None)
        return Linear(self.constant + other.constant, parts)

    def __sub__(self, other: Linear) -> Linear:
        return self + other.times(-1)

    def times(self, factor: Fraction | int) -> Linear:
        if not factor:
            return Linear()
        return Linear(self.constant * factor, scaled(self.parts, factor))

    def plus(self, constant: Fraction | int) -> Linear:
        return Linear(self.constant + constant, self.parts)

    def of(self, kind: str) -> dict[Coordinate, Fraction]:
        """The part made of one kind of coordinate."""
        return {each: weight for each, weight in self.parts.items() if each[0] == kind}


def scaled(weights: Mapping[Key, Fraction | int], factor: Fraction | int) -> dict[Key, Fraction]:
    """Multiply weights; most are few objects many times, and stay that."""
    objects = {id(weight): weight for weight in weights.values()}
    known = {key: Fraction(weight * factor) for key, weight in objects.items()}
    return {coordinate: known[id(weight)] for coordinate, weight in weights.items()}


def total(terms: Iterable[Linear]) -> Linear:
    """Add linear functions up."""
    result = Linear()
    for term in terms:
        result = result + term
    return result


def of_token(table: Sequence[Fraction | int], settings: Settings) -> Linear:
    """The function of the token with these values, one for each token of the vocabulary."""
    base = Fraction(table[0])
    parts: dict[Coordinate, Fraction] = {}
    for token, value in enumerate(table):
        if Fraction(value) != base:
            is_bos = settings.bos is not None and token == len(table) - 1
            parts[("idx", 0) if is_bos else ("tok", token)] = Fraction(value) - base
    return Linear(base, parts)


def of_index(table: Sequence[Fraction | int], settings: Settings) -> Linear:
    """The function of the index with these values, one for each index."""
    base_line = index_base_line(settings)
    base = Fraction(table[base_line])
    parts: dict[Coordinate, Fraction] = {
        ("idx", index): Fraction(value) - base
        for index, value in enumerate(table)
        if Fraction(value) != base
    }
    return Linear(base, parts)


def index_base_line(settings: Settings) -> int:
    """The index left out; with a BOS, whether the index is 0 also says whether the token is it."""
    return 1 if settings.bos is not None and settings.max_length > 1 else 0


def token_values(linear: Linear, settings: Settings) -> list[Fraction]:
    """What the token coordinates add, for each token."""
    return [linear.parts.get(("tok", each), ZERO) for each in range(len(settings.vocabulary))]


def index_values(linear: Linear, settings: Settings) -> list[Fraction]:
    """What the index coordinates add, for each index."""
    return [linear.parts.get(("idx", each), ZERO) for each in range(settings.max_length)]


def content(weights: Iterable[Fraction]) -> Fraction:
    """The largest number of which all weights are whole multiples.

    >>> content([Fraction(3), Fraction(-9, 2)])
    Fraction(3, 2)
    """
    known = list({id(weight): weight for weight in weights}.values())
    denominator = lcm(*(weight.denominator for weight in known))
    return Fraction(gcd(*(int(weight * denominator) for weight in known)), denominator)
