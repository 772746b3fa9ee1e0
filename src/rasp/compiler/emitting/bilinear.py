"""Sums of products of linear functions in; whether two such sums are the same out.

A head's scores are Σ query · key. What plans do to that sum (products are merged, matches are
lowered to 0) must not change it: a certificate looks at each comparison by itself.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction

from rasp.compiler.analysis.linear import Coordinate, Linear

PRIME = 2**61 - 1


def are_equal(
    one: Iterable[tuple[Linear, Linear]], other: Iterable[tuple[Linear, Linear]]
) -> bool:  # fmt: skip
    """Whether Σ query · key is the same, whatever the coordinates of query and key hold.

    Both are looked at where the coordinates hold random numbers, modulo a prime: sums that
    differ agree there once in 10^18 times.

    >>> two, three = Linear(Fraction(2)), Linear(Fraction(3))
    >>> are_equal([(two, three)], [(three, two)]), are_equal([(two, two)], [(two, three)])
    (True, False)
    """
    point = _Point()
    return point.total(one) == point.total(other)


class _Point:
    """A random number for each coordinate, of the query's position and of the key's."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        self._queries: dict[Coordinate, int] = {}
        self._keys: dict[Coordinate, int] = {}

    def total(self, products: Iterable[tuple[Linear, Linear]]) -> int:
        return sum(
            self._at(query, self._queries) * self._at(key, self._keys) for query, key in products
        ) % PRIME  # fmt: skip

    def _at(self, linear: Linear, numbers: dict[Coordinate, int]) -> int:
        found = _modulo(linear.constant)
        for coordinate, weight in linear.parts.items():
            if coordinate not in numbers:
                numbers[coordinate] = self._random.randrange(PRIME)
            found += _modulo(weight) * numbers[coordinate]
        return found % PRIME


def _modulo(number: Fraction) -> int:
    if number.denominator == 1:
        return number.numerator % PRIME
    return number.numerator * pow(number.denominator, -1, PRIME) % PRIME
