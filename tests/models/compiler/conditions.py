"""A compiled model under other conditions: a rotated stream, noise at every cut, fewer bits.

`compiled` is float32 as it is. `rotated` turns the residual stream by a random orthogonal matrix
and runs in float32. `noise` adds normal noise of 1/1000 of the stream's root mean square, at each
position, after the embedding and after every block. `TF32` rounds what products read to 11 bits.
`bfloat16` holds weights and stream in 8 bits and rounds every result (attention weights, too);
sums are added up in float32, as matrix units do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate import HeadWeights
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.forward import QUIET, chosen

Array = np.ndarray
SMALL = np.float32
NOISE = 1e-3
CONDITIONS = ("compiled", "rotated", "noise", "TF32", "bfloat16")


def rounded(array: Array, bits: int) -> Array:
    """The nearest numbers of so many bits, ties to even.

    >>> rounded(np.array([1 + 2**-9, 1 + 2**-8 + 2**-12]), 8).tolist()
    [1.0, 1.0078125]
    """
    whole = np.ascontiguousarray(array, SMALL).view(np.uint32)
    lost = np.uint32(24 - bits)
    half = (np.uint32(1) << (lost - np.uint32(1))) - np.uint32(1)
    kept = whole + half + ((whole >> lost) & np.uint32(1))
    return ((kept >> lost) << lost).view(SMALL)


def rotated(model: Transformer, rng: np.random.Generator) -> Transformer:
    """The same model in another basis of the residual stream."""
    turn, _ = np.linalg.qr(rng.normal(size=(model.d_model, model.d_model)))

    def change(name: str, array: Array) -> Array:
        if array.ndim == 1:
            return array
        return turn.T @ array if name == "out" else array @ turn

    return replace(model, weights=model.weights.changed(change).cast())


def answers(
    model: Transformer, ids: Array, condition: str, rng: np.random.Generator
) -> dict[str, list[list[Atom]]]:
    """What a model answers under a condition; (batch, position) token ids."""
    if condition == "compiled":
        return model.answers(ids)
    if condition == "rotated":
        return rotated(model, rng).answers(ids)
    bits = {"noise": 24, "TF32": 11, "bfloat16": 8}[condition]
    return _Machine(model, bits, condition == "bfloat16", condition == "noise", rng).answers(ids)


class _Machine:
    """A forward pass with rounded products, rounded results, and noise."""

    def __init__(
        self, model: Transformer, bits: int, stores: bool, noise: bool, rng: np.random.Generator
    ) -> None:
        self.model, self.rng, self.noise = model, rng, noise
        self.read: Callable[[Array], Array] = (
            (lambda array: rounded(array, bits)) if bits < 24 else (lambda array: array)
        )
        self.store = self.read if stores else (lambda array: array)

    def product(self, left: Array, right: Array, bias: Array | float = 0.0) -> Array:
        if isinstance(bias, np.ndarray):
            bias = self.store(bias.astype(SMALL))
        right = self.read(right.astype(SMALL))
        rows = self.read(left).reshape(-1, left.shape[-1])  # one product is faster than many
        return self.store((rows @ right + bias).astype(SMALL)).reshape(*left.shape[:-1], -1)

    def cut(self, x: Array) -> Array:
        if not self.noise:
            return x
        scale = NOISE * np.sqrt((x**2).mean(axis=-1, keepdims=True))
        return np.asarray(x + scale * self.rng.standard_normal(x.shape, SMALL), SMALL)

    @np.errstate(**QUIET)
    def answers(self, ids: Array) -> dict[str, list[list[Atom]]]:
        x = self.run(ids)[:, self.model.uses_sink :]
        found = {}
        for readout, weights in zip(self.model.readouts, self.model.weights.readouts, strict=True):
            scores = self.product(x, weights.weight.T, weights.bias)
            found[readout.name] = [[readout.atoms[place] for place in row]
                                   for row in chosen(readout, scores).tolist()]  # fmt: skip
        return found

    def run(self, ids: Array) -> Array:
        model = self.model
        x = self.cut(self.store(model.embedded(ids, SMALL)))
        mask = np.tril(np.ones((x.shape[1],) * 2, bool)) if model.settings.causal else None
        for layer, block in enumerate(model.weights.feed_forwards):
            if layer:
                parts = [self.attend(x, head, mask) for head in model.weights.heads[layer - 1]]
                for part in parts:
                    x = self.store(x + part)
                x = self.cut(x)
            if block.bias.size:
                hidden = np.maximum(self.product(x, block.inside.T, block.bias), 0)
                x = self.cut(self.store(x + self.product(hidden, block.out.T)))
        return x

    def attend(self, x: Array, head: HeadWeights, mask: Array | None) -> Array:
        queries = self.product(x, head.query.T, head.query_bias)
        keys = self.product(x, head.key.T, head.key_bias)
        scores = self.store(self.read(queries) @ self.read(keys).transpose(0, 2, 1))
        if mask is not None:
            scores = np.where(mask, scores, SMALL(-np.inf))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        attention = self.store(weights / weights.sum(axis=-1, keepdims=True))
        values = self.product(x, head.value.T, head.value_bias)
        mixed = self.store((self.read(attention) @ self.read(values)).astype(SMALL))
        return self.product(mixed, head.out.T)
