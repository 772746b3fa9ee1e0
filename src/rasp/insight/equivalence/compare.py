"""Two programs in, an `Equivalence` out: proved where it can be, tested beyond, or a difference.

The same graph is the same everywhere. Otherwise all inputs are tested, shortest first, up to a
length, so the first difference is a shortest one; then longer ones at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol, TypeAlias

from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import batches, shrunk
from rasp.insight.equivalence.result import Difference, Equivalence
from rasp.insight.equivalence.sides import Answer, Compared, Input, check_kinds, side_of
from rasp.insight.equivalence.suitable_inputs import choose_inputs, draw_tokens
from rasp.insight.equivalence.tried_inputs import InputsToTry

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many inputs were tested, of how many."""

EXHAUSTIVE_INPUTS = 50_000
"""Inputs tested without leaving one out, where no length is asked for."""
MOST_INPUTS = 5_000_000
"""The same, at most, where one is."""
UNREAD_AT_RANDOM = 20
RANDOM_INPUTS = 2_000
RANDOM_LENGTH = 40
BATCH = 1_000


def equivalent(
    first: object,
    second: object,
    *,
    alphabet: object = None,
    max_length: int | None = None,
    random: int = RANDOM_INPUTS,
    random_length: int = RANDOM_LENGTH,
    bos: object = None,
    kinds: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Equivalence:
    """Compare two programs, or a program and a Python function that says what it should do.

    All inputs up to `max_length` over `alphabet` are tested (as many as are quick, where these
    are not given), then `random` longer ones up to `random_length`. With a `bos`, every input
    begins with that token, and its position is not compared. With `kinds`, 2 and 2.0 differ.

    >>> from rasp.language.embedding.constructors import aggregate, indices, length, select, tokens
    >>> reverse = aggregate(select(indices, length - 1 - indices, "=="), tokens)
    >>> bool(equivalent(reverse, lambda tokens: tokens[::-1], max_length=4))
    True
    >>> print(equivalent(reverse, tokens))
    different on "ab"
      first:  ["b", "a"]
      second: ["a", "b"]
    all shorter inputs of non-empty strings over any alphabet agree
    """
    left, right = side_of(first), side_of(second)
    check_kinds(left, right)
    if left is right:
        return _verdict(Search(Compared(left, right), InputsToTry(())), same_graph=True)
    pair = Compared(left, right, ignored=0 if bos is None else 1)
    everything = len(pair.nodes) == 2
    inputs = choose_inputs(pair.nodes, everything, alphabet, bos)
    search = Search(pair, inputs, kinds, progress)
    longest = inputs.longest(max_length, EXHAUSTIVE_INPUTS, MOST_INPUTS)
    search.run(longest, random, random_length, Random(seed))
    return _verdict(search)


class TwoSides(Protocol):
    """What gives two answers to every input, and says whether they agree."""

    def answers(self, inputs: Sequence[Input]) -> list[tuple[Answer, Answer]]: ...
    def answer(self, tokens: Input) -> tuple[Answer, Answer]: ...
    def agree(self, left: Answer, right: Answer, kinds: bool = False) -> bool: ...


@dataclass
class Search:
    """A comparison on its way: what was tested so far, and what came of it."""

    pair: TwoSides
    inputs: InputsToTry
    kinds: bool = False
    progress: Progress | None = None
    difference: Difference | None = None
    kinds_differ: Difference | None = None
    all_up_to: int = 0
    tested: int = 0
    at_random: int = 0
    longest: int = 0
    failing: int = 0
    failed: RaspError | None = None
    total: int = 0

    def run(self, longest: int, count: int, random_length: int, random: Random) -> None:
        """Try every input up to a length, then so many longer ones."""
        if not self.inputs.reads_tokens:
            count, random_length = min(count, UNREAD_AT_RANDOM), 4 * longest
        self.try_all(longest, count)
        if self.difference is None and count:
            self.try_at_random(count, max(random_length, longest + 1), random)

    def try_all(self, longest: int, more: int) -> None:
        """Try every input up to a length, shortest first; stop at the first difference."""
        lengths = range(self.all_up_to + 1, longest + 1)
        self.total = more + sum(map(self.inputs.count, lengths))
        for length in lengths:
            self.inputs = self.inputs.with_unknown(length)
            for batch in batches(self.inputs.of_length(length), BATCH):
                tokens = self._first_difference(batch)
                self.tested += len(batch)
                self._tell()
                if tokens is not None:
                    self.difference = self._difference(tokens, is_shortest=True)
                    return
            self.all_up_to = length

    def try_at_random(self, count: int, longest: int, random: Random) -> None:
        """Try longer inputs, shortest first, and make the first difference as short as can be."""
        lengths = sorted(random.randint(self.all_up_to + 1, longest) for _ in range(count))
        for batch in batches((self._drawn(random, length) for length in lengths), BATCH):
            tokens = self._first_difference(batch)
            self.at_random += len(batch)
            self.longest = max(self.longest, *map(len, batch))
            self._tell()
            if tokens is not None:
                tokens = shrunk(tokens, self._differ, self.inputs.alphabet, len(self.inputs.prefix))
                is_shortest = len(tokens) <= self.all_up_to + 1
                self.difference = self._difference(tokens, is_shortest)
                return

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.tested + self.at_random, self.total)

    def _first_difference(self, batch: list[Input]) -> Input | None:
        for tokens, (left, right) in zip(batch, self.pair.answers(batch), strict=True):
            if not self.pair.agree(left, right, self.kinds) and self._differ(tokens):
                return tokens
            if isinstance(left, RaspError):
                self.failing += 1
                self.failed = self.failed or left
            if self.kinds_differ is None and not self.pair.agree(left, right, kinds=True):
                self.kinds_differ = Difference(tokens, left, right, is_shortest=False)
        return None

    def _differ(self, tokens: Input) -> bool:
        """Ask the plain evaluator, which has the last word."""
        return not self.pair.agree(*self.pair.answer(tokens), self.kinds)

    def _difference(self, tokens: Input, is_shortest: bool) -> Difference:
        left, right = self.pair.answer(tokens)
        return Difference(tokens, left, right, is_shortest)

    def _drawn(self, random: Random, length: int) -> Input:
        prefix = self.inputs.prefix
        free = max(1, length - len(prefix))
        return (*prefix, *draw_tokens(random, self.inputs.alphabet, free))


def _verdict(search: Search, same_graph: bool = False) -> Equivalence:
    return Equivalence(
        difference=search.difference,
        same_graph=same_graph,
        inputs=search.inputs,
        all_up_to=search.all_up_to,
        tested=search.tested,
        at_random=search.at_random,
        longest=search.longest,
        failing=search.failing,
        kinds=search.kinds_differ,
    )
