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

from dataclasses import dataclass

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.emitting.weights import Array, FeedForwardWeights, HeadWeights
from rasp.compiler.model.transformer import Transformer, nearest

EPSILON = 2.0**100
GAIN = 2.0**50


@dataclass(frozen=True, eq=False)
class Block:
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
class Blocks:
    """A whole model of equal blocks; logits of all outputs side by side."""

    tokens: Array  # (vocabulary [+ sink], model)
    positions: Array  # ([sink +] length, model)
    blocks: list[Block]
    unembedding: Array  # (logit, model)
    unembedding_bias: Array
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
) -> Blocks:
    """Write a model as equal blocks.

    `balanced` adds the dimension that makes the mean 0, `constant` one that is always 1 (for
    libraries whose unembedding has no bias), `square` pads the model to heads · inner.
    """
    weights = model.weights
    heads = max(1, *model.heads_per_layer, 1)
    used = model.d_model + constant + 2 * balanced
    needed = [1] + [len(bias) for layer in weights.heads for head in layer
                    for bias in (head.query_bias, head.value_bias)]  # fmt: skip
    inner = 1
    while inner < max(needed) or (square and inner * heads < used):
        inner *= 4
    size = inner * heads if square else used
    layout = _Layout(model.d_model, size, heads, inner, constant, balanced)
    found = []
    if model.input_feed_forward or not weights.heads:
        found.append(layout.block([], weights.feed_forwards[0]))
    for layer, each in enumerate(weights.heads, 1):
        found.append(layout.block(each, weights.feed_forwards[layer]))
    tokens = layout.rows(weights.tokens)
    if constant:
        tokens[: len(model.settings.vocabulary), model.d_model] = 1.0
        tokens = layout.balance(tokens.T).T
    positions = layout.rows(weights.positions)
    if model.uses_sink:
        positions = np.concatenate([np.zeros((1, size)), positions])
    unembedding = np.concatenate([readout.weight for readout in weights.readouts])
    bias = np.concatenate([readout.bias for readout in weights.readouts])
    padded = np.zeros((len(bias), size))
    padded[:, : model.d_model] = unembedding
    if constant:
        padded[:, model.d_model] = bias
    padded = layout.steady(padded)
    return Blocks(tokens, positions, _equal(found), padded, bias, heads, inner)


def _equal(blocks: list[Block]) -> list[Block]:
    """Pad feed-forwards with idle units so that all blocks are alike."""
    most = max(1, *(len(block.inside_bias) for block in blocks), 1)
    found = []
    for block in blocks:
        more = most - len(block.inside_bias)
        found.append(Block(
            block.query, block.query_bias, block.key, block.key_bias, block.value,
            block.value_bias, block.out,
            np.pad(block.inside, ((0, more), (0, 0))),
            np.pad(block.inside_bias, (0, more)),
            np.pad(block.outside, ((0, 0), (0, more))),
        ))  # fmt: skip
    return found


@dataclass(frozen=True)
class _Layout:
    """Where the old dimensions and heads lie among the new."""

    old: int
    size: int
    heads: int
    inner: int
    constant: bool
    balanced: bool

    def rows(self, array: Array) -> Array:
        """What is written, one row per token or position."""
        padded = np.zeros((len(array), self.size))
        padded[:, : self.old] = array
        return self.balance(padded.T).T

    def balance(self, written: Array) -> Array:
        """Let the balancing dimension hold minus the sum of the others; (model, …)."""
        if self.balanced:
            place = self.old + self.constant
            written[place] = 0.0
            written[place] = -written.sum(axis=0)
        return written

    def steady(self, read: Array) -> Array:
        """Let a reader not notice when all dimensions are shifted alike; (…, model)."""
        if self.balanced:
            place = self.old + self.constant + 1
            read[:, place] = 0.0
            read[:, place] = -read.sum(axis=1)
        return read

    def block(self, heads: list[HeadWeights], block: FeedForwardWeights) -> Block:
        wide = self.heads * self.inner
        query, key, value = (np.zeros((wide, self.size)) for _ in range(3))
        query_bias, key_bias, value_bias = (np.zeros(wide) for _ in range(3))
        out = np.zeros((self.size, wide))
        scale = np.sqrt(self.inner)
        for number, head in enumerate(heads):
            start = number * self.inner
            scores = slice(start, start + len(head.query_bias))
            values = slice(start, start + len(head.value_bias))
            query[scores, : self.old] = head.query * scale
            query_bias[scores] = head.query_bias * scale
            key[scores, : self.old] = head.key
            key_bias[scores] = head.key_bias
            value[values, : self.old] = head.value
            value_bias[values] = head.value_bias
            out[: self.old, values] = head.out
        inside = np.zeros((len(block.bias), self.size))
        inside[:, : self.old] = block.inside
        outside = np.zeros((self.size, len(block.bias)))
        outside[: self.old] = block.out
        query, key, value, inside = map(self.steady, (query, key, value, inside))
        return Block(query, query_bias, key, key_bias, value, value_bias, self.balance(out),
                     inside, block.bias, self.balance(outside))  # fmt: skip


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
    found: dict[str, list[Atom]] = {}
    start = 0
    for readout in model.readouts:
        count = len(readout.atoms) if readout.scored else 1
        scores = kept[:, start : start + count]
        start += count
        if readout.scored:
            best = scores.argmax(axis=1)
        else:
            best = nearest(scores[:, 0].astype(np.float64), np.array(readout.codes))
        found[readout.name] = [readout.atoms[each] for each in best.tolist()]
    return found
