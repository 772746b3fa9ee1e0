"""A compiled transformer in, a TransformerLens bridge out, with hooks on everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from rasp.compiler.store import from_safetensors, to_safetensors
from rasp.compiler.transformer import Transformer
from rasp.compiler.weights import Array
from rasp.export.blocks import Blocks, blocks_of, card
from rasp.export.check import check
from rasp.replacing import replace_file


def to_transformer_lens(model: Transformer) -> Any:
    """The model as a `TransformerBridge`; its unembedding has no bias, so a dimension is 1."""
    blocks = blocks_of(model, constant=True)
    return _bridge(_configuration(model, blocks), _state(blocks))


def write(model: Transformer, folder: Path) -> int:
    """Write configuration and weights, load them as a bridge, and compare it with the program."""
    blocks = blocks_of(model, constant=True)
    configuration = _configuration(model, blocks)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"bridge": configuration, "rasp": card(model)}, ensure_ascii=False, indent=1)
    replace_file(folder / "config.json", text.encode())
    replace_file(folder / "weights.safetensors", to_safetensors(_state(blocks)))
    bridge = load(folder)
    return check(model, lambda ids: logits_of(bridge, ids), "transformer-lens")


def load(folder: str | Path) -> Any:
    """Read a bridge that `write` wrote."""
    place = Path(folder)
    configuration = json.loads((place / "config.json").read_text(encoding="utf-8"))["bridge"]
    return _bridge(configuration, from_safetensors((place / "weights.safetensors").read_bytes()))


def logits_of(bridge: Any, ids: Array) -> Array:
    with torch.no_grad():
        found = bridge(torch.tensor(ids, dtype=torch.long)[None], return_type="logits")
    return found[0].detach().numpy()  # type: ignore[no-any-return]


def _configuration(model: Transformer, blocks: Blocks) -> dict[str, Any]:
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


def _state(blocks: Blocks) -> dict[str, Array]:
    state = {"tok_embed.weight": blocks.tokens, "pos.weight": blocks.positions}
    for number, block in enumerate(blocks.blocks):
        name = f"layers.{number}"
        for ours, theirs in (("query", "q"), ("key", "k"), ("value", "v")):
            state[f"{name}.attn.{theirs}.weight"] = getattr(block, ours)
            state[f"{name}.attn.{theirs}.bias"] = getattr(block, f"{ours}_bias")
        state[f"{name}.attn.o.weight"] = block.out
        state[f"{name}.attn.o.bias"] = block.out[:, 0] * 0
        state[f"{name}.mlp.fc_in.weight"] = block.inside
        state[f"{name}.mlp.fc_in.bias"] = block.inside_bias
        state[f"{name}.mlp.fc_out.weight"] = block.outside
        state[f"{name}.mlp.fc_out.bias"] = block.out[:, 0] * 0
    state["head.weight"] = blocks.unembedding
    return state


def _bridge(configuration: dict[str, Any], state: dict[str, Array]) -> Any:
    """Boot a bridge and fill every one of its parameters; it wraps each module of its model."""
    from transformer_lens import TransformerBridge, TransformerBridgeConfig

    bridge = TransformerBridge.boot_native(TransformerBridgeConfig(**configuration))
    named = {
        name.replace("._original_component", ""): parameter
        for name, parameter in bridge.named_parameters()
    }
    assert named.keys() == state.keys(), named.keys() ^ state.keys()
    with torch.no_grad():
        for name, array in state.items():
            named[name].copy_(torch.tensor(array, dtype=torch.float32))
    return bridge.eval()
