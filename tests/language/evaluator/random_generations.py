"""A seed in, a random program and inputs that grow out, and a check of decoding on them.

Run many: `python tests/language/evaluator/random_generations.py --count 20000 --seed 1`. A
disagreement prints its own seed, which alone reproduces it: `--seed N --count 1`.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from itertools import compress
from typing import Any

from random_graphs import random_case

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.generation.decoding.together import Decoder
from rasp.insight.generation.growing import Question, decoder_of, next_values
from rasp.insight.generation.tokens import token_after
from rasp.insight.schedule.patterns import Pattern, under
from rasp.language.graph import SOp, expression

STEPS = 5


def random_generation(seed: int) -> tuple[Question, list[tuple[Atom, ...]]] | None:
    """A program, in half of the cases one that only looks back, and inputs of one kind or two."""
    rng = random.Random(seed)
    outputs, inputs = random_case(seed)
    node = next((node for node in outputs if isinstance(node, SOp)), None)
    if node is None:
        return None
    if rng.random() < 0.5:
        [causal] = under(Pattern("causal"), [node], 1)
        assert isinstance(causal, SOp)
        node = causal
    return Question(node, rng.choice([-1, -1, 0])), [tokens[:14] for tokens in inputs]


def transcript(
    question: Question, inputs: Sequence[tuple[Atom, ...]], decoder: Decoder | None = None
) -> list[list[Any]]:
    """What each input is given at each step; an error ends it, with its words."""
    rows = [GrowingTokens(tokens) for tokens in inputs]
    together = decoder.together(rows) if decoder else None
    unfinished = rows
    for step in range(STEPS):
        values = next_values(unfinished, question, together)
        goes_on = [row.take(value) for row, value in zip(unfinished, values, strict=True)]
        unfinished = [row for row in compress(unfinished, goes_on) if step < STEPS - 1]
    return [row.told for row in rows]


class GrowingTokens:
    """An input that grows, and what it was given."""

    def __init__(self, given: tuple[Atom, ...]) -> None:
        self.given, self.tokens = given, list(given)
        self.told: list[Any] = []

    def take(self, value: Atom | RaspError) -> bool:
        if isinstance(value, RaspError):
            self.told.append((value.kind, value.message, value.hint))
            return False
        self.told.append((type(value), value))
        self.tokens.append(token_after(self.given, value))
        return value != ""


def disagreement(seed: int) -> str | None:
    """Compare decoding with evaluating from scratch; None where they agree."""
    case = random_generation(seed)
    if case is None:
        return None
    question, inputs = case
    decoder = decoder_of(question)
    if decoder is None:
        return None
    plainly = transcript(question, inputs)
    decoded = transcript(question, inputs, decoder)
    if decoded == plainly:
        again = transcript(question, inputs, decoder)  # with what it has learnt
        if again == plainly:
            return None
        decoded = again
    where = next(n for n, told in enumerate(plainly) if told != decoded[n])
    return (
        f"seed {seed}, input {inputs[where]}: {expression(question.node, {}, depth=9)}\n"
        f"from scratch {plainly[where]}\ndecoded      {decoded[where]}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    arguments = parser.parse_args()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        found = disagreement(seed)
        if found:
            print(found)
            sys.exit(1)
    print(f"{arguments.count} programs agree")
