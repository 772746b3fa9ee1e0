"""All sums that keys can add up to: one position after another.

What a query gets from a head is a sum over keys. Each position adds one of the vectors that some
key there can add, so after 0, 1, 2, … positions the sums are those before, plus one of these each.
One of the positions is the query's own, and adds what its own key can. That is all: counts that are
at most the length, means that other sums decide, a query that always picks itself, all of it is in
the sets.

A vector of whole numbers is packed into one whole number of Python, so that adding vectors is
adding numbers, and no number is too large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rasp.models.checker.relations import TooMuch

Vector: TypeAlias = tuple[int, ...]
Options: TypeAlias = frozenset[int]
"""What one position can add, packed."""


@dataclass(frozen=True)
class Packing:
    """Vectors of whole numbers as single numbers, so that up to so many can be added.

    >>> packing = Packing.of([(1, -3), (0, 5)], 4)
    >>> packing.unpacked(packing.packed((1, -3)) + packing.packed((1, 5)))
    (2, 2)
    """

    lows: Vector
    steps: Vector
    sizes: Vector

    @staticmethod
    def of(vectors: Sequence[Vector], longest: int) -> Packing:
        """One in which the sums of so many of the vectors, or fewer, are all different."""
        columns = [(0, *column) for column in zip(*vectors, strict=True)]
        lows = [longest * min(column) for column in columns]
        sizes = [longest * max(column) - low + 1 for column, low in zip(columns, lows, strict=True)]
        steps = [1]
        for size in sizes:
            steps.append(steps[-1] * size)
        return Packing(tuple(lows), tuple(steps[:-1]), tuple(sizes))

    def packed(self, vector: Vector) -> int:
        """The number of a vector."""
        return sum(number * step for number, step in zip(vector, self.steps, strict=True))

    def unpacked(self, number: int) -> Vector:
        """The vector of a number."""
        number -= self.packed(self.lows)
        places = zip(self.lows, self.steps, self.sizes, strict=True)
        return tuple(low + number // step % size for low, step, size in places)


def sums_by_length(
    options: Sequence[Options], own: Sequence[Options], fits: Callable[[int], bool] | None,
    most: int,
) -> list[set[int]]:  # fmt: skip
    """After 1, 2, … positions, all sums in which one position, the query's own, adds one of its
    `own` options, and every other one of all. Sums that do not fit are dropped on the way.

    >>> sums_by_length([frozenset({0, 1})] * 2, [frozenset({1})] * 2, None, 100)
    [{1}, {1, 2}]
    """
    before, after, found, work = {0}, set[int](), [], 0
    is_free = all(every == mine for every, mine in zip(options, own, strict=True))
    for every, mine in zip(options, own, strict=True):
        work += len(after) * len(every) + len(before) * (len(mine) + len(every))
        if work > most:
            raise TooMuch("sums", "what a head adds up can be too many numbers")
        if is_free:
            before = after = {total + more for total in before for more in every}
        else:
            after = {total + more for total in after for more in every}
            after |= {total + more for total in before for more in mine}
            before = {total + more for total in before for more in every}
        if fits is not None:
            before, after = set(filter(fits, before)), set(filter(fits, after))
        found.append(after)
    return found
