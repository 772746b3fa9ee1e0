"""Compile the paper's tasks, time it, and try ten thousand random inputs of each.

Run: `python bench/compile.py --length 40 --inputs 10000`. Prints one line per task: seconds of
processor time to compile and certify, layers, heads, dimensions, parameters, wrong answers.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "compiler"))

from paper_programs import TASKS, Task

import rasp
from rasp.atoms import Atom
from rasp.compiler import Transformer, compile
from rasp.compiler.certificate import random_input
from rasp.errors import RaspError
from rasp.evaluator import evaluate_batch


def compiled(task: Task, length: int) -> tuple[Transformer, float]:
    handle = rasp.run(task.text)["out"]
    start = time.process_time()
    model = compile(
        handle,
        vocabulary=task.vocabulary,
        max_length=length,
        causal=task.causal,
        heads=task.heads,
    )
    return model, time.process_time() - start


def wrong_answers(task: Task, model: Transformer, count: int) -> tuple[int, int]:
    """How many inputs went wrong, of how many on which the program has a value."""
    handle = rasp.run(task.text)["out"]
    chooser = random.Random(1)
    by_length: dict[int, list[tuple[Atom, ...]]] = {}
    for _ in range(count):
        tokens = random_input(model.settings, chooser)
        by_length.setdefault(len(tokens), []).append(tokens)
    tried = wrong = 0
    for batch in by_length.values():
        expected = _expected(handle, batch)
        ids = np.array([model.token_ids(list(tokens)) for tokens in batch])
        found = next(iter(model.answers(ids).values()))
        for one, other in zip(found, expected, strict=True):
            if other is not None:
                tried += 1
                wrong += one != other
    return wrong, tried


def _expected(handle: rasp.Handle, batch: list[tuple[Atom, ...]]) -> list[list[Atom] | None]:
    try:
        return [each[handle.node] for each in evaluate_batch([handle.node], batch, handle.program)]
    except RaspError:
        if len(batch) == 1:
            return [None]
        return [answer for tokens in batch for answer in _expected(handle, [tokens])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("names", nargs="*", help="tasks; all of them if none is given")
    arguments = parser.parse_args()
    total = 0
    for name, task in TASKS.items():
        if arguments.names and name not in arguments.names:
            continue
        model, seconds = compiled(task, arguments.length)
        wrong, tried = wrong_answers(task, model, arguments.inputs)
        total += wrong
        heads = " ".join(map(str, model.heads_per_layer))
        print(
            f"{name:22} {seconds:6.2f} s  heads {heads:8} d_model {model.d_model:4}  "
            f"parameters {model.parameter_count:7} (to reach: {task.parameters})  "
            f"wrong {wrong} of {tried}",
            flush=True,
        )
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
