"""A compiled model on a machine whose exp and division are off, and that adds in any order.

Everything is float32. Each exponential and each quotient of a softmax is multiplied by 1 + e with
|e| <= 2^-21, and whatever is added up is shuffled first, on each input anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.evaluator import plain
from rasp.language.graph import Node
from rasp.models.certificate import FeedForwardWeights, HeadWeights
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.forward import QUIET, chosen

Array = np.ndarray
SMALL = np.float32
MOST = 2.0**-21
"""The largest relative error of exp, and of division."""
WAYS = ("anything", "either end", "matches up", "matches down")
"""How errors are drawn; in the last two, all that is not the largest errs the same way."""


@np.errstate(**QUIET)
def perturbed_answers(
    model: Transformer,
    ids: Array,
    rng: np.random.Generator,
    keep: dict[str, Array] | None = None,
) -> dict[str, list[list[Atom]]]:
    """What `model.answers` would be on such a machine; (batch, position) token ids."""
    x = _run(model, ids, rng, {} if keep is None else keep)[:, model.uses_sink :]
    found = {}
    for readout, weights in zip(model.readouts, model.weights.readouts, strict=True):
        scores = _read(x, weights.weight, weights.bias, rng)
        found[readout.name] = [[readout.atoms[place] for place in row]
                               for row in chosen(readout, scores).tolist()]  # fmt: skip
    return found


def perturbed_wrong(
    model: Transformer, nodes: Sequence[Node], ids: Array, rng: np.random.Generator
) -> list[tuple[Atom, ...]]:
    """The inputs that go wrong, of those on which the program has a value."""
    vocabulary = model.settings.vocabulary
    inputs = [tuple(vocabulary[each] for each in row) for row in ids.tolist()]
    answers = list(perturbed_answers(model, ids, rng).values())
    wrong = []
    for number, tokens in enumerate(inputs):
        try:
            expected = plain.evaluate(list(nodes), tokens)
        except (RaspError, plain.EvaluationError):
            continue
        if any(rows[number] != expected[node] for rows, node in zip(answers, nodes, strict=True)):
            wrong.append(tokens)
    return wrong


def _run(model: Transformer, ids: Array, rng: np.random.Generator, keep: dict[str, Array]) -> Array:
    x = model.embedded(ids, SMALL)
    size = x.shape[1]
    allowed = np.tril(np.ones((size, size), bool)) if model.settings.causal else None
    for layer, block in enumerate(model.weights.feed_forwards):
        if layer:
            parts = []
            for number, head in enumerate(model.weights.heads[layer - 1], 1):
                keep[f"layer{layer}.head{number}"], part = _attend(x, head, allowed, rng)
                parts.append(part)
            x = _added([x, *parts], rng)
        if block.bias.size:
            x = x + _feed_forward(x, block, rng)
    return np.asarray(x)


def _added(parts: list[Array], rng: np.random.Generator) -> Array:
    order = rng.permutation(len(parts)).tolist()
    total = parts[order[0]]
    for place in order[1:]:
        total = total + parts[place]
    return total


def _read(x: Array, weight: Array, bias: Array, rng: np.random.Generator) -> Array:
    """x·weightᵀ + bias, added up in some order."""
    order = rng.permutation(x.shape[-1])
    product = x[..., order] @ weight.T[order].astype(SMALL)
    return np.asarray(product + bias.astype(SMALL))


def _attend(
    x: Array, head: HeadWeights, allowed: Array | None, rng: np.random.Generator
) -> tuple[Array, Array]:  # fmt: skip
    queries = _read(x, head.query, head.query_bias, rng)
    keys = _read(x, head.key, head.key_bias, rng)
    order = rng.permutation(queries.shape[-1])
    scores = queries[..., order] @ keys[..., order].transpose(0, 2, 1)
    if allowed is not None:
        scores = np.where(allowed, scores, SMALL(-np.inf))
    above = scores - scores.max(axis=-1, keepdims=True)
    weights = (np.exp(above) * _factors(above, rng)).astype(SMALL)
    order = rng.permutation(weights.shape[-1])
    attention = weights / weights[..., order].sum(axis=-1, keepdims=True)
    attention = (attention * (1 + MOST * rng.uniform(-1, 1, attention.shape))).astype(SMALL)
    values = _read(x, head.value, head.value_bias, rng)
    moved = attention[..., order] @ values[:, order]
    return attention, _read(moved, head.out, np.zeros(1), rng)


def _factors(above: Array, rng: np.random.Generator) -> Array:
    """1 + e for each exponential."""
    way = WAYS[rng.integers(len(WAYS))]
    if way == "anything":
        return np.asarray(1 + MOST * rng.uniform(-1, 1, above.shape))
    if way == "either end":
        return np.asarray(1 + MOST * rng.choice([-1.0, 1.0], above.shape))
    sign = 1.0 if way == "matches up" else -1.0
    return np.asarray(1 + MOST * np.where(above == 0, -sign, sign))


def _feed_forward(x: Array, block: FeedForwardWeights, rng: np.random.Generator) -> Array:
    hidden = np.maximum(_read(x, block.inside, block.bias, rng), 0)
    return _read(hidden, block.out, np.zeros(1), rng)
