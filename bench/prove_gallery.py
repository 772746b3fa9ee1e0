"""Prove compiled gallery models by running every input: enumeration against certificate.

    python bench/prove_gallery.py [NAME…] [--most 100000] [--seconds 60]

Each program is compiled at the largest length with at most so many inputs over its vocabulary.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections import Counter
from typing import Any

from compile_gallery import vocabulary_of

import rasp
import rasp.teaching.gallery as gallery
from rasp.base.errors import RaspError
from rasp.models.proving import prove
from rasp.teaching.gallery.gallery_inputs import BOS

LONGEST = 20


def length_for(letters: int, most: int) -> int:
    """The largest length, up to 20, with at most so many inputs."""
    length, total = 1, letters
    while length < LONGEST and total + letters ** (length + 1) <= most:
        length += 1
        total += letters**length
    return length


def outcome(name: str, most: int) -> str:
    """Compile one program and prove it, in one line."""
    entry, handle = gallery.entry(name), gallery.load(name)
    vocabulary = vocabulary_of(entry, LONGEST)
    bos = BOS if BOS in entry.inputs.before else None
    length = length_for(len(vocabulary), most) + (bos is not None)
    try:
        model = rasp.compile(
            handle, vocabulary=vocabulary, max_length=length, bos=bos, style="auto"
        )
    except RaspError as error:
        return f"refused   {name} at {length}: {error.message}"
    start = time.process_time()
    try:
        found = prove(model, handle, up_to=length)
    except RaspError as error:
        return f"failed    {name} at {length}: {error.message}"
    certified = model.certificate is not None and model.certificate.exact
    taken = time.process_time() - start
    shown = str(found.difference or "").replace("\n", " ")
    return (
        f"{found.verdict:9} {name} at {length}: {found.inputs} inputs, {found.failing} without a "
        f"value, margin {found.margin}, radius {found.radius:.1g}, {dict(found.digits or {})}, "
        f"certified {certified}, {taken:.1f} s {shown}"
    )


def _work(name: str, most: int, seconds: int, there: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    try:
        there.send(outcome(name, most))
    except Exception as error:
        there.send(f"broken    {name}: {type(error).__name__}: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    tally: Counter[str] = Counter()
    for name in arguments.names or gallery.names():
        here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
        worker = multiprocessing.get_context("fork").Process(
            target=_work, args=(name, arguments.most, arguments.seconds, there)
        )
        worker.start()
        there.close()
        try:
            line = here.recv()
        except EOFError:
            line = f"too slow  {name}"
        worker.join()
        tally[line.split()[0]] += 1
        print(line, flush=True)
    print(dict(tally))


if __name__ == "__main__":
    main()
