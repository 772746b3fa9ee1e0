"""A compiled transformer in, a folder for TransformerLens out: a bridge, or a HookedTransformer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from rasp.compiler.emitting.weights import Array
from rasp.compiler.model.tensors import to_safetensors
from rasp.compiler.model.transformer import Transformer
from rasp.export.blocks import Blocks, blocks_of
from rasp.export.check import Checked, Run, check


def write(model: Transformer, folder: Path) -> Checked:
    """Write configuration and weights, load them, and compare the model with the program."""
    from rasp.export import lens_module

    blocks = blocks_of(model, constant=True)  # a bridge's unembedding has no bias
    config = json.dumps(configuration(model, blocks), indent=1)
    (folder / "config.json").write_text(config, encoding="utf-8")
    (folder / "weights.safetensors").write_bytes(to_safetensors(state_of(blocks)))
    (folder / "model.py").write_bytes(Path(lens_module.__file__).read_bytes())
    return check(model, run_lens(lens_module.load(folder)), "transformer-lens")


def run_lens(loaded: Any) -> Run:
    """A model of TransformerLens as a function of arrays."""

    def run(ids: Array) -> Array:
        with torch.no_grad():
            found = loaded(torch.tensor(ids, dtype=torch.long), return_type="logits")
        logits: Array = found.detach().numpy()
        return logits

    return run


def configuration(model: Transformer, blocks: Blocks) -> dict[str, Any]:
    """What TransformerLens needs to know of the shape."""
    return {
        "d_model": blocks.size,
        "d_head": blocks.inner,
        "n_heads": blocks.heads,
        "n_layers": len(blocks.blocks),
        "n_ctx": len(blocks.positions),
        "d_vocab": len(blocks.tokens),
        "d_vocab_out": len(blocks.unembedding),
        "d_mlp": blocks.hidden,
        "act_fn": "relu",
        "normalization_type": None,
        "attention_dir": "causal" if model.settings.causal else "bidirectional",
    }


def state_of(blocks: Blocks) -> dict[str, Array]:
    """The weights by the names of the bridge's parameters."""
    state = {"tok_embed.weight": blocks.tokens, "pos.weight": blocks.positions}
    for number, block in enumerate(blocks.blocks):
        name = f"layers.{number}"
        for ours, theirs in (("query", "q"), ("key", "k"), ("value", "v")):
            state[f"{name}.attn.{theirs}.weight"] = getattr(block, ours)
            state[f"{name}.attn.{theirs}.bias"] = getattr(block, f"{ours}_bias")
        zeros = block.out[:, 0] * 0
        state |= {
            f"{name}.attn.o.weight": block.out,
            f"{name}.attn.o.bias": zeros,
            f"{name}.mlp.fc_in.weight": block.inside,
            f"{name}.mlp.fc_in.bias": block.inside_bias,
            f"{name}.mlp.fc_out.weight": block.outside,
            f"{name}.mlp.fc_out.bias": zeros,
        }
    state["head.weight"] = blocks.unembedding
    return state
