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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from rasp.atoms import Atom
from rasp.certificate import Array, FeedForwardWeights, HeadWeights, ReadoutWeights, Weights
from rasp.compiler.model.forward import chosen, logit_places
from rasp.compiler.model.transformer import Transformer

EPSILON = 2.0**100
GAIN = 2.0**50
MAPS = ("query", "key", "value")
AnyBlock = TypeVar("AnyBlock", HeadWeights, FeedForwardWeights)


@dataclass(frozen=True, eq=False)
class EqualBlock:
    """Attention of `heads` equal heads, then a feed-forward; biases everywhere."""

    query: Array  # (head · inner, model)
    query_bias: Array
    key: Array
    key_bias: Array
    value: Array
    value_bias: Array
    out: Array  # (model, head · inner)
    inside: Array  # (hidden, model)
    inside_bias: Array
    outside: Array  # (model, hidden)


@dataclass(frozen=True, eq=False)
class EqualBlocks:
    """A whole model of equal blocks; logits of all outputs side by side."""

    tokens: Array  # (vocabulary [+ sink], model)
    positions: Array  # ([sink +] length, model)
    blocks: list[EqualBlock]
    unembedding: Array  # (logit, model)
    unembedding_bias: Array | None
    """None where it is read from a dimension that is always 1."""
    heads: int
    inner: int
    """Dimensions of one head."""

    @property
    def size(self) -> int:
        return int(self.tokens.shape[1])

    @property
    def hidden(self) -> int:
        return max(len(block.inside_bias) for block in self.blocks)


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
    weights = model.weights
    heads = max(1, *model.heads_per_layer, 1)
    used = model.d_model + 2 * balanced
    needed = [1] + [len(bias) for layer in weights.heads for head in layer
                    for bias in (head.query_bias, head.value_bias)]  # fmt: skip
    inner = 1
    while inner < max(needed) or (square and inner * heads < used):
        inner *= 4
    size = inner * heads if square else used
    layout = _Layout(model.d_model, size, heads, inner, balanced)
    found = []
    if model.input_feed_forward or not weights.heads:
        found.append(layout.block([], weights.feed_forwards[0]))
    for layer, each in enumerate(weights.heads, 1):
        found.append(layout.block(each, weights.feed_forwards[layer]))
    tokens, positions = layout.rows(weights.tokens), layout.rows(weights.positions)
    if model.uses_sink:
        positions = np.concatenate([np.zeros((1, size)), positions])
    unembedding, biases = layout.unembedding(weights.readouts)
    bias = None if constant else biases
    return EqualBlocks(tokens, positions, _equal(found), unembedding, bias, heads, inner)


def with_constant(model: Transformer) -> Transformer:
    """The same model with one more dimension, which is 1: read-outs have that in place of a bias.

    >>> import rasp
    >>> model = with_constant(rasp.compile(rasp.tokens, vocabulary="ab", max_length=3))
    >>> model.weights.readouts[0].bias.tolist(), model("ab")
    ([0.0, 0.0], ['a', 'b'])
    """

    def wider(part: AnyBlock, *names: str) -> AnyBlock:
        """Rows that read a dimension more, and columns that write it."""
        found = {name: np.pad(getattr(part, name), ((0, 0), (0, 1))) for name in names}
        return replace(part, **found, out=np.pad(part.out, ((0, 1), (0, 0))))

    weights = model.weights
    tokens, positions = (
        np.pad(each, ((0, 0), (0, 1))) for each in (weights.tokens, weights.positions)
    )
    tokens[: len(model.settings.vocabulary), -1] = 1.0
    readouts = [ReadoutWeights(np.column_stack([each.weight, each.bias]), np.zeros_like(each.bias))
                for each in weights.readouts]  # fmt: skip
    heads = [[wider(head, *MAPS) for head in layer] for layer in weights.heads]
    blocks = [wider(block, "inside") for block in weights.feed_forwards]
    return replace(model, weights=Weights(tokens, positions, heads, blocks, readouts))


def _equal(blocks: list[EqualBlock]) -> list[EqualBlock]:
    """Pad feed-forwards with idle units so that all blocks are alike."""
    most = max(1, *(len(block.inside_bias) for block in blocks), 1)
    found = []
    for block in blocks:
        more = most - len(block.inside_bias)
        found.append(replace(
            block,
            inside=np.pad(block.inside, ((0, more), (0, 0))),
            inside_bias=np.pad(block.inside_bias, (0, more)),
            outside=np.pad(block.outside, ((0, 0), (0, more))),
        ))  # fmt: skip
    return found


@dataclass(frozen=True)
class _Layout:
    """Where the old dimensions and heads lie among the new."""

    old: int
    size: int
    heads: int
    inner: int
    balanced: bool

    def rows(self, array: Array) -> Array:
        """What is written, one row per token or position."""
        padded = np.zeros((len(array), self.size))
        padded[:, : self.old] = array
        return self.balance(padded.T).T

    def balance(self, written: Array) -> Array:
        """Let the balancing dimension hold minus the sum of the others; (model, …)."""
        if self.balanced:
            place = self.old
            written[place] = 0.0
            written[place] = -written.sum(axis=0)
        return written

    def steady(self, read: Array) -> Array:
        """Let a reader not notice when all dimensions are shifted alike; (…, model)."""
        if self.balanced:
            place = self.old + 1
            read[:, place] = 0.0
            read[:, place] = -read.sum(axis=1)
        return read

    def unembedding(self, readouts: Sequence[ReadoutWeights]) -> tuple[Array, Array]:
        """The logits of all outputs side by side, and their bias."""
        bias = np.concatenate([readout.bias for readout in readouts])
        weight = np.zeros((len(bias), self.size))
        weight[:, : self.old] = np.concatenate([readout.weight for readout in readouts])
        return self.steady(weight), bias

    def block(self, heads: list[HeadWeights], block: FeedForwardWeights) -> EqualBlock:
        wide = self.heads * self.inner
        maps = {name: np.zeros((wide, self.size)) for name in MAPS}
        biases = {f"{name}_bias": np.zeros(wide) for name in MAPS}
        out = np.zeros((self.size, wide))
        for number, head in enumerate(heads):
            start = number * self.inner
            for name in MAPS:
                weight, bias = getattr(head, name), getattr(head, f"{name}_bias")
                scale = np.sqrt(self.inner) if name == "query" else 1.0
                places = slice(start, start + len(bias))
                maps[name][places, : self.old] = weight * scale
                biases[f"{name}_bias"][places] = bias * scale
            out[: self.old, start : start + len(head.value_bias)] = head.out
        inside = np.zeros((len(block.bias), self.size))
        inside[:, : self.old] = block.inside
        outside = np.zeros((self.size, len(block.bias)))
        outside[: self.old] = block.out
        for array in (*maps.values(), inside):
            self.steady(array)
        return EqualBlock(**maps, **biases, out=self.balance(out), inside=inside,
                     inside_bias=block.bias, outside=self.balance(outside))  # fmt: skip


def state_of(blocks: EqualBlocks, names: Mapping[str, str], zero_biases: bool) -> dict[str, Array]:
    """The weights by the names that a library has for tables and linear maps.

    `zero_biases` where it has biases for what attention and feed-forwards write: these are 0.
    """
    state = {f"{names[part]}.weight": getattr(blocks, part)
             for part in ("tokens", "positions", "unembedding")}  # fmt: skip
    if blocks.unembedding_bias is not None:
        state[f"{names['unembedding']}.bias"] = blocks.unembedding_bias
    for number, block in enumerate(blocks.blocks):
        for part in (*MAPS, "out", "inside", "outside"):
            name = names[part].format(number)
            state[f"{name}.weight"] = getattr(block, part)
            if part not in ("out", "outside"):
                state[f"{name}.bias"] = getattr(block, f"{part}_bias")
            elif zero_biases:
                state[f"{name}.bias"] = np.zeros(blocks.size)
    return state


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
