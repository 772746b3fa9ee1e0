"""Whole texts packed into one exact number: what unbounded precision makes possible.

These programs are right because RASP's numbers are exact and unbounded. A transformer with
numbers of a fixed size cannot do the same on long inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random
from string import ascii_lowercase
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import BITS, InputMaker, letters, numbers, two_parts
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "packing into numbers")


def decimal_value(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(int("".join(tokens)), tokens)


def binary_to_decimal(tokens: Sequence[Any]) -> list[Any]:
    return list(str(int("".join(tokens), 2)).zfill(len(tokens)))


def long_multiplication(tokens: Sequence[Any]) -> list[Any]:
    first, second = "".join(tokens).split("*")
    return list(str(int(first or "0") * int(second or "0")).zfill(len(tokens)))


def find_needle(tokens: Sequence[Any]) -> list[Any]:
    text = "".join(tokens)
    needle = text.partition("|")[0]
    return [
        position > len(needle) and text.startswith(needle, position)
        for position in range(len(text))
    ]


def smallest_period(tokens: Sequence[Any]) -> list[Any]:
    size = len(tokens)
    smallest = next(p for p in range(1, size + 1) if tokens[p:] == tokens[: size - p])
    return everywhere(smallest, tokens)


def suffix_ranks(tokens: Sequence[Any]) -> list[Any]:
    suffixes = ["".join(tokens[start:]) for start in range(len(tokens))]
    order = sorted(suffixes)
    return [order.index(suffix) for suffix in suffixes]


def burrows_wheeler(tokens: Sequence[Any]) -> list[Any]:
    text = "".join(tokens)
    rotations = sorted(text[start:] + text[:start] for start in range(len(text)))
    return [rotation[-1] for rotation in rotations]


def match_three(tokens: Sequence[Any]) -> list[Any]:
    sums = {(one + other) % 10 for one in tokens for other in tokens}
    return [-number % 10 in sums for number in tokens]


def _factors(rng: Random, length: int) -> list[str]:
    star = (length - 1) // 2 if rng.random() < 0.5 else rng.randrange(length)
    digits = rng.choices(rng.choice(("0123456789", "89", "019")), k=length)
    digits[star] = "*"
    return digits


def _with_slip(text: list[str], rng: Random) -> list[str]:
    """The same with one letter replaced by its neighbour in the alphabet."""
    place = rng.randrange(len(text))
    letter = ascii_lowercase[(ascii_lowercase.index(text[place]) + rng.choice((-1, 1))) % 26]
    return [*text[:place], letter, *text[place + 1 :]]


def _with_needle(rng: Random, length: int) -> list[str]:
    few = rng.sample(ascii_lowercase, rng.choice((1, 2, 2, 3, 26)))
    length = max(length, 3)
    needle = rng.choices(few, k=min(rng.choice((1, 1, 2, 3, 5)), length - 2))
    text: list[str] = []
    while len(text) < length:
        text += rng.choice((needle, _with_slip(needle, rng), rng.choices(few, k=1)))
    return [*needle, "|", *text[: length - len(needle) - 1]]


def _periodic(rng: Random, length: int) -> list[str]:
    few = rng.sample(ascii_lowercase, rng.choice((1, 2, 2, 3, 26)))
    period = rng.choices(few, k=rng.randint(1, length))
    text = (period * length)[:length]
    return _with_slip(text, rng) if rng.random() < 0.4 else text


NEEDLES = replace(two_parts("|", "ab", "ab", both=True), sample=_with_needle)
PERIODIC = letters(ascii_lowercase, "abc", members=_periodic)

ENTRIES = (
    entry("decimal_value", decimal_value, letters("0123456789", "059")),
    entry("binary_to_decimal", binary_to_decimal, BITS),
    entry(
        "long_multiplication",
        long_multiplication,
        InputMaker(
            _factors,
            tuple((token,) for token in "059*"),
            accepts=lambda tokens: list(tokens).count("*") == 1,
        ),
    ),
    entry("find_needle", find_needle, NEEDLES),
    entry("smallest_period", smallest_period, PERIODIC),
    entry("suffix_ranks", suffix_ranks, PERIODIC),
    entry("burrows_wheeler", burrows_wheeler, PERIODIC),
    entry("match_three", match_three, numbers(0, 9, tiny=(0, 1, 4, 5, 8))),
)
