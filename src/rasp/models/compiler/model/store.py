"""A transformer in, a folder out, and back: `weights.safetensors` and `model.json`.

The weights are plain safetensors in float32. The JSON holds the vocabulary, what each output can
be, the program, and the compiler's claims about the weights, so that `verify` can check them from
the two files alone; labels, circuit and certificate follow from these. `docs/model-format.md` has
every key. A save fills a folder of its own, which then takes the place of
the older one in a single step: a kill at any moment, or another process that saves or loads the
same folder, meets one whole model.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from rasp.base.errors import RaspError, RaspValueError
from rasp.base.file_reading import (
    ABSENT,
    fingerprint,
    parse_json,
    read_file,
    read_json,
    read_of_one_folder,
)
from rasp.base.file_writing import replacing_folder, unwritable
from rasp.language.graph.portable import broken, graph_from_json, lines_from_json
from rasp.models.certificate import Array, Claims, Readout, ReadoutWeights, Weights
from rasp.models.certificate.check import MOST_LAYERS
from rasp.models.compiler.analysis.times import sublayer_name
from rasp.models.compiler.emitting.wiring import inner_parts
from rasp.models.compiler.model.certificate import Certificate
from rasp.models.compiler.model.describe import Words
from rasp.models.compiler.model.forms import from_data, read, to_data, write
from rasp.models.compiler.model.tensors import from_safetensors, reading_model, to_safetensors
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.compiler.settings import Settings, read_settings

WEIGHTS, MODEL = "weights.safetensors", "model.json"
FORMAT = 5
LABELS = ("dimensions", "heads", "hidden")
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
    weights, description = content(model)
    try:
        with replacing_folder(place, outdated=(WEIGHTS, MODEL)) as work:
            Path(work, WEIGHTS).write_bytes(weights)
            Path(work, MODEL).write_bytes(description)
    except OSError as error:
        raise unwritable(place, error) from None


def content(model: Transformer) -> tuple[bytes, bytes]:
    """What the two files of a model hold."""
    raw = to_safetensors(model.weights.arrays())
    data = to_json(model) | {"fingerprint": fingerprint(raw)}
    return raw, json.dumps(data, indent=1).encode()


def to_json(model: Transformer) -> dict[str, Any]:
    """Everything about a model but its weights, as plain data."""
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


def check_free(folder: str | Path) -> None:
    """Refuse a folder that holds files and no model: a model is not written among them.

    >>> check_free(os.path.dirname(__file__))
    Traceback (most recent call last):
    ...
    rasp.base.errors.RaspValueError: error: `...` holds `__init__.py`, and no compiled model
    hint: give a new folder, or one with an older model
    """
    place = Path(folder)
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise RaspValueError(
            f"`{folder}` is a file, and a compiled model is a folder", hint="give a new folder"
        )
    try:
        strangers = sorted(os.listdir(place))
    except OSError as error:
        raise unwritable(place, error) from None
    if strangers and not _holds_model(place):
        raise RaspValueError(
            f"`{folder}` holds `{strangers[0]}`, and no compiled model",
            hint="give a new folder, or one with an older model",
        )


def _holds_model(place: Path) -> bool:
    """Tell whether there is a model of ours, of any format."""
    with suppress(*ABSENT, RaspError):
        data = read_json(place / MODEL, LARGEST_DESCRIPTION)
        return isinstance(data, dict) and "format" in data and "fingerprint" in data
    return False


def load(folder: str | Path) -> Transformer:
    """Read a model back; its weights must be those that it was saved with.

    Nothing is proved again: `verify` does that.

    >>> import rasp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rasp.compile(rasp.length - 1, vocabulary="ab", max_length=5).save(folder)
    ...     load(folder).settings.max_length
    5
    """
    return loaded(folder)[0]


@reading_model("the description")
def loaded(folder: str | Path) -> tuple[Transformer, dict[str, Any]]:
    """A model, and the description that it was read from."""
    data, arrays = read_of_one_folder(folder, lambda: _read(folder))
    heads = data["heads_per_layer"]
    if sum(heads) > len(arrays) or len(heads) > MOST_LAYERS:
        raise broken("the number of layers or heads")
    weights = Weights.from_arrays(arrays, heads, len(data["outputs"]))
    model = _from_json(data, weights)
    _check_shapes(model)
    return model, data


def _from_json(data: dict[str, Any], weights: Weights) -> Transformer:
    """A model from its description and its weights; nothing of it is believed yet.

    What follows from the rest (labels, circuit, sizes) is not read.
    """
    told = from_data(Settings, data["settings"])
    settings = read_settings(told.vocabulary, told.max_length, told.bos, told.causal, told.sink,
                             told.heads, told.style, told.extra_feed_forwards)  # fmt: skip
    settings = replace(told, vocabulary=settings.vocabulary)
    outputs, names = graph_from_json(data["program"])
    words = Words(outputs, names, lines_from_json(data["program"]))
    readouts = read(tuple[Readout, ...], data["outputs"], ())
    claims = from_data(Claims, data["claims"])
    certificate = Certificate.from_json(settings, data["certificate"])
    return Transformer(settings, weights, readouts, claims, words, certificate)


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
    except (OSError, ValueError) as error:
        raise broken("a file") from error
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


def _weights_of(place: Path, data: dict[str, Any]) -> bytes:
    """The weights that the description was saved with."""
    raw = read_file(place / WEIGHTS, LARGEST_FILE)
    if data.get("fingerprint") != fingerprint(raw):
        raise RaspValueError(
            "this compiled model cannot be read: the weights do not match their fingerprint",
            hint="were they changed, or copied in part? compile it again",
        )
    return raw


def _check_shapes(model: Transformer) -> None:
    """Refuse a model that could not run: then every input gets an answer, right or wrong."""
    weights, settings = model.weights, model.settings
    if not weights.fit(len(settings.vocabulary) + model.uses_sink, settings.max_length):
        raise broken("the shape of some weights")
    pairs = list(zip(model.readouts, weights.readouts, strict=True))
    if not pairs or not all(_readout_fits(readout, held) for readout, held in pairs):
        raise broken("an output")
    sublayers = {"embedding", *(sublayer_name(part.time) for part in inner_parts(weights))}
    for reader in model.claims.readers:
        if reader.after not in sublayers or any(dim >= model.d_model for dim in reader.weights):
            raise broken("a claim")


def _readout_fits(readout: Readout, held: ReadoutWeights) -> bool:
    """Whether there is a score for each atom, or one number and codes in order."""
    count, codes = len(readout.atoms), readout.codes
    fits = (len(held.bias), len(codes)) == ((count, 0) if readout.scored else (1, count))
    return count > 0 and fits and all(low < high for low, high in pairwise(codes))
