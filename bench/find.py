"""Find programs for the gallery's specifications, from pairs of input and output alone.

    python bench/find.py --split tune --seconds 60 --record results/find.jsonl

For each program of the gallery, inputs are drawn by its own `InputMaker`; the search sees `--pairs`
of them and nothing else. What it finds counts as right where it gives the specification's answers
on fresh inputs, longer ones too. `--seconds` is processor time (the search has a clock of its own
for it), so that a busy machine changes little. The gallery is split in two halves by a checksum
of the name: `tune` is what the search was developed on, `held` is what it was not.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy

import rasp
from rasp.base.atoms import to_python
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import answers
from rasp.insight.finding import find
from rasp.insight.finding.program_search import agrees
from rasp.teaching import gallery
from rasp.teaching.gallery.catalogue import Entry

FRESH = 200
LONGEST_SEEN = 8
LONGEST_FRESH = 14


def half(name: str) -> str:
    return "held" if zlib.crc32(name.encode()) % 2 else "tune"


def drawn(entry: Entry, random: Random, count: int, longest: int) -> list[tuple[Any, ...]]:
    """Different inputs of the kind that a program is for."""
    inputs: dict[tuple[Any, ...], None] = {}
    for _ in range(20 * count):
        inputs[tuple(entry.inputs.sample(random, random.randint(1, longest)))] = None
        if len(inputs) == count:
            break
    return list(inputs)


def tried(entry: Entry, pairs: int, seconds: float) -> dict[str, Any]:
    random = Random(entry.name)
    seen = drawn(entry, random, pairs, LONGEST_SEEN)
    fresh = [tokens for tokens in drawn(entry, random, FRESH, LONGEST_FRESH) if tokens not in seen]
    examples = [(list(tokens), entry.specification(list(tokens))) for tokens in seen]
    started, cpu = time.monotonic(), time.process_time()
    record: dict[str, Any] = {"name": entry.name, "half": half(entry.name),
                              "gallery": entry.heads_per_layer}  # fmt: skip
    try:
        found = find(examples, seconds=seconds)
    except RaspError as error:
        return record | {"right": False, "error": error.message}
    spent = {"seconds": round(time.monotonic() - started, 1),
             "processor_seconds": round(time.process_time() - cpu, 1)}  # fmt: skip
    record |= found.as_dict() | spent
    record.pop("rival")
    return record | {"right": bool(found) and is_right(found.program, entry, fresh)}


def is_right(program: Any, entry: Entry, inputs: list[tuple[Any, ...]]) -> bool:
    said = answers([program.node], inputs)
    return all(not isinstance(one, RaspError) and agrees(one[0], entry.wanted(list(tokens)))
               for tokens, one in zip(inputs, said, strict=True))  # fmt: skip


def machine(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"python": platform.python_version(), "numpy": numpy.__version__,
            "rasp": rasp.__version__, "machine": platform.processor() or platform.machine(),
            "pairs": arguments.pairs,
            "processor_seconds_each": arguments.seconds}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=["tune", "held", "all"], default="tune")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--part", default="0/1", help="the n-th of m parts, such as 0/2")
    parser.add_argument("--record", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    entries = [entry for entry in gallery.entries()
               if (entry.name in arguments.names if arguments.names
                   else arguments.split in ("all", half(entry.name)))][part::parts]  # fmt: skip
    out = arguments.record.open("a") if arguments.record else None
    right = 0
    for number, entry in enumerate(entries, start=1):
        record = tried(entry, arguments.pairs, arguments.seconds)
        right += record["right"]
        if out:
            print(json.dumps(record | machine(arguments), default=to_python), file=out, flush=True)
        print(f"{right}/{number} {'right' if record['right'] else 'WRONG':5} {entry.name:26}"
              f" gallery {entry.heads_per_layer} found {record.get('layers')},{record.get('heads')}"
              f",{record.get('size')} {record.get('processor_seconds')} s", flush=True)  # fmt: skip
        if not record["right"] and record.get("text"):
            print("      " + record["text"].replace("\n", "\n      "), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
