"""Two source trees in, what compiling and evaluating takes in each, and what comes out, out.

`python bench/compare_trees.py BEFORE/src src -o results/before-after.json` takes every program that
the galleries of both trees hold. Each is compiled in the compact style at one length, over its own
vocabulary (as the first tree's gallery gives it), and applied to one long input, in a process of
its own with the one tree on its path; cells of the two trees alternate, so that both see the same
machine. The times are processor seconds, the best of several.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

SAMPLES = 400
"""How many random inputs a vocabulary is gathered from."""
RUNS = 7
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def vocabulary_of(entry: Any, length: int, bos: str) -> list[Any]:
    """Every token that the program's own inputs hold, the BOS aside."""
    chooser = Random(entry.name)
    found = dict.fromkeys(entry.inputs.alphabet)
    for _ in range(SAMPLES):
        found.update(dict.fromkeys(entry.inputs.sample(chooser, chooser.randint(1, length))))
    return sorted(token for token in found if token != bos)


def compiled(name: str, length: int) -> dict[str, Any]:
    """Compile one program with the `rasp` that is on the path."""
    import rasp.teaching.gallery
    from rasp.base.errors import RaspError
    from rasp.models.compiler import compile
    from rasp.teaching.gallery.gallery_inputs import BOS

    entry = rasp.programs.entry(name)
    has_styles = "style" in inspect.signature(compile).parameters
    styles: dict[str, Any] = {"style": "compact"} if has_styles else {}
    start = time.process_time()
    try:
        model = compile(
            rasp.programs.load(name), vocabulary=vocabulary_of(entry, length, BOS),
            max_length=length, bos=BOS if BOS in entry.inputs.before else None, **styles,
        )  # fmt: skip
    except RaspError as error:
        return {"refused": error.message.splitlines()[0][:80]}
    arrays = model.weights.arrays() if hasattr(model.weights, "arrays") else {}
    largest = max((float(abs(array).max(initial=0.0)) for array in arrays.values()), default=None)
    return {
        "compile_s": round(time.process_time() - start, 3),
        "parameters": model.weights.parameter_count,
        "d_model": model.d_model,
        "heads": list(model.heads_per_layer),
        "largest_weight": largest,
    }


def evaluated(name: str, length: int) -> dict[str, Any]:
    """Apply one program to a long input of its own kind."""
    import rasp.teaching.gallery
    from rasp.base.errors import RaspError

    handle, entry = rasp.programs.load(name), rasp.programs.entry(name)
    tokens = entry.inputs.sample(Random(0), length)
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        try:
            handle(tokens)
        except RaspError as error:
            return {"no_value": error.message.splitlines()[0][:80]}
        times.append(time.process_time() - start)
        if sum(times) > 5:
            break
    return {"evaluate_s": round(min(times), 4)}


def cell(source: Path, work: str, name: str, length: int, seconds: float) -> dict[str, Any]:
    """One measurement in a process of its own."""
    paths = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, __file__, "--cell", work, name, "--length", str(length)]
    try:
        done = subprocess.run(
            command, env={**os.environ, **ONE_THREAD, **paths}, timeout=seconds,
            capture_output=True, text=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {f"{work}_s": None, "too_slow": seconds}
    if done.returncode:
        return {"broken": (done.stderr.strip().splitlines() or ["killed"])[-1][:200]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def names_of(source: Path) -> set[str]:
    text = subprocess.run(
        [sys.executable, "-c", "import rasp.teaching.gallery; print(*rasp.programs.names())"],
        env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return set(text.split())


def summary(rows: dict[str, dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """What both trees can do, side by side: sums, medians of ratios, and what only one can."""
    found: dict[str, Any] = {"programs": len(rows)}
    for figure in ("compile_s", "evaluate_s", "parameters", "largest_weight"):
        pairs = {name: (row["before"][figure], row["after"][figure]) for name, row in rows.items()
                 if row["before"].get(figure) and row["after"].get(figure)}  # fmt: skip
        if not pairs:
            continue
        ratios = {name: after / before for name, (before, after) in pairs.items()}
        found[figure] = {
            "in_both": len(pairs),
            "sum_before": round(sum(before for before, _ in pairs.values()), 3),
            "sum_after": round(sum(after for _, after in pairs.values()), 3),
            "median_ratio": round(median(ratios.values()), 3),
            "larger_after": dict(sorted(((name, round(ratio, 2)) for name, ratio in ratios.items()
                                         if ratio > 1.05), key=lambda pair: -pair[1])[:12]),
            "smaller_after": sum(ratio < 0.95 for ratio in ratios.values()),
        }  # fmt: skip
    for figure in ("parameters", "evaluate_s"):
        has = {side: {name for name, row in rows.items() if row[side].get(figure)}
               for side in ("before", "after")}  # fmt: skip
        found[f"{figure} only before"] = sorted(has["before"] - has["after"])
        found[f"{figure} only after"] = sorted(has["after"] - has["before"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", nargs="?", type=Path)
    parser.add_argument("after", nargs="?", type=Path)
    parser.add_argument("--cell", nargs=2, metavar=("WORK", "NAME"))
    parser.add_argument("--length", type=int, default=12, help="of the models")
    parser.add_argument("--tokens", type=int, default=100_000, help="of the long inputs")
    parser.add_argument("--limit", type=float, default=100, help="seconds for one cell")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--called", nargs=2, default=("", ""), help="what the two trees are")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.cell:
        work, name = arguments.cell
        print(
            json.dumps({"compile": compiled, "evaluate": evaluated}[work](name, arguments.length))
        )
        return
    trees = {"before": arguments.before.resolve(), "after": arguments.after.resolve()}
    names = arguments.names or sorted(names_of(trees["before"]) & names_of(trees["after"]))
    lengths = {"compile": arguments.length, "evaluate": arguments.tokens}
    rows: dict[str, dict[str, dict[str, Any]]] = {
        name: {"before": {}, "after": {}} for name in names
    }
    cells = [(name, work, side) for name in names for work in lengths for side in trees]

    def run(task: tuple[str, str, str]) -> None:
        name, work, side = task
        rows[name][side] |= cell(trees[side], work, name, lengths[work], arguments.limit)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(run, cells))
    record = {
        "what": "bench/compare_trees.py",
        "before": arguments.called[0], "after": arguments.called[1],
        "length": arguments.length, "tokens": arguments.tokens, "jobs": arguments.jobs,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(), "numpy": version("numpy"),
        "summary": summary(rows), "programs": rows,
    }  # fmt: skip
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record["summary"], indent=1))


if __name__ == "__main__":
    main()
