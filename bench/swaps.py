"""Check models against programs that are not quite theirs: whatever is accepted must be right.

`python bench/swaps.py handmade`, `... random --first 0 --count 200` and `... gallery` compile small
models, swap one node of the program for another (see tests/models/certificate/swaps.py), and
compare the model with the new program on every input where the checker accepts it. They print how
many were tried, accepted and wrong, and each one that is wrong.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "certificate"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "compiler"))

from compile_gallery import vocabulary_of
from programs_to_swap import PROGRAMS
from swaps import judge
from test_random_programs import random_program

import rasp
import rasp.teaching.gallery
from models import KINDS, compiled, outputs_of
from rasp.base.errors import RaspError
from rasp.models.compiler import Transformer
from rasp.teaching.gallery.gallery_inputs import BOS


def handmade(style: str) -> Iterator[tuple[str, Transformer]]:
    for kind in (*KINDS.values(), *PROGRAMS):
        options = {**kind.options, "style": style}
        try:
            yield f"{kind.text} {options}", compiled(replace(kind, options=options))
        except RaspError:
            continue


def randomly(first: int, count: int, style: str) -> Iterator[tuple[str, Transformer]]:
    for seed in range(first, first + count):
        outputs, vocabulary, options = random_program(seed)
        try:
            yield (
                f"random {seed}",
                rasp.compile(outputs, vocabulary=vocabulary, **{**options, "style": style}),
            )
        except RaspError:
            continue


def gallery(first: int, count: int, style: str) -> Iterator[tuple[str, Transformer]]:
    for name in list(rasp.programs.names())[first : first + count]:
        entry = rasp.programs.entry(name)
        bos = BOS if BOS in entry.inputs.before else None
        try:
            vocabulary = vocabulary_of(entry, 4)[:3]
            model = rasp.compile(
                rasp.programs.load(name), vocabulary=vocabulary, max_length=4, bos=bos, style=style
            )
        except RaspError:
            continue
        yield name, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", choices=["handmade", "random", "gallery"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--style", default="compact")
    parser.add_argument("--swaps", type=int, default=40, help="how many of each model")
    parser.add_argument("--seconds", type=float, default=300)
    asked = parser.parse_args()
    models = {
        "handmade": lambda: handmade(asked.style),
        "random": lambda: randomly(asked.first, asked.count, asked.style),
        "gallery": lambda: gallery(asked.first, asked.count, asked.style),
    }[asked.source]()
    end, chooser = time.process_time() + asked.seconds, random.Random(asked.first)
    number = tried = accepted = wrong = 0
    for name, model in models:
        number += 1
        for found in judge(model, outputs_of(model), asked.swaps, chooser):
            tried += 1
            accepted += found.accepted
            if found.why:
                wrong += 1
                print(f"WRONG {name}\n  {found.what}: {found.why}", flush=True)
        if time.process_time() > end:
            print("out of time at", name)
            break
    print(f"{number} models, {tried} swaps, {accepted} accepted, {wrong} wrong")


if __name__ == "__main__":
    main()
