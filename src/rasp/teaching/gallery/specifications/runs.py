"""Runs of equal tokens: where they begin and end, how long they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from random import Random
from typing import Any

from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import letters, numbers
from rasp.teaching.gallery.specifications.answers import everywhere, padded

entry = partial(Entry, "runs and boundaries")


def runs(tokens: Sequence[Any]) -> list[list[Any]]:
    return [list(run) for _, run in groupby(tokens)]


def run_starts(tokens: Sequence[Any]) -> list[Any]:
    return [place == 0 for place in position_in_run(tokens)]


def run_ends(tokens: Sequence[Any]) -> list[Any]:
    return [place == len(run) - 1 for run in runs(tokens) for place in range(len(run))]


def run_number(tokens: Sequence[Any]) -> list[Any]:
    return [number for number, run in enumerate(runs(tokens)) for _ in run]


def number_of_runs(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(len(runs(tokens)), tokens)


def position_in_run(tokens: Sequence[Any]) -> list[Any]:
    return [place for run in runs(tokens) for place in range(len(run))]


def run_length(tokens: Sequence[Any]) -> list[Any]:
    return [len(run) for run in runs(tokens) for _ in run]


def longest_run(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(map(len, runs(tokens))), tokens)


def longest_run_token(tokens: Sequence[Any]) -> list[Any]:
    return everywhere(max(runs(tokens), key=len)[0], tokens)


def longest_ascent(tokens: Sequence[Any]) -> list[Any]:
    longest = size = 1
    for position in range(1, len(tokens)):
        size = size + 1 if tokens[position] > tokens[position - 1] else 1
        longest = max(longest, size)
    return everywhere(longest, tokens)


def collapse_runs(tokens: Sequence[Any]) -> list[Any]:
    return padded([run[0] for run in runs(tokens)], tokens)


def run_length_encoding(tokens: Sequence[Any]) -> list[Any]:
    return padded([f"{run[0]}{len(run)}" for run in runs(tokens)], tokens)


def _long_runs(rng: Random, length: int) -> list[str]:
    few = rng.sample("abcde", rng.randint(1, 5))
    typical = rng.choice((1, 2, 3, 12, 200))
    tokens: list[str] = []
    while len(tokens) < length:
        tokens += [rng.choice(few)] * rng.randint(1, 2 * typical)
    return tokens[:length]


RUNS = letters("abcde", "ab", members=_long_runs)

ENTRIES = (
    entry("run_starts", run_starts, RUNS),
    entry("run_ends", run_ends, RUNS),
    entry("run_number", run_number, RUNS),
    entry("number_of_runs", number_of_runs, RUNS),
    entry("position_in_run", position_in_run, RUNS),
    entry("run_length", run_length, RUNS),
    entry("run_length_pure", run_length, RUNS),
    entry("longest_run", longest_run, RUNS),
    entry("longest_run_token", longest_run_token, RUNS),
    entry("longest_ascent", longest_ascent, numbers(-50, 50, tiny=(-1, 0, 2))),
    entry("collapse_runs", collapse_runs, RUNS),
    entry("run_length_encoding", run_length_encoding, RUNS),
)
