"""What `rasp train --next-token` and `rasp reproduce lengths|forecast` do: decoders."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rasp.atoms import to_python
from rasp.errors import RaspValueError

SMALL = {"layers": 2, "width": 32, "steps": 20, "batch": 8, "train": 200, "test": 100}
"""All of it in miniature."""
FORECAST = {"steps": 4_000, "train": 20_000}
LENGTHS = {"steps": 8_000, "train": 20_000}
FORECAST_SEEDS = 3


def reproduce(experiment: str, arguments: argparse.Namespace) -> None:
    """Train the decoders of an experiment that have no record yet, and print its table."""
    from rasp.programs.decoding import CHOSEN, decoding_task, forecast_of
    from rasp.training.next_token.lengths import TASKS
    from rasp.training.next_token.results import (
        POSITIONS,
        forecast_table,
        length_runs,
        length_table,
        tally,
    )
    from rasp.training.next_token.trainer import DecoderRun
    from rasp.training.tables import render

    if experiment == "lengths":
        wanted = _chosen(arguments, list(TASKS))
        runs = [run for run in length_runs(**(SMALL if arguments.smoke else LENGTHS))
                if run.task in wanted]  # fmt: skip
        records = _trained(runs, TASKS, arguments)
        print(render(length_table(records), arguments.markdown), end="\n\n")
        return
    wanted = _chosen(arguments, list(CHOSEN))
    runs = [
        DecoderRun(name, seed, positions, **(SMALL if arguments.smoke else FORECAST))
        for name in wanted
        for positions in POSITIONS
        for seed in range(1 if arguments.smoke else FORECAST_SEEDS)
    ]
    records = _trained(runs, {name: decoding_task(name) for name in wanted}, arguments)
    lines = forecast_table(records, {name: forecast_of(name) for name in wanted})
    print(render(lines, arguments.markdown), end="\n\n")
    print(tally(lines))


def _chosen(arguments: argparse.Namespace, known: list[str]) -> list[str]:
    wanted = arguments.tasks.split(",") if arguments.tasks else known
    strangers = [name for name in wanted if name not in known]
    if strangers:
        raise RaspValueError(
            f"`{strangers[0]}` is no task of this experiment", hint="tasks are " + ", ".join(known)
        )
    return wanted


def _trained(runs: Any, tasks: Any, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    from rasp.training.devices import choose_device
    from rasp.training.next_token.trainer import RECORDS, train
    from rasp.training.store import Store

    folder = Path(arguments.results or ("results/smoke" if arguments.smoke else "results"))
    if arguments.table:
        known = Store(folder, RECORDS).records()
        return [known[run.id] for run in runs if run.id in known]
    device = choose_device("cpu" if arguments.smoke else arguments.device)
    return list(train(runs, tasks, folder, device, print).values())


def train_own(arguments: argparse.Namespace, device: str) -> int:
    """`rasp train FILE NAME --next-token`: one decoder, its accuracy by length."""
    import hashlib

    from rasp.cli.files import text_alone
    from rasp.token_lists import read_alphabet
    from rasp.training.next_token.tasks import own_task
    from rasp.training.next_token.trainer import BINS, DecoderRun, train

    program = text_alone(arguments)
    alphabet = [to_python(token) for token in read_alphabet(arguments.alphabet)]
    task = own_task(program, arguments.name, alphabet, arguments.after)
    mark = hashlib.sha256(repr((program, alphabet, arguments.after)).encode()).hexdigest()[:6]
    given = {name: getattr(arguments, name)
             for name in ("layers", "heads", "width", "batch", "rate", "train", "test", "steps")
             if getattr(arguments, name) is not None}  # fmt: skip
    run = DecoderRun(f"{arguments.name}-{mark}", arguments.seed or 0,
                     **({"steps": 2_000, "train": 5_000, "test": 500} | given))  # fmt: skip
    print(f"training {run.name}: a decoder of {run.layers} layers, width {run.width}")
    found = train([run], {run.task: task}, Path(arguments.results), device, print)[run.id]
    for low, high in BINS:
        exact, single = (100 * found[part][f"{low}-{high}"] for part in ("exact", "tokens"))
        seen = "as trained" if (low, high) == BINS[0] else "longer"
        print(f"{low:3} to {high:3} tokens ({seen}): {exact:.1f} % of inputs wholly right, "
              f"{single:.1f} % of what it says")  # fmt: skip
    return 0
