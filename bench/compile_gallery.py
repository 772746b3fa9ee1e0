"""Compile every program of the gallery at its own vocabulary: what came of it, one record each.

Each program runs in a process of its own with a limit of processor time and memory, so that none
can stop the others.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from random import Random
from typing import Any

import numpy as np

import rasp
from rasp.base.atoms import read_input
from rasp.base.errors import RaspError, RaspUnsupportedError
from rasp.language.evaluator import evaluate_batch, plain
from rasp.models.compiler import Transformer, compile
from rasp.teaching.gallery.catalogue import Entry
from rasp.teaching.gallery.gallery_inputs import BOS

SAMPLES = 400
"""How many random inputs a vocabulary is gathered from."""
INPUTS = 60
MOST_BYTES = 4_000_000_000


@dataclass(frozen=True)
class Outcome:
    """What came of one program; `kind` is compiled, refused, wrong, too slow or broken."""

    name: str
    kind: str
    vocabulary: int
    seconds: float = 0.0
    detail: str = ""
    heads: str = "paper"
    predicted: tuple[int, ...] = ()
    heads_per_layer: tuple[int, ...] = ()
    input_feed_forward: int = 0
    d_model: int = 0
    parameters: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def vocabulary_of(entry: Entry, length: int) -> list[Any]:
    """Every token that the program's own inputs hold, the BOS aside."""
    chooser = Random(entry.name)
    found = dict.fromkeys(entry.inputs.alphabet)
    for _ in range(SAMPLES):
        found.update(dict.fromkeys(entry.inputs.sample(chooser, chooser.randint(1, length))))
    tokens = [token for token in found if token != BOS]
    return sorted(tokens)


def outcomes(entries: list[Entry], length: int, seconds: float) -> Iterator[Outcome]:
    """Compile each program in the paper's heads; where that is refused or slow, in split ones."""
    for entry in entries:
        found = _alone(entry, length, "paper", int(seconds))
        if found.kind in ("refused", "too slow"):
            split = _alone(entry, length, "split", int(seconds))
            found = split if split.kind not in ("refused", "too slow") else found
        yield found


def _alone(entry: Entry, length: int, heads: str, seconds: int) -> Outcome:
    """Compile one program in a process of its own."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(entry, length, heads, seconds, there))
    worker.start()
    there.close()
    try:
        return here.recv()  # type: ignore[no-any-return]
    except EOFError:
        worker.join()
        slow = worker.exitcode == -signal.SIGXCPU
        return Outcome(entry.name, "too slow" if slow else "broken", 0, seconds, heads=heads)
    finally:
        worker.join()


def _work(entry: Entry, length: int, heads: str, seconds: int, there: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    spent = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, spent + seconds + 5))
    try:
        there.send(outcome(entry, length, heads))
    except Exception as error:
        there.send(Outcome(entry.name, "broken", 0, detail=f"{type(error).__name__}: {error}"))


def outcome(entry: Entry, length: int, heads: str = "paper") -> Outcome:
    """Compile one program, and compare it with both evaluators on its own inputs."""
    handle = rasp.programs.load(entry.name)
    vocabulary = vocabulary_of(entry, length)
    bos = BOS if BOS in entry.inputs.before else None
    start = time.process_time()
    try:
        found = compile(
            handle, vocabulary=vocabulary, max_length=length, bos=bos, heads=heads, style="compact"
        )
    except RaspUnsupportedError as error:
        taken = round(time.process_time() - start, 2)
        why = " / ".join(f"{each.message} [{each.hint}]" for each in error.everything)
        return Outcome(entry.name, "refused", len(vocabulary), taken, why)
    taken = round(time.process_time() - start, 2)
    mistake = _mistake(entry, handle, found, length)
    return Outcome(
        entry.name, "wrong" if mistake else "compiled", len(vocabulary), taken, mistake, heads,
        entry.heads_per_layer, found.heads_per_layer, found.input_feed_forward, found.d_model,
        found.parameter_count,
    )  # fmt: skip


def _mistake(entry: Entry, handle: rasp.Handle, model: Transformer, length: int) -> str:
    chooser = Random(entry.name + "?")
    for _ in range(INPUTS):
        tokens = entry.inputs.sample(chooser, chooser.randint(1, length))
        if len(tokens) > length:
            continue
        atoms = read_input(tokens)
        try:
            expected = plain.evaluate([handle.node], atoms)[handle.node]
            fast = evaluate_batch([handle.node], [atoms], handle.program)[0][handle.node]
        except (RaspError, plain.EvaluationError):
            continue
        [found] = model.answers(np.array(model.token_ids(tokens))[None]).values()
        if not found[0] == expected == fast:
            return f"{tokens}: {found[0]} instead of {expected}"
    if model.layers != len(entry.heads_per_layer):
        return f"{model.layers} layers instead of {len(entry.heads_per_layer)}"
    return ""
