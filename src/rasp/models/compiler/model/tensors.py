"""Arrays in, the bytes of a safetensors file out, and back: sizes are checked against the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from rasp.base.file_reading import parse_json
from rasp.language.graph.portable import DamagedFile, broken, reading
from rasp.models.certificate import Array

LONGEST_HEADER = 16_000_000


def to_safetensors(arrays: dict[str, Array]) -> bytes:
    """Arrays as the bytes of a safetensors file, in float32."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts, start = [], 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array, dtype="<f4").tobytes()
        end = start + len(raw)
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [start, end]}
        parts.append(raw)
        start = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


@contextmanager
def reading_model(what: str) -> Iterator[None]:
    """Say that a part of a compiled model is damaged, however reading it goes wrong."""
    try:
        with reading(what):
            yield
    except DamagedFile as error:
        error.about = ("this compiled model cannot be read",)
        error.hints = ("compile it again",)
        raise


@reading_model("the weights")
def from_safetensors(raw: bytes) -> dict[str, Array]:
    """Read float32 arrays, checking every size against the file.

    Every byte belongs to one array: none is read twice, and a small file holds no large ones.
    """
    length = int.from_bytes(raw[:8], "little")
    if length > min(LONGEST_HEADER, len(raw) - 8):
        raise broken("the header of the weights")
    header = parse_json(raw[8 : 8 + length])
    header.pop("__metadata__", None)
    body, free = memoryview(raw)[8 + length :], 0
    arrays: dict[str, Array] = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        start, end = entry["data_offsets"]
        shape = [int(size) for size in entry["shape"]]
        if entry["dtype"] != "F32" or min(shape, default=0) < 0:
            raise broken("the kind of some weights")
        if start != free or end > len(body):
            raise broken("the place of some weights")
        if end - start != 4 * prod(shape):
            raise broken("the size of some weights")
        array = np.frombuffer(body[start:end], "<f4").reshape(shape)
        if not np.isfinite(array).all():
            raise broken("a weight")
        arrays[name], free = array.astype(np.float64), end
    if free != len(body):
        raise broken("the place of some weights")
    return arrays
