"""Arrays in, the bytes of a safetensors file out, and back: sizes are checked against the file."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from rasp.certificate import Array
from rasp.graph.portable import broken
from rasp.reading import parse_json

LONGEST_HEADER = 16_000_000


def to_safetensors(arrays: dict[str, Array]) -> bytes:
    """Arrays as the bytes of a safetensors file, in float32."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts, start = [], 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array, dtype="<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [start, start + len(raw)],
        }
        parts.append(raw)
        start += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def from_safetensors(raw: bytes) -> dict[str, Array]:
    """Read float32 arrays, checking every size against the file."""
    try:
        (length,) = struct.unpack("<Q", raw[:8])
        if length > min(LONGEST_HEADER, len(raw) - 8):
            raise broken("the header of the weights")
        header = parse_json(raw[8 : 8 + length])
        body = memoryview(raw)[8 + length :]
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        _check_places([entry["data_offsets"] for entry in entries.values()], len(body))
        arrays: dict[str, Array] = {}
        for name, entry in entries.items():
            shape = [int(size) for size in entry["shape"]]
            start, end = entry["data_offsets"]
            if entry["dtype"] != "F32" or min(shape, default=0) < 0:
                raise broken("the kind of some weights")
            if end - start != 4 * prod(shape):
                raise broken("the size of some weights")
            array = np.frombuffer(body[start:end], "<f4").reshape(shape)
            if not np.isfinite(array).all():
                raise broken("a weight")
            arrays[name] = array.astype(np.float64)
    except (
        struct.error, LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
        RecursionError,
    ) as error:  # fmt: skip
        raise broken("the weights") from error
    return arrays


def _check_places(places: list[list[int]], size: int) -> None:
    """Every byte belongs to one array: none is read twice, and a small file holds no large ones."""
    ordered = sorted((start, end) for start, end in places)
    if any(start > end for start, end in ordered) or any(
        end != start for (_, end), (start, _) in pairwise([(0, 0), *ordered, (size, size)])
    ):
        raise broken("the place of some weights")
