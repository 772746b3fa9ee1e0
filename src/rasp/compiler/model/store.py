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
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from rasp.certificate import Array, Readout, ReadoutWeights, Weights
from rasp.certificate.check import MOST_LAYERS
from rasp.compiler.model.model_json import FORMAT, from_json, to_json
from rasp.compiler.model.tensors import from_safetensors, to_safetensors
from rasp.compiler.model.transformer import Transformer
from rasp.compiler.model.wiring import feed_forward_name
from rasp.errors import RaspError, RaspValueError
from rasp.graph.portable import broken, reading
from rasp.reading import ABSENT, fingerprint, parse_json, read_file, read_json
from rasp.replacing import replace_file, unwritable

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


def check_free(folder: str | Path) -> None:
    """Refuse a folder that holds files and no model: a model is not written among them.

    >>> check_free(os.path.dirname(__file__))
    Traceback (most recent call last):
    ...
    rasp.errors.RaspValueError: error: `...` holds `__init__.py`, and no compiled model
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
        strangers = sorted(set(os.listdir(place)) - {NEXT_WEIGHTS})
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
    return loaded(folder)[0]


@reading("the description")
def loaded(folder: str | Path) -> tuple[Transformer, dict[str, Any]]:
    """A model, and the description that it was read from."""
    data, arrays = _read(folder)
    heads = data["heads_per_layer"]
    if sum(heads) > len(arrays) or len(heads) > MOST_LAYERS:
        raise broken("the number of layers or heads")
    weights = Weights.from_arrays(arrays, heads, len(data["outputs"]))
    model = from_json(data, weights)
    _check_shapes(model)
    return model, data


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
    """The weights; a save that was killed at the last moment left them under their other name."""
    names = [name for name in (WEIGHTS, NEXT_WEIGHTS) if (place / name).exists()] or [WEIGHTS]
    for name in names:
        raw = read_file(place / name, LARGEST_FILE)
        if data.get("fingerprint") == fingerprint(raw):
            return raw
    raise RaspValueError(
        "this compiled model cannot be read: the weights do not match their fingerprint",
        hint="were they changed, or copied in part? compile it again",
    )


def _check_shapes(model: Transformer) -> None:
    """Refuse a model that could not run: then every input gets an answer, right or wrong."""
    weights, settings = model.weights, model.settings
    if not weights.fit(len(settings.vocabulary) + model.uses_sink, settings.max_length):
        raise broken("the shape of some weights")
    pairs = list(zip(model.readouts, weights.readouts, strict=True))
    if not pairs or not all(_readout_fits(readout, held) for readout, held in pairs):
        raise broken("an output")
    layers = range(1, len(weights.heads) + 1)
    sublayers = {"embedding", *(f"layer{layer}.attention" for layer in layers)}
    sublayers |= {feed_forward_name(layer) for layer, block in enumerate(weights.feed_forwards)
                  if block.bias.size}  # fmt: skip
    for reader in model.claims.readers:
        if reader.after not in sublayers or any(dim >= model.d_model for dim in reader.weights):
            raise broken("a claim")


def _readout_fits(readout: Readout, held: ReadoutWeights) -> bool:
    """Whether there is a score for each atom, or one number and codes in order."""
    count = len(readout.atoms)
    scores, codes = (count, 0) if readout.scored else (1, count)
    return (
        count > 0
        and len(readout.codes) == codes
        and all(low < high for low, high in pairwise(readout.codes))
        and len(held.bias) == scores
    )
