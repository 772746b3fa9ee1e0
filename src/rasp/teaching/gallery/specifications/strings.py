"""Texts, character by character: case, ciphers, words, layout, patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from string import ascii_letters, ascii_lowercase
from typing import Any

from rasp.teaching.gallery.catalogue import Entry, Specification
from rasp.teaching.gallery.gallery_inputs import InputMaker, letters, two_parts
from rasp.teaching.gallery.specifications.answers import whole

entry = partial(Entry, "texts and words")


def rewrite(change: Callable[[str], str], padding: str = "") -> Specification:
    """Change the text as a whole; where it gets shorter, fill it up again."""
    return lambda tokens: list(change("".join(tokens)).ljust(len(tokens), padding or "\0"))


def words_and_spaces(text: str) -> list[str]:
    return re.findall(r" |[^ ]+", text)


def by_word(answer: Callable[[str], Sequence[Any]], at_space: Any) -> Specification:
    """Answer for each word, letter by letter; `at_space` is the answer at spaces."""
    return lambda tokens: [
        value
        for part in words_and_spaces("".join(tokens))
        for value in ([at_space] if part == " " else answer(part))
    ]


def capitalise_words(text: str) -> str:
    return "".join(part.capitalize() for part in words_and_spaces(text))


def camel_case(text: str) -> str:
    joined = "".join(word.capitalize() for word in text.split())
    return joined[:1].lower() + joined[1:]


def caesar(text: str) -> str:
    moved = ascii_lowercase[3:] + ascii_lowercase[:3]
    return text.translate(str.maketrans(ascii_lowercase, moved))


def vigenere(text: str) -> str:
    key, _, message = text.partition("|")
    secret = [
        chr((ord(letter) + ord(key[place % len(key)]) - 2 * ord("a")) % 26 + ord("a"))
        for place, letter in enumerate(message)
    ]
    return f"{key}|{''.join(secret)}"


def character_class(character: str) -> str:
    if character in ascii_letters:
        return "a"
    return "0" if character.isdigit() else " " if character == " " else "."


def word_number(tokens: Sequence[Any]) -> list[Any]:
    return [
        0 if token == " " else len("".join(tokens[: position + 1]).split())
        for position, token in enumerate(tokens)
    ]


def last_word(text: str) -> str:
    trimmed = text.rstrip(" ")
    word = trimmed.rpartition(" ")[2]
    return word.rjust(len(trimmed), "_").ljust(len(text), "_")


def reverse_word_order(text: str) -> str:
    return "".join(reversed(words_and_spaces(text)))


def align_right(text: str) -> str:
    return text.rstrip(" ").rjust(len(text))


def centre(text: str) -> str:
    word = text.strip(" ")
    return " " * ((len(text) - len(word)) // 2) + word


def find_abc(tokens: Sequence[Any]) -> list[Any]:
    return ["".join(tokens).startswith("abc", start) for start in range(len(tokens))]


def csv_columns(tokens: Sequence[Any]) -> list[Any]:
    lines = "".join(tokens).split("\n")
    return [column for line in lines for column in _columns(line + "\n")][: len(tokens)]


def _columns(line: str) -> list[int]:
    return [line[:position].count(",") for position in range(len(line))]


def csv_second_column(text: str) -> str:
    kept = []
    for line in text.split("\n"):
        fields = line.split(",")
        blanked = ["_" * len(field) for field in fields]
        blanked[1:2] = fields[1:2]
        kept.append("_".join(blanked))
    return "\n".join(kept)


def inside_quotes(tokens: Sequence[Any]) -> list[Any]:
    parts = "".join(tokens).split("'")
    answer = []
    for number, part in enumerate(parts):
        answer += [number % 2 == 1] * len(part) + [False]
    return answer[:-1]


def strip_comments(text: str) -> str:
    return re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)


def is_number(text: str) -> bool:
    return re.fullmatch(r"-?(\d+\.?\d*|\.\d+)", text) is not None


def common_prefix_length(text: str) -> int:
    left, right = text.split("|")
    return next(
        size for size in range(min(len(left), len(right)), -1, -1) if left[:size] == right[:size]
    )


def dictionary_order(text: str) -> str:
    left, right = text.split("|")
    return "<" if left < right else ">" if left > right else "="


def _phrase(rng: Random, length: int) -> list[str]:
    """Short words, sometimes with a palindrome or an "ing", and spaces between and around."""
    text = " " * rng.choice((0, 0, 1, 3))
    while len(text) < length:
        word = "".join(rng.choices("abeiot", k=rng.randint(1, 6)))
        word = rng.choice((word, word, word + word[::-1], word + "ing", "ing"))
        text += word + " " * rng.choice((1, 1, 1, 2, 4))
    return list(text[:length])


def _pieces(*parts: str) -> Callable[[Random, int], list[str]]:
    """Strings put together from these parts."""

    def make(rng: Random, length: int) -> list[str]:
        text = ""
        while len(text) < length:
            text += rng.choice(parts)
        return list(text[:length])

    return make


def _number(rng: Random, length: int) -> list[str]:
    digits = rng.choices("0123456789", k=length)
    digits[rng.randrange(length)] = "."
    if rng.random() < 0.5:
        digits[0] = "-"
    return digits


def _keyed(rng: Random, length: int) -> list[str]:
    key = rng.choices(ascii_lowercase, k=rng.randint(1, max(1, length - 1)))
    return [*key, "|", *rng.choices(ascii_lowercase, k=max(0, length - len(key) - 1))]


# the ends of the alphabet and what comes next to them among all characters
EDGES = "azAZ09 /:@[`{_"
ANYTHING = letters(EDGES + "mM5.,-", "aZ0 ")
PHRASES = letters("abeiot ", "ab ", members=_phrase)
ABC = letters("abcx", "abc", members=_pieces("abc", "a", "b", "x"))
TABLES = letters("ab,\n", "a,\n", members=_pieces("ab", "a", ",", ",", "\n"))
TWO_WORDS = two_parts("|", "abcdefgh", "ab")
KEYED = InputMaker(_keyed, (("a",), ("b",), ("z",)), before=("b", "|"))

ENTRIES = (
    entry("uppercase", rewrite(str.upper), ANYTHING),
    entry("snake_case", rewrite(lambda text: text.lower().replace(" ", "_")), ANYTHING),
    entry("capitalise_words", rewrite(capitalise_words), PHRASES),
    entry("camel_case", rewrite(camel_case, "_"), PHRASES),
    entry("caesar", rewrite(caesar), letters(ascii_lowercase + " ,.", "az ")),
    entry("vigenere", rewrite(vigenere), KEYED),
    entry("count_vowels", whole(lambda text: len(re.findall("[aeiou]", text))), PHRASES),
    entry("remove_vowels", rewrite(lambda text: re.sub("[aeiou]", "", text), "_"), PHRASES),
    entry("token_classes", lambda tokens: list(map(character_class, tokens)), ANYTHING),
    entry("number_of_words", whole(lambda text: len(text.split())), PHRASES),
    entry("word_number", word_number, PHRASES),
    entry("position_in_word", by_word(lambda word: range(1, len(word) + 1), 0), PHRASES),
    entry("word_length", by_word(lambda word: [len(word)] * len(word), 0), PHRASES),
    entry("longest_word", whole(lambda text: max(map(len, text.split(" ")))), PHRASES),
    entry("acronym", rewrite(lambda text: "".join(word[0] for word in text.split()), "_"), PHRASES),
    entry("last_word", rewrite(last_word), PHRASES),
    entry("reverse_each_word", by_word(lambda word: word[::-1], " "), PHRASES),
    entry("reverse_word_order", rewrite(reverse_word_order), PHRASES),
    entry(
        "palindrome_words", by_word(lambda word: [word == word[::-1]] * len(word), False), PHRASES
    ),
    entry(
        "words_ending_in_ing",
        by_word(lambda word: [word.endswith("ing")] * len(word), False),
        letters("gin ", "gin ", members=_phrase),
    ),
    entry("trim", rewrite(str.strip, " "), PHRASES),
    entry("squeeze_spaces", rewrite(lambda text: re.sub(" +", " ", text), " "), PHRASES),
    entry("align_right", rewrite(align_right), PHRASES),
    entry("centre", rewrite(centre, " "), PHRASES),
    entry("find_abc", find_abc, ABC),
    entry("contains_abc", whole(lambda text: "abc" in text), ABC),
    entry("contains_subsequence", whole(lambda text: bool(re.search("a.*b.*c", text))), ABC),
    entry(
        "cat_to_dog",
        rewrite(lambda text: text.replace("cat", "dog")),
        letters("catdog", "cat", members=_pieces("cat", "c", "at", "dog")),
    ),
    entry("csv_columns", csv_columns, TABLES),
    entry("csv_second_column", rewrite(csv_second_column), TABLES),
    entry("inside_quotes", inside_quotes, letters("abc'", "ab'")),
    entry("strip_comments", rewrite(strip_comments), letters("ab#\n", "a#\n")),
    entry("is_number", whole(is_number), letters("0123456789.-x", "1.-", members=_number)),
    entry(
        "is_identifier",
        whole(lambda text: text.isidentifier()),
        letters(EDGES, "a_1 ", members=_pieces("az", "_", "AZ09")),
    ),
    entry("common_prefix_length", whole(common_prefix_length), TWO_WORDS),
    entry("dictionary_order", whole(dictionary_order), TWO_WORDS),
)
