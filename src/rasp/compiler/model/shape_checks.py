"""A model that was read from files in, an error out where its parts do not fit together."""

from __future__ import annotations

from itertools import pairwise

from rasp.certificate import Readout, ReadoutWeights
from rasp.compiler.model.transformer import Transformer
from rasp.graph.portable import broken


def check_shapes(model: Transformer) -> None:
    """Refuse a model that could not run: then every input gets an answer, right or wrong."""
    weights, settings = model.weights, model.settings
    if not weights.fit(len(settings.vocabulary) + model.uses_sink, settings.max_length):
        raise broken("the shape of some weights")
    pairs = list(zip(model.readouts, weights.readouts, strict=True))
    if not pairs or not all(_readout_fits(readout, held) for readout, held in pairs):
        raise broken("an output")
    if any(dim >= model.d_model for reader in model.claims.readers for dim in reader.weights):
        raise broken("a claim")


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
