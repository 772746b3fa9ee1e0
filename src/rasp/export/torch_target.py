"""A compiled transformer in, a folder with a plain torch module out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from rasp.compiler.emitting.weights import Array
from rasp.compiler.model.tensors import to_safetensors
from rasp.compiler.model.transformer import Transformer
from rasp.export import torch_module
from rasp.export.blocks import Blocks, blocks_of
from rasp.export.check import Checked, Run, check
from rasp.export.torch_module import RaspTransformer


def configuration(model: Transformer, blocks: Blocks) -> dict[str, Any]:
    """What the torch module needs to know of its shape."""
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
    """The model as a torch module; the caller's random numbers go on as if it were not made."""
    blocks = blocks_of(model)
    with torch.random.fork_rng(devices=[]):
        module = RaspTransformer(configuration(model, blocks))
    state = state_of(blocks)
    tensors = {name: torch.tensor(array, dtype=torch.float32) for name, array in state.items()}
    module.load_state_dict(tensors, assign=True)
    return module.eval()


def run_torch(module: Any) -> Run:
    """A torch module that returns logits, as a function of arrays."""

    def run(ids: Array) -> Array:
        with torch.no_grad():
            found: Array = module(torch.tensor(ids, dtype=torch.long)).numpy()
        return found

    return run


def write(model: Transformer, folder: Path) -> Checked:
    """Write the module, load it again, and compare it with the program."""
    blocks = blocks_of(model)
    config = json.dumps(configuration(model, blocks), indent=1)
    (folder / "config.json").write_text(config, encoding="utf-8")
    (folder / "weights.safetensors").write_bytes(to_safetensors(state_of(blocks)))
    (folder / "model.py").write_bytes(Path(torch_module.__file__).read_bytes())
    return check(model, run_torch(torch_module.load(folder)), "torch")
