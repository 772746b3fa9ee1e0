"""A compiled transformer in, a standard stack of equal blocks out.

Our heads have as many dimensions as they need; other libraries want all heads alike. Heads are
padded with zeros to a power of 4, so that dividing scores by its root is exact and can be undone
in the query weights. A feed-forward before the first attention becomes a block of its own.

Where a library insists on LayerNorm, it is made harmless: with eps = 2^100 and gain = 2^50 it
subtracts the mean and changes nothing else, and one more dimension, holding minus the sum of the
others, makes the mean 0. What rounding leaves of the mean shifts all dimensions alike; readers
cancel that with a last dimension that holds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate import Array, FeedForwardWeights, HeadWeights, ReadoutWeights, Weights
from rasp.models.compiler.emitting.wiring import ROLES
from rasp.models.compiler.model.forward import chosen, logit_places
from rasp.models.compiler.model.transformer import Transformer

EPSILON = 2.0**100
GAIN = 2.0**50
WRITTEN = ("tokens", "positions", "out")
"""Arrays that write to the stream; all others read from it."""


@dataclass(frozen=True, eq=False)
class EqualBlocks:
    """A model of equal blocks: attention of equal heads, then a feed-forward."""

    arrays: dict[str, Array]
    """By the names of `torch_module`; the rows of all heads are one array, and all logits one."""
    count: int
    heads: int
    inner: int
    """Dimensions of one head."""

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    @property
    def size(self) -> int:
        return int(self["tokens.weight"].shape[1])

    @property
    def hidden(self) -> int:
        return len(self["blocks.0.inside.bias"])

    @property
    def tokens(self) -> int:
        return len(self["tokens.weight"])

    @property
    def positions(self) -> int:
        return len(self["positions.weight"])

    @property
    def logits(self) -> int:
        return len(self["unembedding.weight"])

    def renamed(self, names: Mapping[str, str]) -> dict[str, Array]:
        """The arrays by the names that a library has for tables and linear maps.

        It also has biases for what attention and feed-forwards write: these are 0.
        """
        found: dict[str, Array] = {}
        for ours, theirs in names.items():
            for number in range(self.count if "{}" in ours else 1):
                for part in (".weight", ".bias"):
                    array = self.arrays.get(ours.format(number) + part)
                    if array is not None:
                        found[theirs.format(number) + part] = array
                    elif "{}" in ours:
                        found[theirs.format(number) + part] = np.zeros(self.size)
        return found


def blocks_of(
    model: Transformer,
    balanced: bool = False,
    constant: bool = False,
    square: bool = False,
) -> EqualBlocks:
    """Write a model as equal blocks.

    `balanced` adds the dimension that makes the mean 0, `constant` one that is always 1 (for
    libraries whose unembedding has no bias), `square` pads the model to heads · inner.
    """
    model = with_constant(model) if constant else model
    heads = max(1, *model.heads_per_layer, 1)
    used = model.d_model + 2 * balanced
    needed = [1] + [len(bias) for layer in model.weights.heads for head in layer
                    for bias in (head.query_bias, head.value_bias)]  # fmt: skip
    inner = 1
    while inner < max(needed) or (square and inner * heads < used):
        inner *= 4
    weights = wider(model.weights, (inner * heads if square else used) - model.d_model)
    weights = _balanced(weights, model.d_model) if balanced else weights
    sink = np.zeros((int(model.uses_sink), weights.tokens.shape[1]))
    arrays = {
        "tokens.weight": weights.tokens,
        "positions.weight": np.concatenate([sink, weights.positions]),
        "unembedding.weight": np.concatenate([readout.weight for readout in weights.readouts]),
    }
    if not constant:
        biases = [readout.bias for readout in weights.readouts]
        arrays["unembedding.bias"] = np.concatenate(biases)
    layers = list(zip([[], *weights.heads], weights.feed_forwards, strict=True))
    if weights.heads and not model.input_feed_forward:
        layers = layers[1:]
    hidden = max(1, *(len(block.bias) for _, block in layers), 1)
    for number, (layer, block) in enumerate(layers):
        for name, array in _block(layer, block, heads, inner, hidden):
            arrays[f"blocks.{number}.{name}"] = array
    return EqualBlocks(arrays, len(layers), heads, inner)


def with_constant(model: Transformer) -> Transformer:
    """The same model with one more dimension, which is 1: read-outs have that in place of a bias.

    >>> import rasp
    >>> model = with_constant(rasp.compile(rasp.tokens, vocabulary="ab", max_length=3))
    >>> model.weights.readouts[0].bias.tolist(), model("ab")
    ([0.0, 0.0], ['a', 'b'])
    """
    weights = wider(model.weights, 1)
    weights.tokens[: len(model.settings.vocabulary), -1] = 1.0
    readouts = [ReadoutWeights(np.column_stack([each.weight, each.bias]), np.zeros_like(each.bias))
                for each in model.weights.readouts]  # fmt: skip
    return replace(model, weights=replace(weights, readouts=readouts))


def wider(weights: Weights, more: int) -> Weights:
    """The same weights with more dimensions, which nothing writes or reads."""

    def change(name: str, array: Array) -> Array:
        if array.ndim == 1:
            return array
        return np.pad(array, ((0, more), (0, 0)) if name == "out" else ((0, 0), (0, more)))

    return weights.changed(change)


def _balanced(weights: Weights, place: int) -> Weights:
    """Let a dimension hold minus the sum of the others, and readers not notice where all are
    shifted alike, by reading the next one.
    """

    def change(name: str, array: Array) -> Array:
        if array.ndim == 2:
            rows = array.T if name == "out" else array  # (…, model)
            rows[:, place if name in WRITTEN else place + 1] = -rows.sum(axis=1)
        return array

    return weights.changed(change)


def _block(
    heads: list[HeadWeights], block: FeedForwardWeights, count: int, inner: int, hidden: int
) -> Iterator[tuple[str, Array]]:
    """The arrays of one block: heads and hidden units that it does not have are idle."""
    nothing, none = np.zeros((0, block.inside.shape[1])), np.zeros(0)
    idle = HeadWeights(nothing, none, nothing, none, nothing, none, nothing.T)
    heads = heads + [idle] * (count - len(heads))

    def joined(arrays: list[Array]) -> Array:
        """The rows of all heads."""
        return np.concatenate([padded(array, inner) for array in arrays])

    for role in ROLES:
        scale = np.sqrt(inner) if role == "query" else 1.0
        yield f"attention.{role}.weight", joined([scale * getattr(head, role) for head in heads])
        biases = [scale * getattr(head, f"{role}_bias") for head in heads]
        yield f"attention.{role}.bias", joined(biases)
    yield "attention.out.weight", joined([head.out.T for head in heads]).T
    yield "inside.weight", padded(block.inside, hidden)
    yield "inside.bias", padded(block.bias, hidden)
    yield "outside.weight", padded(block.out.T, hidden).T


def padded(rows: Array, count: int) -> Array:
    """So many rows: the last ones are 0."""
    return np.pad(rows, ((0, count - len(rows)), *[(0, 0)] * (rows.ndim - 1)))


def input_ids(model: Transformer, tokens: object) -> Array:
    """Token ids as an exported model takes them: the sink, where there is one, goes first.

    >>> import rasp
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> input_ids(rasp.compile(hist, vocabulary="abc", max_length=8), "cab").tolist()
    [3, 2, 0, 1]
    """
    ids = model.token_ids(tokens)
    return np.concatenate([[len(model.settings.vocabulary)], ids]) if model.uses_sink else ids


def decoded(model: Transformer, logits: Array) -> dict[str, list[Atom]]:
    """The atoms that the logits (position, logit) of one input choose, for each output.

    >>> import numpy as np, rasp
    >>> hist = rasp.run("hist = selector_width(select(tokens, tokens, ==));")["hist"]
    >>> model = rasp.compile(hist, vocabulary="abc", max_length=3)
    >>> decoded(model, np.array([[0, 0, 0], [0, 9, 0], [5, 0, 0]]))  # the sink's row, then two
    {'hist': [2, 1]}
    """
    kept = logits[model.uses_sink :]
    return {
        readout.name: [readout.atoms[place] for place in chosen(readout, kept[:, there]).tolist()]
        for readout, there in logit_places(model.readouts)
    }
