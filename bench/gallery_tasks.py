"""Causal programs of the gallery as tasks for decoders, each with what its dialect forecasts."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np

from rasp.insight.dialect.dialect_verdicts import dialects
from rasp.insight.dialect.language_classes import classes
from rasp.insight.dialect.learning import learn
from rasp.insight.equivalence.answering import Input, answers
from rasp.language.graph import Node
from rasp.models.training.next_token.tasks import NextToken
from rasp.teaching.gallery import entry, load, source

CHOSEN = (
    "dyck1", "outside_brackets", "records", "majority_so_far", "first_occurrences",
    "blank_repeats", "tomita1", "tomita2", "tomita7", "skip_trigram", "token_classes", "is_prime",
    "same_as_previous", "rising", "parity_so_far", "run_starts", "tomita4", "tomita5", "tomita6",
    "inside_quotes", "gray_code", "gray_decode", "flip_flop", "forward_fill",
    "symmetric_group_s3", "product_mod_seven", "clock_positions", "dyck2", "induction",
    "strip_comments",
)  # fmt: skip
"""Programs across the dialects that answer with few different values at every position."""


def decoding_task(name: str) -> NextToken:
    """A program of the gallery as something for a decoder to learn.

    >>> decoding_task("tomita1").alphabet
    ('0', '1')
    """
    inputs = entry(name).inputs
    random = Random(0)
    drawn = [token for number in range(300) for token in inputs.sample(random, 1 + number % 150)]
    alphabet = tuple(
        sorted({*inputs.alphabet, *drawn}, key=lambda token: (str(token), repr(token)))
    )

    def draw(generator: np.random.Generator, length: int) -> list[Any]:
        return list(inputs.sample(Random(int(generator.integers(0, 2**62))), length))

    return NextToken(name, source(name), name, alphabet, draw)


@cache
def forecast_of(name: str) -> bool | None:
    """Whether C-RASP forecasts that a decoder goes on beyond its training; None: it says nothing.

    A program that is in C-RASP is expected to. Otherwise each of its answers has a language, the
    inputs that end in it: where one of these is regular and not in C-RASP, it is not expected to.

    >>> forecast_of("dyck1"), forecast_of("parity_so_far")
    (True, False)
    """
    handle, alphabet = load(name), list(entry(name).inputs.alphabet)
    if dialects(handle, alphabet)["C-RASP"].holds:
        return True
    verdicts = [_language_is_in(handle.node, alphabet, answer)
                for answer in _answers(handle.node, alphabet)]  # fmt: skip
    if False in verdicts:
        return False
    return True if verdicts and None not in verdicts else None


def _answers(node: Node, alphabet: list[Any]) -> list[Any]:
    """The different answers on short inputs, at the last position."""
    random = Random(0)
    words = [tuple(random.choices(alphabet, k=1 + number % 9)) for number in range(200)]
    found = [each[0][-1] for each in answers([node], words) if isinstance(each, list)]
    return sorted(set(found), key=repr)[:8]


def _language_is_in(node: Node, alphabet: list[Any], answer: Any) -> bool | None:
    def members(words: list[Input]) -> list[bool]:
        return [isinstance(each, list) and each[0][-1] == answer for each in answers([node], words)]

    learned = learn(alphabet, members).automaton
    return None if learned is None else classes(learned).c_rasp_at_last.holds
