"""Read-outs that compare a number with codes, in float64 as the forward pass does."""

from __future__ import annotations

import numpy as np
import pytest
from forging import is_refused, node_of

from models import expected_of, mistakes_in, outputs_of, verdict
from rasp.models.certificate import Readout, Weights
from rasp.models.certificate.claims import Claims
from rasp.models.compiler import Transformer
from rasp.models.compiler.model.describe import Words
from rasp.models.compiler.settings import Settings


def read_by_codes(numbers: tuple[float, float], codes: tuple[float, float]) -> Transformer:
    """A model of "ab" that says whether the token is "b", which is read as the second number."""
    out = node_of('out = tokens == "b";')
    arrays = {"tokens": [[number] for number in numbers], "positions": [[0.0]],
              "output0.weight": [[1.0]], "output0.bias": [0.0]}  # fmt: skip
    return Transformer(
        Settings(("a", "b"), 1),
        Weights.from_arrays({name: np.array(each) for name, each in arrays.items()}, [], 1),
        (Readout("out", (False, True), codes, False),),
        Claims((None, None), {out: (0,)}, {}, (), ((),), ((0,),)), Words({"out": out}, {}, {}),
    )  # fmt: skip


@pytest.mark.parametrize("power", [54, 60, 900])
def test_large_codes_are_equally_far_from_a_small_number(power: int) -> None:
    """1 - -2^60 and 2^60 - 1 are one number to float64."""
    is_refused(read_by_codes((-1.0, 1.0), (-(2.0**power), 2.0**power)), "no margin is left")


@pytest.mark.parametrize("codes", [(-1.0, 1.0), (-(2.0**30), 2.0**30), (2**62, 2**62 + 2**61)])
def test_codes_that_float64_tells_apart_are_certified(codes: tuple[float, float]) -> None:
    model = read_by_codes((float(codes[0]), float(codes[1])), codes)
    outputs = outputs_of(model)
    assert verdict(model, outputs).holds
    assert not mistakes_in(model, expected_of(model, outputs))
