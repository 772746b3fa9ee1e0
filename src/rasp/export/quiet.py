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
    tokens = weights.tokens.copy()
    tokens[:, 0] = 1.0
    tokens[-1] = 0.0
    return Weights(
        tokens,
        weights.positions,
        [[_head(head) for head in layer] for layer in weights.heads],
        [_feed_forward(block) for block in weights.feed_forwards],
        [replace(each, weight=_without_sink(each.weight)) for each in weights.readouts],
    )


def _head(head: HeadWeights) -> HeadWeights:
    """Every query, key and value of the sink is 0, but for the score it gives itself."""
    nothing = np.zeros(len(head.query_bias))
    itself = nothing.copy()
    itself[-1] = 1.0  # the last product is the sink's
    query, query_bias = _turned(head.query, head.query_bias, LOUD * itself)
    key, key_bias = _turned(head.key, head.key_bias, itself)
    value, value_bias = _turned(head.value, head.value_bias, np.zeros(len(head.value_bias)))
    return HeadWeights(query, query_bias, key, key_bias, value, value_bias, head.out)


def _feed_forward(block: FeedForwardWeights) -> FeedForwardWeights:
    inside, bias = _turned(block.inside, block.bias, np.zeros(len(block.bias)))
    return FeedForwardWeights(inside, bias, block.out)


def _turned(rows: Array, bias: Array, at_sink: Array) -> tuple[Array, Array]:
    """Rows and biases that give `at_sink` at the sink, and elsewhere what they gave."""
    found = rows.copy()
    found[:, 0] = bias - at_sink
    return found, at_sink


def _without_sink(rows: Array) -> Array:
    found = rows.copy()
    found[:, 0] = 0.0
    return found
