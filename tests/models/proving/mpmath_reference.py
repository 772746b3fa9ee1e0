"""The forward pass once more, in mpmath and from an architecture's own arrays: an oracle.

It shares no code with the package: no steps, no folding, no prefixes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np

from rasp.models.proving.architecture_rows import Architecture
from rasp.models.proving.network_table import ACTIVATIONS

mp = mpmath.MPContext()
mp.dps = 50
number = np.frompyfunc(mp.mpf, 1, 1)


def activation(kind: str, x: Any) -> Any:
    match kind:
        case "relu":
            return max(x, mp.mpf(0))
        case "tanh":
            return mp.tanh(x)
        case "gelu":
            return x * (1 + mp.erf(x / mp.sqrt(2))) / 2
        case "gelu_tanh":
            inner = mp.mpf(0.7978845608028654) * (x + mp.mpf(0.044715) * x**3)
            return x * (1 + mp.tanh(inner)) / 2
    raise AssertionError(kind)


def exactly(x: Any) -> Any:
    """Numbers of any kind as mpmath's."""
    return number(x.high) + number(x.low) if hasattr(x, "high") else number(x)


class Reference:
    def __init__(self, row: Architecture, arrays: Mapping[str, Any]) -> None:
        self.row = row
        self.arrays = {name: number(np.asarray(array)) for name, array in arrays.items()}

    def linear(self, x: Any, name: str) -> Any:
        weight = self.arrays[f"{name}.weight"]
        bias = self.arrays.get(f"{name}.bias")
        found = x @ weight.T
        return found if bias is None else found + bias

    def norm(self, x: Any, name: str) -> Any:
        rows = []
        for vector in x:
            mean = sum(vector) / len(vector)
            variance = sum((each - mean) ** 2 for each in vector) / len(vector)
            spread = mp.sqrt(variance + mp.mpf(self.row.epsilon))
            rows.append([(each - mean) / spread for each in vector])
        shift = self.arrays.get(f"{name}.bias", 0)
        return np.array(rows, object) * self.arrays[f"{name}.weight"] + shift

    def attention(self, x: Any, layer: int) -> Any:
        row = self.row
        query, key, value = (self.linear(x, name.format(layer))
                             for name in (row.query, row.key, row.value))  # fmt: skip
        inner = query.shape[1] // row.heads
        scale = mp.sqrt(inner if row.scale else 1) * (layer + 1 if row.scale_by_layer else 1)
        moved = []
        for head in range(row.heads):
            there = slice(head * inner, (head + 1) * inner)
            lines = []
            for place in range(len(x)):
                seen = place + 1 if row.causal else len(x)
                scores = [query[place, there] @ key[other, there] / scale for other in range(seen)]
                powers = [mp.exp(score - max(scores)) for score in scores]
                lines.append(sum(power * value[other, there]
                                 for other, power in enumerate(powers)) / sum(powers))  # fmt: skip
            moved.append(np.array(lines, object))
        return self.linear(np.concatenate(moved, axis=1), row.out.format(layer))

    def block(self, x: Any, layer: int, number: int) -> Any:
        if number == 0:
            return self.attention(x, layer)
        assert self.row.inside is not None
        hidden = self.linear(x, self.row.inside.format(layer))
        hidden = np.frompyfunc(lambda each: activation(self.row.activation, each), 1, 1)(hidden)
        return self.linear(hidden, self.row.outside.format(layer))

    def logits(self, ids: Sequence[int]) -> Any:
        row = self.row
        x = self.arrays[f"{row.tokens}.weight"][list(ids)]
        if row.positions:
            start = row.offset
            x = x + self.arrays[f"{row.positions}.weight"][start : start + len(ids)]
        if row.segment:
            x = x + self.arrays[f"{row.segment}.weight"][0]
        x = self.norm(x, row.first_norm) if row.first_norm else x
        for layer in range(row.layers):
            for number in range(2 if row.inside else 1):
                name = row.norms[number].format(layer)
                read = self.norm(x, name) if row.norm == "pre" else x
                x = x + self.block(read, layer, number)
                x = self.norm(x, name) if row.norm == "post" else x
        x = self.norm(x, row.last_norm) if row.last_norm else x
        if row.pool:
            x = x.sum(axis=0)[None] / (len(ids) if row.pool == "mean" else 1)
        for name in row.readout:
            if name in ACTIVATIONS:
                x = np.frompyfunc(lambda each, kind=name: activation(kind, each), 1, 1)(x)
            else:
                x = self.norm(x, name[5:]) if name.startswith("norm:") else self.linear(x, name)
        return x


def random_model(
    random: np.random.Generator, **given: Any
) -> tuple[Architecture, dict[str, np.ndarray]]:
    """A model of random shape: layers, heads, LayerNorms, activation, pooling, scale of weights."""
    heads = int(random.integers(1, 4))
    row = Architecture(
        layers=int(random.integers(0, 4)), heads=heads, causal=bool(random.integers(2)),
        tokens="tok", positions=["pos", None][int(random.integers(5) == 0)],
        activation=str(random.choice(ACTIVATIONS)),
        norm=str(random.choice(["pre", "post", "none"])),
        inside=["blocks.{}.inside", None][int(random.integers(6) == 0)],
        first_norm=["first", None][int(random.integers(2))],
        last_norm=["last", None][int(random.integers(2))],
        pool=[None, None, "sum", "mean"][int(random.integers(4))],
        readout=[("read",), ("read0", "tanh", "read"), ("read0", "gelu", "norm:middle", "read")][
            int(random.integers(3))
        ],
        scale_by_layer=bool(random.integers(2)), epsilon=float(10.0 ** random.integers(-12, -2)),
    )  # fmt: skip
    row = replace(row, **given)
    width, inner = int(random.integers(2, 9)), int(random.integers(1, 5))
    hidden, size = int(random.integers(1, 9)), float(2.0 ** random.integers(-3, 2))
    shapes: dict[str, tuple[int, ...]] = {
        "tok": (3, width), "pos": (7, width), "first": (width,), "last": (width,),
        "middle": (width,), "read0": (width, width), "read": (3, width),
    }  # fmt: skip
    for layer in range(row.layers):
        shapes |= {f"blocks.{layer}.{role}": (heads * inner, width)
                   for role in ("query", "key", "value")}  # fmt: skip
        shapes |= {
            f"blocks.{layer}.out": (width, heads * inner),
            f"blocks.{layer}.inside": (hidden, width), f"blocks.{layer}.outside": (width, hidden),
            f"blocks.{layer}.norm1": (width,), f"blocks.{layer}.norm2": (width,),
        }  # fmt: skip
    arrays = {}
    for name, shape in shapes.items():
        arrays[f"{name}.weight"] = random.normal(size=shape).astype(np.float32) * np.float32(size)
        if name not in ("tok", "pos") and random.integers(4):
            arrays[f"{name}.bias"] = random.normal(size=shape[:1]).astype(np.float32)
    return row, arrays
