"""Coverage-guided fuzzing of everything that reads strangers' bytes, with atheris.

    python scripts/fuzz_readers.py TARGET [FOLDER] [-max_total_time=60] …

TARGET is one of the functions below (or `all`, a share of the time each). What is not a
`RaspError` is a crash; the bytes that led to it are left in the current folder as `crash-…`.
Needs `pip install atheris`, which is not a part of rasp.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rasp"]):
    from rasp.apps.cli.program_files import read_given
    from rasp.apps.fuzzing.cases import read_replay
    from rasp.base.atoms import read_input
    from rasp.base.errors import RaspError
    from rasp.base.limits import Limits
    from rasp.base.source import Source
    from rasp.language.meaning.loader import Loader
    from rasp.language.meaning.session import Session
    from rasp.language.syntax import parse_with_errors, print_program
    from rasp.language.syntax.lexer import lex

    if {"model", "weights"} & set(sys.argv):
        from rasp.models.compiler.model.store import load
        from rasp.models.compiler.model.tensors import from_safetensors
    if "records" in sys.argv:
        from rasp.models.training.run_store import Store

SMALL = Limits(steps=2_000, graph_size=500, list_size=200, recursion=20, input_length=200)
FOLDER = Path(tempfile.mkdtemp())
EXAMPLES = Path(__file__).parents[1] / "tests" / "programs"


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def lexer(data: bytes) -> None:
    """Any text is cut into tokens that cover it in order."""
    found = lex(Source("fuzz", text_of(data)))
    ends = [0]
    for token in found.tokens:
        assert ends[-1] <= token.start <= token.end
        ends.append(token.end)


def parser(data: bytes) -> None:
    """Any text is read or refused in words; what is read is printed and read again."""
    statements, errors = parse_with_errors(Source("fuzz", text_of(data)))
    for error in errors:
        assert error.hint, error.message
        str(error)
    if not errors:
        again, more = parse_with_errors(Source("again", print_program(statements)))
        assert not more and tuple(again) == tuple(statements)


def running(data: bytes) -> None:
    """Any text runs or is refused in words, within small budgets."""
    session = Session(SMALL, Loader(enabled=False))
    for error in session.check(Source("fuzz", text_of(data)))[1]:
        str(error)


def loader(data: bytes) -> None:
    """Any file and any path to it is loaded or refused."""
    (FOLDER / "it.rasp").write_bytes(data)
    path = text_of(data[:40]) if len(data) % 2 else "it"
    confined = Loader(root=str(FOLDER))
    session = Session(SMALL, confined)
    session.check(Source("fuzz", 'load "it";'))
    source = confined.read(path, limits=SMALL)
    assert os.path.realpath(source.name).startswith(str(FOLDER))


def inputs(data: bytes) -> None:
    """Inputs as the command line takes them."""
    text = text_of(data)
    for value in (read_given(text), read_given(text, as_text=True)):
        read_input(value, SMALL)


def replay(data: bytes) -> None:
    """Replay files of `rasp fuzz`."""
    path = FOLDER / "replay.json"
    path.write_bytes(data)
    str(read_replay(path)[0])


def model(data: bytes) -> None:
    """A compiled model's folder: the bytes are the description, the weights, or both."""
    place = FOLDER / "model"
    place.mkdir(exist_ok=True)
    description, _, weights = data.partition(b"\xff\xfe")
    (place / "model.json").write_bytes(description)
    (place / "weights.safetensors").write_bytes(weights)
    load(place)


def weights(data: bytes) -> None:
    """A safetensors file, as the compiler reads it."""
    from_safetensors(data)


def records(data: bytes) -> None:
    """A training folder's records and snapshots."""
    store = Store(FOLDER / "runs")
    store.make_folders()
    (FOLDER / "runs" / "records.jsonl").write_bytes(data)
    (FOLDER / "runs" / "snapshots" / "it.safetensors").write_bytes(data)
    store.records()
    store.unfinished()


TARGETS = {each.__name__: each for each in (
    lexer, parser, running, loader, inputs, replay, model, weights, records)}  # fmt: skip


def fuzz_one(name: str, options: list[str]) -> None:
    """Fuzz one target until libFuzzer ends it."""
    target = TARGETS[name]

    def quietly(data: bytes) -> None:
        try:
            target(data)
        except RaspError:
            return

    atheris.Setup([sys.argv[0], *options], quietly)
    atheris.Fuzz()


def fuzz_all(options: list[str]) -> int:
    """Fuzz every target in a process of its own; print executions and crashes."""
    crashed = 0
    seeds = str(EXAMPLES)
    for name in TARGETS:
        corpus = tempfile.mkdtemp()
        command = [sys.executable, __file__, name, corpus, seeds, "-max_len=300", *options]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        executions = re.findall(r"#(\d+)", done.stderr)
        print(f"{name:<10} {max(map(int, executions), default=0):>9,} executions", end=", ")
        print("no crash" if done.returncode == 0 else f"CRASHED ({done.returncode})", flush=True)
        if done.returncode:
            crashed += 1
            print((done.stdout + done.stderr)[-2500:])
    return 1 if crashed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in (*TARGETS, "all"):
        sys.exit(__doc__)
    if sys.argv[1] == "all":
        sys.exit(fuzz_all(sys.argv[2:]))
    fuzz_one(sys.argv[1], sys.argv[2:])
