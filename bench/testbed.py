"""Write a test bed of the whole gallery, check every model of it, and record what came of it.

`python bench/testbed.py OUT --record FILE.json` writes each program at each setting of the
dials and then checks every folder as `rasp testbed --check` does. What is in OUT already is not
written again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

import rasp.programs
from rasp.testbed.checking import problems
from rasp.testbed.dials import Dials
from rasp.testbed.many import gallery_source, write_index, write_many

SETTINGS = (
    Dials(),
    Dials(rotation=True),
    Dials(heads=2, units=4, layers=1, rotation=True, noise=1e-6, seed=1),
)
TRAINED = (Dials(superposition=0.3), Dials(superposition=0.5))
SMALL = ("hist", "reverse", "dyck1", "parity", "tomita4", "induction", "first_occurrences",
         "previous_token", "rank", "is_sorted", "swap_pairs", "more_a_than_b")  # fmt: skip


def one(name: str, out: Path, length: int, settings: tuple[Dials, ...]) -> list[dict[str, Any]]:
    """Write and check the models of one program."""
    records = []
    start = time.process_time()
    for outcome in write_many([gallery_source(name)], settings, out, length, "robust"):
        written = time.process_time() - start
        found = list(problems(out / outcome.name)) if outcome.kind != "refused" else []
        records.append({"name": outcome.name, "kind": outcome.kind, "detail": outcome.detail,
                        "problems": found, "seconds": round(written, 2),
                        "check": round(time.process_time() - start - written, 2)})  # fmt: skip
        start = time.process_time()
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--trained", action="store_true", help="superposed models, instead")
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    names = SMALL if options.trained else rasp.programs.names()
    settings = TRAINED if options.trained else SETTINGS
    work = partial(one, out=options.out, length=options.length, settings=settings)
    start, records = time.time(), []
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for found in pool.imap_unordered(work, names):
            records += found
            for record in found:
                print(json.dumps(record), flush=True)
            if options.record:
                options.record.write_text(json.dumps(summary(records, options, start), indent=1))
    write_index(options.out)


def summary(
    records: list[dict[str, Any]], options: argparse.Namespace, start: float
) -> dict[str, Any]:
    """The figures, and the machine that made them."""
    models = [record for record in records if record["kind"] != "refused"]
    return {
        "models": len(models),
        "programs": len({record["name"].split(".")[0] for record in models}),
        "with_problems": sum(bool(record["problems"]) for record in models),
        "refused": Counter(record["detail"].split(":")[0][:60] for record in records
                           if record["kind"] == "refused").most_common(),
        "length": options.length,
        "wall_seconds": round(time.time() - start, 1),
        "processes": options.processes,
        "processor_seconds_to_write": round(sum(record["seconds"] for record in models), 1),
        "processor_seconds_to_check": round(sum(record["check"] for record in models), 1),
        "python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__,
        "machine": platform.platform(),
        "records": sorted(records, key=lambda record: str(record["name"])),
    }  # fmt: skip


if __name__ == "__main__":
    main()
