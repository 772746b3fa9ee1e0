"""Run compiled models where exp and division are off by up to 2^-21, and look for wrong answers.

`python bench/perturb.py gallery --length 20` takes every program of the gallery that compiles,
`python bench/perturb.py random --count 2000` random programs; `--style` says in which style they
are compiled. One line of JSON for each goes to results/perturbed.jsonl as soon as it is there; what
the file holds already is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "compiler"))

from compile_gallery import vocabulary_of
from gallery_refusals import REFUSED
from perturbed import perturbed_wrong
from test_random_programs import random_program

import rasp
import rasp.teaching.gallery
from rasp.base.errors import RaspUnsupportedError
from rasp.language.graph import Node
from rasp.models.compiler import Transformer, compile
from rasp.teaching.gallery.gallery_inputs import BOS

RECORD = Path(__file__).parents[1] / "results" / "perturbed.jsonl"
INPUTS = 60


def wrong_inputs(model: Transformer, nodes: list[Node], seed: str) -> int:
    """How many random inputs go wrong; half of them are as long as can be."""
    chooser, wrong = Random(seed), 0
    rng = np.random.default_rng(chooser.randrange(2**32))
    ordinary = len(model.settings.vocabulary) - (model.settings.bos is not None)
    longest = model.settings.max_length
    for length in [longest, *(chooser.randint(1, longest) for _ in range(2))]:
        ids = rng.integers(0, max(1, ordinary), (INPUTS // 3, length))
        if model.settings.bos is not None:
            ids[:, 0] = ordinary
        wrong += len(perturbed_wrong(model, nodes, ids, rng))
    return wrong


def gallery_program(name: str, length: int, style: str) -> dict[str, Any]:
    entry, handle = rasp.programs.entry(name), rasp.programs.load(name)
    bos = BOS if BOS in entry.inputs.before else None
    vocabulary = vocabulary_of(entry, length)
    for heads in ("paper", "split"):
        try:
            model = compile(
                {"out": handle}, vocabulary=vocabulary, max_length=length, bos=bos, heads=heads,
                style=style,
            )  # fmt: skip
        except RaspUnsupportedError:
            continue
        return {"kind": "compiled", "wrong": wrong_inputs(model, [handle.node], name)}
    return {"kind": "refused", "wrong": 0}


def random_one(seed: int, style: str) -> dict[str, Any]:
    outputs, vocabulary, options = random_program(seed)
    try:
        model = compile(outputs, vocabulary=vocabulary, style=style, **options)
    except RaspUnsupportedError:
        return {"kind": "refused", "wrong": 0}
    return {"kind": "compiled", "wrong": wrong_inputs(model, list(outputs.values()), str(seed))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["gallery", "random"])
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--style", choices=["compact", "robust"], default="compact")
    parser.add_argument("--record", type=Path, default=RECORD)
    options = parser.parse_args()
    lines = options.record.read_text().splitlines() if options.record.exists() else []
    known = {row["name"]: row for row in map(json.loads, lines)}
    if options.what == "gallery":
        names = [name for name in rasp.programs.names() if name not in REFUSED]
        jobs = {f"{name}, length {options.length}, {options.style}": name for name in names}
    else:
        jobs = {
            f"random program {seed}, {options.style}": str(seed) for seed in range(options.count)
        }
    with options.record.open("a") as record:
        for name, job in jobs.items():
            if name in known:
                continue
            start = time.process_time()
            found = (
                gallery_program(job, options.length, options.style)
                if options.what == "gallery"
                else random_one(int(job), options.style)
            )
            known[name] = {"name": name, **found, "seconds": round(time.process_time() - start, 2)}
            record.write(json.dumps(known[name]) + "\n")
            record.flush()
    counts = Counter(known[name]["kind"] for name in jobs)
    print(dict(counts), "wrong:", [name for name in jobs if known[name]["wrong"]])


if __name__ == "__main__":
    main()
