"""Files of arrays: what is written comes back, and what no writer wrote is refused."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from rasp.base.errors import RaspValueError
from rasp.models.compiler.model.tensors import from_safetensors, to_safetensors


def file_with(header: object, body: bytes = b"\0" * 8) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def entry(shape: object, start: object, end: object, kind: str = "F32") -> dict[str, object]:
    return {"dtype": kind, "shape": shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(
    "header",
    [
        [], {"a": []}, {"a": {}}, {"a": entry([2], 0, 8, "F64")}, {"a": entry([-2], 0, 8)},
        {"a": entry([2], 0, 16)}, {"a": entry([2], 8, 0)}, {"a": entry([3], 0, 8)},
        {"a": entry([1 << 40, 1 << 40], 0, 8)}, {"a": entry([2], -8, 0)},
        {"a": entry([2], 0, 8), "b": entry([2], 0, 8)}, {"a": entry(["x"], 0, 8)},
        {"a": entry([2], 0.0, 8.0)}, {"a": entry(None, 0, 8)}, {"a": entry([1], 0, 4)},
        {"a": entry([1], 4, 8)}, {}, {"a": entry([1], 0, 4), "b": entry([2], 0, 8)},
    ],
)  # fmt: skip
def test_arrays_must_lie_in_the_file_each_in_its_own_place(header: object) -> None:
    with pytest.raises(RaspValueError, match="damaged"):
        from_safetensors(file_with(header))


def test_an_array_that_is_there_twice_is_refused() -> None:
    one, other = json.dumps(entry([1], 0, 4)), json.dumps(entry([1], 4, 8))
    text = f'{{"a": {one}, "a": {other}}}'.encode()
    with pytest.raises(RaspValueError, match="damaged"):
        from_safetensors(struct.pack("<Q", len(text)) + text + b"\0" * 8)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_are_numbers(number: float) -> None:
    body = struct.pack("<2f", 1.0, number)
    with pytest.raises(RaspValueError, match="a weight in it is damaged"):
        from_safetensors(file_with({"a": entry([2], 0, 8)}, body))


def test_arrays_survive_a_file_whatever_their_shape() -> None:
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.zeros((0, 4)), "c": np.array(7.0)}
    found = from_safetensors(to_safetensors(arrays))
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())


# -- the program in the description -----------------------------------------------------------
