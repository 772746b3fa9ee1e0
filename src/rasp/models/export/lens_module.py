"""A compiled RASP program for TransformerLens; needs nothing but transformer-lens.

`rasp export --to transformer-lens` puts a copy of this file beside the weights: `load(folder)`
there returns a `TransformerBridge`, or a `HookedTransformer` where the installed TransformerLens is
older than 4. Both have hooks on everything. Inputs are token ids (batch, position), outputs are
logits; `rasp.json` says which id is which token and what each logit means.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file


def load(folder: str | Path) -> Any:
    """Read a model from `config.json` and `weights.safetensors`."""
    config, state = read(folder)
    try:
        from transformer_lens import HookedTransformer
    except ImportError:  # from version 4 on
        return bridge(config, state)
    return hooked(HookedTransformer, config, state)


def read(folder: str | Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    place = Path(folder)
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    return config, load_file(place / "weights.safetensors")


def bridge(config: dict[str, Any], state: dict[str, torch.Tensor]) -> Any:
    """Boot a bridge and fill every one of its parameters; it wraps each module of its model."""
    from transformer_lens import TransformerBridge, TransformerBridgeConfig

    found = TransformerBridge.boot_native(TransformerBridgeConfig(**config))
    named = {
        name.replace("._original_component", ""): parameter
        for name, parameter in found.named_parameters()
    }
    if named.keys() != state.keys():
        raise ValueError(f"this bridge has other parameters: {sorted(named.keys() ^ state.keys())}")
    with torch.no_grad():
        for name, tensor in state.items():
            named[name].copy_(tensor)
    return found.eval()


def hooked(kind: Any, config: dict[str, Any], state: dict[str, torch.Tensor]) -> Any:
    """Make a `HookedTransformer`, as TransformerLens had it before version 4."""
    found = kind({**config, "init_weights": False, "device": "cpu"})
    told = found.load_state_dict(hooked_state(config, state), strict=False)
    made = ("attn.mask", "attn.IGNORE")  # constants that it makes by itself
    amiss = [name for name in told.missing_keys if not name.endswith(made)] + told.unexpected_keys
    if amiss:
        raise ValueError(f"this HookedTransformer has other parameters: {amiss}")
    return found.eval()


def hooked_state(config: dict[str, Any], state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights by the names of a `HookedTransformer`, which multiplies from the left."""
    heads, inner = config["n_heads"], config["d_head"]
    unembedding = state["head.weight"].T
    found = {
        "embed.W_E": state["tok_embed.weight"],
        "pos_embed.W_pos": state["pos.weight"],
        "unembed.W_U": unembedding,
        "unembed.b_U": unembedding.new_zeros(unembedding.shape[1]),
    }
    for layer in range(config["n_layers"]):
        ours, theirs = f"layers.{layer}", f"blocks.{layer}"
        for role in "qkv":
            weight, bias = (state[f"{ours}.attn.{role}.{part}"] for part in ("weight", "bias"))
            apart = weight.reshape(heads, inner, -1)  # (head, inner, model)
            found[f"{theirs}.attn.W_{role.upper()}"] = apart.transpose(1, 2)
            found[f"{theirs}.attn.b_{role.upper()}"] = bias.reshape(heads, inner)
        found[f"{theirs}.attn.W_O"] = state[f"{ours}.attn.o.weight"].T.reshape(heads, inner, -1)
        found[f"{theirs}.attn.b_O"] = state[f"{ours}.attn.o.bias"]
        for name, part in (("in", "fc_in"), ("out", "fc_out")):
            found[f"{theirs}.mlp.W_{name}"] = state[f"{ours}.mlp.{part}.weight"].T
            found[f"{theirs}.mlp.b_{name}"] = state[f"{ours}.mlp.{part}.bias"]
    return {name: tensor.contiguous() for name, tensor in found.items()}
