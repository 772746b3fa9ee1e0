"""Arithmetic modulo a number, by sums and look-ups; groups and checksums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry, Specification
from rasp.teaching.gallery.gallery_inputs import InputMaker, letters, numbers
from rasp.teaching.gallery.specifications.answers import everywhere, whole

entry = partial(Entry, "modular arithmetic")


def modular_addition(tokens: Sequence[Any]) -> list[Any]:
    total = sum(tokens)
    return everywhere(total - 97 if total >= 97 else total, tokens)


def clock_positions(tokens: Sequence[Any]) -> list[Any]:
    return [total % 12 for total in accumulate(tokens)]


def product_mod_seven(tokens: Sequence[Any]) -> list[Any]:
    return list(accumulate(tokens, lambda product, number: product * number % 7))


def symmetric_group_s3(tokens: Sequence[Any]) -> list[Any]:
    """Move the corners themselves about, and recognise how they lie.

    Moves are made in the triangle's own frame: after a flip, a turn goes the other way round.
    """
    lies: dict[tuple[int, ...], str] = {}
    corners: tuple[int, ...] = (0, 1, 2)
    for name in ("0", "1", "2"):
        lies[corners] = name
        lies[_flipped(corners)] = name + "s"
        corners = _turned(corners)
    answer = []
    for move in tokens:
        corners = _turned(corners) if move == "r" else _flipped(corners)
        answer.append(lies[corners])
    return answer


def _turned(corners: tuple[int, ...]) -> tuple[int, ...]:
    first, second, third = corners
    return second, third, first


def _flipped(corners: tuple[int, ...]) -> tuple[int, ...]:
    first, second, third = corners
    return first, third, second


def digit_sum(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(sum(map(int, tokens)), tokens)


def number_is(question: Callable[[int], bool], base: int = 10) -> Specification:
    """Ask of the number that the digits write; the answer is the same at every position."""
    return whole(lambda text: question(int(text, base)))


def remainders_by_seven(tokens: Sequence[Any]) -> list[Any]:
    return [int("".join(tokens[:end])) % 7 for end in range(1, len(tokens) + 1)]


def divide_by_seven(tokens: Sequence[Any]) -> list[Any]:
    return list(str(int("".join(tokens)) // 7).zfill(len(tokens)))


def luhn(tokens: Sequence[Any]) -> list[Any]:
    total = 0
    for place, digit in enumerate(reversed(tokens)):
        total += sum(map(int, str(int(digit) * (1 + place % 2))))
    return everywhere(total % 10 == 0, tokens)


def is_prime(tokens: Sequence[Any]) -> list[Any]:
    return [
        number > 1 and all(number % divisor for divisor in range(2, number)) for number in tokens
    ]


def _two_residues(rng: Random, length: int) -> list[int]:
    return [rng.randrange(97), rng.randrange(97)]


def _multiple_of(divisor: int, base: int = 10) -> Callable[[Random, int], str]:
    """The digits of a multiple, padded with zeros to the length."""

    def make(rng: Random, length: int) -> str:
        number = rng.randrange(base**length) // divisor * divisor
        return (f"{number:b}" if base == 2 else str(number)).zfill(length)

    return make


def _luhn_number(rng: Random, length: int) -> list[str]:
    digits = rng.choices("0123456789", k=length)
    for last in "0123456789":
        digits[-1] = last
        if luhn(digits)[0]:
            break
    return digits


RESIDUES = InputMaker(
    _two_residues, tuple((one, other) for one in (0, 1, 50, 96) for other in (0, 1, 47, 96)),
    accepts=lambda tokens: len(tokens) == 2,
)  # fmt: skip
DIGITS = letters("0123456789", "079")


def multiples(divisor: int, base: int = 10) -> InputMaker:
    return letters("0123456789"[:base], "0179"[:base], members=_multiple_of(divisor, base))


ENTRIES = (
    entry("modular_addition", modular_addition, RESIDUES),
    entry("clock_positions", clock_positions, numbers(-20, 20, tiny=(-1, 5, 7))),
    entry("product_mod_seven", product_mod_seven, numbers(1, 6, tiny=(1, 3, 5))),
    entry("symmetric_group_s3", symmetric_group_s3, letters("rs")),
    entry("digit_sum", digit_sum, DIGITS),
    entry("divisible_by_three", number_is(lambda number: number % 3 == 0), multiples(3)),
    entry("divisible_by_eleven", number_is(lambda number: number % 11 == 0), multiples(11)),
    entry("remainders_by_seven", remainders_by_seven, DIGITS),
    entry("divide_by_seven", divide_by_seven, multiples(7)),
    entry(
        "binary_divisible_by_three",
        number_is(lambda number: number % 3 == 0, base=2),
        multiples(3, base=2),
    ),
    entry("luhn", luhn, letters("0123456789", "059", members=_luhn_number)),
    entry("is_prime", is_prime, numbers(0, 50, tiny=(0, 1, 2, 9))),
)
