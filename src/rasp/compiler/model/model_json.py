"""A model but for its weights in, plain data out, and back: see `docs/model-format.md`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rasp.certificate import Readout, Weights
from rasp.compiler.model.certificate import Certificate
from rasp.compiler.model.describe import Words
from rasp.compiler.model.forms import ATOM, NUMBER, TEXT, TRUTH, WHOLE, listed, optional, record
from rasp.compiler.model.stored_claims import claims_from_json, claims_to_json
from rasp.compiler.model.transformer import Transformer
from rasp.compiler.settings import Settings, read_settings
from rasp.graph import SOp
from rasp.graph.portable import broken, graph_from_json, graph_to_json, lines_from_json

FORMAT = 4
LABELS = ("dimensions", "heads", "hidden")


def _settings(style: str = "compact", next_token: bool = False, **others: Any) -> Settings:
    return replace(read_settings(style=style, **others), next_token=next_token)


SETTINGS = record(
    _settings, vocabulary=listed(ATOM), max_length=WHOLE, bos=optional(ATOM), causal=TRUTH,
    sink=TRUTH, heads=TEXT, style=TEXT.unless("compact"), extra_feed_forwards=WHOLE.unless(0),
    next_token=TRUTH.unless(False),
)  # fmt: skip
READOUTS = listed(
    record(Readout, name=TEXT, atoms=listed(ATOM), codes=listed(NUMBER), scored=TRUTH)
)


def to_json(model: Transformer) -> dict[str, Any]:
    """Everything about a model but its weights, as plain data."""
    assert model.certificate is not None
    return {
        "format": FORMAT,
        "settings": _settings_to_json(model.settings),
        "uses_sink": model.uses_sink,
        "heads_per_layer": list(model.heads_per_layer),
        "hidden_per_layer": [model.input_feed_forward, *model.hidden_per_layer],
        "parameters": model.parameter_count,
        "outputs": READOUTS.write(model.readouts),
        "labels": {part: getattr(model.description, part) for part in LABELS},
        "readers": model.description.readers,
        "circuit": model.circuit,
        "program": model.graph,
        "claims": claims_to_json(model.claims),
        "certificate": model.certificate.to_json(),
    }


def from_json(data: dict[str, Any], weights: Weights) -> Transformer:
    """A model from its description and its weights; nothing of it is believed yet.

    What follows from the rest (labels, circuit, sizes) is not read.
    """
    settings = _settings_from_json(data["settings"])
    outputs, names = graph_from_json(data["program"])
    words = Words(outputs, names, lines_from_json(data["program"]))
    return Transformer(
        settings, weights, READOUTS.read(data["outputs"]), claims_from_json(data["claims"]), words,
        Certificate.from_json(settings, data["certificate"]),
    )  # fmt: skip


def _settings_to_json(settings: Settings) -> dict[str, Any]:
    data = dict(SETTINGS.write(settings))
    if settings.where is not None:
        data["where"] = graph_to_json({settings.where_name: settings.where}, {})
    return data


def _settings_from_json(data: dict[str, Any]) -> Settings:
    settings = SETTINGS.read(data)
    if "where" not in data:
        return settings
    ((name, where),) = graph_from_json(data["where"])[0].items()
    if not isinstance(where, SOp):
        raise broken("the promise")
    return replace(settings, where=where, where_name=name)
