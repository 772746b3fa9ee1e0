"""The arrays of a model: embedding tables, attention matrices, feed-forwards, read-outs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

Array = np.ndarray


@dataclass(eq=False)
class HeadWeights:
    """q = x·queryᵀ + bias, and k and v likewise; out = (attention·v)·outᵀ."""

    query: Array  # (score, model)
    query_bias: Array  # (score,)
    key: Array  # (score, model)
    key_bias: Array  # (score,)
    value: Array  # (value, model)
    value_bias: Array  # (value,)
    out: Array  # (model, value)


@dataclass(eq=False)
class FeedForwardWeights:
    """x + relu(x·insideᵀ + bias)·outᵀ."""

    inside: Array  # (hidden, model)
    bias: Array  # (hidden,)
    out: Array  # (model, hidden)


@dataclass(eq=False)
class ReadoutWeights:
    """The score of each atom, or (where there are very many) the number itself."""

    weight: Array  # (atom or 1, model)
    bias: Array


AnyPart = TypeVar("AnyPart", HeadWeights, FeedForwardWeights, ReadoutWeights)


@dataclass(eq=False)
class Weights:
    """All arrays of a model, in float64; `cast` rounds them."""

    tokens: Array  # (vocabulary [+ sink], model)
    positions: Array  # (length, model)
    heads: list[list[HeadWeights]]
    feed_forwards: list[FeedForwardWeights]
    readouts: list[ReadoutWeights] = field(default_factory=list)

    def arrays(self) -> dict[str, Array]:
        """Every array by name, in the order of use."""
        found = {"tokens": self.tokens, "positions": self.positions}
        for layer, heads in enumerate(self.heads, 1):
            for number, head in enumerate(heads, 1):
                for name, array in vars(head).items():
                    found[f"layer{layer}.head{number}.{name}"] = array
        for layer, block in enumerate(self.feed_forwards):
            if block.bias.size:
                for name, array in vars(block).items():
                    found[f"layer{layer}.feed_forward.{name}"] = array
        for number, readout in enumerate(self.readouts):
            for name, array in vars(readout).items():
                found[f"output{number}.{name}"] = array
        return found

    def cast(self) -> Weights:
        """The same weights as float32 holds them (in arrays of float64)."""

        return self.changed(lambda _, array: np.asarray(array, np.float32).astype(np.float64))

    def changed(self, change: Callable[[str, Array], Array]) -> Weights:
        """The same parts with other arrays; `change` gets the name of an array in its part, too."""

        def part(old: AnyPart) -> AnyPart:
            return type(old)(**{name: change(name, array) for name, array in vars(old).items()})

        return Weights(
            change("tokens", self.tokens), change("positions", self.positions),
            [[part(head) for head in layer] for layer in self.heads],
            [part(block) for block in self.feed_forwards],
            [part(readout) for readout in self.readouts],
        )  # fmt: skip

    @property
    def parameter_count(self) -> int:
        return sum(array.size for array in self.arrays().values())
