"""A model but for its weights in, plain data out, and back: see `docs/model-format.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.emitting.weights import (
    AnyPart,
    Array,
    FeedForwardWeights,
    HeadWeights,
    ReadoutWeights,
    Weights,
)
from rasp.compiler.model.certificate import Certificate
from rasp.compiler.model.describe import Description
from rasp.compiler.model.stored_claims import claims_from_json, claims_to_json
from rasp.compiler.model.transformer import Readout, Transformer
from rasp.compiler.settings import Settings, read_settings
from rasp.graph import SOp
from rasp.graph.portable import (
    atom_from_json,
    atom_to_json,
    broken,
    graph_from_json,
    graph_to_json,
)

FORMAT = 3


def to_json(model: Transformer) -> dict[str, Any]:
    """Everything about a model but its weights, as plain data."""
    settings, certificate = model.settings, model.certificate
    assert certificate is not None
    return {
        "format": FORMAT,
        "settings": {
            "vocabulary": [atom_to_json(token) for token in settings.vocabulary],
            "max_length": settings.max_length,
            "bos": None if settings.bos is None else atom_to_json(settings.bos),
            "causal": settings.causal,
            "sink": settings.sink,
            "heads": settings.heads,
        }
        | _more_settings(settings),
        "uses_sink": model.uses_sink,
        "heads_per_layer": list(model.heads_per_layer),
        "hidden_per_layer": [model.input_feed_forward, *model.hidden_per_layer],
        "parameters": model.parameter_count,
        "outputs": [
            {
                "name": readout.name,
                "atoms": [atom_to_json(atom) for atom in readout.atoms],
                "codes": list(readout.codes),
                "scored": readout.scored,
            }
            for readout in model.readouts
        ],
        "labels": {
            "dimensions": model.description.dimensions,
            "heads": model.description.heads,
            "hidden": model.description.hidden,
        },
        "readers": model.description.readers,
        "circuit": model.circuit,
        "program": model.graph,
        "claims": claims_to_json(model.claims),
        "certificate": certificate.to_json(),
    }


def _more_settings(settings: Settings) -> dict[str, Any]:
    """Those that most models have not."""
    found: dict[str, Any] = {"next_token": True} if settings.next_token else {}
    if settings.style != "compact":
        found["style"] = settings.style
    if settings.extra_feed_forwards:
        found["extra_feed_forwards"] = settings.extra_feed_forwards
    if settings.where is not None:
        found["where"] = graph_to_json({settings.where_name: settings.where}, {})
    return found


def from_json(data: dict[str, Any], weights: Weights) -> Transformer:
    """A model from its description and its weights; nothing of it is believed yet."""
    labels = data["labels"]
    readouts = tuple(
        Readout(
            str(each["name"]),
            tuple(atom_from_json(atom) for atom in each["atoms"]),
            tuple(float(code) for code in each["codes"]),
            bool(each["scored"]),
        )
        for each in data["outputs"]
    )
    description = Description(
        tuple(labels["dimensions"]),
        tuple(map(tuple, labels["heads"])),
        tuple(map(tuple, labels["hidden"])),
        data["circuit"],
        tuple(data["readers"]),
    )
    settings = _settings(data["settings"])
    claims = claims_from_json(data["claims"])
    certificate = Certificate.from_json(settings, data["certificate"])
    return Transformer(settings, weights, readouts, bool(data["uses_sink"]), description, claims,
                       data["program"], certificate)  # fmt: skip


def _settings(data: dict[str, Any]) -> Settings:
    bos: Atom | None = None if data["bos"] is None else atom_from_json(data["bos"])
    vocabulary = [atom_from_json(token) for token in data["vocabulary"]]
    settings = read_settings(
        vocabulary, data["max_length"], bos, bool(data["causal"]), bool(data["sink"]),
        str(data["heads"]), str(data.get("style", "compact")),
    )  # fmt: skip
    settings = replace(settings, next_token=bool(data.get("next_token")),
                       extra_feed_forwards=int(data.get("extra_feed_forwards", 0)))  # fmt: skip
    if data.get("where") is None:
        return settings
    ((name, where),) = graph_from_json(data["where"])[0].items()
    if not isinstance(where, SOp):
        raise broken("the promise")
    return replace(settings, where=where, where_name=name)


def weights_of(
    arrays: Mapping[str, Array], heads_per_layer: Sequence[int], outputs: int
) -> Weights:
    """Put arrays together by name; there are no more heads than arrays."""
    size = arrays["tokens"].shape[1]
    if sum(heads_per_layer) > len(arrays):
        raise broken("the number of heads")

    def named(part: str, kind: type[AnyPart]) -> AnyPart:
        return kind(*(arrays[f"{part}.{name}"] for name in kind.__dataclass_fields__))

    heads = [
        [named(f"layer{layer}.head{number}", HeadWeights) for number in range(1, count + 1)]
        for layer, count in enumerate(heads_per_layer, 1)
    ]
    empty = FeedForwardWeights(np.zeros((0, size)), np.zeros(0), np.zeros((size, 0)))
    blocks = [
        named(f"layer{layer}.feed_forward", FeedForwardWeights)
        if f"layer{layer}.feed_forward.inside" in arrays
        else empty
        for layer in range(len(heads) + 1)
    ]
    readouts = [named(f"output{number}", ReadoutWeights) for number in range(outputs)]
    return Weights(arrays["tokens"], arrays["positions"], heads, blocks, readouts)
