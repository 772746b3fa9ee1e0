"""Tensors with a description in, a safetensors file out, and back: what is read was written so.

The file's metadata hold the description (`about`, JSON) with the checksum of each tensor, and the
checksum of the description itself. A file is read through `rasp.base.file_reading`, first its
header and then one tensor at a time; a flipped bit anywhere is noticed before a number is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from rasp.base.file_reading import file_size, fingerprint, fingerprint_of, parse_json, read_part
from rasp.base.file_writing import replacing

LONGEST_HEADER = 100_000_000
LARGEST_TENSOR = 8_000_000_000
KIND = "F32"


class Damaged(Exception):
    """A file that is not what was written."""


@dataclass(frozen=True)
class TensorFile:
    """A file whose header was read and checked."""

    path: Path
    about: dict[str, Any]
    places: Mapping[str, tuple[int, tuple[int, ...]]]
    """Where each tensor begins, and its shape."""

    def read(self, name: str) -> torch.Tensor:
        """Read one tensor, and compare its checksum."""
        if name not in self.places:
            raise Damaged(f"it holds no `{name}`")
        start, shape = self.places[name]
        raw = bytearray(read_part(self.path, start, 4 * prod(shape)))
        if self.about["checksums"].get(name) != _checksum(name, shape, raw):
            raise Damaged(f"the checksum of `{name}` is another one")
        return torch.from_numpy(np.frombuffer(raw, "<f4").reshape(shape))


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor], about: dict[str, Any]) -> None:
    """Write tensors with a description, in place of an older file or of none."""
    whole = {name: tensor.detach().float().cpu().contiguous() for name, tensor in tensors.items()}
    checksums = {
        name: _checksum(name, tuple(tensor.shape), tensor.numpy().reshape(-1).view(np.uint8).data)
        for name, tensor in whole.items()
    }
    text = json.dumps(about | {"checksums": checksums}, allow_nan=False)
    with replacing(path) as file:
        save_file(whole, file.name, {"about": text, "checksum": fingerprint(text)})


def open_tensors(path: Path) -> TensorFile:
    """Read and check a file's header; the tensors are read when they are asked for."""
    size = file_size(path)
    length = int.from_bytes(read_part(path, 0, 8), "little")
    if size < 8 or length > min(LONGEST_HEADER, size - 8):
        raise Damaged("its header is longer than the file")
    try:
        header = parse_json(read_part(path, 8, length))
        metadata = header.pop("__metadata__")
        about = parse_json(metadata["about"])
        if metadata["checksum"] != fingerprint(metadata["about"]):
            raise Damaged("the checksum of its description is another one")
        if not isinstance(about["checksums"], dict):
            raise Damaged("it has no checksums")
        places = {name: _place(entry, 8 + length) for name, entry in header.items()}
        if size != max((start + 4 * prod(shape) for start, shape in places.values()), default=0):
            raise Damaged("it is longer or shorter than its header says")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Damaged("its header says nothing that can be read") from None
    return TensorFile(path, about, places)


def _place(entry: Any, body: int) -> tuple[int, tuple[int, ...]]:
    start, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not all(type(number) is int and number >= 0 for number in (start, end, *shape)):
        raise ValueError
    if entry["dtype"] != KIND or end - start != 4 * prod(shape) or end - start > LARGEST_TENSOR:
        raise ValueError
    return body + start, shape


def _checksum(name: str, shape: tuple[int, ...], raw: bytes | bytearray | memoryview) -> str:
    return fingerprint_of((name, str(shape), raw))
