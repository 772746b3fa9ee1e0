"""Compile the gallery in the robust style: weights, gradients, noise radius, and answers under
other conditions.

`python bench/robust.py --inputs 10000` compiles every program at length 20 and runs it on its own
inputs as compiled, rotated, with noise at every cut, and in TF32 and bfloat16 (see
tests/models/compiler/conditions.py). results/robust.json has one record for each program as soon as
it is there, with a checksum of the weights; what the file holds already is not run again, unless it
was too slow. `--again` compiles every program again, renews what its certificate states, and runs
it if its weights are not the recorded ones.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "compiler"))

from compile_gallery import vocabulary_of
from conditions import CONDITIONS, answers, rotated

import rasp
import rasp.teaching.gallery
from rasp.base.atoms import Atom, read_input
from rasp.base.errors import RaspError
from rasp.base.file_reading import fingerprint_of
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import EvaluationError, evaluate_batch
from rasp.models.compiler import Transformer, compile
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import BOS

RECORD = Path(__file__).parents[1] / "results" / "robust.json"
MOST_BYTES = 3_000_000_000
AT_ONCE = 256


def expected_answers(entry: Entry, length: int, count: int) -> dict[tuple[Atom, ...], list[Atom]]:
    """Different inputs of a program on which it has a value, and its answers."""
    handle, chooser = rasp.programs.load(entry.name), Random(entry.name)
    drawn: dict[tuple[Atom, ...], None] = {}
    for _ in range(2 * count):
        tokens = entry.inputs.sample(chooser, chooser.randint(1, length))
        if len(tokens) <= length:
            drawn[read_input(tokens)] = None
        if len(drawn) == count:
            break
    found: dict[tuple[Atom, ...], list[Atom]] = {}
    for batch in _batches(list(drawn)):
        found |= answers_to(handle, batch)
    return found


def answers_to(handle: Handle, batch: list[tuple[Atom, ...]]) -> dict[tuple[Atom, ...], list[Atom]]:
    """The answers to some inputs at once; where one of them has none, to each that has."""
    try:
        values = evaluate_batch([handle.node], batch, handle.program)
    except (RaspError, EvaluationError):
        if len(batch) == 1:
            return {}
        return {tokens: row for each in batch for tokens, row in answers_to(handle, [each]).items()}
    return {tokens: row[handle.node] for tokens, row in zip(batch, values, strict=True)}


def wrong_answers(
    model: Transformer, expected: dict[tuple[Atom, ...], list[Atom]], condition: str
) -> int:
    rng = np.random.default_rng(7)
    if condition == "rotated":
        model, condition = rotated(model, rng), "compiled"
    wrong = 0
    for batch in _batches(list(expected)):
        ids = np.stack([model.token_ids(list(tokens)) for tokens in batch])
        [rows] = answers(model, ids, condition, rng).values()
        wrong += sum(row != expected[tokens] for row, tokens in zip(rows, batch, strict=True))
    return wrong


def _batches(inputs: list[tuple[Atom, ...]]) -> Iterator[list[tuple[Atom, ...]]]:
    for _, together in groupby(sorted(inputs, key=len), len):
        known = list(together)
        yield from (known[start : start + AT_ONCE] for start in range(0, len(known), AT_ONCE))


def checksum(model: Transformer) -> str:
    """The first half of a checksum of the weights in float32."""
    arrays = sorted(model.weights.arrays().items())
    return fingerprint_of(
        part for name, array in arrays for part in (name, array.astype("<f4").tobytes())
    )[:32]


def one(name: str, length: int, count: int, recorded: dict[str, Any]) -> dict[str, Any]:
    entry, handle = rasp.programs.entry(name), rasp.programs.load(name)
    bos = BOS if BOS in entry.inputs.before else None
    start = time.process_time()
    try:
        model = compile({"out": handle}, vocabulary=vocabulary_of(entry, length),
                        max_length=length, bos=bos, style="robust")  # fmt: skip
    except RaspError as error:
        seconds = round(time.process_time() - start, 1)
        return {"kind": "refused", "why": error.message, "seconds": seconds}
    certificate = model.certificate
    assert certificate is not None and certificate.robust is not None
    seconds = round(time.process_time() - start, 1)
    if (weights := checksum(model)) == recorded.get("weights"):
        return recorded | asdict(certificate.robust)
    expected = expected_answers(entry, length, count)
    return {
        "kind": "compiled", "seconds": seconds, "weights": weights, "d_model": model.d_model,
        "hidden": [model.input_feed_forward, *model.hidden_per_layer],
        "heads": list(model.heads_per_layer), "predicted_heads": list(entry.heads_per_layer),
        "parameters": model.parameter_count, **asdict(certificate.robust),
        "inputs": len(expected),
        "wrong": {each: wrong_answers(model, expected, each) for each in CONDITIONS},
    }  # fmt: skip


def _work(
    name: str, options: argparse.Namespace, recorded: dict[str, Any], there: Connection
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (options.seconds, options.seconds + 5))
    try:
        there.send(one(name, options.length, options.inputs, recorded))
    except Exception as error:
        there.send({"kind": "broken", "why": f"{type(error).__name__}: {error}"})


def alone(name: str, options: argparse.Namespace, recorded: dict[str, Any]) -> dict[str, Any]:
    """One program in a process of its own, with limits of time and memory."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(name, options, recorded, there))
    worker.start()
    there.close()
    try:
        found: dict[str, Any] = here.recv()
    except EOFError:
        found = {"kind": "too slow", "why": f"more than {options.seconds} s"}
    worker.join()
    return found


def write_record(path: Path, about: dict[str, Any], models: dict[str, Any]) -> None:
    """JSON with one line for each model."""
    lines = (f"  {json.dumps(name)}: {json.dumps(row, sort_keys=True)}"
             for name, row in sorted(models.items()))  # fmt: skip
    rows = ",\n".join(lines)
    path.write_text(f'{json.dumps(about, indent=1)[:-2]},\n "models": {{\n{rows}\n }}\n}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=600, help="processor time per program")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--again", action="store_true", help="compile what is recorded, too")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = json.loads(options.record.read_text())["models"] if options.record.exists() else {}
    about = {
        "what": "bench/robust.py", "length": options.length, "most_inputs": options.inputs,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }  # fmt: skip
    for name in options.names or rasp.programs.names():
        recorded = known.get(name, {"kind": "too slow"})
        if options.again or recorded["kind"] == "too slow":
            known[name] = alone(name, options, recorded)
            write_record(options.record, about, known)
            print(name, {k: v for k, v in known[name].items() if k != "hidden"}, flush=True)
    compiled = [each for each in known.values() if each["kind"] == "compiled"]
    print(Counter(each["kind"] for each in known.values()))
    for condition in CONDITIONS:
        print(
            condition, sum(not each["wrong"][condition] for each in compiled), "without a mistake"
        )


if __name__ == "__main__":
    main()
