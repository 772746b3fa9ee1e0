"""Records of decoders in, tables out: how often they are right, by the length of the input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from rasp.training.next_token.lengths import PUBLISHED, TASKS
from rasp.training.next_token.trainer import BINS, DecoderRun

SEEDS = 5
POSITIONS = ("learned", "none")
GENERALISES = 0.9
"""A decoder goes on where it is right on so many of the longest inputs."""


def length_runs(**given: Any) -> list[DecoderRun]:
    """The runs of the published comparison: each task, with and without positions, five seeds.

    >>> len(length_runs())
    60
    """
    return [
        DecoderRun(task, seed, positions, **given)
        for task in TASKS
        for positions in POSITIONS
        for seed in range(SEEDS)
    ]


def mean_exact(records: Iterable[Mapping[str, Any]], place: int) -> float:
    """The mean share of inputs that are wholly right, in percent, at a range of lengths."""
    low, high = BINS[place]
    return 100 * fmean(record["exact"][f"{low}-{high}"] for record in records)


def of_task(
    records: Iterable[Mapping[str, Any]], task: str, positions: str
) -> list[Mapping[str, Any]]:
    """The records of one task and one kind of positions."""
    return [
        record
        for record in records
        if (record["config"]["task"], record["config"]["positions"]) == (task, positions)
    ]


def length_table(records: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """A table of the published tasks, as lines of text.

    >>> length_table([])[0][:2]
    ['task', 'positions']
    """
    known = list(records)
    heads = [f"{low}-{high}" for low, high in BINS]
    lines = [["task", "positions", "runs", *heads, "published 101-150"]]
    for task in TASKS:
        for positions in POSITIONS:
            own = of_task(known, task, positions)
            if own:
                lines.append(
                    [task, positions, str(len(own)),
                     *(f"{mean_exact(own, place):.1f}" for place in range(len(BINS))),
                     f"{PUBLISHED[task]:g}"]
                )  # fmt: skip
    return lines


def forecast_table(
    records: Iterable[Mapping[str, Any]], expected: Mapping[str, bool | None]
) -> list[list[str]]:
    """A table of programs with what was forecast and what came, as lines of text.

    >>> forecast_table([], {})[0][:2]
    ['program', 'forecast']
    """
    known = list(records)
    lines = [["program", "forecast", "positions", "1-50", "51-100", "101-150", "right?"]]
    for task, forecast in expected.items():
        for positions in POSITIONS:
            own = of_task(known, task, positions)
            if own:
                shares = [mean_exact(own, place) for place in range(len(BINS))]
                lines.append(
                    [task, _word(forecast), positions, *(f"{share:.1f}" for share in shares),
                     _verdict(forecast, shares)]
                )  # fmt: skip
    return lines


def _word(forecast: bool | None) -> str:
    return {True: "goes on", False: "does not", None: "none"}[forecast]


def _verdict(forecast: bool | None, shares: Sequence[float]) -> str:
    if shares[0] < 100 * GENERALISES:
        return "not learnt"
    if forecast is None:
        return "-"
    return "yes" if (shares[-1] >= 100 * GENERALISES) == forecast else "miss"


def tally(lines: Sequence[Sequence[str]]) -> str:
    """How many forecasts came true.

    >>> tally(forecast_table([], {}))
    '0 of 0 forecasts came true'
    """
    answers = [line[-1] for line in lines[1:] if line[-1] in ("yes", "miss")]
    return f"{answers.count('yes')} of {len(answers)} forecasts came true"
