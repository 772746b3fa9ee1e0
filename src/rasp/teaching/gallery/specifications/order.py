"""Ranks, medians, extremes, sorting by a key, and permutations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, combinations, pairwise
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import WORDS, InputMaker, at_least, numbers, tokens_of
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "order and rank")


def rank(tokens: Sequence[Any]) -> list[Any]:
    return [sorted(tokens).index(number) for number in tokens]


def dense_rank(tokens: Sequence[Any]) -> list[Any]:
    different = sorted(set(tokens))
    return [different.index(number) for number in tokens]


def sorted_position(tokens: Sequence[Any]) -> list[Any]:
    order = argsort(tokens)
    return [order.index(position) for position in range(len(tokens))]


def argsort(tokens: Sequence[Any]) -> list[Any]:
    return sorted(range(len(tokens)), key=lambda position: tokens[position])


def sort_descending(tokens: Sequence[Any]) -> list[Any]:
    return sorted(tokens, reverse=True)


def evens_first(tokens: Sequence[Any]) -> list[Any]:
    odd = [number for number in tokens if number % 2]
    return [number for number in tokens if not number % 2] + odd


def sort_by_distance_from_mean(tokens: Sequence[Any]) -> list[Any]:
    mean = Fraction(sum(tokens), len(tokens))
    return sorted(tokens, key=lambda number: abs(number - mean))


def largest(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(tokens), tokens)


def smallest(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(min(tokens), tokens)


def spread(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(tokens) - min(tokens), tokens)


def largest_so_far(tokens: Sequence[Any]) -> list[Any]:
    return list(accumulate(tokens, max))


def second_largest(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(sorted(tokens)[-2], tokens)


def median(tokens: Sequence[Any]) -> list[Any]:
    half, rest = divmod(len(tokens), 2)
    upper = sorted(tokens)[half:]
    lower = sorted(tokens)[:half]
    return everywhere(upper[0] if rest else Fraction(lower[-1] + upper[0], 2), tokens)


def first_largest(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(tokens.index(max(tokens)), tokens)


def top_three(tokens: Sequence[Any]) -> list[Any]:
    # sorted() keeps equals in order, so that of these the earlier ones stay
    best = sorted(range(len(tokens)), key=lambda position: -tokens[position])[:3]
    return [number if position in best else 0 for position, number in enumerate(tokens)]


def above_average(tokens: Sequence[Any]) -> list[Any]:
    return [number * len(tokens) > sum(tokens) for number in tokens]


def records(tokens: Sequence[Any]) -> list[Any]:
    best = list(accumulate(tokens, max))
    return [True, *(after > before for before, after in pairwise(best))]


def is_sorted(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(list(tokens) == sorted(tokens), tokens)


def _inversions(tokens: Sequence[Any]) -> int:
    return sum(left > right for left, right in combinations(tokens, 2))


def inversions(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(_inversions(tokens), tokens)


def next_greater(tokens: Sequence[Any]) -> list[Any]:
    return [
        next((later for later in tokens[position + 1 :] if later > number), 0)
        for position, number in enumerate(tokens)
    ]


def previous_smaller(tokens: Sequence[Any]) -> list[Any]:
    return [
        next((earlier for earlier in reversed(tokens[:position]) if earlier < number), -1)
        for position, number in enumerate(tokens)
    ]


def next_lower_value(tokens: Sequence[Any]) -> list[Any]:
    different = [-1, *sorted(set(tokens))]
    return [different[different.index(number) - 1] for number in tokens]


def is_permutation(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(sorted(tokens) == list(range(len(tokens))), tokens)


def inverse_permutation(tokens: Sequence[Any]) -> list[Any]:
    return [tokens.index(position) for position in range(len(tokens))]


def permutation_sign(tokens: Sequence[Any]) -> list[Any]:
    """Count the cycles: a cycle of k positions takes k - 1 swaps."""
    seen: set[int] = set()
    cycles = 0
    for start in range(len(tokens)):
        cycles += start not in seen
        while start not in seen:
            seen.add(start)
            start = tokens[start]
    return everywhere(1 if (len(tokens) - cycles) % 2 == 0 else -1, tokens)


def _permutation(rng: Random, length: int) -> list[int]:
    return rng.sample(range(length), k=length)


def _rising(rng: Random, length: int) -> list[int]:
    return sorted(rng.choices(range(100), k=length))


NUMBERS = numbers(-20, 20, tiny=(-1, 0, 2))
NOT_NEGATIVE = numbers(0, 20)
NEARLY_SORTED = tokens_of(tuple(range(100)), (0, 1, 2), _rising)
NEARLY_PERMUTED = tokens_of(tuple(range(100)), (0, 1, 2), _permutation)
PERMUTATIONS = InputMaker(
    _permutation,
    tuple((number,) for number in range(5)),
    accepts=lambda tokens: sorted(tokens) == list(range(len(tokens))),
)

ENTRIES = (
    entry("rank", rank, NUMBERS),
    entry("dense_rank", dense_rank, NUMBERS),
    entry("sorted_position", sorted_position, WORDS),
    entry("argsort", argsort, NUMBERS),
    entry("sort_descending", sort_descending, NUMBERS),
    entry("evens_first", evens_first, numbers(-20, 20, tiny=(0, 1, 2, 3))),
    entry("sort_by_distance_from_mean", sort_by_distance_from_mean, NUMBERS),
    entry("largest", largest, NUMBERS),
    entry("largest_pure", largest, NUMBERS),
    entry("smallest", smallest, NUMBERS),
    entry("spread", spread, NUMBERS),
    entry("largest_so_far", largest_so_far, NUMBERS),
    entry("second_largest", second_largest, at_least(2, NUMBERS)),
    entry("median", median, NUMBERS),
    entry("first_largest", first_largest, NUMBERS),
    entry("top_three", top_three, NUMBERS),
    entry("above_average", above_average, NUMBERS),
    entry("records", records, NUMBERS),
    entry("is_sorted", is_sorted, NEARLY_SORTED),
    entry("inversions", inversions, NUMBERS),
    entry("next_greater", next_greater, NOT_NEGATIVE),
    entry("previous_smaller", previous_smaller, NOT_NEGATIVE),
    entry("next_lower_value", next_lower_value, NOT_NEGATIVE),
    entry("is_permutation", is_permutation, NEARLY_PERMUTED),
    entry("inverse_permutation", inverse_permutation, PERMUTATIONS),
    entry("permutation_sign", permutation_sign, PERMUTATIONS),
)
