"""Weights in; which dimensions of the residual stream each part writes, and reads as what, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from rasp.certificate import Array, Weights

ROLES = ("query", "key", "value")


class ModelPart(NamedTuple):
    """A head, a feed-forward, or an end of the model."""

    name: str
    time: int
    """When it reads: at 2 · layer, a head 1 before. It reads what parts of earlier times wrote."""
    written: Array  # (dimension,)
    read: Mapping[str, Array]
    """For each role, (dimension,) whether it reads; what scores nothing reads nothing."""

    def follows(self, other: ModelPart) -> bool:
        return other.time < self.time


def head_name(layer: int, number: int) -> str:
    return f"layer{layer}.head{number}"


def feed_forward_name(layer: int) -> str:
    return f"layer{layer}.feed_forward"


def inner_parts(weights: Weights) -> Iterator[ModelPart]:
    """The heads and feed-forwards of a model, in order."""
    for layer, block in enumerate(weights.feed_forwards):
        for number, head in enumerate(weights.heads[layer - 1] if layer else [], 1):
            read = {role: used(getattr(head, role)) for role in ROLES}
            yield ModelPart(head_name(layer, number), 2 * layer - 1, used(head.out.T), read)
        if block.bias.size:
            read = {"input": used(block.inside)}
            yield ModelPart(feed_forward_name(layer), 2 * layer, used(block.out.T), read)


def used(array: Array) -> Array:
    """(…, dimension): which dimensions hold anything but 0."""
    return np.asarray(array.any(axis=0))


def last_time(weights: Weights) -> int:
    """When outputs are read."""
    return 2 * len(weights.feed_forwards)
