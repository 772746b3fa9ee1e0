"""What a scorer multiplies in; how far apart its scores are at least, and their range, out."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from rasp.compiler.refusals import Refusal

MOST_SCORES = 500_000
"""The most pairs of a query and a key whose scores are compared while compiling."""


def gap_and_extent(
    asked: list[tuple[Fraction, ...]], sent: list[tuple[Fraction, ...]]
) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The smallest difference of two scores of one query (0 if there is none); least and most."""
    if len(sent[0]) == 1:
        return _of_products([query for (query,) in asked], [key for (key,) in sent])
    if len(asked) * len(sent) > MOST_SCORES:
        raise Refusal(
            f"select_best scores {len(sent)} different keys for {len(asked)} different queries",
            "score by fewer different numbers, or use a smaller length or vocabulary",
        )
    gaps: list[Fraction] = []
    ends: list[Fraction] = []
    for query in asked:
        scores = sorted({sum((a * b for a, b in zip(query, key, strict=True)), Fraction(0))
                         for key in sent})  # fmt: skip
        gaps += [high - low for low, high in pairwise(scores)]
        ends += [scores[0], scores[-1]]
    return min(gaps, default=Fraction(0)), (min(ends), max(ends))


def _of_products(
    queries: list[Fraction], keys: list[Fraction]
) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The same where a score is one product: numbers in order tell it without all pairs."""
    gaps = [high - low for low, high in pairwise(keys)]
    sizes = [abs(query) for query in queries if query]
    corners = [key * query for key in (keys[0], keys[-1]) for query in (queries[0], queries[-1])]
    gap = min(gaps, default=Fraction(0)) * min(sizes, default=Fraction(0))
    return gap, (min(corners), max(corners))
