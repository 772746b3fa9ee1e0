"""`rasp reproduce EXPERIMENT`: train the paper's experiments, and print their tables."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import Any

from rasp.apps.cli.arguments import CommandParser, options
from rasp.base.progress import Progress, ProgressBar

LINES_EVERY = 20.0
"""Seconds between two lines, where there is no terminal."""


def configure(parser: CommandParser) -> None:
    tables = ["table1", "table2", "supervised"]
    parser.take("experiment", "the paper's tables", nargs="+", choices=tables)
    parser.take("--tasks", "some tasks only, such as reverse,sort (default: all)")
    parser.take("--device", "where to run: auto, cpu or cuda", default="auto")
    parser.take("--budget", "minutes after which to stop, to go on later (default: none)", float)
    parser.take("--results", "the folder of records (default: results, or results/smoke)")
    parser.flag("--smoke", "all of it in miniature, on the CPU")
    parser.take_engine("on this machine, or on a Ray cluster")
    parser.take("--together", "train at most N models at once", int, default=24, metavar="N")
    parser.take("--save-every", "epochs between two snapshots", int, default=1)
    parser.flag("--no-weights", "keep records only")
    parser.flag("--table", "train nothing, print what is there")
    parser.flag("--markdown", "print the table for Markdown")


def run(arguments: argparse.Namespace) -> int:
    from rasp.models.training.devices import require_torch

    require_torch()
    from rasp.models.training.config import miniature
    from rasp.models.training.paper_tables import cells_of, configs_of, render
    from rasp.models.training.run_store import Store

    tasks = arguments.tasks.split(",") if arguments.tasks else None
    tables = [cells_of(experiment, tasks) for experiment in arguments.experiment]
    if arguments.smoke:
        tables = [[replace(cell, configs=tuple(map(miniature, cell.configs))) for cell in cells]
                  for cells in tables]  # fmt: skip
    store = Store(arguments.results or ("results/smoke" if arguments.smoke else "results"))
    finished = True
    if not arguments.table:
        configs = configs_of(cell for cells in tables for cell in cells)
        with ProgressBar("training", lines_every=LINES_EVERY) as progress:
            finished = _sweep(configs, store, progress, arguments)
    for cells in tables:
        print(render(_lines(cells, store), arguments.markdown), end="\n\n")
    if not finished:
        print("The budget is used up; the same command goes on from here.")
    return 0


def _lines(cells: Any, store: Any) -> Any:
    from rasp.models.training.paper_tables import configs_of, table_lines

    return table_lines(cells, store.finished(configs_of(cells)))


def _sweep(configs: Any, store: Any, progress: Progress, arguments: argparse.Namespace) -> bool:
    from rasp.models.training.sweep import SweepSettings, sweep

    settings = SweepSettings(
        device="cpu" if arguments.smoke and arguments.device == "auto" else arguments.device,
        **options(arguments, "budget together save_every"),
        keep_weights=not arguments.no_weights,
        processes=1 if arguments.smoke else os.cpu_count() or 1,
        progress=progress,
    )
    if arguments.engine == "local":
        return sweep(configs, store, settings)
    from rasp.base.cluster import Cluster
    from rasp.models.training.sweep_cluster import sweep_on_cluster

    gpus = 1.0 if settings.device.startswith("cuda") else 0.0
    return sweep_on_cluster(configs, store, settings, Cluster(arguments.address, gpus=gpus))
