"""A model that was read from files in, an error out where its parts do not fit together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from rasp.certificate import Readout
from rasp.compiler.emitting.weights import HeadWeights, ReadoutWeights
from rasp.compiler.model.transformer import Transformer
from rasp.graph.portable import broken


def check_shapes(model: Transformer) -> None:
    """Refuse a model that could not run: then every input gets an answer, right or wrong."""
    weights, settings, size = model.weights, model.settings, model.d_model
    rows = len(settings.vocabulary) + model.uses_sink
    fine = weights.tokens.shape == (rows, size)
    fine &= weights.positions.shape == (settings.max_length, size)
    fine &= all(_head_fits(head, size) for layer in weights.heads for head in layer)
    for block in weights.feed_forwards:
        fine &= block.bias.ndim == 1
        fine &= block.inside.shape == (*block.bias.shape, size) == block.out.T.shape
    if not fine:
        raise broken("the shape of some weights")
    pairs = list(zip(model.readouts, weights.readouts, strict=True))
    if not pairs or not all(_readout_fits(each, held, size) for each, held in pairs):
        raise broken("an output")
    if not all(_reader_fits(reader, size) for reader in model.description.readers):
        raise broken("the description")


def _head_fits(head: HeadWeights, size: int) -> bool:
    scores, values = head.query_bias.shape, head.value_bias.shape
    return (
        len(scores) == len(values) == 1
        and head.query.shape == head.key.shape == (*scores, size)
        and head.key_bias.shape == scores
        and head.value.shape == (*values, size)
        and head.out.shape == (size, *values)
    )


def _readout_fits(readout: Readout, held: ReadoutWeights, size: int) -> bool:
    """Whether there is a score for each atom, or one number and codes in order."""
    count = len(readout.atoms)
    scores, codes = (count, 0) if readout.scored else (1, count)
    return (
        count > 0
        and len(readout.codes) == codes
        and all(low < high for low, high in pairwise(readout.codes))
        and held.weight.shape == (scores, size)
        and held.bias.shape == (scores,)
    )


def _reader_fits(reader: dict[str, Any], size: int) -> bool:
    numbers = [reader["constant"], *reader["weights"].values()]
    return (
        isinstance(reader["s_op"], str)
        and isinstance(reader["after"], str)
        and all(0 <= int(place) < size for place in reader["weights"])
        and all(isinstance(number, (int, float)) for number in numbers)
    )
