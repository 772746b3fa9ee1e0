"""The inputs a program is for: random ones of a given length, and every tiny one.

Random inputs draw from a few letters of the alphabet only, so that tokens repeat; for a
language, most of them are members of it or one token away, so that both answers occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from random import Random
from string import ascii_lowercase
from typing import Any, TypeAlias

from rasp.insight.equivalence.suitable_inputs import draw_tokens

BOS = "§"

Sampler: TypeAlias = Callable[[Random, int], list[Any]]
Members: TypeAlias = Callable[[Random, int], Sequence[Any]]


def _everything(tokens: Sequence[Any]) -> bool:
    return True


@dataclass(frozen=True)
class InputMaker:
    """How to draw an input, and what the tiny ones are made of.

    `sample(rng, length)` gives a fitting input of that length, or of the nearest length that
    fits. Tiny inputs are all those of `pieces` between `before` and `after` that `accepts`
    lets pass; a piece is one token, or several that belong together.
    """

    sample: Sampler
    pieces: tuple[tuple[Any, ...], ...]
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()
    accepts: Callable[[Sequence[Any]], bool] = _everything
    drawn_from: tuple[Any, ...] = ()
    """Every token of random inputs, where each may be anywhere in an input."""

    @property
    def alphabet(self) -> tuple[Any, ...]:
        """The tokens that tiny inputs are made of."""
        every = [*self.before, *(token for piece in self.pieces for token in piece), *self.after]
        return tuple(dict.fromkeys(every))

    def with_tokens(self, more: Sequence[Any]) -> InputMaker:
        """The same with further tokens in tiny inputs.

        >>> letters("abcxyz").with_tokens("ax").alphabet
        ('a', 'b', 'c', 'x')
        """
        added = [(token,) for token in more if token not in self.alphabet]
        return replace(self, pieces=(*self.pieces, *added))

    def tiny(self, most: int) -> Iterator[list[Any]]:
        """Give every tiny input, shortest first: all of a length, until `most` are passed.

        >>> ["".join(tokens) for tokens in letters("ab").tiny(6)]
        ['a', 'b', 'aa', 'ab', 'ba', 'bb']
        """
        tried = 0
        for number in count():
            tried += len(self.pieces) ** number
            if tried > most + 1:
                return
            for pieces in product(self.pieces, repeat=number):
                middle = (token for piece in pieces for token in piece)
                tokens = [*self.before, *middle, *self.after]
                if tokens and self.accepts(tokens):
                    yield tokens


def letters(alphabet: str, tiny: str | None = None, members: Members | None = None) -> InputMaker:
    """Strings over an alphabet; with `members`, mostly strings of a language or near it."""
    return tokens_of(tuple(alphabet), tuple(tiny or alphabet[:3]), members)


def numbers(lowest: int, highest: int, tiny: Sequence[int] = (0, 1, 2)) -> InputMaker:
    """Lists of ints from `lowest` to `highest`."""
    return tokens_of(tuple(range(lowest, highest + 1)), tuple(tiny))


def tokens_of(
    alphabet: tuple[Any, ...], tiny: tuple[Any, ...], members: Members | None = None
) -> InputMaker:
    """Inputs of any of these tokens."""

    def sample(rng: Random, length: int) -> list[Any]:
        if members is not None and rng.random() < 0.7:
            drawn = list(members(rng, length))
            if rng.random() < 0.5:
                drawn[rng.randrange(len(drawn))] = rng.choice(alphabet)
            return drawn
        return draw_tokens(rng, alphabet, length)

    pieces = tuple((token,) for token in tiny)
    return InputMaker(sample, pieces, drawn_from=alphabet)


def with_bos(inputs: InputMaker) -> InputMaker:
    """The same inputs after a beginning-of-sequence token, which counts in the length."""

    def sample(rng: Random, length: int) -> list[Any]:
        return [BOS, *(inputs.sample(rng, length - 1) if length > 1 else [])]

    return replace(inputs, sample=sample, before=(BOS, *inputs.before))


def at_least(shortest: int, inputs: InputMaker) -> InputMaker:
    """The same inputs without those of fewer tokens."""

    def sample(rng: Random, length: int) -> list[Any]:
        return inputs.sample(rng, max(shortest, length))

    def accepts(tokens: Sequence[Any]) -> bool:
        return len(tokens) >= shortest and inputs.accepts(tokens)

    return replace(inputs, sample=sample, accepts=accepts)


def two_parts(bar: str, alphabet: str, tiny: str, both: bool = False) -> InputMaker:
    """Two strings with a bar between them, often made of the same letters.

    `both` asks that neither of them is empty.
    """

    def sample(rng: Random, length: int) -> list[Any]:
        length = max(length, 3 if both else 1)
        few = rng.sample(alphabet, rng.randint(1, len(alphabet)))
        left = rng.choices(few, k=_cut(rng, length - 1, both))
        right = rng.choices(few, k=length - 1 - len(left))
        if rng.random() < 0.6:
            right = _alike(rng, left, len(right), alphabet)
        return [*left, bar, *right]

    def accepts(tokens: Sequence[Any]) -> bool:
        inside = not both or (tokens[0] != bar and tokens[-1] != bar)
        return list(tokens).count(bar) == 1 and inside

    pieces = tuple((token,) for token in (*tiny, bar))
    return InputMaker(sample, pieces, accepts=accepts, drawn_from=tuple(alphabet))


def _cut(rng: Random, total: int, both: bool) -> int:
    """Where the first of two parts ends; half of the time in the middle."""
    if rng.random() < 0.5:
        return total // 2
    return rng.randint(1, total - 1) if both else rng.randint(0, total)


def _alike(rng: Random, left: list[str], length: int, alphabet: str) -> list[str]:
    """A second part made of the first: a copy or a permutation, sometimes with a slip."""
    tokens = (left * (length + 1))[:length] if left else rng.choices(alphabet, k=length)
    if rng.random() < 0.5:
        rng.shuffle(tokens)
    if tokens and rng.random() < 0.4:
        tokens[rng.randrange(length)] = rng.choice(alphabet)
    return tokens


WORDS = letters(ascii_lowercase, "abc")
BITS = letters("01")
