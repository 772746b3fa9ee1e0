"""Programs and dials in, a folder of models out: one folder each, and an index of them all.

A model that is there already is kept, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rasp.base.errors import RaspError, RaspUnsupportedError, RaspValueError
from rasp.base.file_reading import read_json
from rasp.base.file_writing import replacing
from rasp.models.compiler import Transformer, compile, load
from rasp.models.compiler.build import Style
from rasp.models.testbed.dials import Dials
from rasp.models.testbed.folder import CARD, make, write
from rasp.models.testbed.folder_check import MOST_BYTES, problems
from rasp.models.testbed.superposition import ENOUGH
from rasp.models.training.config import differences

INDEX = "index.json"


@dataclass(frozen=True)
class StudyProgram:
    """A program to compile: its name, the s-op, and what its inputs are made of."""

    name: str
    s_op: Any
    vocabulary: object
    bos: Any = None


@dataclass(frozen=True)
class Outcome:
    """What came of one program with one setting of the dials."""

    name: str
    kind: str
    """`written`, `there` (from an earlier run), or `refused`."""
    detail: str = ""


def write_many(
    sources: Iterable[StudyProgram],
    settings: Iterable[Dials],
    folder: Path,
    length: int,
    style: Style,
) -> Iterator[Outcome]:
    """Compile each program once and write it with each setting of the dials."""
    torch.set_num_threads(1)  # the models are small: more threads only wait for one another
    every, programs = list(settings), list(sources)
    folder.mkdir(parents=True, exist_ok=True)
    for source in programs:
        for dials in every:
            _refuse_another(folder / _name(source, dials), length, style)
    for source in programs:
        names = {dials: _name(source, dials) for dials in every}
        missing = [dials for dials in every if not (folder / names[dials] / CARD).exists()]
        yield from (Outcome(names[dials], "there") for dials in every if dials not in missing)
        if not missing:
            continue
        try:
            model = compiled(source, length, style)
        except RaspError as error:
            yield Outcome(source.name, "refused", error.message)
            continue
        for dials in missing:
            yield _written(names[dials], model, dials, folder)
    write_index(folder)


def _name(source: StudyProgram, dials: Dials) -> str:
    return f"{source.name}.{dials.name}.{dials.seed}"


def _refuse_another(place: Path, length: int, style: Style) -> None:
    """Raise where a model of the same name was compiled otherwise: its name does not say how."""
    if not (place / CARD).exists():
        return
    settings = load(place / "certified").settings
    before = {"length": settings.max_length, "style": settings.style}
    if changes := differences(before, {"length": length, "style": style}):
        raise RaspValueError(
            f"the model `{place.name}` in {place.parent} is another one: {'; '.join(changes)}",
            hint="nothing was changed; write the new models to another folder",
        )


def compiled(source: StudyProgram, length: int, style: Style) -> Transformer:
    """The model of a program, certified."""
    return compile(
        {source.name: source.s_op}, vocabulary=source.vocabulary, max_length=length,
        bos=source.bos, style=style,
    )  # fmt: skip


def _written(name: str, model: Transformer, dials: Dials, folder: Path) -> Outcome:
    """Write one model, unless its dials change what it answers."""
    entry = make(name, model, dials)
    if entry.wrong:
        return Outcome(name, "refused", f"{entry.wrong} of {entry.tested} answers became wrong")
    if entry.right < ENOUGH:
        return Outcome(name, "refused", f"trained, only {entry.right:.1%} of its answers are right")
    if not entry.complete:
        return Outcome(name, "refused", "its circuit misses edges that rarely matter")
    if not entry.circuit.minimal:
        return Outcome(name, "refused", "some edges matter only together")
    try:
        write(entry, folder / name)
    except RaspUnsupportedError as error:
        return Outcome(name, "refused", error.message)
    return Outcome(name, "written", f"{len(entry.circuit.edges)} edges")


def write_index(folder: Path) -> None:
    """List every model of a test bed with its dials and sizes."""
    cards = [read_json(path, MOST_BYTES) for path in _cards(folder)]
    rows = [{key: card[key] for key in ("name", "dials", "certified", "agrees", "minimal")}
            for card in cards]  # fmt: skip
    with replacing(folder / INDEX) as file:
        file.write(json.dumps(rows, ensure_ascii=False, indent=1).encode())


def check_many(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each model of a test bed with what is not true of it."""
    torch.set_num_threads(1)
    for card in _cards(folder):
        yield card.parent.name, list(problems(card.parent))


def _cards(folder: Path) -> list[Path]:
    """The cards of all models that are complete."""
    return sorted(card for card in folder.glob(f"*/{CARD}") if not card.parent.name.startswith("."))
