"""What labels say of dimensions, compared with the arrays."""

from __future__ import annotations

import numpy as np
import pytest
from models import KINDS, model_of

from rasp.compiler import Transformer


def dimensions_of_the_sink(model: Transformer) -> list[int]:
    """The dimensions in which the sink holds something, and nothing else ever does."""
    if not model.uses_sink:
        return []
    weights = model.weights
    held = weights.tokens[:-1].any(axis=0) | weights.positions.any(axis=0)
    for part in [*(head for layer in weights.heads for head in layer), *weights.feed_forwards]:
        held = held | part.out.any(axis=1)
    return np.flatnonzero(~held & (weights.tokens[-1] != 0)).tolist()


@pytest.mark.parametrize("name", KINDS)
def test_what_is_called_the_sink_is_the_sink(name: str) -> None:
    model, _ = model_of(name)
    called = [place for place, label in enumerate(model.description.dimensions) if label == "sink"]
    assert called == dimensions_of_the_sink(model)
