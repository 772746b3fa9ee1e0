"""A compiled transformer in, a folder for TransformerLens out: a bridge, or a HookedTransformer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export.folders import Files, write_files
from rasp.models.export.foreign_check import Checked, check
from rasp.models.export.standard_stack import EqualBlocks, blocks_of
from rasp.models.export.torch_target import run_torch

NAMES = {
    "tokens": "tok_embed",
    "positions": "pos",
    "blocks.{}.attention.query": "layers.{}.attn.q",
    "blocks.{}.attention.key": "layers.{}.attn.k",
    "blocks.{}.attention.value": "layers.{}.attn.v",
    "blocks.{}.attention.out": "layers.{}.attn.o",
    "blocks.{}.inside": "layers.{}.mlp.fc_in",
    "blocks.{}.outside": "layers.{}.mlp.fc_out",
    "unembedding": "head",
}
"""Of the bridge's parameters."""


def write(model: Transformer, folder: Path) -> Checked:
    """Write configuration and weights, load them, and compare the model with the program."""
    from rasp.models.export import lens_module

    blocks = blocks_of(model, constant=True)  # a bridge's unembedding has no bias
    write_files(folder, files_of(model, blocks), module=lens_module.__file__)
    logits_of = partial(lens_module.load(folder), return_type="logits")
    return check(model, run_torch(logits_of), "transformer-lens")


def files_of(model: Transformer, blocks: EqualBlocks) -> Files:
    """What TransformerLens needs to know of the shape, and the parameters by name."""
    config = {
        "d_model": blocks.size,
        "d_head": blocks.inner,
        "n_heads": blocks.heads,
        "n_layers": blocks.count,
        "n_ctx": blocks.positions,
        "d_vocab": blocks.tokens,
        "d_vocab_out": blocks.logits,
        "d_mlp": blocks.hidden,
        "act_fn": "relu",
        "normalization_type": None,
        "attention_dir": "causal" if model.settings.causal else "bidirectional",
    }
    return config, blocks.renamed(NAMES)
