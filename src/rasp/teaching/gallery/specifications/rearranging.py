"""Rotations, swaps and other ways to put the same tokens elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from string import ascii_lowercase
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import WORDS, InputMaker, numbers, two_parts
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "rotations and swaps")


def rotated(tokens: Sequence[Any], steps: int) -> list[Any]:
    cut = steps % len(tokens)
    return [*tokens[cut:], *tokens[:cut]]


def rotate_left(tokens: Sequence[Any]) -> list[Any]:
    return rotated(tokens, 1)


def rotate_right(tokens: Sequence[Any]) -> list[Any]:
    return rotated(tokens, -1)


def rotate_by_first(tokens: Sequence[Any]) -> list[Any]:
    return rotated(tokens, tokens[0])


def rotate_to_smallest(tokens: Sequence[Any]) -> list[Any]:
    return rotated(tokens, tokens.index(min(tokens)))


def swap_pairs(tokens: Sequence[Any]) -> list[Any]:
    pairs = [tokens[start : start + 2] for start in range(0, len(tokens), 2)]
    return [token for pair in pairs for token in reversed(pair)]


def swap_ends(tokens: Sequence[Any]) -> list[Any]:
    answer = list(tokens)
    answer[0], answer[-1] = answer[-1], answer[0]
    return answer


def swap_halves(tokens: Sequence[Any]) -> list[Any]:
    half = len(tokens) // 2
    middle_end = len(tokens) - half
    return [*tokens[middle_end:], *tokens[half:middle_end], *tokens[:half]]


def interleave_halves(tokens: Sequence[Any]) -> list[Any]:
    first, second = tokens[: -(-len(tokens) // 2)], tokens[-(-len(tokens) // 2) :]
    answer = list(tokens)
    answer[::2], answer[1::2] = first, second
    return answer


def evens_then_odds(tokens: Sequence[Any]) -> list[Any]:
    return [*tokens[::2], *tokens[1::2]]


def keep_evens(tokens: Sequence[Any]) -> list[Any]:
    return [*tokens[::2], *("_" for _ in tokens[1::2])]


def stutter(tokens: Sequence[Any]) -> list[Any]:
    return [token for token in tokens for _ in range(2)][: len(tokens)]


def mirror_first_half(tokens: Sequence[Any]) -> list[Any]:
    half = tokens[: -(-len(tokens) // 2)]
    return [*half, *reversed(tokens[: len(tokens) // 2])]


def reverse_prefix(tokens: Sequence[Any]) -> list[Any]:
    bar = tokens.index("|")
    return [*reversed(tokens[:bar]), *tokens[bar:]]


def transpose(tokens: Sequence[Any]) -> list[Any]:
    return [*tokens[0::3], *tokens[1::3], *tokens[2::3]]


def sort_pairs(tokens: Sequence[Any]) -> list[Any]:
    pairs = [sorted(tokens[start : start + 2]) for start in range(0, len(tokens), 2)]
    return [token for pair in pairs for token in pair]


def last_token(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(tokens[-1], tokens)


def middle_token(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(tokens[(len(tokens) - 1) // 2], tokens)


def _table(rng: Random, length: int) -> list[Any]:
    return rng.choices(ascii_lowercase, k=max(3, length - length % 3))


NUMBERS = numbers(-20, 20, tiny=(-1, 0, 2))
BARRED = two_parts("|", ascii_lowercase, "ab")
TABLES = InputMaker(_table, tuple((one, "b", two) for one in "abc" for two in "abc"))

ENTRIES = (
    entry("rotate_left", rotate_left, WORDS),
    entry("rotate_right", rotate_right, WORDS),
    entry("rotate_by_first", rotate_by_first, NUMBERS),
    entry("rotate_to_smallest", rotate_to_smallest, NUMBERS),
    entry("swap_pairs", swap_pairs, WORDS),
    entry("swap_ends", swap_ends, WORDS),
    entry("swap_halves", swap_halves, WORDS),
    entry("interleave_halves", interleave_halves, WORDS),
    entry("evens_then_odds", evens_then_odds, WORDS),
    entry("keep_evens", keep_evens, WORDS),
    entry("stutter", stutter, WORDS),
    entry("mirror_first_half", mirror_first_half, WORDS),
    entry("reverse_prefix", reverse_prefix, BARRED),
    entry("transpose", transpose, TABLES),
    entry("sort_pairs", sort_pairs, NUMBERS),
    entry("last_token", last_token, WORDS),
    entry("middle_token", middle_token, WORDS),
)
