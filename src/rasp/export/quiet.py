"""Weights in, weights out that do the same, but whose sink is a row of zeros at every layer.

The compiler's sink is 1 in one dimension, the first, and 0 elsewhere; a heavy sink multiplies what
its value lacks to 0 by 10^14, and a LayerNorm would add a last bit to it. A row of zeros goes
through LayerNorm, attention and feed-forwards without rounding. So here the first dimension is 1
everywhere but at the sink, and the biases that the sink must not see are read from it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rasp.compiler.emitting.weights import Array, FeedForwardWeights, HeadWeights, Weights

LOUD = 192.0
"""How much louder than any other key the sink is to itself: no weight is left for others."""


def with_quiet_sink(weights: Weights) -> Weights:
    """The same model with the first dimension turned round."""
    tokens, sink = weights.tokens.copy(), weights.tokens[-1]
    tokens[:, 0] = 1.0
    tokens[-1] = 0.0
    heads, blocks = [], [_feed_forward(weights.feed_forwards[0], sink)]
    for layer, block in zip(weights.heads, weights.feed_forwards[1:], strict=True):
        heads.append([_head(head, sink) for head in layer])
        sent = [head.out @ (head.value @ sink + head.value_bias) for head in layer]
        sink = sink + sum(sent, np.zeros(len(sink)))  # it attends to itself
        blocks.append(_feed_forward(block, sink))
    readouts = [replace(each, weight=_without_sink(each.weight)) for each in weights.readouts]
    return Weights(tokens, weights.positions, heads, blocks, readouts)


def _head(head: HeadWeights, sink: Array) -> HeadWeights:
    """Every query, key and value of the sink is what it was, but for the score it gives itself."""
    own_key = head.key @ sink + head.key_bias
    asked = np.zeros(len(head.query_bias))
    asked[-1] = LOUD / own_key[-1]  # the last product is the sink's
    query, query_bias = _turned(head.query, head.query_bias, asked, sink)
    key, key_bias = _turned(head.key, head.key_bias, own_key, sink)
    own_value = head.value @ sink + head.value_bias
    value, value_bias = _turned(head.value, head.value_bias, own_value, sink)
    return HeadWeights(query, query_bias, key, key_bias, value, value_bias, head.out)


def _feed_forward(block: FeedForwardWeights, sink: Array) -> FeedForwardWeights:
    inside, bias = _turned(block.inside, block.bias, np.zeros(len(block.bias)), sink)
    return FeedForwardWeights(inside, bias, block.out)


def _turned(rows: Array, bias: Array, at_sink: Array, sink: Array) -> tuple[Array, Array]:
    """Rows and biases that give `at_sink` at the sink, and elsewhere what they gave."""
    found = rows.copy()
    alone = at_sink - rows[:, 1:] @ sink[1:]
    found[:, 0] = bias - alone
    return found, alone


def _without_sink(rows: Array) -> Array:
    found = rows.copy()
    found[:, 0] = 0.0
    return found
