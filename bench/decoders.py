"""Decoders trained on 1 to 50 tokens in, how often they are right on up to 150 tokens out.

    python bench/decoders.py lengths      six tasks with published figures
    python bench/decoders.py forecast     30 programs of the gallery beside what C-RASP forecasts

Runs that `results/decoders.jsonl` has are not trained again; the tables are in
`docs/experiments.md`. `--smoke` does all of it in miniature, `--table` trains nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from gallery_tasks import CHOSEN, decoding_task, forecast_of
from length_tasks import PUBLISHED, TASKS

from rasp.models.training.devices import choose_device
from rasp.models.training.next_token.config import DecoderRun
from rasp.models.training.next_token.tasks import NextToken
from rasp.models.training.next_token.trainer import BINS, RECORDS, train
from rasp.models.training.paper_tables import render
from rasp.models.training.run_store import Store

SMALL = {"layers": 2, "width": 32, "steps": 20, "batch": 8, "train": 200, "test": 100}
"""All of it in miniature."""
FORECAST = {"steps": 4_000, "train": 20_000}
LENGTHS = {"steps": 8_000, "train": 20_000}
FORECAST_SEEDS = 3
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


def forecast_runs(
    names: Sequence[str], seeds: int = FORECAST_SEEDS, **given: Any
) -> list[DecoderRun]:
    """The runs of programs of the gallery: with and without positions, so many seeds."""
    return [
        DecoderRun(name, seed, positions, **given)
        for name in names
        for positions in POSITIONS
        for seed in range(seeds)
    ]


def trained(
    runs: Sequence[DecoderRun], tasks: Mapping[str, NextToken], arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Train the runs that have no record yet; return all of their records."""
    folder = Path(arguments.results or ("results/smoke" if arguments.smoke else "results"))
    if arguments.table:
        known = Store(folder, RECORDS).records()
        return [known[run.id] for run in runs if run.id in known]
    device = choose_device("cpu" if arguments.smoke else arguments.device)
    return list(train(runs, dict(tasks), folder, device, print).values())


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("experiment", choices=["lengths", "forecast"])
    parser.add_argument("--tasks", nargs="+", help="some of them only")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--results", help="the folder of records")
    parser.add_argument("--smoke", action="store_true", help="all of it in miniature, on the CPU")
    parser.add_argument("--table", action="store_true", help="train nothing, print what is there")
    parser.add_argument("--markdown", action="store_true", help="print the table for Markdown")
    arguments = parser.parse_args(argv)
    if arguments.experiment == "lengths":
        given = SMALL if arguments.smoke else LENGTHS
        runs = [run for run in length_runs(**given) if run.task in (arguments.tasks or TASKS)]
        lines = length_table(trained(runs, TASKS, arguments))
        print(render(lines, arguments.markdown))
        return
    names = arguments.tasks or CHOSEN
    runs = forecast_runs(names, 1, **SMALL) if arguments.smoke else forecast_runs(names, **FORECAST)
    records = trained(runs, {name: decoding_task(name) for name in names}, arguments)
    lines = forecast_table(records, {name: forecast_of(name) for name in names})
    print(render(lines, arguments.markdown), end="\n\n")
    print(tally(lines))


if __name__ == "__main__":
    main()
