"""A folder that `folder.write` wrote in, what is not true of it out.

Everything is made again from the certified model and the dials, and compared with the files. The
circuit is checked on inputs and with replacements that it was not found with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from rasp.base.file_reading import read_file, read_json
from rasp.models.compiler import load, verify
from rasp.models.compiler.model.tensors import from_safetensors
from rasp.models.testbed.dials import Dials, turned
from rasp.models.testbed.edges import all_edges, allowed_edges
from rasp.models.testbed.folder import (
    CARD,
    TRAINED,
    StudyModel,
    circuit_from_json,
    contents,
    wrong_answers,
)
from rasp.models.testbed.superposition import SplitInputs, share_right, with_arrays
from rasp.models.testbed.truth import Laboratory

MOST_BYTES = 400_000_000
CLOSE = 1e-4
"""How far apart numbers made on two machines may be, relative to the largest of their array."""


def problems(folder: str | Path) -> Iterator[str]:
    """What is not true of a folder that `write` wrote."""
    place = Path(folder)
    card = read_json(place / CARD, MOST_BYTES)
    dials = Dials(**card["dials"])
    statement = verify(place / "certified")
    if not statement.exact:
        yield f"the certified model is {statement.statement}"
        return
    certified = load(place / "certified")
    dialled = turned(certified, dials)
    circuit = circuit_from_json(read_json(place / "circuit.json", MOST_BYTES))
    wrong, tested = wrong_answers(certified, dialled.model, dials.seed)
    entry = StudyModel(card["name"], certified, dials, dialled, circuit, wrong, tested)
    if dials.superposition:
        arrays = from_safetensors(read_file(place / TRAINED, MOST_BYTES))
        trained = with_arrays(dialled.model, arrays)
        unseen = SplitInputs.of(dialled.model, dials.seed).tests
        right = share_right(dialled.model, trained, unseen)
        entry = replace(entry, trained=trained, right=right)
    yield from _different_files(place, entry)
    yield from _untrue_circuit(entry)
    if wrong:
        yield f"{wrong} of {tested} answers are wrong"


def _different_files(place: Path, entry: StudyModel) -> Iterator[str]:
    documents, expected = contents(entry)
    for name, data in documents.items():
        if read_json(place / name, MOST_BYTES) != json.loads(json.dumps(data)):
            yield f"`{name}` is not what follows from the model, its dials and its circuit"
    for name, arrays in expected.items():
        stored = from_safetensors(read_file(place / name, MOST_BYTES))
        if stored.keys() != arrays.keys():
            yield f"`{name}` holds other arrays"
            continue
        for array, wanted in arrays.items():
            room = CLOSE * float(np.abs(wanted).max(initial=0.0)) + 1e-12
            same = stored[array].shape == wanted.shape
            if not same or np.abs(stored[array] - wanted).max(initial=0.0) > room:
                yield f"`{array}` in `{name}` is another"


def _untrue_circuit(entry: StudyModel) -> Iterator[str]:
    """Edges that the weights do not allow or that do not matter, and edges that are missing."""
    laboratory = Laboratory(entry.dialled.model, entry.dials.seed + 7)  # not those of `make`
    allowed = set(allowed_edges(entry.dialled.readable))
    for edge, witness in entry.circuit.witnesses.items():
        if edge not in allowed:
            yield f"{edge}: the weights allow no such edge"
        elif witness is not None and not laboratory.holds(edge, witness):
            yield f"{edge}: its witness changes no answer"
    outside = [edge for edge in all_edges(entry.dialled.model.weights)
               if edge not in entry.circuit.witnesses]  # fmt: skip
    for edge, witness in entry.circuit.witnesses.items():
        if witness is None and not laboratory.share_changed([*outside, edge]):
            yield f"{edge}: it has no witness, and nothing needs it"
    if share := laboratory.share_changed(outside):
        yield f"replacing what is outside the circuit changes {share:.1%} of the answers"
