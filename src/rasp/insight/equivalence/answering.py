"""Outputs and inputs in, answers out: many at once, or one by the language's plain meaning.

Beside them what every search needs: batches, and a found input made small.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from rasp.base.atoms import Atom, show
from rasp.base.errors import RaspError
from rasp.language.evaluator.plain import EvaluationError
from rasp.language.evaluator.plain import evaluate as evaluate_plain
from rasp.language.graph import Node

Input = tuple[Atom, ...]
BARE = re.compile(r"[^\W\d]+|[^\w\s,{}\"]")
"""Tokens that can be told without quotes: words, and single signs but those that mark a set."""
FIRST_BATCH = 40
SMALL_BATCH = 8
"""Inputs that are quicker computed one by one."""


def answers(outputs: Sequence[Node], inputs: Sequence[Input]) -> list[list[Any] | RaspError]:
    """Compute the outputs on many inputs: for each its values, or the error that it ends in."""
    if len(inputs) <= SMALL_BATCH:
        return [answer(outputs, tokens) for tokens in inputs]
    try:
        from rasp.language.evaluator.fast.evaluate import evaluate
    except ImportError:  # no numpy, as in a browser
        return [answer(outputs, tokens) for tokens in inputs]
    try:
        values = evaluate(outputs, inputs)
    except (EvaluationError, RaspError):
        half = len(inputs) // 2
        return [*answers(outputs, inputs[:half]), *answers(outputs, inputs[half:])]
    return [[values[output][number] for output in outputs] for number in range(len(inputs))]


def answer(outputs: Sequence[Node], tokens: Input) -> list[Any] | RaspError:
    """Compute the outputs on one input by the language's plain meaning."""
    try:
        values = evaluate_plain(outputs, tokens)
        return [values[output] for output in outputs]
    except EvaluationError as failed:
        return failed.error


def batches(inputs: Iterable[Input], size: int) -> Iterator[list[Input]]:
    """Take inputs so many at a time, few at first: often these decide."""
    waiting, some = iter(inputs), FIRST_BATCH
    while batch := list(islice(waiting, min(some, size))):
        yield batch
        some *= 2


def shrunk(
    tokens: Input, differs: Callable[[Input], bool], alphabet: Sequence[Atom], kept: int = 0
) -> Input:
    """Drop and simplify tokens, after those to be kept, for as long as the answers differ.

    >>> shrunk(("b", "a", "b", "c"), lambda tokens: "b" in tokens, "abc")
    ('b',)
    """
    smaller: Input | None = tokens
    while smaller is not None:
        tokens = smaller
        smaller = next(filter(differs, _simpler(tokens, alphabet, kept)), None)
    return tokens


def _simpler(tokens: Input, alphabet: Sequence[Atom], kept: int) -> Iterator[Input]:
    for size in (len(tokens) // 2, 1) if len(tokens) > kept + 1 else ():
        for at in range(kept, len(tokens) - size + 1):
            yield tokens[:at] + tokens[at + size :]
    for at in range(kept, len(tokens)):
        for simpler in alphabet[: alphabet.index(tokens[at])]:
            yield (*tokens[:at], simpler, *tokens[at + 1 :])


def show_alphabet(alphabet: Sequence[Atom]) -> str:
    """Write an alphabet as people do.

    >>> show_alphabet(("a", "b"))
    '{a, b}'
    """
    bare = all(isinstance(token, str) and BARE.fullmatch(token) for token in alphabet)
    return "{" + ", ".join(str(token) if bare else show(token) for token in alphabet) + "}"
