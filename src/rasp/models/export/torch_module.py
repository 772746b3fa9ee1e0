"""A compiled RASP program as a plain torch module; this file needs nothing but torch.

`rasp export --to torch` puts a copy of it beside the weights: `load(folder)` there returns the
module. Inputs are token ids (batch, position), outputs are logits; `rasp.json` says which id
is which token and what each logit means.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class Attention(nn.Module):
    """Softmax attention with equal heads."""

    def __init__(self, size: int, heads: int, inner: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.inner, self.causal = heads, inner, causal
        self.query = nn.Linear(size, heads * inner)
        self.key = nn.Linear(size, heads * inner)
        self.value = nn.Linear(size, heads * inner)
        self.out = nn.Linear(heads * inner, size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        queries, keys, values = (
            self._split(part(x)) for part in (self.query, self.key, self.value)
        )
        scores = queries @ keys.transpose(-1, -2) / self.inner**0.5  # (batch, head, query, key)
        if self.causal:
            length = x.shape[1]
            later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        moved = torch.softmax(scores, -1) @ values
        out: Tensor = self.out(moved.transpose(1, 2).flatten(2))
        return out

    def _split(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        return x.view(batch, length, self.heads, self.inner).transpose(1, 2)


class Block(nn.Module):
    """Attention, then a ReLU feed-forward, each added to the residual stream."""

    def __init__(self, size: int, heads: int, inner: int, hidden: int, causal: bool) -> None:
        super().__init__()
        self.attention = Attention(size, heads, inner, causal)
        self.inside = nn.Linear(size, hidden)
        self.outside = nn.Linear(hidden, size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(x)
        added: Tensor = self.outside(torch.relu(self.inside(x)))
        return x + added


class RaspTransformer(nn.Module):
    """Embedding, blocks, unembedding."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        size = config["d_model"]
        self.tokens = nn.Embedding(config["token_count"], size)
        self.positions = nn.Embedding(config["position_count"], size)
        self.blocks = nn.ModuleList(
            Block(size, config["heads"], config["d_head"], config["hidden"], config["causal"])
            for _ in range(config["blocks"])
        )
        self.unembedding = nn.Linear(size, config["logits"])

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.unembedding(x)
        return logits


def load(folder: str | Path) -> RaspTransformer:
    """Read a module from `config.json` and `weights.safetensors`."""
    place = Path(folder)
    config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    raw = (place / "weights.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    state = {}
    for name, entry in header.items():
        if name != "__metadata__":
            start, end = (8 + length + each for each in entry["data_offsets"])
            values = torch.frombuffer(bytearray(raw[start:end]), dtype=torch.float32)
            state[name] = values.reshape(entry["shape"])
    model = RaspTransformer(config)
    model.load_state_dict(state)
    return model.eval()
