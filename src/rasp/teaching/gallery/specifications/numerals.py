"""Numbers written in digits: arithmetic, comparison, rendering, other notations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import BITS, InputMaker, letters, numbers
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "numbers and numerals")

NUMERAL = re.compile("(?=.)M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")


def written(number: int, width: int, base: int = 10) -> list[str]:
    """The digits of a number, cut or filled with zeros on the left to a width."""
    digits = f"{number:b}" if base == 2 else str(number)
    return list(digits.zfill(width)[-width:])


def long_subtraction(tokens: Sequence[Any]) -> list[Any]:
    first, second = "".join(tokens).split("-")
    return written(int(first or "0") - int(second or "0"), len(tokens))


def increment(tokens: Sequence[Any]) -> list[Any]:
    return written(int("".join(tokens)) + 1, len(tokens))


def binary_increment(tokens: Sequence[Any]) -> list[Any]:
    return written(int("".join(tokens), 2) + 1, len(tokens), base=2)


def negate_binary(tokens: Sequence[Any]) -> list[Any]:
    return written(2 ** len(tokens) - int("".join(tokens), 2), len(tokens), base=2)


def double_number(tokens: Sequence[Any]) -> list[Any]:
    return written(2 * int("".join(tokens)), len(tokens))


def halve_number(tokens: Sequence[Any]) -> list[Any]:
    return written(int("".join(tokens)) // 2, len(tokens))


def gray_code(tokens: Sequence[Any]) -> list[Any]:
    number = int("".join(tokens), 2)
    return written(number ^ (number >> 1), len(tokens), base=2)


def gray_decode(tokens: Sequence[Any]) -> list[Any]:
    code, number = int("".join(tokens), 2), 0
    while code:
        number ^= code
        code >>= 1
    return written(number, len(tokens), base=2)


def binary_xor(tokens: Sequence[Any]) -> list[Any]:
    left, right = "".join(tokens).split("|")
    width = len(left)
    both = written(int(left, 2) ^ int(right, 2), width, base=2) if width else []
    return ["_"] * (width + 1) + both


def hamming_distance(tokens: Sequence[Any]) -> list[Any]:
    left, right = "".join(tokens).split("|")
    return everywhere(sum(one != other for one, other in zip(left, right, strict=True)), tokens)


def compare_numbers(tokens: Sequence[Any]) -> list[Any]:
    left, right = (int(part or "0") for part in "".join(tokens).split("?"))
    return everywhere("<" if left < right else ">" if left > right else "=", tokens)


def strip_leading_zeros(tokens: Sequence[Any]) -> list[Any]:
    return list(str(int("".join(tokens))).rjust(len(tokens), "_"))


def length_in_decimal(tokens: Sequence[Any]) -> list[Any]:
    return written(len(tokens), len(tokens))


def count_in_binary(tokens: Sequence[Any]) -> list[Any]:
    return written(list(tokens).count("x"), len(tokens), base=2)


def thermometer(tokens: Sequence[Any]) -> list[Any]:
    filled = max(0, tokens[0]) * "#"
    return list(filled[: len(tokens)].ljust(len(tokens), "."))


def roman_value(tokens: Sequence[Any]) -> list[Any]:
    text = "".join(tokens)
    for subtractive, added in {
        "IV": "IIII", "IX": "VIIII", "XL": "XXXX", "XC": "LXXXX", "CD": "CCCC", "CM": "DCCCC",
    }.items():  # fmt: skip
        text = text.replace(subtractive, added)
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    return everywhere(sum(values[letter] for letter in text), tokens)


def roman(number: int) -> str:
    """Write a Roman numeral; M is the largest letter there is."""
    places = [
        ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"),
        ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"),
        ("", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"),
    ]
    digits = [int(digit) for digit in str(number % 1000)[::-1]]
    low = "".join(reversed([place[digit] for place, digit in zip(places, digits, strict=False)]))
    return "M" * (number // 1000) + low


def unary_sum(tokens: Sequence[Any]) -> list[Any]:
    strokes = sum(map(len, "".join(tokens).split("+")))
    return ["1"] * strokes + ["_"] * (len(tokens) - strokes)


def two_numbers(mark: str, ordered: bool = False) -> InputMaker:
    """Two numbers with a mark between them, often alike; `ordered`: the first is no smaller."""

    def sample(rng: Random, length: int) -> list[Any]:
        cut = length // 2 if rng.random() < 0.6 else rng.randrange(length)
        first = "".join(rng.choices("0123456789", k=cut))
        second = "".join(rng.choices("0123456789", k=length - 1 - cut))
        if rng.random() < 0.7:
            second = _close_to(first, rng).rjust(len(second), "0")[: len(second)]
        if ordered and int(first or "0") < int(second or "0"):
            first, second = second, first
        return [*first, mark, *second]

    def accepts(tokens: Sequence[Any]) -> bool:
        text = "".join(tokens)
        if text.count(mark) != 1:
            return False
        first, second = (int(part or "0") for part in text.split(mark))
        return first >= second or not ordered

    return InputMaker(sample, (("0",), ("1",), ("9",), (mark,)), accepts=accepts)


def _close_to(number: str, rng: Random) -> str:
    """A number that differs by one in one place, or only from there on, or not at all."""
    if not number or rng.random() < 0.2:
        return number
    place = rng.randrange(len(number))
    digit = min(9, max(0, int(number[place]) + rng.choice((-1, 1))))
    rest = number[place + 1 :] if rng.random() < 0.5 else "".join(rng.choices("09", k=len(number)))
    return (number[:place] + str(digit) + rest)[: len(number)]


def equal_parts(alphabet: str) -> InputMaker:
    """Two strings of one length with a bar between them."""

    def sample(rng: Random, length: int) -> list[Any]:
        left = rng.choices(alphabet, k=(length - 1) // 2)
        often = rng.random()
        right = [rng.choice(alphabet) if rng.random() < often else token for token in left]
        return [*left, "|", *right]

    def accepts(tokens: Sequence[Any]) -> bool:
        left, _, right = "".join(tokens).partition("|")
        return "|" in tokens and "|" not in right and len(left) == len(right)

    return InputMaker(sample, tuple((token,) for token in (*alphabet[:2], "|")), accepts=accepts)


def _roman_of_length(rng: Random, length: int) -> str:
    fitting = [text for text in map(roman, rng.sample(range(1, 4000), 30)) if len(text) <= length]
    return max(fitting, key=len, default="MDCLXVI"[rng.randrange(7)])


def _ending_in(digit: str, alphabet: str) -> Callable[[Random, int], str]:
    """Digits of which the last few are all the same one."""

    def make(rng: Random, length: int) -> str:
        same = rng.randint(0, length)
        return "".join(rng.choices(alphabet, k=length - same)) + digit * same

    return make


def _leading_zeros(rng: Random, length: int) -> str:
    return "".join(rng.choices("0123456789", k=rng.randint(0, length))).rjust(length, "0")


DIGITS = letters("0123456789", "059")
ROMAN = InputMaker(
    lambda rng, length: list(_roman_of_length(rng, length)),
    (("I",), ("V",), ("X",)),
    accepts=lambda tokens: NUMERAL.fullmatch("".join(tokens)) is not None,
)

ENTRIES = (
    entry("long_subtraction", long_subtraction, two_numbers("-", ordered=True)),
    entry("increment", increment, letters("0123456789", "089", _ending_in("9", "0123456789"))),
    entry("binary_increment", binary_increment, letters("01", members=_ending_in("1", "01"))),
    entry("negate_binary", negate_binary, letters("01", members=_ending_in("0", "01"))),
    entry("double_number", double_number, DIGITS),
    entry("halve_number", halve_number, DIGITS),
    entry("gray_code", gray_code, BITS),
    entry("gray_decode", gray_decode, BITS),
    entry("binary_xor", binary_xor, equal_parts("01")),
    entry("hamming_distance", hamming_distance, equal_parts("abcd")),
    entry("compare_numbers", compare_numbers, two_numbers("?")),
    entry(
        "strip_leading_zeros",
        strip_leading_zeros,
        letters("0123456789", "015", members=_leading_zeros),
    ),
    entry("length_in_decimal", length_in_decimal, letters("abcd", "ab")),
    entry("count_in_binary", count_in_binary, letters("abx", "ax")),
    entry("thermometer", thermometer, numbers(-5, 40, tiny=(-1, 0, 1, 2))),
    entry("roman_value", roman_value, ROMAN),
    entry("unary_sum", unary_sum, letters("1+")),
)
