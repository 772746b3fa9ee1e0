"""One model of a test bed in, a folder out, and what is wrong with such a folder.

The folder holds the certified model as it was compiled (`certified/`), the model with its dials
turned as a plain torch module, and the truth about it: the circuit in three formats, with a witness
for each edge, labels, pairs of inputs, the rotation. No file needs Python to be read. `problems`
makes everything again from the certified model and the dials, and compares.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from rasp.compiler import load, verify
from rasp.compiler.emitting.weights import Array
from rasp.compiler.model.store import from_safetensors, to_safetensors
from rasp.compiler.model.transformer import Transformer
from rasp.export import torch_target
from rasp.export.blocks import blocks_of
from rasp.export.folders import writing
from rasp.export.lens_target import configuration as lens_configuration
from rasp.export.lens_target import state_of as lens_state
from rasp.export.torch_target import configuration, state_of
from rasp.graph.portable import atom_from_json, atom_to_json
from rasp.reading import read_file, read_json
from rasp.testbed.dials import IDLE_SIZE, Dialled, Dials, turned
from rasp.testbed.edges import Edge, Names, all_edges, allowed_edges, attribution_graph, hook_pairs
from rasp.testbed.superposition import share_right, superposed, unseen_inputs, with_arrays
from rasp.testbed.truth import Circuit, Laboratory, Tokens, Witness, find_circuit, usable_inputs

CARD, WEIGHTS, TRAINED = "testbed.json", "weights.safetensors", "trained.safetensors"
MOST_BYTES = 400_000_000
PAIRS = 40
MODULES = Path(torch_target.__file__).parent
"""Where the modules are that are copied beside the weights."""
ATTEMPTS = 3
TESTED = 1000
"""Inputs that the model with its dials turned is compared with the program on."""
CLOSE = 1e-4
"""How far apart numbers made on two machines may be, relative to the largest of their array."""


@dataclass(frozen=True)
class Entry:
    """One model of a test bed: the compiled model, its dials, and what is true of it."""

    name: str
    certified: Transformer
    dials: Dials
    dialled: Dialled
    circuit: Circuit
    wrong: int
    tested: int
    complete: bool = True
    """Whether replacing everything outside the circuit changed no answer on other inputs."""
    trained: Transformer | None = None
    """With fewer dimensions; then the circuit is that of the model it was trained from."""
    right: float = 1.0
    """Its share of right answers."""

    @property
    def model(self) -> Transformer:
        """The model that is written for others to study."""
        return self.trained or self.dialled.model


def make(name: str, certified: Transformer, dials: Dials) -> Entry:
    """Turn the dials and find the circuit."""
    dialled = turned(certified, dials)
    circuit, complete = true_circuit(dialled, dials.seed)
    wrong, tested = wrong_answers(certified, dialled.model, dials.seed)
    entry = Entry(name, certified, dials, dialled, circuit, wrong, tested, complete)
    if not dials.superposition or wrong:
        return entry
    found = superposed(dialled.model, dials.superposition, dials.seed)
    return replace(entry, trained=found.model, right=found.right)


def true_circuit(dialled: Dialled, seed: int) -> tuple[Circuit, bool]:
    """The circuit, looked for on more inputs until nothing is missing on others."""
    everything, allowed = all_edges(dialled.model.weights), allowed_edges(dialled.readable)
    witnesses: dict[Edge, Witness | None] = {}
    for attempt in range(ATTEMPTS):
        laboratory = Laboratory(dialled.model, seed + 100 * attempt)
        found = find_circuit(laboratory, allowed, everything).witnesses
        witnesses = found | {edge: known for edge, known in witnesses.items() if known}
        outside = [edge for edge in everything if edge not in witnesses]
        if not Laboratory(dialled.model, seed + 3).share_changed(outside):
            break
    else:
        return Circuit(witnesses), False
    return Circuit({edge: witnesses[edge] for edge in allowed if edge in witnesses}), True


def wrong_answers(certified: Transformer, model: Transformer, seed: int) -> tuple[int, int]:
    """On how many random inputs a model answers otherwise than the certified one, in float32."""
    inputs = usable_inputs(certified, TESTED, seed + 1)
    wrong = 0
    for length in sorted({len(tokens) for tokens in inputs}):
        ids = np.stack([certified.token_ids(list(tokens)) for tokens in inputs
                        if len(tokens) == length])  # fmt: skip
        expected, found = certified.answers(ids), model.answers(ids)
        for place in range(len(ids)):
            wrong += any(expected[name][place] != found[name][place] for name in expected)
    return wrong, len(inputs)


def write(entry: Entry, folder: Path) -> None:
    """Write a model and all that is known of it; the folder appears when it is complete."""
    with writing(folder, CARD) as place:
        entry.certified.save(place / "certified")
        for name, data in _documents(entry).items():
            (place / name).write_text(json.dumps(data, ensure_ascii=False, indent=1),
                                      encoding="utf-8")  # fmt: skip
        (place / WEIGHTS).write_bytes(to_safetensors(_torch_state(entry.model)))
        shutil.copy(MODULES / "torch_module.py", place / "model.py")
        _write_lens(entry.model, place / "transformer-lens")
        if entry.trained is not None:
            raw = to_safetensors(entry.trained.weights.arrays())
            (place / TRAINED).write_bytes(raw)
        if entry.dialled.rotation is not None:
            raw = to_safetensors({"rotation": entry.dialled.rotation})
            (place / "rotation.safetensors").write_bytes(raw)


def _torch_state(model: Transformer) -> dict[str, Array]:
    return state_of(blocks_of(model))


def _write_lens(model: Transformer, place: Path) -> None:
    """The same model as a TransformerLens bridge reads it."""
    place.mkdir()
    blocks = blocks_of(model, constant=True)
    config = json.dumps(lens_configuration(model, blocks), indent=1)
    (place / "config.json").write_text(config, encoding="utf-8")
    (place / WEIGHTS).write_bytes(to_safetensors(lens_state(blocks)))
    shutil.copy(MODULES / "lens_module.py", place / "model.py")


def _documents(entry: Entry) -> dict[str, Any]:
    """Every JSON file of a folder, by name."""
    model, edges = entry.model, entry.circuit.edges
    return {
        "config.json": configuration(model, blocks_of(model)),
        "circuit.json": _circuit_to_json(entry.circuit),
        "circuit-hooks.json": hook_pairs(Names(model.weights), edges),
        "circuit-attribution.json": attribution_graph(model.weights, edges),
        "labels.json": labels(entry.certified, entry.dials, entry.dialled),
        "pairs.json": pairs(entry.certified, entry.dials.seed),
        CARD: _card(entry),
    }


def _card(entry: Entry) -> dict[str, Any]:
    certificate = entry.certified.certificate
    agrees = f"with its dials turned, in float32, {entry.wrong} wrong of {entry.tested}"
    if entry.trained is not None:
        agrees = (
            f"not exact: trained with fewer dimensions, right on {entry.right:.2%} of the inputs "
            "that it was not trained on; before training, 0 wrong"
        )
    return {
        "made_by": "rasp",
        "name": entry.name,
        "dials": entry.dials.to_json(),
        "certified": certificate.statement if certificate else None,
        "agrees": agrees,
        "complete": "replacing everything outside the circuit changes no answer",
        "minimal": entry.circuit.minimal,
        "files": sorted(["certified", "transformer-lens", WEIGHTS, "model.py", CARD,
                         "rotation.safetensors", TRAINED, *_NAMES]),
    }  # fmt: skip


_NAMES = ("config.json", "circuit.json", "circuit-hooks.json", "circuit-attribution.json",
          "labels.json", "pairs.json")  # fmt: skip


def _circuit_to_json(circuit: Circuit) -> list[dict[str, Any]]:
    return [edge._asdict() | {"witness": None if witness is None else {
                "tokens": [atom_to_json(token) for token in witness.tokens],
                "others": [[atom_to_json(token) for token in other] for other in witness.others],
                "places": list(witness.places)}}
            for edge, witness in circuit.witnesses.items()]  # fmt: skip


def _circuit_from_json(data: list[dict[str, Any]]) -> Circuit:
    def tokens(given: list[Any]) -> Tokens:
        return tuple(atom_from_json(token) for token in given)

    return Circuit({
        Edge(item["source"], item["target"], item["role"]): None if item["witness"] is None else
        Witness(tokens(item["witness"]["tokens"]),
                tuple(tokens(other) for other in item["witness"]["others"]),
                tuple(item["witness"]["places"]))
        for item in data
    })  # fmt: skip


def labels(certified: Transformer, dials: Dials, dialled: Dialled) -> dict[str, Any]:
    """What every dimension (before the rotation), head and hidden unit is for."""
    known = certified.description
    idle = ["idle"] * dials.heads
    units = ["idle"] * dials.units
    more = IDLE_SIZE if dials.heads or dials.units else 0
    return {
        "dimensions": [*known.dimensions, *["idle"] * more],
        "heads": [[*(known.heads[layer - 1] if layer else ()), *idle] for layer in dialled.layers],
        "hidden": [list(known.hidden[0]),
                   *([*(known.hidden[layer] if layer else ()), *units]
                     for layer in dialled.layers)],
    }  # fmt: skip


def pairs(model: Transformer, seed: int) -> list[dict[str, Any]]:
    """Inputs of one length that differ in one token and in their answers."""
    chooser = Random(f"pairs {seed}")
    ordinary = [token for token in model.settings.vocabulary if token != model.settings.bos]
    found: list[dict[str, Any]] = []
    for tokens in usable_inputs(model, 10 * PAIRS, seed + 2):
        place = chooser.randrange(len(tokens))
        other = (*tokens[:place], chooser.choice(ordinary), *tokens[place + 1 :])
        if tokens[place] == model.settings.bos or other == tokens:
            continue
        ids = np.stack([model.token_ids(list(each)) for each in (tokens, other)])
        answers = model.answers(ids)
        if any(rows[0] != rows[1] for rows in answers.values()):
            found.append({
                "clean": [atom_to_json(token) for token in tokens],
                "corrupted": [atom_to_json(token) for token in other],
                "answers": {name: [[atom_to_json(atom) for atom in row] for row in rows]
                            for name, rows in answers.items()},
            })  # fmt: skip
        if len(found) == PAIRS:
            break
    return found


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
    circuit = _circuit_from_json(read_json(place / "circuit.json", MOST_BYTES))
    wrong, tested = wrong_answers(certified, dialled.model, dials.seed)
    entry = Entry(card["name"], certified, dials, dialled, circuit, wrong, tested)
    if dials.superposition:
        arrays = from_safetensors(read_file(place / TRAINED, MOST_BYTES))
        trained = with_arrays(dialled.model, arrays)
        right = share_right(dialled.model, trained, unseen_inputs(dialled.model, dials.seed))
        entry = replace(entry, trained=trained, right=right)
    yield from _different_files(place, entry)
    yield from _untrue_circuit(entry)
    if wrong:
        yield f"{wrong} of {tested} answers are wrong"


def _different_files(place: Path, entry: Entry) -> Iterator[str]:
    for name, data in _documents(entry).items():
        if read_json(place / name, MOST_BYTES) != json.loads(json.dumps(data)):
            yield f"`{name}` is not what follows from the model, its dials and its circuit"
    expected = {
        WEIGHTS: _torch_state(entry.model),
        f"transformer-lens/{WEIGHTS}": lens_state(blocks_of(entry.model, constant=True)),
    }
    if entry.dialled.rotation is not None:
        expected["rotation.safetensors"] = {"rotation": entry.dialled.rotation}
    for name, arrays in expected.items():
        found = from_safetensors(read_file(place / name, MOST_BYTES))
        if found.keys() != arrays.keys():
            yield f"`{name}` holds other arrays"
            continue
        for array, wanted in arrays.items():
            room = CLOSE * float(np.abs(wanted).max(initial=0.0)) + 1e-12
            same = found[array].shape == wanted.shape
            if not same or np.abs(found[array] - wanted).max(initial=0.0) > room:
                yield f"`{array}` in `{name}` is another"


def _untrue_circuit(entry: Entry) -> Iterator[str]:
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
