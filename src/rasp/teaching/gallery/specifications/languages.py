"""Palindromes, alternation, and formal languages as questions with a yes or no."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry, Specification
from rasp.teaching.gallery.gallery_inputs import BITS, InputMaker, letters
from rasp.teaching.gallery.specifications.answers import whole

entry = partial(Entry, "palindromes and languages")


def prefixes(question: Callable[[str], bool]) -> Specification:
    """Ask of each prefix; the answer is at its last position."""
    return lambda tokens: [question("".join(tokens[:end])) for end in range(1, len(tokens) + 1)]


def matching(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def palindrome(text: str) -> bool:
    return text == text[::-1]


def palindrome_faults(tokens: Sequence[Any]) -> list[Any]:
    return [left != right for left, right in zip(tokens, reversed(tokens), strict=True)]


def almost_palindrome(text: str) -> bool:
    half = len(text) // 2
    pairs = zip(text[:half], text[::-1][:half], strict=True)
    return sum(left != right for left, right in pairs) <= 1


def no_equal_neighbours(text: str) -> bool:
    return re.search(r"(.)\1", text) is None


def alternates(text: str) -> bool:
    return text == (text[:2] * len(text))[: len(text)] and len(set(text)) == len(text[:2])


def has_period_three(text: str) -> bool:
    return text == (text[:3] * len(text))[: len(text)]


def starts_and_ends_alike(text: str) -> bool:
    return text.startswith(text[-1])


def equal_ab(text: str) -> bool:
    return text == "a" * (len(text) // 2) + "b" * (len(text) // 2)


def equal_abc(text: str) -> bool:
    return text == "".join(letter * (len(text) // 3) for letter in "abc")


def tomita3(text: str) -> bool:
    runs = re.findall(r"1+|0+", text)
    return not any(
        one[0] == "1" and len(one) % 2 and len(other) % 2 for one, other in pairwise(runs)
    )


def tomita5(text: str) -> bool:
    return text.count("0") % 2 == 0 and text.count("1") % 2 == 0


def tomita6(text: str) -> bool:
    return (text.count("0") - text.count("1")) % 3 == 0


def made(make: Callable[[Random, int], str], alphabet: str, tiny: str | None = None) -> InputMaker:
    """Strings of the language that `make` draws from, and strings near it."""
    return letters(alphabet, tiny, members=make)


def _palindrome(rng: Random, length: int) -> str:
    half = "".join(rng.choices("abcd", k=length))
    return half[: length // 2] + half[: -(-length // 2)][::-1]


def _repeated(period: int) -> Callable[[Random, int], str]:
    return lambda rng, length: ("".join(rng.sample("abcd", period)) * length)[:length]


def _square(rng: Random, length: int) -> str:
    half = "".join(rng.choices("abcd", k=-(-length // 2)))
    return half + half[: length // 2]


def _unlike_neighbours(rng: Random, length: int) -> str:
    text = rng.choice("abcd")
    while len(text) < length:
        text += rng.choice([letter for letter in "abcd" if letter != text[-1]])
    return text


def _in_blocks(alphabet: str) -> Callable[[Random, int], str]:
    """Equal blocks of each letter in turn; the last is longer where they do not fill it all."""

    def make(rng: Random, length: int) -> str:
        size = length // len(alphabet)
        return "".join(letter * size for letter in alphabet).ljust(length, alphabet[-1])

    return make


def _bit_runs(rng: Random, length: int) -> str:
    bit, text = rng.choice("01"), ""
    while len(text) < length:
        bit = "10"[int(bit)]
        text += bit * rng.choice((1, 2, 2, 4, 5))
    return text[:length]


MIRRORED = made(_palindrome, "abcd")
RUNS_OF_BITS = made(_bit_runs, "01")

ENTRIES = (
    entry("palindrome", whole(palindrome), MIRRORED),
    entry("palindrome_faults", palindrome_faults, MIRRORED),
    entry("almost_palindrome", whole(almost_palindrome), MIRRORED),
    entry("no_equal_neighbours", whole(no_equal_neighbours), made(_unlike_neighbours, "abcd")),
    entry("alternates", whole(alternates), made(_repeated(2), "abcd")),
    entry("has_period_three", whole(has_period_three), made(_repeated(3), "abcd", "ab")),
    entry("is_square", whole(matching(r"(.+)\1")), made(_square, "abcd")),
    entry("starts_and_ends_alike", whole(starts_and_ends_alike), letters("abcd")),
    entry("a_then_b", whole(matching("a*b*")), made(_in_blocks("ab"), "ab")),
    entry("equal_ab", whole(equal_ab), made(_in_blocks("ab"), "ab")),
    entry("equal_abc", whole(equal_abc), made(_in_blocks("abc"), "abc")),
    entry("tomita1", prefixes(matching("1*")), made(lambda rng, length: "1" * length, "01")),
    entry(
        "tomita2",
        prefixes(matching("(10)*")),
        made(lambda rng, length: ("10" * length)[:length], "01"),
    ),
    entry("tomita3", prefixes(tomita3), RUNS_OF_BITS),
    entry("tomita4", prefixes(lambda text: "000" not in text), RUNS_OF_BITS),
    entry("tomita5", prefixes(tomita5), BITS),
    entry("tomita6", prefixes(tomita6), BITS),
    entry("tomita7", prefixes(matching("0*1*0*1*")), RUNS_OF_BITS),
)
