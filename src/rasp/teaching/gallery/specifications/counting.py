"""Counting, majorities, sums and means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from operator import mul
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import BITS, WORDS, letters, numbers
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "counting and majority")


def count_x(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(list(tokens).count("x"), tokens)


def distinct_tokens(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(len(set(tokens)), tokens)


def occurrence_number(tokens: Sequence[Any]) -> list[Any]:
    seen: Counter[Any] = Counter()
    answer = []
    for token in tokens:
        seen[token] += 1
        answer.append(seen[token])
    return answer


def appears_once(tokens: Sequence[Any]) -> list[Any]:
    return [list(tokens).count(token) == 1 for token in tokens]


def any_repeat(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(len(set(tokens)) < len(tokens), tokens)


def all_same(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(len(set(tokens)) == 1, tokens)


def token_frequency(tokens: Sequence[Any]) -> list[Any]:
    return [Fraction(list(tokens).count(token), len(tokens)) for token in tokens]


def majority(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(tokens, key=list(tokens).count), tokens)  # max gives the first of equals


def has_majority(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(Counter(tokens).values()) > len(tokens) / 2, tokens)


def most_common_count(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(Counter(tokens).values()), tokens)


def majority_bit(tokens: Sequence[Any]) -> list[Any]:
    return everywhere("".join(sorted(tokens))[len(tokens) // 2] == "1" if len(tokens) % 2 else
                      list(tokens).count("1") > list(tokens).count("0"), tokens)  # fmt: skip


def majority_so_far(tokens: Sequence[Any]) -> list[Any]:
    return [lead > 0 for lead in accumulate(1 if token == "1" else -1 for token in tokens)]


def parity(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(parity_so_far(tokens)[-1], tokens)


def parity_so_far(tokens: Sequence[Any]) -> list[Any]:
    odd = False
    answer = []
    for token in tokens:
        odd = odd != (token == "1")
        answer.append(odd)
    return answer


def more_a_than_b(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(list(tokens).count("a") > list(tokens).count("b"), tokens)


def count_ab(tokens: Sequence[Any]) -> list[Any]:
    return everywhere("".join(tokens).count("ab"), tokens)


def mean_position_of_x(tokens: Sequence[Any]) -> list[Any]:
    positions = [position for position, token in enumerate(tokens) if token == "x"]
    if len(positions) < 2:  # nothing, or a lone pick that stays an int
        return everywhere(positions[0] if positions else -1, tokens)
    return everywhere(Fraction(sum(positions), len(positions)), tokens)


def sum_of_tokens(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(sum(tokens), tokens)


def prefix_sums(tokens: Sequence[Any]) -> list[Any]:
    return list(accumulate(tokens))


def average_so_far(tokens: Sequence[Any]) -> list[Any]:
    totals = list(accumulate(tokens))
    return [tokens[0], *(Fraction(total, size) for size, total in enumerate(totals[1:], start=2))]


def variance(tokens: Sequence[Any]) -> list[Any]:
    if len(tokens) == 1:
        return [0]
    mean = Fraction(sum(tokens), len(tokens))
    squares = [(number - mean) ** 2 for number in tokens]
    return everywhere(sum(squares) / len(tokens), tokens)


def product_so_far(tokens: Sequence[Any]) -> list[Any]:
    return list(accumulate(tokens, mul))


NUMBERS = numbers(-20, 20, tiny=(-1, 0, 2))

ENTRIES = (
    entry("count_x", count_x, letters("abcx", "ax")),
    entry("distinct_tokens", distinct_tokens, WORDS),
    entry("occurrence_number", occurrence_number, WORDS),
    entry("appears_once", appears_once, WORDS),
    entry("any_repeat", any_repeat, WORDS),
    entry("all_same", all_same, letters("abcd")),
    entry("token_frequency", token_frequency, WORDS),
    entry("majority", majority, WORDS),
    entry("has_majority", has_majority, letters("abc")),
    entry("most_common_count", most_common_count, WORDS),
    entry("majority_bit", majority_bit, BITS),
    entry("majority_so_far", majority_so_far, BITS),
    entry("parity", parity, BITS),
    entry("parity_so_far", parity_so_far, BITS),
    entry("more_a_than_b", more_a_than_b, letters("abcd")),
    entry("count_ab", count_ab, letters("abc")),
    entry("mean_position_of_x", mean_position_of_x, letters("abcx", "ax")),
    entry("sum_of_tokens", sum_of_tokens, NUMBERS),
    entry("prefix_sums", prefix_sums, NUMBERS),
    entry("average_so_far", average_so_far, NUMBERS),
    entry("variance", variance, NUMBERS),
    entry("product_so_far", product_so_far, numbers(0, 9, tiny=(0, 2, 6))),
)
