"""The arrays of a model, by name in, put in their places out; refused where they do not fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rasp.certificate.claims import Refused
from rasp.certificate.program.tables import Array

TINY, HUGE = 2.0**-126, 2.0**126
"""What is smaller may be 0 to float32, and what is larger, added up, is infinite."""


@dataclass(frozen=True, eq=False)
class HeadArrays:
    """q = x·queryᵀ + bias, and k and v likewise; out = (attention·v)·outᵀ."""

    query: Array  # (score, model)
    query_bias: Array  # (score,)
    key: Array  # (score, model)
    key_bias: Array  # (score,)
    value: Array  # (value, model)
    value_bias: Array  # (value,)
    out: Array  # (model, value)


@dataclass(frozen=True, eq=False)
class UnitArrays:
    """x + relu(x·insideᵀ + bias)·outᵀ."""

    inside: Array  # (hidden, model)
    bias: Array  # (hidden,)
    out: Array  # (model, hidden)


@dataclass(frozen=True, eq=False)
class ReadoutArrays:
    """The score of each atom, or the number that is compared with their codes."""

    weight: Array  # (atom or 1, model)
    bias: Array


@dataclass(frozen=True, eq=False)
class Arrays:
    """Every array of a model, as float64 that float32 holds exactly."""

    tokens: Array  # (vocabulary [+ sink], model)
    positions: Array  # (length, model)
    heads: list[list[HeadArrays]]
    feed_forwards: list[UnitArrays]
    readouts: list[ReadoutArrays]


def read_arrays(
    found: Mapping[str, Array], heads_per_layer: list[int], hidden: list[int], outputs: int
) -> Arrays:
    """Put arrays in their places; each is used once, and none is left over."""
    left = {name: np.asarray(array, np.float32).astype(np.float64) for name, array in found.items()}
    sizes = [np.abs(array[array != 0]) for array in left.values()]
    if not all(((size >= TINY) & (size <= HUGE)).all() for size in sizes):
        raise Refused("a weight is no number of float32, or too large or small to be used safely")
    try:
        size = left["tokens"].shape[1]
        arrays = Arrays(
            left.pop("tokens"),
            left.pop("positions"),
            [[HeadArrays(*(left.pop(f"layer{layer}.head{number}.{name}")
                           for name in HeadArrays.__dataclass_fields__))
              for number in range(1, count + 1)]
             for layer, count in enumerate(heads_per_layer, 1)],
            [UnitArrays(*(left.pop(f"layer{layer}.feed_forward.{name}")
                          for name in UnitArrays.__dataclass_fields__)) if units else
             UnitArrays(np.zeros((0, size)), np.zeros(0), np.zeros((size, 0)))
             for layer, units in enumerate(hidden)],
            [ReadoutArrays(left.pop(f"output{number}.weight"), left.pop(f"output{number}.bias"))
             for number in range(outputs)],
        )  # fmt: skip
    except (KeyError, IndexError) as error:
        raise Refused(f"an array is missing: {error}") from None
    if left:
        raise Refused(f"an array belongs nowhere: {min(left)}")
    return arrays


def check_shapes(arrays: Arrays, vocabulary: int, length: int, hidden: list[int]) -> None:
    """Refuse arrays that do not fit together."""
    size = arrays.positions.shape[-1]
    pairs: list[tuple[Array, tuple[int, ...]]] = [
        (arrays.positions, (length, size)), (arrays.tokens[:vocabulary], (vocabulary, size)),
    ]  # fmt: skip
    for head in (head for layer in arrays.heads for head in layer):
        scores, moved = head.query_bias.size, head.value_bias.size
        pairs += [(head.query, (scores, size)), (head.query_bias, (scores,)),
                  (head.key, (scores, size)), (head.key_bias, (scores,)),
                  (head.value, (moved, size)), (head.value_bias, (moved,)),
                  (head.out, (size, moved))]  # fmt: skip
    for block, units in zip(arrays.feed_forwards, hidden, strict=True):
        pairs += [(block.inside, (units, size)), (block.bias, (units,)),
                  (block.out, (size, units))]  # fmt: skip
    for readout in arrays.readouts:
        pairs += [(readout.weight, (readout.bias.size, size)),
                  (readout.bias, (readout.bias.size,))]  # fmt: skip
    fits = all(array.shape == shape for array, shape in pairs)
    if not fits or len(arrays.tokens) > vocabulary + 1:
        raise Refused("arrays do not fit together")
