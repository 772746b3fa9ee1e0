"""Every architecture is a row of names and choices, from which a network is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.base.spelling import did_you_mean
from rasp.models.proving.digits import Array
from rasp.models.proving.network_table import (
    ACTIVATIONS,
    POOLS,
    Activate,
    Affine,
    Attend,
    AttentionHead,
    Network,
    Normalise,
    PoolPositions,
    Residual,
    Step,
    check_widths,
    misfit,
)


@dataclass(frozen=True)
class Architecture:
    """A row of the table: what a model's arrays are called, and what is done with them.

    `{}` stands for the number of the layer. Matrices are (out, in), as torch keeps them; a name
    without `.weight` in the arrays is looked for with it, and its bias is `….bias` where there is
    one. `model_files` reads GPT-2, BERT, our exports and the JSON of `verified-circuits` by rows
    like this; a model of your own needs one row, too.

    >>> Architecture(tokens="tok", positions="pos", layers=2, heads=4, causal=True,
    ...              inside="blocks.{}.mlp1", outside="blocks.{}.mlp2").layers
    2
    """

    layers: int
    heads: int
    causal: bool
    tokens: str = "tokens"
    positions: str | None = "positions"
    segment: str | None = None
    """A table whose first row is added at every position, such as BERT's token types."""
    query: str = "blocks.{}.query"
    key: str = "blocks.{}.key"
    value: str = "blocks.{}.value"
    out: str = "blocks.{}.out"
    inside: str | None = "blocks.{}.inside"
    outside: str = "blocks.{}.outside"
    activation: str = "relu"
    norm: str = "none"
    """Where LayerNorms are: "pre", "post" or "none"."""
    norms: tuple[str, str] = ("blocks.{}.norm1", "blocks.{}.norm2")
    first_norm: str | None = None
    """One after the embedding."""
    last_norm: str | None = None
    """One before the read-out."""
    epsilon: float = 1e-5
    pool: str | None = None
    readout: tuple[str, ...] = ("readout",)
    """Names of maps and LayerNorms (`norm:NAME`), and activations, in order."""
    scale: bool = True
    """Whether scores are divided by √(dimensions of a head)."""
    scale_by_layer: bool = False
    """Whether they are divided by the layer's number, too, as GPT-2 can."""
    offset: int = 0
    """The row of `positions` that the first position takes."""


def network_of(row: Architecture, arrays: Mapping[str, Array]) -> Network:
    """Make steps of a row and arrays; say what is missing or does not fit."""
    _check_row(row)
    reader = _RowReader(row, arrays)
    steps: list[Step] = [reader.norm(row.first_norm)] if row.first_norm else []
    for layer in range(row.layers):
        steps += reader.layer(layer)
    steps += [reader.norm(row.last_norm)] if row.last_norm else []
    steps += [PoolPositions(row.pool)] if row.pool else []
    steps += [reader.readout(name) for name in row.readout]
    positions = reader.table(row.positions) if row.positions else None
    if positions is not None:
        positions = positions[row.offset :]
    shift = reader.table(row.segment)[0] if row.segment else None
    tokens = reader.table(row.tokens)
    return check_widths(Network(tokens, positions, folded(steps), row.causal, shift))


LEAST_EPSILON = 1e-30
"""A variance above this has a root whose digits do not underflow."""


def _check_row(row: Architecture) -> None:
    if not LEAST_EPSILON <= row.epsilon < 1e100:
        raise RaspUnsupportedError(
            f"LayerNorms with the epsilon {row.epsilon:g} have no enclosure",
            hint=f"it is {LEAST_EPSILON:g} or more",
        )
    if row.norm not in ("pre", "post", "none"):
        raise RaspValueError(
            f"`{row.norm}` is not where LayerNorms can be", hint='choose "pre", "post" or "none"'
        )
    if row.activation not in ACTIVATIONS:
        hint = did_you_mean(row.activation, ACTIVATIONS, f"known are {', '.join(ACTIVATIONS)}")
        raise RaspUnsupportedError(
            f"there is no enclosure for the activation `{row.activation}`", hint=hint
        )
    if row.pool not in (None, *POOLS):
        raise RaspValueError(
            f"`{row.pool}` is not a way to pool positions", hint='choose "sum" or "mean"'
        )


class _RowReader:
    """Takes the arrays that a row names, and checks each."""

    def __init__(self, row: Architecture, arrays: Mapping[str, Array]) -> None:
        self.row, self.arrays = row, arrays

    def array(self, name: str, dimensions: int) -> Array:
        """Return an array in float64, checked: its dimensions, and that every number is finite."""
        full = name if name in self.arrays else f"{name}.weight"
        if full not in self.arrays:
            near = did_you_mean(full, self.arrays, "is this another architecture?")
            raise RaspValueError(f"the model has no weights `{full}`", hint=near)
        return checked(full, self.arrays[full], dimensions)

    def table(self, name: str) -> Array:
        return self.array(name, 2)

    def map(self, name: str) -> Affine:
        weight = self.array(name, 2)
        bias_name = f"{name.removesuffix('.weight')}.bias"
        if bias_name not in self.arrays:
            return Affine(weight, np.zeros(len(weight)))
        bias = checked(bias_name, self.arrays[bias_name], 1)
        if len(bias) != len(weight):
            raise misfit(bias_name, len(bias), len(weight))
        return Affine(weight, bias)

    def norm(self, name: str) -> Normalise:
        gain = self.array(name, 1)
        shift_name = f"{name.removesuffix('.weight')}.bias"
        shift = self.arrays.get(shift_name, np.zeros(len(gain)))
        return Normalise(gain, checked(shift_name, shift, 1), self.row.epsilon)

    def readout(self, name: str) -> Step:
        if name in ACTIVATIONS:
            return Activate(name)
        return self.norm(name[5:]) if name.startswith("norm:") else self.map(name)

    def layer(self, layer: int) -> list[Step]:
        """Attention and feed-forward of one layer, with the LayerNorms where the row says."""
        row = self.row
        parts: list[tuple[str, tuple[Step, ...]]] = [(row.norms[0], (self.attention(layer),))]
        if row.inside is not None:
            inside, outside = (self.map(name.format(layer)) for name in (row.inside, row.outside))
            parts.append((row.norms[1], (inside, Activate(row.activation), outside)))
        steps: list[Step] = []
        for norm_name, inner in parts:
            norms = (self.norm(norm_name.format(layer)),) if row.norm != "none" else ()
            before, after = (norms, ()) if row.norm == "pre" else ((), norms)
            steps += [Residual((*before, *inner)), *after]
        return steps

    def attention(self, layer: int) -> Attend:
        row = self.row
        query, key, value, out = (self.map(name.format(layer))
                                  for name in (row.query, row.key, row.value, row.out))  # fmt: skip
        if row.heads < 1 or len(query.bias) % row.heads:
            raise RaspValueError(
                f"{row.heads} heads do not divide the {len(query.bias)} rows of "
                f"`{row.query.format(layer)}`",
                hint="is the number of heads right?",
            )
        inner = len(query.bias) // row.heads
        for name, part in ((row.key, key), (row.value, value)):
            if len(part.bias) != len(query.bias):
                raise misfit(name.format(layer), len(part.bias), len(query.bias))
        squared = float(inner if row.scale else 1)
        squared *= (layer + 1) ** 2 if row.scale_by_layer else 1
        places = [slice(number * inner, (number + 1) * inner) for number in range(row.heads)]
        heads = tuple(
            AttentionHead(_rows(query, there), _rows(key, there), _rows(value, there),
                 out.weight[:, there], squared)
            for there in places
        )  # fmt: skip
        return Attend(heads, out.bias)


def _rows(part: Affine, there: slice) -> Affine:
    return Affine(part.weight[there], part.bias[there])


def checked(name: str, array: Array, dimensions: int) -> Array:
    """Refuse an array of another shape, or with a number that is not finite."""
    if array.ndim != dimensions or not array.size:
        raise RaspValueError(
            f"the weights `{name}` have the shape {'×'.join(map(str, array.shape)) or '1'}",
            hint=f"an array of {dimensions} dimensions was expected",
        )
    if not np.isfinite(array).all():
        raise RaspValueError(
            f"the weights `{name}` hold a number that is not finite", hint="did training diverge?"
        )
    return np.asarray(array, np.float64)


def folded(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Move the gain and shift of each LayerNorm into the weights that read it.

    Balls grow by the norm of a product of matrices, which is often far below the product of norms.
    The product of two float32 has 48 bits, so the new weights are exact; where one is not (the
    weights were no float32), the LayerNorm keeps its gain.
    """
    found = [replace(step, steps=folded(step.steps)) if isinstance(step, Residual) else step
             for step in steps]  # fmt: skip
    for place in range(len(found) - 1):
        norm, reader = found[place], found[place + 1]
        if isinstance(norm, Normalise) and isinstance(reader, Affine | Attend):
            changed = _reading(norm, reader)
            if changed is not None:
                found[place], found[place + 1] = replace(norm, is_folded=True), changed
    return tuple(found)


def _reading(norm: Normalise, reader: Affine | Attend) -> Affine | Attend | None:
    if isinstance(reader, Affine):
        return _folded_map(norm, reader)
    heads = []
    for head in reader.heads:
        parts = [_folded_map(norm, part) for part in (head.query, head.key, head.value)]
        if None in parts:
            return None
        query, key, value = parts
        assert query is not None and key is not None and value is not None
        heads.append(replace(head, query=query, key=key, value=value))
    return replace(reader, heads=tuple(heads))


def _folded_map(norm: Normalise, part: Affine) -> Affine | None:
    """W·(g∘y + s) + b = (W∘g)·y + (W·s + b); the new bias as two float64, rounded once each."""
    single = [array.astype(np.float32) == array for array in (norm.gain, norm.shift, part.weight)]
    if not all(array.all() for array in single) or part.low is not None:
        return None
    products = np.column_stack([part.weight * norm.shift, part.bias])
    high = [fsum(row) for row in products.tolist()]
    low = [fsum([*row, -first]) for row, first in zip(products.tolist(), high, strict=True)]
    return Affine(part.weight * norm.gain, np.array(high), np.array(low))
