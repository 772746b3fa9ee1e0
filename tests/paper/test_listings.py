"""The paper's listings, slips fixed, against specifications that know nothing of RASP."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import rasp
from rasp.language.embedding.namespace import Namespace

LISTINGS = Path(__file__).parent / "listings"
LETTERS = "abcdefgh"
LENGTHS = [1, 2, 3, 5, 8, 22, 49, 50, 73, 98, 200]


def listing(name: str) -> Namespace:
    return rasp.run((LISTINGS / f"{name}.rasp").read_text(), name)


def words(alphabet: str, seed: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices(alphabet, k=length)) for length in LENGTHS]


def test_reverse_reverses() -> None:
    names = listing("reverse")
    for word in words(LETTERS, 1):
        assert names["reverse"](word) == list(word[::-1])
        assert names["reverse_in_one"].node is names["reverse"].node


def test_histograms_count() -> None:
    names = listing("hist")
    for word in words(LETTERS, 2):
        counts = [Counter(word)[letter] for letter in word]
        assert names["hist_nobos"](word) == counts
        for name in ("hist", "hist_bos"):
            assert names[name]("§" + word)[1:] == counts


def test_unrounded_selector_width_is_exact() -> None:
    names = listing("selector_width")
    for word in words(LETTERS, 3):
        assert names["width_of_equals"](word) == [Counter(word)[letter] for letter in word]
        assert names["width_of_earlier"](word) == list(range(len(word)))


def double_histogram(word: str) -> list[int]:
    counts = Counter(word)
    of_same = Counter(counts.values())
    return [of_same[counts[letter]] for letter in word]


def test_double_histograms_count_counts() -> None:
    names = listing("hist2")
    for word in words(LETTERS, 4):
        assert names["hist2"]("§" + word)[1:] == double_histogram(word)
        assert names["hist2_nobos"](word) == double_histogram(word)


def test_sort_sorts() -> None:
    names = listing("sort")
    for word in words("abcXYZ", 5):
        assert names["sort_input"](word) == sorted(word)
        # `§` is larger than every letter here, and still stays in front.
        assert names["sort_bos"]("§" + word) == ["§", *sorted(word)]


def test_most_freq_orders_by_frequency_then_position() -> None:
    names = listing("most_freq")
    for word in words(LETTERS, 6):
        ranked = [letter for letter, _ in Counter(word).most_common()]
        padding = ["§"] * (len(word) - len(ranked))
        assert names["most_freq"]("§" + word) == ["§", *ranked, *padding]


def prefix_verdicts(word: str, pairs: list[str]) -> list[str]:
    """Read left to right with a stack, as a person would."""
    closing = {pair[1]: pair[0] for pair in pairs}
    stack: list[str] = []
    verdicts: list[str] = []
    broken = False
    for letter in word:
        if letter in closing:
            broken = broken or not stack or stack.pop() != closing[letter]
        elif letter in closing.values():
            stack.append(letter)
        verdicts.append("F" if broken else "P" if stack else "T")
    return verdicts


def balanced_prefix(rng: random.Random, length: int, pairs: list[str], slip: float) -> str:
    """Mostly legal words, since random ones are illegal from the start."""
    stack: list[str] = []
    word: list[str] = []
    while len(word) < length:
        choice = rng.random()
        if choice < 0.15:
            word.append("x")
        elif stack and choice < 0.55:
            pair = stack.pop()
            word.append(pair[1] if rng.random() > slip else rng.choice(pairs)[1])
        else:
            stack.append(rng.choice(pairs))
            word.append(stack[-1][0])
    return "".join(word)


def dyck_words(pairs: list[str], seed: int) -> list[str]:
    rng = random.Random(seed)
    signs = "".join(pairs) + "x"
    legal = [balanced_prefix(rng, n, pairs, slip) for n in LENGTHS for slip in (0.0, 0.03)]
    return [*words(signs, seed), *legal, "{x}()", "((x))", "()x)"]


def test_dyck1_judges_every_prefix() -> None:
    names = listing("dyck1")
    for word in dyck_words(["()"], 7):
        assert names["dyck1PTF"](word) == prefix_verdicts(word, ["()"])


@pytest.mark.parametrize("name", ["dyck3", "dyck3_best"])
def test_dyck3_judges_every_prefix_neutral_tokens_included(name: str) -> None:
    names = listing("dyck3")
    pairs = ["()", "{}", "[]"]
    for word in dyck_words(pairs, 8):
        assert names[name](word) == prefix_verdicts(word, pairs)


def test_shuffle_dyck2_wants_each_pair_balanced() -> None:
    names = listing("shuffle_dyck2")
    for word in [*dyck_words(["()", "{}"], 9), "({)}", "(){}", "({", "}{"]:
        verdicts = [
            prefix_verdicts("".join(c for c in word if c in pair), [pair]) or ["T"]
            for pair in ("()", "{}")
        ]
        balanced = all(verdict[-1] == "T" for verdict in verdicts)
        assert names["shuffle_dyck2"](word) == [balanced] * len(word)


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("s1", "hi", [1, 2]),
        ("s1_plus_2", "abc", [3, 4, 5]),
        ("is_last", "hi", [False, True]),
        ("every_other", "hello", list("h-l-o")),
        ("a", "hey", [[False] * 3, [True, False, False], [True, True, False]]),
        ("mean_before", "hey", [0, 1, 1.5]),
        ("second", "hey", list("eee")),
        ("flip", "hey", [[False, False, True], [False, True, False], [True, False, False]]),
        ("both", "hey", [[False, True, True], [False, True, False], [True, True, False]]),
        ("frac_as", "banana", [0.5] * 6),
        ("has_i", "hi", [True, True]),
        ("in_abc", "hat", [False, True, False]),
    ],
)
def test_the_examples_in_the_text_come_out_as_printed(
    name: str, given: str, expected: list[Any]
) -> None:
    assert listing("inline")[name](given) == expected
