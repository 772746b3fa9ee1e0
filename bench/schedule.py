"""Sizes in, a table of scheduling times out: random graphs, best of several runs.

For each size: nodes, layers, width and heads of the earliest schedule and of the best one found,
how that was found, and the time it took. `python bench/schedule.py --help` says more.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rasp.insight.schedule import schedule
from rasp.language.graph import in_order
from strategies.graphs import random_outputs


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the scheduler on random graphs.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 400, 1_000, 7_000, 30_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print("| nodes | layers | earliest width, heads | best width, heads | method | exact | s |")
    print("|---|---|---|---|---|---|---|")
    for size in arguments.sizes:
        for seed in range(arguments.seeds):
            print(row(size, seed, arguments.runs), flush=True)


def row(size: int, seed: int, runs: int) -> str:
    """Time one graph; every run schedules it anew."""
    outputs = random_outputs(seed, size)
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        found = schedule(outputs)
        best = min(best, time.perf_counter() - start)
    early = schedule(outputs, "earliest")
    cells = [
        len(in_order(outputs)), found.layers, f"{early.width}, {early.heads}",
        f"{found.width}, {found.heads}", found.method, found.exact, f"{best:.3f}",
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
