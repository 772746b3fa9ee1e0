"""Weights in; which dimensions of the residual stream each part writes, and reads as what, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from rasp.models.certificate import Array, Weights
from rasp.models.compiler.analysis.times import attention_time, feed_forward_time

ROLES = ("query", "key", "value")


class ModelPart(NamedTuple):
    """A head, a feed-forward, or an end of the model."""

    name: str
    time: int
    """When it reads and writes: see `analysis.times`."""
    written: Array  # (dimension,)
    read: Mapping[str, Array]
    """For each role, (dimension,) whether it reads; what scores nothing reads nothing."""
    head: int | None = None
    """The place of a head in its layer, from 0."""

    def follows(self, other: ModelPart) -> bool:
        return other.time < self.time


def head_name(layer: int, number: int) -> str:
    return f"layer{layer}.head{number}"


def feed_forward_name(layer: int) -> str:
    return f"layer{layer}.feed_forward"


def inner_parts(weights: Weights) -> Iterator[ModelPart]:
    """The heads and feed-forwards of a model, in order."""
    for layer, block in enumerate(weights.feed_forwards):
        for place, head in enumerate(weights.heads[layer - 1] if layer else []):
            read = {role: used(getattr(head, role)) for role in ROLES}
            name, time = head_name(layer, place + 1), attention_time(layer)
            yield ModelPart(name, time, used(head.out.T), read, place)
        if block.bias.size:
            read = {"input": used(block.inside)}
            yield ModelPart(
                feed_forward_name(layer), feed_forward_time(layer), used(block.out.T), read
            )


def used(array: Array) -> Array:
    """(…, dimension): which dimensions hold anything but 0."""
    return np.asarray(array.any(axis=0))
