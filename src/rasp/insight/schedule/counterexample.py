"""Outputs and an attention pattern in, an input on which the pattern changes the answer out.

The outputs with and without the pattern are compared as two programs are; an input on which
they fail without it decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import Input, answer, answers, show_alphabet
from rasp.insight.equivalence.compare import Search
from rasp.insight.equivalence.sides import Answer
from rasp.insight.equivalence.tried_inputs import InputsToTry
from rasp.insight.schedule.patterns import Pattern, under
from rasp.language.graph import Node

MOST_EXHAUSTIVE = 3_000
"""Inputs of all short lengths together that are tested without leaving one out."""
RANDOM_INPUTS = 2_000
LONGEST_RANDOM = 40


@dataclass(frozen=True)
class UnderPattern:
    """What outputs give without a restriction, and what they give under it."""

    outputs: Sequence[Node]
    pattern: Pattern
    cut: dict[int, tuple[Node, ...]] = field(default_factory=dict)

    def restricted(self, length: int) -> tuple[Node, ...]:
        if length not in self.cut:
            self.cut[length] = under(self.pattern, self.outputs, length)
        return self.cut[length]

    def answers(self, inputs: Sequence[Input]) -> list[tuple[Answer, Answer]]:
        """Compute both on many inputs, those together that are restricted alike."""
        meant = answers(self.outputs, inputs)
        alike: dict[tuple[Node, ...], list[Input]] = {}
        for tokens, one in zip(inputs, meant, strict=True):
            if isinstance(one, list):
                alike.setdefault(self.restricted(len(tokens)), []).append(tokens)
        got: dict[Input, Answer] = {}
        for cut, some in alike.items():
            got.update(zip(some, answers(cut, some), strict=True))
        return [(one, got.get(tokens, one)) for tokens, one in zip(inputs, meant, strict=True)]

    def answer(self, tokens: Input) -> tuple[Answer, Answer]:
        """Compute both on one input, by the language's plain meaning."""
        return answer(self.outputs, tokens), answer(self.restricted(len(tokens)), tokens)

    def agree(self, left: Answer, right: Answer, kinds: bool = False) -> bool:
        """Tell whether nothing changes, which is so where there was no answer to begin with."""
        return isinstance(left, RaspError) or left == right


def look_for_counterexample(
    outputs: Sequence[Node], pattern: Pattern, free: int, alphabet: tuple[Atom, ...]
) -> Search:
    """Try inputs longer than `free`, short ones first, until the pattern changes an answer."""
    inputs = InputsToTry(alphabet)
    search = Search(UnderPattern(outputs, pattern), inputs, all_up_to=free)
    exhausted = inputs.longest(None, MOST_EXHAUSTIVE, MOST_EXHAUSTIVE, after=free)
    longest = max(LONGEST_RANDOM, free + 20)
    search.run(exhausted, RANDOM_INPUTS if exhausted < longest else 0, longest, Random(0))
    return search


def what_was_tried(search: Search) -> str:
    """Say on which inputs no answer changes, since finding nothing is not a proof."""
    alphabet, tested = show_alphabet(search.inputs.alphabet), search.tested + search.at_random
    told = f"on all inputs up to length {search.all_up_to} over {alphabet}"
    if search.at_random:
        told += f" and on {search.at_random:,} random ones up to length {search.longest}"
    if search.failing:
        told += f" (it can be computed on {tested - search.failing:,} of these {tested:,})"
    return told


def cannot_be_computed(search: Search) -> RaspError:
    """Return the error that every input ends in, as one that tells what to do about it."""
    assert search.failed is not None
    alphabet = show_alphabet(search.inputs.alphabet)
    return type(search.failed)(
        f"this fails on every input tested: {search.failed.message}",
        hint=f"say which tokens it is for, if not {alphabet}: `--alphabet`, or "
        "`alphabet=` in Python",
    )
