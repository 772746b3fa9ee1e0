"""A model but for its weights in, plain data out, and back: see `docs/model-format.md`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rasp.certificate import Claims, Readout, Weights
from rasp.compiler.model.certificate import Certificate
from rasp.compiler.model.describe import Words
from rasp.compiler.model.forms import from_data, read, to_data, write
from rasp.compiler.model.transformer import Transformer
from rasp.compiler.settings import Settings, read_settings
from rasp.graph.portable import graph_from_json, lines_from_json

FORMAT = 5
LABELS = ("dimensions", "heads", "hidden")


def to_json(model: Transformer) -> dict[str, Any]:
    """Everything about a model but its weights, as plain data."""
    assert model.certificate is not None
    return {
        "format": FORMAT,
        "settings": to_data(model.settings),
        "uses_sink": model.uses_sink,
        "heads_per_layer": list(model.heads_per_layer),
        "hidden_per_layer": [model.input_feed_forward, *model.hidden_per_layer],
        "parameters": model.parameter_count,
        "outputs": write(tuple[Readout, ...], model.readouts, {}),
        "labels": {part: getattr(model.description, part) for part in LABELS},
        "readers": model.description.readers,
        "circuit": model.circuit,
        "program": model.graph,
        "claims": to_data(model.claims),
        "certificate": model.certificate.to_json(),
    }


def from_json(data: dict[str, Any], weights: Weights) -> Transformer:
    """A model from its description and its weights; nothing of it is believed yet.

    What follows from the rest (labels, circuit, sizes) is not read.
    """
    settings = _checked(from_data(Settings, data["settings"]))
    outputs, names = graph_from_json(data["program"])
    words = Words(outputs, names, lines_from_json(data["program"]))
    readouts = read(tuple[Readout, ...], data["outputs"], ())
    claims = from_data(Claims, data["claims"])
    certificate = Certificate.from_json(settings, data["certificate"])
    return Transformer(settings, weights, readouts, claims, words, certificate)


def _checked(told: Settings) -> Settings:
    """Settings that a caller could have given, or an error."""
    settings = read_settings(told.vocabulary, told.max_length, told.bos, told.causal, told.sink,
                             told.heads, told.style, told.extra_feed_forwards)  # fmt: skip
    return replace(settings, next_token=told.next_token, where=told.where,
                   where_name=told.where_name)  # fmt: skip
