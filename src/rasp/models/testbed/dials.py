"""A compiled model and dials in, a model that answers alike and is harder to read out.

Idle heads and units read the whole stream and write to dimensions of their own, which no other
part reads. Empty layers are put between the others. Both leave every answer as it is, exactly.
A rotation mixes all dimensions, so that none has a meaning alone; in exact arithmetic nothing
changes. Noise is added to every weight, in proportion to the size of its array.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from rasp.base.errors import RaspValueError
from rasp.models.certificate import Array, FeedForwardWeights, HeadWeights, Weights
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export.standard_stack import wider

READERS = ("query", "key", "value", "inside", "weight")
"""The arrays through which parts read the stream."""
IDLE_SIZE = 4
"""Dimensions of an idle head, and those that each layer's idle parts write to."""


@dataclass(frozen=True)
class Dials:
    """How hard a model is to read; all at 0 is the compiled model itself."""

    heads: int = 0
    """Idle heads in each layer that has heads."""
    units: int = 0
    """Idle hidden units in each feed-forward."""
    layers: int = 0
    """Layers without heads and hidden units, or with idle ones only."""
    rotation: bool = False
    noise: float = 0.0
    """Standard deviation of the noise on a weight, relative to the size of its array."""
    superposition: float = 0.0
    """The share of dimensions that is left out: 0.5 leaves half of them."""
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.heads, self.units, self.layers, self.seed) < 0 or not 0 <= self.noise < 1:
            raise RaspValueError(
                "a dial is a number from 0 on", hint="for example `noise=0.001` or `heads=2`"
            )
        if not 0 <= self.superposition < 1:
            raise RaspValueError(
                "`superposition` is the share of dimensions that is left out",
                hint="for example `superposition=0.5`",
            )

    @property
    def name(self) -> str:
        """The dials that are not at 0, in a form that file names bear."""
        turned = [
            field.name if value is True else f"{field.name}-{value:g}"
            for field in fields(self)
            if field.name != "seed" and (value := getattr(self, field.name))
        ]
        return "+".join(turned) or "plain"


@dataclass(frozen=True, eq=False)
class Dialled:
    """A model, and what its dials did to it."""

    model: Transformer
    readable: Weights
    """The weights without idle parts, rotation and noise: there, 0 means no connection."""
    rotation: Array | None
    layers: tuple[int | None, ...]
    """For each layer from 1, which layer of the compiled model it was."""


def read_dials(text: str) -> Dials:
    """Dials as one writes them: `rotation,noise=0.001,heads=2`.

    >>> read_dials("rotation,heads=2").name
    'heads-2+rotation'
    """
    kinds: dict[str, Any] = asdict(Dials())
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in kinds:
            raise RaspValueError(
                f"there is no dial `{name}`", hint=f"the dials are {', '.join(kinds)}"
            )
        try:
            given[name] = True if kinds[name] is False else type(kinds[name])(value or 1)
        except ValueError:
            raise RaspValueError(
                f"the dial `{name}` takes a number, not `{value}`", hint=f"for example `{name}=1`"
            ) from None
    return Dials(**given)


def turned(model: Transformer, dials: Dials) -> Dialled:
    """Turn every dial but superposition, which is trained (see `superposition`)."""
    chooser = np.random.default_rng([dials.seed, 17])
    weights, layers = _with_layers(model.weights, dials.layers, chooser)
    readable = weights.cast()
    if dials.heads or dials.units:
        weights = _with_idle_parts(weights, dials, chooser)
    rotation = None
    if dials.rotation:
        size = weights.tokens.shape[1]
        rotation, corner = np.linalg.qr(chooser.normal(size=(size, size)))
        rotation = rotation * np.sign(np.diag(corner))
        weights = rotated(weights, rotation)
    if dials.noise:
        weights = _noisy(weights, dials.noise, chooser)
    changed = replace(model, weights=weights.cast(), proof=None)
    return Dialled(changed, readable, rotation, tuple(layers))


def rotated(weights: Weights, rotation: Array, back: Array | None = None) -> Weights:
    """The same model with x·rotation in place of every x; `rotation` has orthonormal rows.

    What is written to the stream is multiplied by it, and what reads undoes it: with x' = x·R,
    x'·(W·R)ᵀ = x·R·Rᵀ·Wᵀ = x·Wᵀ. Where R is not a rotation, readers multiply by `back` instead.
    """
    reading = rotation if back is None else back

    def change(name: str, array: Array) -> Array:
        if name in ("tokens", "positions"):
            return np.asarray(array @ rotation)
        if name == "out":
            return np.asarray(rotation.T @ array)
        return array @ reading if name in READERS else array

    return weights.changed(change)


def _with_layers(
    weights: Weights, count: int, chooser: np.random.Generator
) -> tuple[Weights, list[int | None]]:
    """Put empty layers at random places, after the feed-forward before the first layer."""
    size = weights.tokens.shape[1]
    heads, blocks = list(weights.heads), list(weights.feed_forwards)
    layers: list[int | None] = list(range(1, len(heads) + 1))
    for _ in range(count):
        place = int(chooser.integers(0, len(heads) + 1))
        heads.insert(place, [])
        layers.insert(place, None)
        blocks.insert(place + 1, FeedForwardWeights.empty(size))
    deeper = Weights(weights.tokens, weights.positions, heads, blocks, weights.readouts)
    return deeper, layers


def _with_idle_parts(weights: Weights, dials: Dials, chooser: np.random.Generator) -> Weights:
    """Add heads and hidden units that read everything and write where nobody else reads."""
    size = weights.tokens.shape[1]
    wide = wider(weights, IDLE_SIZE)
    for layer in wide.heads:
        layer += [_idle_head(size, chooser) for _ in range(dials.heads)]
    blocks = [wide.feed_forwards[0]]
    blocks += [_with_idle_units(block, size, dials.units, chooser)
               for block in wide.feed_forwards[1:]]  # fmt: skip
    return Weights(wide.tokens, wide.positions, wide.heads, blocks, wide.readouts)


def _idle_head(size: int, chooser: np.random.Generator) -> HeadWeights:
    wide = size + IDLE_SIZE
    reads = chooser.normal(size=(3, IDLE_SIZE, wide)) / np.sqrt(wide)
    biases = chooser.normal(size=(3, IDLE_SIZE))
    out = np.zeros((wide, IDLE_SIZE))
    out[size:] = chooser.normal(size=(IDLE_SIZE, IDLE_SIZE)) / 2
    return HeadWeights(reads[0], biases[0], reads[1], biases[1], reads[2], biases[2], out)


def _with_idle_units(
    block: FeedForwardWeights, size: int, count: int, chooser: np.random.Generator
) -> FeedForwardWeights:
    wide = size + IDLE_SIZE
    out = np.zeros((wide, count))
    out[size:] = chooser.normal(size=(IDLE_SIZE, count)) / 2
    return FeedForwardWeights(
        np.concatenate([block.inside, chooser.normal(size=(count, wide)) / np.sqrt(wide)]),
        np.concatenate([block.bias, chooser.normal(size=count)]),
        np.concatenate([block.out, out], axis=1),
    )


def _noisy(weights: Weights, noise: float, chooser: np.random.Generator) -> Weights:
    """Noise on every number, relative to the root mean square of its array."""

    def shaken(_: str, array: Array) -> Array:
        scale = float(np.sqrt(np.mean(array**2))) if array.size else 0.0
        return array + noise * scale * chooser.normal(size=array.shape)

    return weights.changed(shaken)
