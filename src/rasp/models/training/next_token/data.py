"""A task and a seed in, sequences out, with what is right after each of their tokens.

A sequence is a BOS, an input, and for a generating program what it appends and an end token.
Targets come from the program. Where a task brings a guess of the continuation, the program is
evaluated once on the whole of it and must say every token: it is causal, so that is the same as
asking step by step, and a wrong guess is an error.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from rasp.base.errors import RaspValueError
from rasp.insight.generation import generate
from rasp.language.embedding.batches import evaluate
from rasp.models.training.next_token.tasks import NextToken

IGNORED = -1


@dataclass(frozen=True)
class Sequences:
    """Sequences of one split, padded at the end."""

    tokens: np.ndarray  # (sequences, longest)
    targets: np.ndarray  # (sequences, longest): what comes after, IGNORED where nothing is learnt


@dataclass(frozen=True)
class Coding:
    """The numbers of tokens and answers: answers first, then tokens, BOS, end."""

    answers: tuple[Any, ...]
    tokens: tuple[Any, ...]

    @property
    def bos(self) -> int:
        return len(self.tokens)

    @property
    def end(self) -> int:
        return len(self.answers)

    @property
    def token_count(self) -> int:
        return len(self.tokens) + 1

    @property
    def answer_count(self) -> int:
        return len(self.answers) + 1


def coding_of(task: NextToken) -> Coding:
    """Number a task's tokens and what its program says on some inputs.

    >>> from rasp.models.training.next_token.tasks import own_task
    >>> coding_of(own_task("again = has_prev(tokens);", "again", "ab")).answers
    (False, True)
    """
    if task.generates:
        return Coding(task.alphabet, task.alphabet)
    random = _random(task, 0, 0)
    inputs = [task.draw(random, int(length)) for length in random.integers(1, 150, 400)]
    said = {(type(atom).__name__, atom) for values in evaluate(task.handle, inputs)
            for atom in values}  # fmt: skip
    if len(said) > 64:
        raise RaspValueError(
            f"`{task.output}` gives {len(said)} different answers, too many to learn as classes",
            hint="take a program that answers with few different values",
        )
    return Coding(tuple(atom for _, atom in sorted(said, key=repr)), task.alphabet)


def make_sequences(
    task: NextToken, coding: Coding, lengths: tuple[int, int], count: int, seed: int
) -> Sequences:
    """Draw inputs of a range of lengths, and let the program say what is right.

    >>> from rasp.models.training.next_token.tasks import own_task
    >>> task = own_task("again = has_prev(tokens);", "again", "ab")
    >>> make_sequences(task, coding_of(task), (3, 3), 2, seed=0).tokens.shape
    (2, 4)
    """
    random = _random(task, seed, lengths[1])
    inputs = [
        task.draw(random, int(length))
        for length in random.integers(lengths[0], lengths[1] + 1, count)
    ]
    token = {atom: number for number, atom in enumerate(coding.tokens)}
    answer = {atom: number for number, atom in enumerate(coding.answers)}
    if task.generates:
        rows = _generated(task, inputs, token, coding)
    else:
        rows = [
            ([coding.bos, *(token[atom] for atom in given)],
             [IGNORED, *(answer.get(atom, IGNORED) for atom in said)])
            for given, said in zip(inputs, evaluate(task.handle, inputs), strict=True)
        ]  # fmt: skip
    longest = max(len(tokens) for tokens, _ in rows)
    tokens = np.full((count, longest), coding.bos, np.int64)
    targets = np.full((count, longest), IGNORED, np.int64)
    for number, (given, wanted) in enumerate(rows):
        tokens[number, : len(given)], targets[number, : len(wanted)] = given, wanted
    return Sequences(tokens, targets)


def _generated(
    task: NextToken, prompts: list[list[Any]], token: dict[Any, int], coding: Coding
) -> list[tuple[list[int], list[int]]]:
    appended = _continuations(task, prompts)
    rows = []
    for prompt, more in zip(prompts, appended, strict=True):
        tokens = [coding.bos, *(token[atom] for atom in [*prompt, *more])]
        targets = [IGNORED] * len(prompt) + [*(token[atom] for atom in more), coding.end]
        rows.append((tokens, targets))
    return rows


def _continuations(task: NextToken, prompts: list[list[Any]]) -> list[list[Any]]:
    if task.guess is None:
        return [generation.tokens for generation in generate(task.handle, prompts, most=2_000)]
    guessed = [task.guess(prompt) for prompt in prompts]
    whole = [[*prompt, *more] for prompt, more in zip(prompts, guessed, strict=True)]
    for prompt, more, said in zip(prompts, guessed, evaluate(task.handle, whole), strict=True):
        if said[len(prompt) - 1 :] != [*more, ""]:
            raise AssertionError(f"{task.name}: the program does not say {more} after {prompt}")
    return guessed


def _random(task: NextToken, seed: int, salt: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox([seed, zlib.crc32(task.name.encode()), salt]))
