"""Duplicates and sets: first occurrences, compaction, two sets compared."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import WORDS, at_least, letters, two_parts
from rasp.teaching.gallery.specifications.answers import everywhere, padded

entry = partial(Entry, "duplicates and sets")


def halves(tokens: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    bar = tokens.index("|")
    return list(tokens[:bar]), list(tokens[bar + 1 :])


def first_occurrences(tokens: Sequence[Any]) -> list[Any]:
    return [tokens.index(token) == position for position, token in enumerate(tokens)]


def last_occurrences(tokens: Sequence[Any]) -> list[Any]:
    return list(reversed(first_occurrences(tokens[::-1])))


def blank_repeats(tokens: Sequence[Any]) -> list[Any]:
    first = first_occurrences(tokens)
    return [token if new else "_" for token, new in zip(tokens, first, strict=True)]


def deduplicate(tokens: Sequence[Any]) -> list[Any]:
    return padded(list(dict.fromkeys(tokens)), tokens)


def unique_sorted(tokens: Sequence[Any]) -> list[Any]:
    return padded(sorted(set(tokens)), tokens)


def keep_unrepeated(tokens: Sequence[Any]) -> list[Any]:
    return padded([token for token in tokens if list(tokens).count(token) == 1], tokens)


def remove_x(tokens: Sequence[Any]) -> list[Any]:
    return padded(list("".join(tokens).replace("x", "")), tokens)


def gap_to_previous(tokens: Sequence[Any]) -> list[Any]:
    last_seen: dict[Any, int] = {}
    answer = []
    for position, token in enumerate(tokens):
        answer.append(position - last_seen.get(token, position))
        last_seen[token] = position
    return answer


def common_tokens(tokens: Sequence[Any]) -> list[Any]:
    left, right = halves(tokens)
    return [token if token == "|" or (token in left and token in right) else "_"
            for token in tokens]  # fmt: skip


def is_subset(tokens: Sequence[Any]) -> list[Any]:
    left, right = halves(tokens)
    return everywhere(set(left) <= set(right), tokens)


def is_anagram(tokens: Sequence[Any]) -> list[Any]:
    left, right = halves(tokens)
    return everywhere(sorted(left) == sorted(right), tokens)


def jaccard(tokens: Sequence[Any]) -> list[Any]:
    left, right = map(set, halves(tokens))
    return everywhere(Fraction(len(left & right), len(left | right)), tokens)


TWO_SETS = two_parts("|", "abcdefgh", "abc")

ENTRIES = (
    entry("first_occurrences", first_occurrences, WORDS),
    entry("last_occurrences", last_occurrences, WORDS),
    entry("blank_repeats", blank_repeats, WORDS),
    entry("deduplicate", deduplicate, WORDS),
    entry("unique_sorted", unique_sorted, WORDS),
    entry("keep_unrepeated", keep_unrepeated, WORDS),
    entry("remove_x", remove_x, letters("abcx", "abx")),
    entry("gap_to_previous", gap_to_previous, WORDS),
    entry("common_tokens", common_tokens, TWO_SETS),
    entry("is_subset", is_subset, TWO_SETS),
    entry("is_anagram", is_anagram, TWO_SETS),
    entry("jaccard", jaccard, at_least(2, TWO_SETS)),
)
