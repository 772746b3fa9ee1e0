"""A LayerNorm that changes nothing but the last bits, and weights that bear it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_examples import TASKS, WHOLE, compiled, needs

import rasp
from rasp.compiler.emitting import stream_errors
from rasp.compiler.emitting.stream_errors import NORM, UNIT
from rasp.errors import RaspUnsupportedError
from rasp.export import export
from rasp.export.blocks import EPSILON, GAIN, blocks_of
from rasp.export.quiet import with_quiet_sink

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries' own


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4, 1e8])
def test_a_layer_norm_leaves_no_more_error_than_the_certificate_allows(scale: float) -> None:
    needs("torch")
    import torch

    chooser = np.random.default_rng(0)
    size = 64
    rows = chooser.integers(-100, 100, (500, size)) * chooser.choice([0, 1, scale], (500, size))
    rows = rows.astype(np.float32)
    rows[:, -1] = 0.0  # holds nothing: it shows how far all dimensions were shifted
    rows[:, -2] = 0.0
    rows[:, -2] = -rows.sum(axis=1)
    weight = torch.full((size,), GAIN)
    normed = torch.nn.functional.layer_norm(torch.tensor(rows), (size,), weight, None, EPSILON)
    found = normed.numpy().astype(np.float64)
    steady = found - found[:, -1:]
    assert (np.abs(steady - rows) <= NORM * UNIT * np.abs(rows) + UNIT**2 * scale * 1e4).all()
    assert not torch.nn.functional.layer_norm(
        torch.zeros(size), (size,), weight, None, EPSILON
    ).any()


@pytest.mark.parametrize("name", [*WHOLE, "dyck-1, causal"])
def test_with_a_quiet_sink_a_model_answers_as_before(name: str) -> None:
    model = compiled(name, 10)
    assert model.uses_sink
    turned = replace(model, weights=with_quiet_sink(model.weights))
    program = rasp.run(TASKS[name].text)["out"]
    for given in ("a", "aab", "((a))", "abcabcabca", "a)(}{a"):
        if set(given) <= set(TASKS[name].vocabulary):
            assert turned(given) == program(given)
    first = turned.token_ids([TASKS[name].vocabulary[0]] * 10)[None]
    assert not turned.run(first)[0, 0].any(), "the sink is a row of zeros, after every layer"


def test_dimensions_add_up_to_nothing_and_readers_do_not_see_a_shift() -> None:
    blocks = blocks_of(compiled("double hist", 10), balanced=True, constant=True, square=True)
    for block in blocks.blocks:
        for read in (block.query, block.key, block.value, block.inside):
            shifted = read @ np.ones(blocks.size)
            assert np.allclose(shifted, 0, atol=1e-9 * (1 + np.abs(read).max()))


def test_weights_that_do_not_bear_the_rounding_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("torch", "transformers")
    monkeypatch.setattr(stream_errors, "NORM", 1e6)
    with pytest.raises(
        RaspUnsupportedError, match=r"with a LayerNorm's rounding, .*margin"
    ) as told:
        export(compiled("hist", 10), "hf-bert", tmp_path / "out")
    assert "export to torch" in str(told.value.hint)
    assert not list(tmp_path.iterdir())
