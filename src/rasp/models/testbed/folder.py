"""One model of a test bed in, a folder out.

The folder holds the certified model as it was compiled (`certified/`), the model with its dials
turned for several libraries (`exports`), and the truth about it: the circuit in three formats, with
a witness for each edge, labels, pairs of inputs, the rotation. No file needs Python to be read.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from rasp.insight.equivalence.answering import Input
from rasp.language.graph.portable import atom_from_json, atom_to_json
from rasp.models.compiler.model.tensors import to_safetensors
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export.card import usage
from rasp.models.export.folders import writing
from rasp.models.testbed import exports
from rasp.models.testbed.dials import IDLE_SIZE, Dialled, Dials, turned
from rasp.models.testbed.edges import (
    Edge,
    Names,
    all_edges,
    allowed_edges,
    attribution_graph,
    hook_pairs,
)
from rasp.models.testbed.exports import Arrays, Documents
from rasp.models.testbed.superposition import superposed
from rasp.models.testbed.truth import (
    Circuit,
    Laboratory,
    Witness,
    different_answers,
    find_circuit,
    usable_inputs,
)

CARD, TRAINED, ROTATION = "testbed.json", "trained.safetensors", "rotation.safetensors"
PAIRS = 40
ATTEMPTS = 3
TESTED = 1000
"""Inputs that the model with its dials turned is compared with the program on."""


@dataclass(frozen=True)
class StudyModel:
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


def make(name: str, certified: Transformer, dials: Dials) -> StudyModel:
    """Turn the dials and find the circuit."""
    dialled = turned(certified, dials)
    circuit, complete = true_circuit(dialled, dials.seed)
    wrong, tested = wrong_answers(certified, dialled.model, dials.seed)
    entry = StudyModel(name, certified, dials, dialled, circuit, wrong, tested, complete)
    if not dials.superposition or wrong:
        return entry
    smaller = superposed(dialled.model, dials.superposition, dials.seed)
    return replace(entry, trained=smaller.model, right=smaller.right)


def true_circuit(dialled: Dialled, seed: int) -> tuple[Circuit, bool]:
    """The circuit, looked for on more inputs until nothing is missing on others."""
    everything, allowed = all_edges(dialled.model.weights), allowed_edges(dialled.readable)
    witnesses: dict[Edge, Witness | None] = {}
    for attempt in range(ATTEMPTS):
        laboratory = Laboratory(dialled.model, seed + 100 * attempt)
        of_trained = find_circuit(laboratory, allowed, everything).witnesses
        witnesses = of_trained | {edge: witness for edge, witness in witnesses.items() if witness}
        outside = [edge for edge in everything if edge not in witnesses]
        if not Laboratory(dialled.model, seed + 3).share_changed(outside):
            break
    else:
        return Circuit(witnesses), False
    return Circuit({edge: witnesses[edge] for edge in allowed if edge in witnesses}), True


def wrong_answers(certified: Transformer, model: Transformer, seed: int) -> tuple[int, int]:
    """On how many random inputs a model answers otherwise than the certified one, in float32."""
    inputs = usable_inputs(certified, TESTED, seed + 1)
    return different_answers(certified, model, inputs), len(inputs)


def write(entry: StudyModel, folder: Path) -> None:
    """Write a model and all that is known of it; the folder appears when it is complete."""
    documents, arrays = contents(entry)
    with writing(folder, CARD) as place:
        entry.certified.save(place / "certified")
        for name in (exports.LENS, exports.HUGGING_FACE):
            (place / name).mkdir()
        for name, data in documents.items():
            (place / name).write_text(json.dumps(data, ensure_ascii=False, indent=1),
                                      encoding="utf-8")  # fmt: skip
        for name, state in arrays.items():
            (place / name).write_bytes(to_safetensors(state))
        exports.copy_modules(place)


def contents(entry: StudyModel) -> tuple[Documents, Arrays]:
    """Every JSON file and every file of arrays, by its place in the folder."""
    model, edges = entry.model, entry.circuit.edges
    documents, arrays = exports.exported(model)
    documents |= {
        "circuit.json": circuit_to_json(entry.circuit),
        "circuit-hooks.json": hook_pairs(Names(model.weights), edges),
        "circuit-attribution.json": attribution_graph(model.weights, edges),
        "labels.json": labels(entry.certified, entry.dials, entry.dialled),
        "pairs.json": pairs(entry.certified, entry.dials.seed),
    }
    if entry.trained is not None:
        arrays[TRAINED] = entry.trained.weights.arrays()
    if entry.dialled.rotation is not None:
        arrays[ROTATION] = {"rotation": entry.dialled.rotation}
    names = {name.split("/")[0] for name in (*documents, *arrays, *exports.MODULES)}
    documents[CARD] = _card(entry) | {"files": sorted(names | {"certified", CARD})}
    return documents, arrays


def _card(entry: StudyModel) -> dict[str, Any]:
    certificate = entry.certified.proof
    agrees = f"with its dials turned, in float32, {entry.wrong} wrong of {entry.tested}"
    if entry.trained is not None:
        agrees = (
            f"not exact: trained with {entry.model.d_model} of {entry.dialled.model.d_model} "
            f"dimensions, right on {entry.right:.2%} of the inputs that it was not trained on"
        )
    return {
        "made_by": "rasp",
        "name": entry.name,
        "dials": asdict(entry.dials),
        "certified": certificate.statement if certificate else None,
        "agrees": agrees,
        "complete": "replacing everything outside the circuit changes no answer",
        "minimal": entry.circuit.minimal,
        "d_model": entry.model.d_model,
        "tested": entry.tested,
        "right": round(entry.right, 4),
    } | usage(entry.model)


def circuit_to_json(circuit: Circuit) -> list[dict[str, Any]]:
    return [edge._asdict() | {"witness": None if witness is None else {
                "tokens": [atom_to_json(token) for token in witness.tokens],
                "others": [[atom_to_json(token) for token in other] for other in witness.others],
                "places": list(witness.places)}}
            for edge, witness in circuit.witnesses.items()]  # fmt: skip


def circuit_from_json(data: list[dict[str, Any]]) -> Circuit:
    def tokens(given: list[Any]) -> Input:
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
    described = certified.description
    idle = ["idle"] * dials.heads
    units = ["idle"] * dials.units
    more = IDLE_SIZE if dials.heads or dials.units else 0
    return {
        "dimensions": [*described.dimensions, *["idle"] * more],
        "heads": [[*(described.heads[layer - 1] if layer else ()), *idle]
                  for layer in dialled.layers],
        "hidden": [list(described.hidden[0]),
                   *([*(described.hidden[layer] if layer else ()), *units]
                     for layer in dialled.layers)],
    }  # fmt: skip


def pairs(model: Transformer, seed: int) -> list[dict[str, Any]]:
    """Inputs of one length that differ in one token and in their answers."""
    chooser = Random(f"pairs {seed}")
    ordinary = [token for token in model.settings.vocabulary if token != model.settings.bos]
    listed: list[dict[str, Any]] = []
    for tokens in usable_inputs(model, 10 * PAIRS, seed + 2):
        place = chooser.randrange(len(tokens))
        other = (*tokens[:place], chooser.choice(ordinary), *tokens[place + 1 :])
        if tokens[place] == model.settings.bos or other == tokens:
            continue
        ids = np.stack([model.token_ids(list(given)) for given in (tokens, other)])
        answers = model.answers(ids)
        if any(rows[0] != rows[1] for rows in answers.values()):
            listed.append({
                "clean": [atom_to_json(token) for token in tokens],
                "corrupted": [atom_to_json(token) for token in other],
                "answers": {name: [[atom_to_json(atom) for atom in row] for row in rows]
                            for name, rows in answers.items()},
            })  # fmt: skip
        if len(listed) == PAIRS:
            break
    return listed
