"""Brackets: Dyck languages with neutral tokens, shuffles of them, depths and partners."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry, Specification
from rasp.teaching.gallery.gallery_inputs import InputMaker, letters
from rasp.teaching.gallery.specifications.answers import everywhere

entry = partial(Entry, "brackets")

PAIRS = ("()", "{}", "[]", "<>", "«»")


def prefixes_of_dyck(kinds: int) -> Specification:
    """T, P or F for each prefix, by keeping a stack of what is open."""
    closer_of = {pair[0]: pair[1] for pair in PAIRS[:kinds]}

    def specification(tokens: Sequence[Any]) -> list[Any]:
        wanted: list[str] = []
        failed = False
        answer = []
        for token in tokens:
            if token in closer_of:
                wanted.append(closer_of[token])
            elif token in closer_of.values():
                failed = failed or not wanted or wanted.pop() != token
            answer.append("F" if failed else "P" if wanted else "T")
        return answer

    return specification


def shuffle_dyck(tokens: Sequence[Any]) -> list[Any]:
    def is_balanced_alone(pair: str) -> bool:
        own = ["()"[pair.index(token)] for token in tokens if token in pair]
        return not own or prefixes_of_dyck(1)(own)[-1] == "T"

    return everywhere(is_balanced_alone("()") and is_balanced_alone("{}"), tokens)


def is_balanced(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(prefixes_of_dyck(3)(tokens)[-1] == "T", tokens)


def _steps(tokens: Sequence[Any]) -> list[int]:
    return [(token == "(") - (token == ")") for token in tokens]


def bracket_depth(tokens: Sequence[Any]) -> list[Any]:
    return [
        max(depth, depth - step)
        for depth, step in zip(accumulate(_steps(tokens)), _steps(tokens), strict=True)
    ]


def deepest_nesting(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(accumulate(_steps(tokens))), tokens)


def matching_bracket(tokens: Sequence[Any]) -> list[Any]:
    answer = [-1] * len(tokens)
    open_at: list[int] = []
    for position, token in enumerate(tokens):
        if token == "(":
            open_at.append(position)
        elif token == ")" and open_at:
            answer[position] = open_at.pop()
            answer[answer[position]] = position
    return answer


def outside_brackets(tokens: Sequence[Any]) -> list[Any]:
    depth = 0
    answer = []
    for token in tokens:
        depth += token == "("
        depth -= token == ")"
        answer.append("_" if token in "()" or depth > 0 else token)
    return answer


def prefix_of_balanced(kinds: int, rng: Random, length: int) -> list[str]:
    """The beginning of a balanced text, most often the whole of one, with neutral tokens."""
    stack: list[str] = []
    tokens: list[str] = []
    neutral = rng.random() / 2
    while len(tokens) < length:
        if rng.random() < neutral:
            tokens.append(rng.choice("ab"))
        elif stack and (rng.random() < 0.5 or len(stack) >= length - len(tokens)):
            tokens.append(stack.pop())
        else:
            pair = rng.choice(PAIRS[:kinds])
            tokens.append(pair[0])
            stack.append(pair[1])
    return tokens


def brackets(kinds: int) -> InputMaker:
    """Texts with brackets: mostly prefixes of balanced ones, some with a slip."""
    tiny = "".join(PAIRS[: min(kinds, 2)]) + "a"
    return letters("".join(PAIRS[:kinds]) + "ab", tiny, partial(prefix_of_balanced, kinds))


def never_negative(tokens: Sequence[Any]) -> bool:
    return min(accumulate(_steps(tokens))) >= 0


ONE = brackets(1)
OPENED_FIRST = InputMaker(partial(prefix_of_balanced, 1), ONE.pieces, accepts=never_negative)

ENTRIES = (
    entry("dyck1", prefixes_of_dyck(1), ONE),
    entry("dyck2", prefixes_of_dyck(2), brackets(2)),
    entry("dyck2_pure", prefixes_of_dyck(2), brackets(2)),
    entry("dyck3", prefixes_of_dyck(3), brackets(3)),
    entry("dyck3_pure", prefixes_of_dyck(3), brackets(3)),
    entry("dyck_k", prefixes_of_dyck(5), brackets(5)),
    entry("dyck_k_pure", prefixes_of_dyck(5), brackets(5)),
    entry("shuffle_dyck", shuffle_dyck, brackets(2)),
    entry("shuffle_dyck_best", shuffle_dyck, brackets(2)),
    entry("is_balanced", is_balanced, brackets(3)),
    entry("bracket_depth", bracket_depth, ONE),
    entry("deepest_nesting", deepest_nesting, ONE),
    entry("matching_bracket", matching_bracket, ONE),
    entry("outside_brackets", outside_brackets, OPENED_FIRST),
)
