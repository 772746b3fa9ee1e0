"""A model that was read from files in, an error out where its parts do not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rasp.certificate import Readout, ReadoutWeights, Weights
from rasp.compiler.model.transformer import Transformer
from rasp.compiler.model.wiring import feed_forward_name
from rasp.graph.portable import broken


def check_shapes(model: Transformer) -> None:
    """Refuse a model that could not run: then every input gets an answer, right or wrong."""
    weights, settings = model.weights, model.settings
    if not weights.fit(len(settings.vocabulary) + model.uses_sink, settings.max_length):
        raise broken("the shape of some weights")
    pairs = list(zip(model.readouts, weights.readouts, strict=True))
    if not pairs or not all(_readout_fits(readout, held) for readout, held in pairs):
        raise broken("an output")
    blocks = {*_blocks(weights)}
    for reader in model.claims.readers:
        if reader.after not in blocks or any(dim >= model.d_model for dim in reader.weights):
            raise broken("a claim")


def _blocks(weights: Weights) -> Iterator[str]:
    """After what the residual stream can be looked at."""
    yield "embedding"
    yield from (f"layer{layer}.attention" for layer in range(1, len(weights.heads) + 1))
    yield from (feed_forward_name(layer) for layer, block in enumerate(weights.feed_forwards)
                if block.bias.size)  # fmt: skip


def _readout_fits(readout: Readout, held: ReadoutWeights) -> bool:
    """Whether there is a score for each atom, or one number and codes in order."""
    count = len(readout.atoms)
    scores, codes = (count, 0) if readout.scored else (1, count)
    return (
        count > 0
        and len(readout.codes) == codes
        and all(low < high for low, high in pairwise(readout.codes))
        and len(held.bias) == scores
    )
