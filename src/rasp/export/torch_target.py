"""A compiled transformer in, a folder with a plain torch module out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from rasp.compiler.store import to_safetensors
from rasp.compiler.transformer import Transformer
from rasp.compiler.weights import Array
from rasp.export import torch_module
from rasp.export.blocks import Blocks, blocks_of, card
from rasp.export.check import check
from rasp.export.torch_module import RaspTransformer
from rasp.replacing import replace_file


def configuration(model: Transformer, blocks: Blocks) -> dict[str, Any]:
    return {
        "d_model": blocks.size,
        "heads": blocks.heads,
        "d_head": blocks.inner,
        "hidden": blocks.hidden,
        "blocks": len(blocks.blocks),
        "causal": model.settings.causal,
        "token_count": len(blocks.tokens),
        "position_count": len(blocks.positions),
        "logits": len(blocks.unembedding),
        "rasp": card(model),
    }


def state_of(blocks: Blocks) -> dict[str, Array]:
    """The weights by the names of the torch module's parameters."""
    state = {"tokens.weight": blocks.tokens, "positions.weight": blocks.positions}
    for number, block in enumerate(blocks.blocks):
        for name in ("query", "key", "value"):
            state[f"blocks.{number}.attention.{name}.weight"] = getattr(block, name)
            state[f"blocks.{number}.attention.{name}.bias"] = getattr(block, f"{name}_bias")
        state[f"blocks.{number}.attention.out.weight"] = block.out
        state[f"blocks.{number}.inside.weight"] = block.inside
        state[f"blocks.{number}.inside.bias"] = block.inside_bias
        state[f"blocks.{number}.outside.weight"] = block.outside
    state["unembedding.weight"] = blocks.unembedding
    state["unembedding.bias"] = blocks.unembedding_bias
    return state


def to_torch(model: Transformer) -> RaspTransformer:
    """The model as a torch module."""
    blocks = blocks_of(model)
    module = RaspTransformer(configuration(model, blocks))
    module.load_state_dict(
        {name: torch.tensor(array, dtype=torch.float32) for name, array in state_of(blocks).items()}
    )
    return module.eval()


def logits_of(module: Any, ids: Array) -> Array:
    """Run a torch module that returns logits on one input."""
    with torch.no_grad():
        found = module(torch.tensor(ids, dtype=torch.long)[None])
    return found[0].numpy()  # type: ignore[no-any-return]


def write(model: Transformer, folder: Path) -> int:
    """Write the module, load it again, and compare it with the program."""
    blocks = blocks_of(model)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(configuration(model, blocks), ensure_ascii=False, indent=1)
    replace_file(folder / "config.json", text.encode())
    replace_file(folder / "weights.safetensors", to_safetensors(state_of(blocks)))
    source = Path(torch_module.__file__).read_bytes()
    replace_file(folder / "model.py", source)
    module = torch_module.load(folder)
    return check(model, lambda ids: logits_of(module, ids), "torch")
