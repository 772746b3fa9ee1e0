"""A compiled transformer in, a folder with a plain torch module out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from rasp.models.certificate import Array
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.export import torch_module
from rasp.models.export.folders import Files, write_files
from rasp.models.export.foreign_check import Checked, Run, check
from rasp.models.export.standard_stack import EqualBlocks, blocks_of
from rasp.models.export.torch_module import RaspTransformer


def files_of(model: Transformer, blocks: EqualBlocks) -> Files:
    """What the torch module needs to know of its shape, and its parameters by name."""
    config = {
        "d_model": blocks.size,
        "heads": blocks.heads,
        "d_head": blocks.inner,
        "hidden": blocks.hidden,
        "blocks": blocks.count,
        "causal": model.settings.causal,
        "token_count": blocks.tokens,
        "position_count": blocks.positions,
        "logits": blocks.logits,
    }
    return config, blocks.arrays


def to_torch(model: Transformer) -> RaspTransformer:
    """The model as a torch module; the caller's random numbers go on as if it were not made."""
    config, state = files_of(model, blocks_of(model))
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element")  # a constant has no stream
        module = RaspTransformer(config)
    tensors = {name: torch.tensor(array, dtype=torch.float32) for name, array in state.items()}
    module.load_state_dict(tensors, assign=True)
    return module.eval()


def run_torch(logits_of: Callable[[torch.Tensor], Any]) -> Run:
    """A torch module, or another function of tensors that returns logits, as one of arrays."""

    def run(ids: Array) -> Array:
        with torch.no_grad():
            logits: Array = logits_of(torch.tensor(ids, dtype=torch.long)).detach().numpy()
        return logits

    return run


def write(model: Transformer, folder: Path) -> Checked:
    """Write the module, load it again, and compare it with the program."""
    write_files(folder, files_of(model, blocks_of(model)), module=torch_module.__file__)
    return check(model, run_torch(torch_module.load(folder)), "torch")
