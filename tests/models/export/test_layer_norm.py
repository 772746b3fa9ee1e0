"""A LayerNorm that changes nothing but the last bits, and weights that bear it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_examples import compiled, needs

import rasp
from rasp.base.errors import RaspUnsupportedError
from rasp.models.certificate import Weights
from rasp.models.export import export
from rasp.models.export.hugging_face import (
    ONE_ROUNDING,
    PROVED,
    ROUNDING,
    TESTED,
    bearing_layer_norms,
)
from rasp.models.export.next_token_head import in_vocabulary
from rasp.models.export.standard_stack import EPSILON, GAIN, blocks_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the libraries' own


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4, 1e8])
def test_a_layer_norm_leaves_no_more_error_than_one_rounding(scale: float) -> None:
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
    assert (np.abs(steady - rows) <= 2.0**-24 * np.abs(rows) + 2.0**-48 * scale * 1e4).all()
    assert not torch.nn.functional.layer_norm(
        torch.zeros(size), (size,), weight, None, EPSILON
    ).any()


@pytest.mark.parametrize("units", [-2, -1, 0, 1, 2])
def test_a_root_that_is_off_as_on_a_gpu_is_within_the_noise(units: int) -> None:
    """CUDA's `rsqrt` may be off by two units in its last place; three LayerNorms come together."""
    root, gain = np.float32(1 / np.sqrt(EPSILON)), np.float32(GAIN)
    for _ in range(abs(units)):
        root = np.nextafter(root, np.float32(np.sign(units)))
    rows = np.random.default_rng(0).normal(size=(100, 64)).astype(np.float32)
    rows -= rows.mean(axis=1, keepdims=True)
    found = rows
    for _ in range(3):
        found = (found - found.mean(axis=1, keepdims=True)) * root * gain
    largest = np.abs(rows).max(axis=1, keepdims=True)
    off = np.abs(found.astype(np.float64) - rows) / largest
    assert off.max() + ONE_ROUNDING <= ROUNDING


def test_dimensions_add_up_to_nothing_and_readers_do_not_see_a_shift() -> None:
    blocks = blocks_of(compiled("double hist", 10), balanced=True, constant=True, square=True)
    for number in range(blocks.count):
        for part in ("attention.query", "attention.key", "attention.value", "inside"):
            read = blocks[f"blocks.{number}.{part}.weight"]
            shifted = read @ np.ones(blocks.size)
            assert np.allclose(shifted, 0, atol=1e-9 * (1 + np.abs(read).max()))


def test_a_compact_model_is_compiled_again_and_proved_to_bear_the_rounding() -> None:
    needs("torch", "transformers")
    compact, robust = (compiled("hist", 10, style=style) for style in ("compact", "robust"))
    assert bearing_layer_norms(robust) == (robust, PROVED)
    again, statement = bearing_layer_norms(compact)
    assert statement == PROVED
    assert again.settings.style == "robust" and again("aab") == compact("aab")


@pytest.mark.parametrize("power", [52, 40, -60])
def test_a_stream_that_layer_norms_would_change_is_not_proved(power: int) -> None:
    """The same model, with a stream 2^52 times as long, that a LayerNorm makes shorter: the export
    answers wrongly.
    """
    needs("torch", "transformers")
    model, long, short = compiled("hist", 10, style="robust"), 2.0**power, 2.0**-power
    weights = model.weights
    heads = [[replace(head, query=head.query * short, key=head.key * short,
                      value=head.value * short, out=head.out * long) for head in layer]
             for layer in weights.heads]  # fmt: skip
    blocks = [replace(block, inside=block.inside * short, out=block.out * long)
              for block in weights.feed_forwards]  # fmt: skip
    readouts = [replace(readout, weight=readout.weight * short) for readout in weights.readouts]
    scaled = Weights(weights.tokens * long, weights.positions * long, heads, blocks, readouts)
    other = replace(model, weights=scaled)
    assert other("aab") == model("aab")
    assert bearing_layer_norms(other) == (other, TESTED)


def test_a_bias_that_is_large_beside_the_stream_is_not_proved() -> None:
    """GPT-2 reads it from a number that is rounded like the stream."""
    needs("torch", "transformers")
    model = rasp.compile(rasp.tokens, vocabulary="ab", max_length=4, causal=True, style="robust")
    readouts = [replace(readout, bias=readout.bias + 2.0**20)
                for readout in model.weights.readouts]  # fmt: skip
    other = replace(model, weights=replace(model.weights, readouts=readouts))
    assert bearing_layer_norms(model)[1] == PROVED
    assert bearing_layer_norms(other)[1] == TESTED


def test_what_is_generated_bears_the_rounding() -> None:
    needs("torch", "transformers")
    model = rasp.compile(rasp.tokens, alphabet="ab", max_length=4, next_token=True)
    assert bearing_layer_norms(in_vocabulary(model))[1] == PROVED


def test_weights_that_cannot_be_proved_are_tested_and_say_so(tmp_path: Path) -> None:
    needs("torch", "transformers")
    assert export(compiled("hist, no sink", 10), "hf-bert", tmp_path / "out") >= 80
    card = json.loads((tmp_path / "out" / "rasp.json").read_text())
    assert card["layer_norms"] == TESTED


def test_weights_that_do_not_bear_the_rounding_are_refused(tmp_path: Path) -> None:
    needs("torch", "transformers")
    with pytest.raises(RaspUnsupportedError, match=r"this model answers .* differently") as told:
        export(compiled("most freq, split", 40), "hf-bert", tmp_path / "out")
    assert "export to torch" in str(told.value.hint)
    assert not list(tmp_path.iterdir())
