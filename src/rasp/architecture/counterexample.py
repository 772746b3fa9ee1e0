"""Outputs and an attention pattern in, an input on which the pattern changes the answer out.

Short inputs are tried all, longer ones at random, by growing length, so that what is found is
a shortest one or close to it; dropping and simplifying tokens brings it down further. What was
tried is told, since nothing found is no proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rasp.architecture.inputs import (
    Input,
    answer,
    answers,
    batches,
    every_input,
    random_inputs,
    show_alphabet,
    shrunk,
)
from rasp.architecture.patterns import Pattern, under
from rasp.atoms import Atom
from rasp.errors import RaspError
from rasp.graph import Node
from rasp.visible import visibly

MOST_EXHAUSTIVE = 3_000
"""Inputs of all short lengths together that are tried without leaving one out."""
RANDOM_INPUTS = 2_000
LONGEST_RANDOM = 40
LENGTHS_IN_VAIN = 2
"""Lengths in a row on which nothing can be computed, after which no longer ones are tried."""
BATCH = 500
FIRST_LOOK = 40
"""Inputs of a batch looked at before one that merely fails is taken for an answer."""


@dataclass(frozen=True)
class Counterexample:
    """An input on which a restriction changes the answer."""

    tokens: Input
    meant: list[Any]
    """What each output gives without the restriction."""
    got: list[Any] | RaspError
    """What each output gives under it, or the error in which it ends."""
    is_shortest: bool
    """True where no shorter input over the alphabet can be one."""


@visibly
@dataclass(frozen=True)
class PatternSearch:
    """What came of looking for a counterexample."""

    alphabet: tuple[Atom, ...]
    found: Counterexample | None
    all_up_to: int
    """Every input up to this length was tried, or is too short to be restricted."""
    at_random: int
    """How many longer inputs were tried."""
    longest: int
    tried: int
    computed: int
    """On how many of the inputs tried the outputs can be computed at all."""
    failed: RaspError | None
    """In what the first input ends that they cannot be computed on."""

    def __str__(self) -> str:
        told = f"on all inputs up to length {self.all_up_to} over {show_alphabet(self.alphabet)}"
        if self.at_random:
            told += f" and on {self.at_random:,} random ones up to length {self.longest}"
        if self.computed < self.tried:
            told += f" (it can be computed on {self.computed:,} of these {self.tried:,})"
        return told


def look_for_counterexample(
    outputs: Sequence[Node], pattern: Pattern, free: int, alphabet: tuple[Atom, ...]
) -> PatternSearch:
    """Try inputs longer than `free`, short ones first, until the pattern changes an answer."""
    trial = _Trial(tuple(outputs), pattern, alphabet)
    exhausted = _exhaustive_length(alphabet, free)
    longest = max(LONGEST_RANDOM, free + 20)
    per_length = RANDOM_INPUTS // max(1, longest - exhausted)
    example, in_vain, length = None, 0, free
    while example is None and length < longest and in_vain < LENGTHS_IN_VAIN:
        length, before = length + 1, trial.computed
        tokens = trial.at_length(length, per_length if length > exhausted else None)
        in_vain = 0 if trial.computed > before or length <= exhausted else in_vain + 1
        if tokens is not None:
            example = trial.example(shrunk(tokens, trial.differs, alphabet), exhausted)
    return PatternSearch(
        alphabet, example, exhausted, trial.at_random, length, trial.tried, trial.computed,
        trial.failed,
    )  # fmt: skip


def _exhaustive_length(alphabet: Sequence[Atom], free: int) -> int:
    """The length up to which all inputs are tried; those up to `free` need no trial."""
    length, total = free, 0
    while length < LONGEST_RANDOM:
        total += len(alphabet) ** (length + 1)
        if total > MOST_EXHAUSTIVE:
            break
        length += 1
    return length


def _is_value(outcome: list[Any] | RaspError) -> bool:
    return isinstance(outcome, list)


@dataclass
class _Trial:
    """A program with and without a restriction, on one input after another."""

    outputs: tuple[Node, ...]
    pattern: Pattern
    alphabet: tuple[Atom, ...]
    at_random: int = 0
    tried: int = 0
    computed: int = 0
    failed: RaspError | None = None
    cut: dict[int, tuple[Node, ...]] = field(default_factory=dict)

    def restricted(self, length: int) -> tuple[Node, ...]:
        key = length if self.pattern.depends_on_length() else 0
        if key not in self.cut:
            self.cut[key] = under(self.pattern, self.outputs, length)
        return self.cut[key]

    def at_length(self, length: int, count: int | None) -> Input | None:
        """Try `count` random inputs of a length, or all of them; return the first that differs."""
        if count is None:
            inputs: Iterable[Input] = every_input(self.alphabet, length)
        else:
            inputs = random_inputs(self.alphabet, length, count, seed=0)
            self.at_random += count
        for batch in batches(inputs, BATCH):
            meant = answers(self.outputs, batch)
            fine = [tokens for tokens, one in zip(batch, meant, strict=True) if _is_value(one)]
            self.tried += len(batch)
            errors = (one for one in meant if isinstance(one, RaspError))
            self.failed = self.failed or next(errors, None)
            self.computed += len(fine)
            example = self._first_difference(fine, length)
            if example is not None:
                return example
        return None

    def _first_difference(self, batch: list[Input], length: int) -> Input | None:
        """The first input whose answer is another one, or else the first that fails."""
        if not batch:
            return None
        restricted = self.restricted(length)
        failing: Input | None = None
        for some in (batch[:FIRST_LOOK], batch[FIRST_LOOK:]):
            meant, restricted_answers = answers(self.outputs, some), answers(restricted, some)
            for tokens, one, other in zip(some, meant, restricted_answers, strict=True):
                if one == other or not self.differs(tokens):
                    continue
                if _is_value(other):
                    return tokens
                failing = failing or tokens
            if failing is not None:
                return failing
        return None

    def differs(self, tokens: Input) -> bool:
        """Ask the plain evaluator, which has the last word."""
        meant = answer(self.outputs, tokens)
        return isinstance(meant, list) and meant != answer(self.restricted(len(tokens)), tokens)

    def example(self, tokens: Input, exhausted: int) -> Counterexample:
        meant = answer(self.outputs, tokens)
        assert isinstance(meant, list)
        given = answer(self.restricted(len(tokens)), tokens)
        return Counterexample(tokens, meant, given, len(tokens) <= exhausted + 1)
