"""The arrays of a model, by name in, put in their places out; refused where they do not fit.

The compiler makes its models of the same classes, so that nothing is converted on the way to the
checker or to a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.tables import Array
from rasp.models.certificate.weights.rounding import HUGE, TINY

MOST_CELLS = 40_000_000
"""How many numbers are looked at together."""


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """q = x·queryᵀ + bias, and k and v likewise; out = (attention·v)·outᵀ."""

    query: Array  # (score, model)
    query_bias: Array  # (score,)
    key: Array  # (score, model)
    key_bias: Array  # (score,)
    value: Array  # (value, model)
    value_bias: Array  # (value,)
    out: Array  # (model, value)


@dataclass(frozen=True, eq=False)
class FeedForwardWeights:
    """x + relu(x·insideᵀ + bias)·outᵀ."""

    inside: Array  # (hidden, model)
    bias: Array  # (hidden,)
    out: Array  # (model, hidden)

    @staticmethod
    def empty(size: int) -> FeedForwardWeights:
        """A feed-forward without hidden units."""
        return FeedForwardWeights(np.zeros((0, size)), np.zeros(0), np.zeros((size, 0)))


@dataclass(frozen=True, eq=False)
class ReadoutWeights:
    """The score of each atom, or the number that is compared with their codes."""

    weight: Array  # (atom or 1, model)
    bias: Array


AnyPart = TypeVar("AnyPart", HeadWeights, FeedForwardWeights, ReadoutWeights)


@dataclass(frozen=True, eq=False)
class Weights:
    """All arrays of a model, in float64; `cast` rounds them."""

    tokens: Array  # (vocabulary [+ sink], model)
    positions: Array  # (length, model)
    heads: list[list[HeadWeights]]
    feed_forwards: list[FeedForwardWeights]
    readouts: list[ReadoutWeights]

    @staticmethod
    def from_arrays(
        arrays: Mapping[str, Array], heads_per_layer: Sequence[int], outputs: int
    ) -> Weights:
        """Put arrays in their places, by the names that `arrays` gives them."""

        def part(place: str, kind: type[AnyPart]) -> AnyPart:
            return kind(*(arrays[f"{place}.{name}"] for name in kind.__dataclass_fields__))

        size = arrays["tokens"].shape[1]
        return Weights(
            arrays["tokens"], arrays["positions"],
            [[part(f"layer{layer}.head{number}", HeadWeights) for number in range(1, count + 1)]
             for layer, count in enumerate(heads_per_layer, 1)],
            [part(f"layer{layer}.feed_forward", FeedForwardWeights)
             if f"layer{layer}.feed_forward.inside" in arrays else FeedForwardWeights.empty(size)
             for layer in range(len(heads_per_layer) + 1)],
            [part(f"output{number}", ReadoutWeights) for number in range(outputs)],
        )  # fmt: skip

    def arrays(self) -> dict[str, Array]:
        """Every array by name, in the order of use."""
        arrays = {"tokens": self.tokens, "positions": self.positions}
        for layer, heads in enumerate(self.heads, 1):
            for number, head in enumerate(heads, 1):
                for name, array in vars(head).items():
                    arrays[f"layer{layer}.head{number}.{name}"] = array
        for layer, block in enumerate(self.feed_forwards):
            if block.bias.size:
                for name, array in vars(block).items():
                    arrays[f"layer{layer}.feed_forward.{name}"] = array
        for number, readout in enumerate(self.readouts):
            for name, array in vars(readout).items():
                arrays[f"output{number}.{name}"] = array
        return arrays

    def cast(self) -> Weights:
        """The same weights as float32 holds them."""
        return self.changed(lambda _, array: as_float32(array))

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

    def fit(self, rows: int, length: int) -> bool:
        """Whether all arrays have the shapes that they need, with so many tokens and positions."""
        return all(array.shape == shape for array, shape in self._shapes(rows, length))

    def _shapes(self, rows: int, length: int) -> Iterator[tuple[Array, tuple[int, ...]]]:
        """Each array with the shape that it needs."""
        size = self.positions.shape[-1]
        yield from ((self.tokens, (rows, size)), (self.positions, (length, size)))
        for head in (head for layer in self.heads for head in layer):
            scores, moved = head.query_bias.size, head.value_bias.size
            yield from ((head.query, (scores, size)), (head.query_bias, (scores,)),
                        (head.key, (scores, size)), (head.key_bias, (scores,)),
                        (head.value, (moved, size)), (head.value_bias, (moved,)),
                        (head.out, (size, moved)))  # fmt: skip
        for block in self.feed_forwards:
            units = block.bias.size
            yield from ((block.inside, (units, size)), (block.bias, (units,)),
                        (block.out, (size, units)))  # fmt: skip
        for readout in self.readouts:
            yield from ((readout.weight, (readout.bias.size, size)),
                        (readout.bias, (readout.bias.size,)))  # fmt: skip

    @property
    def parameter_count(self) -> int:
        return sum(array.size for array in self.arrays().values())


def batches(count: int, cells: int, most: int) -> Iterator[slice]:
    """Slices of so many rows, which have so many cells each, of `most` cells or of one row."""
    at_once = max(1, most // max(1, cells))
    return (slice(first, first + at_once) for first in range(0, count, at_once))


def check_cells(*counts: int) -> None:
    """Refuse a table of so many rows, columns and so on, before there is room for it."""
    if prod(counts) > MOST_CELLS:
        raise Refused("a table is too large to check")


def as_float32(array: Array) -> Array:
    """The numbers as float32 holds them, in an array of float64."""
    return np.asarray(array, np.float32).astype(np.float64)


def read_weights(arrays: Mapping[str, Array], heads_per_layer: list[int], outputs: int) -> Weights:
    """Put arrays in their places, as float32 holds them; each is used once, and none is left."""
    held = {name: as_float32(array) for name, array in arrays.items()}
    sizes = [np.abs(array[array != 0]) for array in held.values()]
    if not all(((size >= TINY) & (size <= HUGE)).all() for size in sizes):
        raise Refused("a weight is not a float32 number, or too large or small to be used safely")
    try:
        weights = Weights.from_arrays(held, heads_per_layer, outputs)
    except (KeyError, IndexError) as error:
        raise Refused(f"an array is missing: {error}") from None
    left = held.keys() - weights.arrays().keys()
    if left:
        raise Refused(f"an array belongs nowhere: {min(left)}")
    return weights
