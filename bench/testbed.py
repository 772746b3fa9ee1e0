"""Write a test bed of the whole gallery, check every model of it, and record what came of it.

`python bench/testbed.py MODELS --record FILE.json` writes each program at each setting of the dials
and then checks every folder as `rasp testbed --check` does, on inputs that the circuit was not
found with. `--trained` does the same for models with fewer dimensions. The record has a row for
each model; it is written again after each program. A model that is in MODELS already is
only checked.
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

import rasp.teaching.gallery
from rasp.models.testbed.dials import Dials
from rasp.models.testbed.folder import CARD
from rasp.models.testbed.folder_check import problems
from rasp.models.testbed.many import Outcome, write_index, write_many
from rasp.teaching.gallery import study_program

SETTINGS = (
    Dials(),
    Dials(rotation=True),
    Dials(noise=1e-4),
    Dials(heads=2, units=4, layers=1),
    Dials(heads=2, units=4, layers=1, rotation=True, noise=1e-4, seed=1),
)
TRAINED = (Dials(superposition=0.3), Dials(superposition=0.5))
SMALL = ("hist", "reverse", "dyck1", "parity", "tomita4", "induction", "first_occurrences",
         "previous_token", "rank", "is_sorted", "swap_pairs", "more_a_than_b")  # fmt: skip
COLUMNS = ("program", "dials", "seed", "d_model", "right", "edges", "complete", "minimal",
           "seconds", "check")  # fmt: skip
"""Of a row: `right` is `certified`, how many answers of a model with its dials turned are wrong, or
the share of right answers of a trained one; a circuit is complete and minimal if the check found it
so; seconds are of one processor."""


def one(task: tuple[str, tuple[Dials, ...]], out: Path, length: int) -> list[dict[str, Any]]:
    """Write and check the models of one program."""
    (name, settings), rows = task, []
    start = time.process_time()
    for outcome in write_many([study_program(name)], settings, out, length, "robust"):
        written = time.process_time() - start
        rows.append(row(name, outcome, out) | {"seconds": round(written, 2),
                    "check": round(time.process_time() - start - written, 2)})  # fmt: skip
        start = time.process_time()
    return rows


def row(program: str, outcome: Outcome, out: Path) -> dict[str, Any]:
    """What is recorded of one model, or why it was not written."""
    if outcome.kind == "refused":
        return {"program": program, "name": outcome.name, "refused": outcome.detail}
    place = out / outcome.name
    card = json.loads((place / CARD).read_text())
    wrong = list(problems(place))
    dials = Dials(**card["dials"])
    return {
        "program": program, "dials": dials.name, "seed": dials.seed, "d_model": card["d_model"],
        "right": card["right"] if dials.superposition else
        "certified" if dials == Dials() else f"0 wrong of {card['tested']}",
        "edges": len(json.loads((place / "circuit.json").read_text())),
        "complete": not any("outside the circuit" in text for text in wrong),
        "minimal": card["minimal"] and not any("witness" in text for text in wrong),
        "problems": wrong,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path, metavar="MODELS")
    parser.add_argument("programs", nargs="*", help="of the gallery (default: all of them)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--trained", action="store_true", help="superposed models, instead")
    parser.add_argument("--record", type=Path, required=True)
    options = parser.parse_args()
    names = options.programs or (SMALL if options.trained else rasp.programs.names())
    options.names = set(names)
    choices = [(dials,) for dials in TRAINED] if options.trained else [SETTINGS]
    tasks = [(name, settings) for name in names for settings in choices]
    work = partial(one, out=options.out, length=options.length)
    start, rows = time.time(), []
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for done in pool.imap_unordered(work, tasks):
            rows += done
            print(*(json.dumps(each) for each in done), sep="\n", flush=True)
            write_record(options.record, summary(rows, options, start))
    write_index(options.out)


def summary(
    rows: list[dict[str, Any]], options: argparse.Namespace, start: float
) -> dict[str, Any]:
    """The figures, and the machine that made them."""
    models = [each for each in rows if "refused" not in each]
    models.sort(key=lambda each: (each["program"], each["dials"]))
    refused = Counter((each["program"], each["refused"]) for each in rows if "refused" in each)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return {
        "what": f"bench/testbed.py{' --trained' * options.trained}: robust models at length "
        f"{options.length}, each written and then checked",
        "models": len(models),
        "programs": len({each["program"] for each in models}),
        "complete": sum(each["complete"] for each in models),
        "minimal": sum(each["minimal"] for each in models),
        "with_problems": {f"{each['program']} {each['dials']}": each["problems"]
                          for each in models if each["problems"]},
        "refused": [[program, count, why] for (program, why), count in sorted(refused.items())],
        "not_finished": sorted(options.names - {each["program"] for each in rows}),
        "wall_seconds": round(time.time() - start, 1),
        "processes": options.processes,
        "processor_seconds_to_write": round(sum(each["seconds"] for each in models), 1),
        "processor_seconds_to_check": round(sum(each["check"] for each in models), 1),
        "python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__,
        "machine": f"{platform.machine()}, {platform.system()}, {device}",
        "columns": COLUMNS,
        "rows": [[each[column] for column in COLUMNS] for each in models],
    }  # fmt: skip


def write_record(path: Path, record: dict[str, Any]) -> None:
    """JSON with one line for each row."""
    rows = ",\n".join("  " + json.dumps(each) for each in record.pop("rows"))
    head = json.dumps(record, indent=1)[:-2]
    path.write_text(f'{head},\n "rows": [\n{rows}\n ]\n}}\n')


if __name__ == "__main__":
    main()
