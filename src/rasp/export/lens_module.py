"""A compiled RASP program as a TransformerLens bridge; needs nothing but transformer-lens.

`rasp export --to transformer-lens` puts a copy of this file beside the weights: `load(folder)`
there returns the bridge, with hooks on everything. Inputs are token ids (batch, position), outputs
are logits; `rasp.json` says which id is which token and what each logit stands for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformer_lens import TransformerBridge, TransformerBridgeConfig


def load(folder: str | Path) -> Any:
    """Read a bridge from `config.json` and `weights.safetensors`."""
    place = Path(folder)
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    return bridge(config, load_file(place / "weights.safetensors"))


def bridge(config: dict[str, Any], state: dict[str, torch.Tensor]) -> Any:
    """Boot a bridge and fill every one of its parameters; it wraps each module of its model."""
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
