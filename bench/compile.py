"""Compile programs to weights, time it, and look for wrong answers.

`python bench/compile.py --length 40 --inputs 10000` takes the paper's tasks in the compact style:
one line each with seconds of processor time to compile and certify, layers, heads, dimensions,
parameters, wrong answers; `--style robust` in the other style, where some are refused. `--gallery`
takes every program of the gallery at its own vocabulary and length 20, `--random 0 2000` the random
programs of the tests, both in the compact style. `--record` adds the figures to
results/compile.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "compiler"))

from compile_gallery import outcomes
from paper_programs import TASKS, Task
from test_random_programs import outcome as random_outcome

import rasp
import rasp.teaching.gallery
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.language.evaluator import evaluate_batch
from rasp.models.compiler import Transformer, compile
from rasp.models.compiler.model.vocabulary_inputs import random_input

RECORD = Path(__file__).parents[1] / "results" / "compile.json"


def compiled(task: Task, length: int, style: str) -> tuple[Transformer, float]:
    handle = rasp.run(task.text)["out"]
    start = time.process_time()
    model = compile(
        handle,
        vocabulary=task.vocabulary,
        max_length=length,
        bos=task.bos,
        causal=task.causal,
        sink=task.sink,
        heads=task.heads,
        style=style,
    )
    return model, time.process_time() - start


def wrong_answers(task: Task, model: Transformer, count: int) -> tuple[int, int]:
    """How many inputs went wrong, of how many on which the program has a value."""
    handle = rasp.run(task.text)["out"]
    chooser = random.Random(1)
    by_length: dict[int, list[tuple[Atom, ...]]] = {}
    for _ in range(count):
        tokens = task.draw(model.settings, chooser) or random_input(model.settings, chooser)
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


def tasks(length: int, inputs: int, names: list[str], style: str) -> tuple[dict[str, Any], bool]:
    """The paper's tasks: a record of each, and whether all of them are right."""
    found: dict[str, Any] = {}
    for name, task in TASKS.items():
        if (names and name not in names) or (task.longest < length and name not in names):
            continue
        try:
            model, seconds = compiled(task, length, style)
        except RaspUnsupportedError as error:
            print(f"{name:22} refused: {error.message}", flush=True)
            continue
        wrong, tried = wrong_answers(task, model, inputs)
        assert model.certificate is not None
        found[name] = {
            "seconds": round(seconds, 2),
            "predicted_heads": list(task.heads_per_layer),
            "heads": list(model.heads_per_layer),
            "input_feed_forward": model.input_feed_forward,
            "d_model": model.d_model,
            "parameters": model.parameter_count,
            "parameters_by_hand_at_length_40": task.parameters,
            "certified": model.certificate.exact,
            "inputs": tried,
            "wrong": wrong,
        }
        heads = " ".join(map(str, model.heads_per_layer))
        print(
            f"{name:22} {seconds:6.2f} s  heads {heads:8} d_model {model.d_model:4}  "
            f"parameters {model.parameter_count:7} (at length 40 by hand: {task.parameters})  "
            f"wrong {wrong} of {tried}",
            flush=True,
        )
    return found, all(each["certified"] and not each["wrong"] for each in found.values())


def gallery(length: int, seconds: float, names: list[str]) -> tuple[dict[str, Any], bool]:
    """Every program of the gallery: what came of it, with the reasons of those refused."""
    entries = [each for each in rasp.programs.entries() if not names or each.name in names]
    found = []
    for each in outcomes(entries, length, seconds):
        found.append(each)
        print(
            f"{each.kind:9} {each.name:28} {each.seconds:6.2f} s  {each.detail[:150]}", flush=True
        )
    counts: dict[str, int] = {}
    for each in found:
        counts[each.kind] = counts.get(each.kind, 0) + 1
    others = {each.name: f"{each.kind}: {each.detail}" for each in found if each.kind != "compiled"}
    record = {"length": length, "counts": counts, "not_compiled": others,
              "slowest": max((each.seconds for each in found), default=0.0)}  # fmt: skip
    return record, "wrong" not in counts and "broken" not in counts


def random_programs(first: int, last: int) -> tuple[dict[str, Any], bool]:
    """Random programs: how many agree everywhere, are refused (and why), or are wrong."""
    agree, wrong, refused = 0, [], dict[str, int]()
    for seed in range(first, last):
        told = random_outcome(seed)
        if told == "agrees":
            agree += 1
        elif told.startswith("refused"):
            reason = told.partition(": ")[2]
            refused[reason] = refused.get(reason, 0) + 1
        else:
            wrong.append(told)
            print(told, flush=True)
    ordered = dict(sorted(refused.items(), key=lambda pair: -pair[1]))
    print(f"agree {agree}, refused {sum(refused.values())}, wrong {len(wrong)}")
    record = {"seeds": [first, last], "agree": agree, "refused": sum(refused.values()),
              "reasons": ordered, "wrong": wrong}  # fmt: skip
    return record, not wrong


def save(key: str, found: dict[str, Any]) -> None:
    """Put figures into the record, beside the versions and the machine that they come from."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {"what": "bench/compile.py"}
    record[key] = found
    record["versions"] = {"rasp": rasp.__version__, "python": platform.python_version(),
                          "numpy": version("numpy")}  # fmt: skip
    record["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--gallery", action="store_true", help="the programs of the gallery")
    parser.add_argument("--seconds", type=float, default=60, help="processor time for each of them")
    parser.add_argument("--random", type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--style", choices=["compact", "robust"], default="compact")
    parser.add_argument("--record", action="store_true", help="add to results/compile.json")
    parser.add_argument("names", nargs="*", help="programs; all of them if none is given")
    arguments = parser.parse_args()
    if arguments.gallery:
        length = arguments.length or 20
        key, (found, fine) = "gallery", gallery(length, arguments.seconds, arguments.names)
    elif arguments.random:
        key, (found, fine) = "random_programs", random_programs(*arguments.random)
    else:
        length = arguments.length or 40
        key = f"paper_length_{length}" + ("_robust" if arguments.style == "robust" else "")
        found, fine = tasks(length, arguments.inputs, arguments.names, arguments.style)
    if arguments.record:
        save(key, found)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
