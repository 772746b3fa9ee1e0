"""An alphabet in, the inputs that must be tested out: all of them, or fewer that decide for all.

A program that only asks whether tokens are equal cannot tell one unknown token from another:
rename the tokens it does not compare with others, and its answer is renamed with them. So it
is enough to try inputs in which unknown tokens appear in a fixed order (`aba` decides for `bab`,
and for `xyx` over any alphabet), and what holds for these holds for every input of non-empty
strings of that length, over any alphabet whatever. The unknown tokens tested must be none that
a program answers with, or two different answers could look alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rasp.base.atoms import Atom, show
from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.insight.equivalence.answering import show_alphabet

LONGEST_UNASKED = 60
"""The greatest length where none is asked for: of programs that read no tokens, there is one input
of each length."""


@dataclass(frozen=True)
class InputsToTry:
    """Which inputs to try: a prefix, then any tokens of the alphabet.

    With `any_alphabet`, the last tokens of the alphabet are unknown to both programs, and
    decide for all others; `known` is how many are not.
    """

    alphabet: tuple[Atom, ...]
    prefix: tuple[Atom, ...] = ()
    any_alphabet: bool = False
    known: int = 0
    avoid: tuple[Atom, ...] = ()
    """Constants of the programs: a token that decides for others must be none of them."""
    reads_tokens: bool = True

    def of_length(self, length: int) -> Iterator[tuple[Atom, ...]]:
        """List every input of a length that must be tested, those with early tokens first."""
        free = length - len(self.prefix)
        if free < 0:
            return
        if not self.reads_tokens:
            yield self.prefix + self.alphabet[:1] * free
        elif not self.any_alphabet:
            for tokens in product(self.alphabet, repeat=free):
                yield self.prefix + tokens
        else:
            for numbers in _in_order_of_appearance(self.known, free):
                yield self.prefix + tuple(self.alphabet[number] for number in numbers)

    def count(self, length: int) -> int:
        """How many inputs of a length there are to try."""
        free = length - len(self.prefix)
        if free < 0:
            return 0
        if not self.reads_tokens:
            return 1
        if not self.any_alphabet:
            return int(len(self.alphabet) ** free)
        ways = {0: 1}  # how many unknown tokens have appeared -> in how many ways
        for _ in range(free):
            after: dict[int, int] = {}
            for seen, number in ways.items():
                after[seen] = after.get(seen, 0) + number * (self.known + seen)
                after[seen + 1] = after.get(seen + 1, 0) + number
            ways = after
        return sum(ways.values())

    def longest(self, asked: int | None, quick: int, most: int, after: int = 0) -> int:
        """The length up to which all inputs are tested, from `after` on: the one asked for, if
        there are no more than `most`; else the one up to which there are no more than `quick`.

        >>> InputsToTry(("a", "b")).longest(None, quick=20, most=100)
        3
        """
        if asked is not None and asked < 1:
            raise RaspValueError(
                f"there are no inputs up to length {asked}", hint="give a length of 1 or more"
            )
        budget, end = (quick, LONGEST_UNASKED) if asked is None else (most, asked)
        length, total = after, 0
        while length < end and total + self.count(length + 1) <= budget:
            length += 1
            total += self.count(length)
        if asked is not None and length < asked:
            raise RaspLimitError(
                f"there are more than {most:,} inputs up to length {asked}",
                hint=f"ask for a length of at most {length}, or for a smaller alphabet",
            )
        return length

    def with_unknown(self, length: int) -> InputsToTry:
        """The same with enough unknown tokens for a length."""
        missing = length - len(self.prefix) - (len(self.alphabet) - self.known)
        if not self.any_alphabet or missing <= 0:
            return self
        more = fresh_tokens((*self.alphabet, *self.prefix, *self.avoid), missing)
        return replace(self, alphabet=(*self.alphabet, *more))

    def describe(self) -> str:
        """Say which inputs these are: `inputs over {a, b}`."""
        start = ""
        if self.prefix:
            shown = "".join(show(token) for token in self.prefix)
            start = f" that begin with {shown} and hold it nowhere else"
        if not self.reads_tokens:
            return f"inputs{start}"
        if self.any_alphabet:
            return f"inputs of non-empty strings over any alphabet{start}"
        return f"inputs over {show_alphabet(self.alphabet)}{start}"


def _in_order_of_appearance(constants: int, length: int) -> Iterator[tuple[int, ...]]:
    """Sequences of numbers below `known`, and of others that first appear in order."""
    if length == 0:
        yield ()
        return
    for before in _in_order_of_appearance(constants, length - 1):
        seen = max((number - constants + 1 for number in before), default=0)
        for number in range(constants + max(0, seen) + 1):
            yield (*before, number)


def fresh_tokens(taken: Sequence[Atom], count: int) -> tuple[str, ...]:
    """Make tokens that are not among the known ones: letters, then numbered letters."""
    letters = [chr(ord("a") + number) for number in range(26)]
    numbered = (f"t{number}" for number in range(count + len(taken)))
    fresh = [token for token in (*letters, *numbered) if token not in taken]
    return tuple(fresh[:count])
