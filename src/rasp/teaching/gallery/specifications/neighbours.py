"""Neighbours and shifts: each position looks a few steps to the side."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from string import ascii_lowercase
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import BITS, WORDS, letters, numbers

entry = partial(Entry, "neighbours and shifts")


def previous_token(tokens: Sequence[Any]) -> list[Any]:
    return ["_", *tokens[:-1]]


def next_token(tokens: Sequence[Any]) -> list[Any]:
    return [*tokens[1:], "_"]


def shift_three(tokens: Sequence[Any]) -> list[Any]:
    return ["_", "_", "_", *tokens][: len(tokens)]


def bigrams(tokens: Sequence[Any]) -> list[Any]:
    return ["".join(pair) for pair in pairwise(["_", *tokens])]


def trigrams(tokens: Sequence[Any]) -> list[Any]:
    padded = "__" + "".join(tokens)
    return [padded[start : start + 3] for start in range(len(tokens))]


def same_as_previous(tokens: Sequence[Any]) -> list[Any]:
    return [False, *(left == right for left, right in pairwise(tokens))]


def both_sides_equal(tokens: Sequence[Any]) -> list[Any]:
    ring = [tokens[-1], *tokens, tokens[0]]
    return [left == right for left, right in zip(ring, ring[2:], strict=False)]


def differences(tokens: Sequence[Any]) -> list[Any]:
    return [tokens[0], *(right - left for left, right in pairwise(tokens))]


def moving_average(tokens: Sequence[Any]) -> list[Any]:
    windows = [tokens[max(0, middle - 1) : middle + 2] for middle in range(len(tokens))]
    return [
        Fraction(sum(window), len(window)) if len(window) > 1 else window[0] for window in windows
    ]


def rising(tokens: Sequence[Any]) -> list[Any]:
    return [True, *(left < right for left, right in pairwise(tokens))]


def peaks(tokens: Sequence[Any]) -> list[Any]:
    answer = []
    for position, number in enumerate(tokens):
        beside = [*tokens[max(0, position - 1) : position], *tokens[position + 1 : position + 2]]
        answer.append(all(number > other for other in beside))
    return answer


def distance_to_x(tokens: Sequence[Any]) -> list[Any]:
    places = [position for position, token in enumerate(tokens) if token == "x"]
    return [
        min((abs(position - place) for place in places), default=-1)
        for position in range(len(tokens))
    ]


def majority_filter(tokens: Sequence[Any]) -> list[Any]:
    padded = ["0", *tokens, "0"]
    return [
        sorted(padded[start : start + 3])[1]  # the median of three bits is their majority
        for start in range(len(tokens))
    ]


def rule_110(tokens: Sequence[Any]) -> list[Any]:
    dies = {("0", "0", "0"), ("1", "0", "0"), ("1", "1", "1")}
    padded = ["0", *tokens, "0"]
    triples = zip(padded, padded[1:], padded[2:], strict=False)
    return ["0" if triple in dies else "1" for triple in triples]


def rule_90_four_steps(tokens: Sequence[Any]) -> list[Any]:
    line = [0] * 8 + [int(token) for token in tokens] + [0] * 8
    for _ in range(4):
        line = [left ^ right for left, right in zip([0, *line], [*line[1:], 0], strict=False)]
    return [str(cell) for cell in line[8:-8]]


NUMBERS = numbers(0, 20)

ENTRIES = (
    entry("previous_token", previous_token, WORDS),
    entry("next_token", next_token, WORDS),
    entry("shift_three", shift_three, letters(ascii_lowercase, "ab")),
    entry("bigrams", bigrams, WORDS),
    entry("trigrams", trigrams, WORDS),
    entry("same_as_previous", same_as_previous, WORDS),
    entry("both_sides_equal", both_sides_equal, WORDS),
    entry("differences", differences, numbers(-20, 20, tiny=(-1, 0, 2))),
    entry("moving_average", moving_average, numbers(-20, 20, tiny=(-1, 0, 2))),
    entry("rising", rising, NUMBERS),
    entry("peaks", peaks, NUMBERS),
    entry("distance_to_x", distance_to_x, letters("abcdefx", "ax")),
    entry("majority_filter", majority_filter, BITS),
    entry("rule_110", rule_110, BITS),
    entry("rule_90_four_steps", rule_90_four_steps, BITS),
)
