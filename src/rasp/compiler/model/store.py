"""A transformer in, a folder out, and back: `weights.safetensors` and `model.json`.

The weights are plain safetensors in float32. The JSON holds the vocabulary, what each output can
be, the program, and the compiler's claims about the weights, so that `verify` can check them from
the two files alone; labels, circuit and certificate follow from these. `docs/model-format.md` has
every key. Over an older model, the new weights wait beside the
old ones until the description, which knows them by their fingerprint, is in place: a kill at any
moment leaves the old model or the new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import randbits
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
from rasp.compiler.model.certificate import Certificate, certify, proved, run_randomly
from rasp.compiler.model.describe import Description, Words, describe
from rasp.compiler.model.setting_checks import false_setting
from rasp.compiler.model.shape_checks import check_shapes
from rasp.compiler.model.stored_claims import claims_from_json, claims_to_json
from rasp.compiler.model.tensors import from_safetensors, to_safetensors
from rasp.compiler.model.transformer import Readout, Transformer
from rasp.compiler.settings import Settings, read_settings
from rasp.errors import RaspError, RaspValueError
from rasp.graph import Node, SOp
from rasp.graph.portable import (
    atom_from_json,
    atom_to_json,
    broken,
    graph_from_json,
    graph_to_json,
    lines_from_json,
)
from rasp.reading import fingerprint, parse_json, read_file
from rasp.replacing import replace_file, unwritable

FORMAT = 3
WEIGHTS, MODEL = "weights.safetensors", "model.json"
NEXT_WEIGHTS = "weights.next.safetensors"
LARGEST_FILE = 4_000_000_000
LARGEST_DESCRIPTION = 200_000_000
"""Bytes of the two files; JSON takes ten times as much when it is read."""


def save(model: Transformer, folder: str | Path) -> None:
    """Write a model into a folder, which is made if it is not there.

    >>> import rasp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5), folder)
    ...     load(folder)("aba")
    [2, 2, 2]
    """
    place = Path(folder)
    raw = to_safetensors(model.weights.arrays())
    data = to_json(model) | {"fingerprint": fingerprint(raw)}
    try:
        place.mkdir(parents=True, exist_ok=True)
        replace_file(place / NEXT_WEIGHTS, raw)
        replace_file(place / MODEL, dump(data))
        os.replace(place / NEXT_WEIGHTS, place / WEIGHTS)
    except OSError as error:
        raise unwritable(place, error) from None


def dump(data: dict[str, Any]) -> bytes:
    """A description as the bytes of its file."""
    return json.dumps(data, indent=1).encode()


def load(folder: str | Path) -> Transformer:
    """Read a model back; its weights must be those that it was saved with.

    Nothing is proved again: `verify` does that.

    >>> import rasp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5).save(folder)
    ...     load(folder).settings.max_length
    5
    """
    return _loaded(folder)[0]


def _loaded(folder: str | Path) -> tuple[Transformer, dict[str, Any], dict[str, Array]]:
    data, arrays = _read(folder)
    try:
        weights = weights_of(arrays, data["heads_per_layer"], len(data["outputs"]))
        model = _model(data, weights)
        check_shapes(model)
        return model, data, arrays
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise broken("the description") from error


def verify(folder: str | Path, seed: int | None = None) -> Certificate:
    """Check a model again from its files alone.

    The stored claims about the stored weights are checked; nothing is compiled. Whatever else the
    folder says (labels, circuit, sizes, the statement) must be what follows from that. Then random
    inputs are tried, each time others: the certificate says with which seed.

    >>> import rasp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5).save(folder)
    ...     verify(folder).statement
    'exact for all inputs up to length 5 over this vocabulary, in float32'
    """
    model, data, arrays = _loaded(folder)
    outputs, names = graph_from_json(model.graph)
    assert model.certificate is not None
    certificate = certify(model, outputs, proved(model, outputs), model.certificate.seed)
    if not certificate.exact:
        return certificate
    lie = _lie(folder, model, data, outputs)
    if lie:
        return replace(certificate, refused=lie)
    lines = lines_from_json(model.graph)
    description = describe(model.weights, model.claims, Words(outputs, names, lines))
    fresh = Transformer(
        model.settings, model.weights, model.readouts, model.uses_sink, description, model.claims,
        graph_to_json(outputs, names, lines), certificate,
    )  # fmt: skip
    derived = parse_json(dump(to_json(fresh) | {"fingerprint": data["fingerprint"]}))
    changed = sorted(key for key in {*derived, *data} if not _are_alike(key, derived, data))
    changed += sorted(set(arrays) - set(model.weights.arrays()))
    if changed:
        return replace(certificate, refused=f"`{changed[0]}` is not what follows from the weights "
                       "and the claims")  # fmt: skip
    return run_randomly(certificate, model, outputs, randbits(32) if seed is None else seed)


def _lie(
    folder: str | Path, model: Transformer, data: dict[str, Any], outputs: dict[str, Node]
) -> str:
    """What a folder says that is no claim about the weights, and not so."""
    stored = Path(folder, WEIGHTS)
    if stored.exists() and fingerprint(read_file(stored, LARGEST_FILE)) != data["fingerprint"]:
        return (
            f"a save was interrupted: `{WEIGHTS}` is of another model, and `{NEXT_WEIGHTS}` of this"
        )
    return false_setting(model, outputs)


def _are_alike(key: str, derived: dict[str, Any], stored: dict[str, Any]) -> bool:
    """Whether a part of the description is the one that follows; margins may differ in a digit."""
    if key == "certificate" and key in stored and key in derived:
        one, other = dict(derived[key]), dict(stored[key])
        measured = [(one.pop(each, None), other.pop(each, None)) for each in ("blocks", "robust")]
        return _text(one) == _text(other) and all(_are_close(*pair) for pair in measured)
    return key in stored and key in derived and _text(derived[key]) == _text(stored[key])


def _text(data: Any) -> str:
    """JSON that tells 1 from 1.0 and from true."""
    return json.dumps(data, sort_keys=True)


def _are_close(derived: Any, stored: Any) -> bool:
    if isinstance(derived, list) and isinstance(stored, list):
        return len(derived) == len(stored) and all(map(_are_close, derived, stored))
    if isinstance(derived, dict) and isinstance(stored, dict):
        return derived.keys() == stored.keys() and all(
            _are_close(derived[key], stored[key]) for key in derived
        )
    if isinstance(derived, float) and isinstance(stored, (int, float)):
        return bool(np.isclose(derived, stored, rtol=1e-6))
    return bool(derived == stored)


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


def _model(data: dict[str, Any], weights: Weights) -> Transformer:
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


def _read(folder: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    place = Path(folder)
    try:
        data = parse_json(read_file(place / MODEL, LARGEST_DESCRIPTION))
        _check_format(data)
        raw = _weights_of(place, data)
    except NotADirectoryError:
        raise RaspValueError(
            f"`{place}` is a file, and a compiled model is a folder",
            hint="name the folder that `rasp compile … -o DIR` wrote",
        ) from None
    except FileNotFoundError as error:
        raise RaspValueError(
            f"there is no compiled model in `{place}`: "
            f"`{Path(str(error.filename)).name}` is missing",
            hint="`rasp compile … -o DIR` writes one",
        ) from None
    except RaspError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise broken("a file") from error
    if data.get("fingerprint") != fingerprint(raw):
        raise broken("the fingerprint of the weights")
    return data, from_safetensors(raw)


def _check_format(data: Any) -> None:
    """Refuse a model of another version of rasp, or none."""
    number = data.get("format") if isinstance(data, dict) else None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise broken("the format")
    if number != FORMAT:
        age = "an older" if number < FORMAT else "a newer"
        raise RaspValueError(
            f"this compiled model was saved by {age} version of rasp "
            f"(format {number}; this version reads {FORMAT})",
            hint="compile the program again with this version",
        )


def _weights_of(place: Path, data: Any) -> bytes:
    """The weights; a save that was killed at the last moment left them under their other name."""
    stored, waiting = place / WEIGHTS, place / NEXT_WEIGHTS
    raw = read_file(stored, LARGEST_FILE) if stored.exists() or not waiting.exists() else b""
    if waiting.exists() and isinstance(data, dict) and data.get("fingerprint") != fingerprint(raw):
        later = read_file(waiting, LARGEST_FILE)
        if data.get("fingerprint") == fingerprint(later):
            return later
    return raw
