"""Induction and retrieval: copying what was elsewhere, by what is here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry, Specification
from rasp.teaching.gallery.gallery_inputs import InputMaker, letters, tokens_of
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "induction and retrieval")

NAMES = ("Mary", "John", "Anna")


def induction(tokens: Sequence[Any]) -> list[Any]:
    follower: dict[Any, Any] = {}
    answer = []
    for position, token in enumerate(tokens):
        if position:
            follower[tokens[position - 1]] = token
        answer.append(follower.get(token, "_"))
    return answer


def induction_first(tokens: Sequence[Any]) -> list[Any]:
    follower: dict[Any, Any] = {}
    answer = []
    for position, token in enumerate(tokens):
        if position:
            follower.setdefault(tokens[position - 1], token)
        answer.append(follower.get(token, "_"))
    return answer


def induction_two(tokens: Sequence[Any]) -> list[Any]:
    text = "".join(tokens)
    answer = ["_"]
    for end in range(2, len(text) + 1):
        start = text.rfind(text[end - 2 : end], 0, end - 1)
        answer.append(text[start + 2] if start >= 0 else "_")
    return answer


def most_common_follower(tokens: Sequence[Any]) -> list[Any]:
    pairs = list(pairwise(tokens))
    counts = Counter(pairs)
    answer = []
    for token in tokens:
        followers = [(counts[pair], at) for at, pair in enumerate(pairs) if pair[0] == token]
        answer.append(pairs[max(followers)[1]][1] if followers else "_")
    return answer


def associative_recall(tokens: Sequence[Any]) -> list[Any]:
    memory: dict[Any, Any] = {}
    answer = []
    for key, value in zip(tokens[::2], [*tokens[1::2], None], strict=False):
        answer += [memory.get(key, "_"), "_"]
        memory[key] = value
    return answer[: len(tokens)]


def flip_flop(tokens: Sequence[Any]) -> list[Any]:
    memory = "_"
    answer = []
    for instruction, bit in zip(tokens[::2], tokens[1::2], strict=True):
        answer += [memory if instruction == "r" else "_", "_"]
        memory = bit if instruction == "w" else memory
    return answer


def substitute_variables(tokens: Sequence[Any]) -> list[Any]:
    values: dict[str, str] = {}
    statements = []
    for statement in "".join(tokens).split(","):
        if "=" in statement:
            name, value = statement.split("=")
            values[name] = value
            statements.append(statement)
        else:
            statements.append(values.get(statement, "_"))
    return list(",".join(statements))


def hops(count: int) -> Specification:
    def specification(tokens: Sequence[Any]) -> list[Any]:
        answer = list(range(len(tokens)))
        for _ in range(count):
            answer = [tokens[position] for position in answer]
        return answer

    return specification


def forward_fill(tokens: Sequence[Any]) -> list[Any]:
    last = "_"
    answer = []
    for token in tokens:
        last = last if token == "_" else token
        answer.append(last)
    return answer


def backward_fill(tokens: Sequence[Any]) -> list[Any]:
    return forward_fill(tokens[::-1])[::-1]


def selective_copy(tokens: Sequence[Any]) -> list[Any]:
    return list("".join(tokens).replace("_", "").ljust(len(tokens), "_"))


def tile_pattern(tokens: Sequence[Any]) -> list[Any]:
    pattern = "".join(tokens).partition("|")[0]
    return list((pattern * len(tokens))[: len(tokens)])


def indirect_object(tokens: Sequence[Any]) -> list[Any]:
    alone = [name for name in NAMES if list(tokens).count(name) == 1]
    return everywhere(alone[0] if len(alone) == 1 else "?", tokens)


def skip_trigram(tokens: Sequence[Any]) -> list[Any]:
    return [
        "_" if token != "b" else "c" if "a" in tokens[:position] else "d"
        for position, token in enumerate(tokens)
    ]


def _pairs(firsts: str, seconds: str) -> InputMaker:
    """Tokens of two kinds in turn, always in pairs."""

    def sample(rng: Random, length: int) -> list[Any]:
        few = rng.sample(firsts, rng.randint(1, len(firsts)))
        return [rng.choice(kind) for _ in range(max(1, length // 2)) for kind in (few, seconds)]

    tiny = tuple((first, second) for first in firsts[:3] for second in seconds[:2])
    return InputMaker(sample, tiny)


def _pointers(rng: Random, length: int) -> list[int]:
    return rng.choices(range(length), k=length)


def _assignments(rng: Random, length: int) -> list[str]:
    statements: list[str] = []
    while len(",".join(statements)) < length:
        name = rng.choice("abc")
        statements.append(name if rng.random() < 0.5 else f"{name}={rng.choice('0123456789')}")
    return list(",".join(statements[: max(1, len(statements) - 1)]))


def _tiled(rng: Random, length: int) -> list[str]:
    size = rng.randint(1, max(1, length - 1))
    return [*rng.choices("abcd", k=size), "|", *["."] * (length - size - 1)]


def _story(rng: Random, length: int) -> list[str]:
    words = rng.choices(("gave", "it", "to", "and"), k=length)
    for name in NAMES:
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            words[rng.randrange(length)] = name
    return words


def _repeats(rng: Random, length: int) -> list[str]:
    """A string made of pieces of itself, so that pairs of neighbours come again."""
    tokens = rng.choices("abcdef", k=3)
    while len(tokens) < length:
        start = rng.randrange(len(tokens))
        tokens += tokens[start : start + rng.randint(2, 5)]
        if rng.random() < 0.2:
            tokens.append(rng.choice("abcdef"))
    return tokens[:length]


WORDS = letters("abcdef", members=_repeats)
SPARSE = letters("abc_____", "ab_")
POINTERS = InputMaker(
    _pointers,
    tuple((number,) for number in range(4)),
    accepts=lambda tokens: max(tokens) < len(tokens),
)
STATEMENTS = InputMaker(
    _assignments, tuple(map(tuple, ("a,", "b,", "a=1,", "b=2,", "a=3,"))), after=("a",)
)
TILED = InputMaker(_tiled, (("a",), ("b",)), before=("c",), after=("|", ".", "."))
STORIES = tokens_of((*NAMES, "gave", "it"), ("Mary", "John", "it"), members=_story)

ENTRIES = (
    entry("induction", induction, WORDS),
    entry("induction_pure", induction, WORDS),
    entry("induction_first", induction_first, WORDS),
    entry("induction_two", induction_two, WORDS),
    entry("most_common_follower", most_common_follower, WORDS),
    entry("associative_recall", associative_recall, _pairs("abcd", "0123456789")),
    entry("flip_flop", flip_flop, _pairs("wir", "01")),
    entry("substitute_variables", substitute_variables, STATEMENTS),
    entry("pointer_chase", hops(2), POINTERS),
    entry("eight_hops", hops(8), POINTERS),
    entry("forward_fill", forward_fill, SPARSE),
    entry("backward_fill", backward_fill, SPARSE),
    entry("selective_copy", selective_copy, SPARSE),
    entry("tile_pattern", tile_pattern, TILED),
    entry("indirect_object", indirect_object, STORIES),
    entry("skip_trigram", skip_trigram, letters("abxy", "abx")),
)
