"""The tasks of the paper: reverse, histograms, sorting, fractions, long addition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import IGNORED, Entry
from rasp.teaching.gallery.gallery_inputs import BOS, WORDS, InputMaker, letters, with_bos
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "the paper's tasks")


def reverse(tokens: Sequence[Any]) -> list[Any]:
    return list(reversed(tokens))


def hist(tokens: Sequence[Any]) -> list[Any]:
    counts = Counter(tokens)
    return [counts[token] for token in tokens]


def hist_bos(tokens: Sequence[Any]) -> list[Any]:
    return [IGNORED, *hist(tokens[1:])]


def double_hist(tokens: Sequence[Any]) -> list[Any]:
    counts = Counter(tokens)
    tokens_with_count = Counter(counts.values())
    return [tokens_with_count[counts[token]] for token in tokens]


def double_hist_bos(tokens: Sequence[Any]) -> list[Any]:
    return [IGNORED, *double_hist(tokens[1:])]


def sort_tokens(tokens: Sequence[Any]) -> list[Any]:
    return sorted(tokens)


def sort_bos(tokens: Sequence[Any]) -> list[Any]:
    return [tokens[0], *sorted(tokens[1:])]


def by_frequency(tokens: Sequence[Any], padding: str) -> list[Any]:
    # most_common keeps the order of first occurrence where counts tie
    ranked = [token for token, _ in Counter(tokens).most_common()]
    return ranked + [padding] * (len(tokens) - len(ranked))


def most_freq(tokens: Sequence[Any]) -> list[Any]:
    return [BOS, *by_frequency(tokens[1:], BOS)]


def most_freq_no_bos(tokens: Sequence[Any]) -> list[Any]:
    return by_frequency(tokens, "_")


def fraction_of_a(tokens: Sequence[Any]) -> list[Any]:
    if len(tokens) == 1:  # a lone pick passes through as it is: an int
        return [int(tokens[0] == "a")]
    return everywhere(Fraction(list(tokens).count("a"), len(tokens)), tokens)


def fraction_so_far(tokens: Sequence[Any]) -> list[Any]:
    return [fraction_of_a(tokens[: end + 1])[-1] for end in range(len(tokens))]


def every_other(tokens: Sequence[Any]) -> list[Any]:
    answer = ["-"] * len(tokens)
    answer[::2] = tokens[::2]
    return answer


def long_addition(tokens: Sequence[Any]) -> list[Any]:
    first, second = "".join(tokens).split("+")
    return list(str(int(first or "0") + int(second or "0")).zfill(len(tokens)))


def _sum(rng: Random, length: int) -> list[Any]:
    """Two numbers with a plus; often such that carries run through many columns."""
    plus = (length - 1) // 2 if rng.random() < 0.5 else rng.randrange(length)
    first = rng.choices("0123456789", k=plus)
    second = rng.choices("0123456789", k=length - 1 - plus)
    if rng.random() < 0.6:
        for column in range(1, min(len(first), len(second)) + 1):
            if rng.random() < 0.9:
                second[-column] = str(9 - int(first[-column]))
    return [*first, "+", *second]


def has_one_plus(tokens: Sequence[Any]) -> bool:
    return list(tokens).count("+") == 1


SUMS = InputMaker(_sum, (("0",), ("4",), ("5",), ("9",), ("+",)), accepts=has_one_plus)

ENTRIES = (
    entry("reverse", reverse, WORDS),
    entry("hist", hist, WORDS),
    entry("hist_bos", hist_bos, with_bos(WORDS)),
    entry("double_hist", double_hist, WORDS),
    entry("double_hist_bos", double_hist_bos, with_bos(WORDS)),
    entry("sort_tokens", sort_tokens, WORDS),
    entry("sort_bos", sort_bos, with_bos(WORDS)),
    entry("most_freq", most_freq, with_bos(WORDS)),
    entry("most_freq_no_bos", most_freq_no_bos, WORDS),
    entry("fraction_of_a", fraction_of_a, letters("abcd", "ab")),
    entry("fraction_so_far", fraction_so_far, letters("abcd", "ab")),
    entry("every_other", every_other, WORDS),
    entry("long_addition", long_addition, SUMS),
    entry("long_addition_pure", long_addition, SUMS),
)
