"""The model in plain PyTorch: logits and attention of a stack of models on a batch.

Every tensor begins with a dimension of models, which never mix. The architecture is
the paper's: embedding and sinusoidal positions, then post-LayerNorm encoder layers with ReLU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as functional

from rasp.models.training.batch_shapes import SlotLayout
from rasp.models.training.parameters import Parameters, Shape, sinusoids

NORM_EPSILON = 1e-5


@dataclass(frozen=True)
class StackBatch:
    """One batch for each model of a stack, one after the other in a row."""

    tokens: torch.Tensor  # (models, size): numbers of tokens
    lengths: torch.Tensor  # (models, batch)
    targets: torch.Tensor  # (models, size): classes; negative where nothing is learnt


Replaced = Mapping[tuple[int, int], torch.Tensor]
"""Attention to use instead of a head's own, by (layer, head): (models, cells)."""


class SlotTensors:
    """What a layout says, as tensors on a device, and the encodings of its positions."""

    def __init__(self, layout: SlotLayout, device: torch.device | str, width: int) -> None:
        self.layout = layout
        self.slot_of = torch.from_numpy(layout.slot_of).to(device)
        self.position_of = torch.from_numpy(layout.position_of).to(device)
        queries, keys = (torch.from_numpy(ends).to(device) for ends in layout.cell_tokens)
        self.cell_queries, self.cell_keys = queries, keys
        self.longest = max(layout.slots)
        self.encodings = sinusoids(self.longest, width).to(device)[self.position_of]
        """What each token's position adds to its embedding. (size, width)"""
        self.square = (
            self.slot_of[queries] * self.longest + self.position_of[queries]
        ) * self.longest + self.position_of[keys]
        """Each cell's place in padded squares, one per slot. (cells,)"""


def forward(
    parameters: Parameters,
    shape: Shape,
    plan: SlotTensors,
    batch: StackBatch,
    replaced: Replaced | None = None,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return logits (models, size, classes) and each layer's attention (models, heads, cells)."""
    model = torch.arange(len(batch.tokens), device=batch.tokens.device)[:, None]
    stream = parameters["embedding"][model, batch.tokens] + plan.encodings
    attention = []
    for layer in range(shape.layers):
        own = {name.partition(".")[2]: parameter for name, parameter in parameters.items()
               if name.startswith(f"{layer}.")}  # fmt: skip
        swaps = {head: cells for (at, head), cells in (replaced or {}).items() if at == layer}
        joined, weights = _attend(stream, own, shape, plan, batch.lengths, swaps)
        stream = _add_norm(stream, joined, own["join_norm"])
        hidden = torch.relu(torch.baddbmm(own["widen_bias"][:, None], stream, own["widen"]))
        stream = _add_norm(stream, hidden @ own["narrow"], own["narrow_norm"])
        attention.append(weights)
    logits = torch.baddbmm(parameters["classify_bias"][:, None], stream, parameters["classify"])
    return logits, attention


def _attend(
    stream: torch.Tensor,
    own: Parameters,
    shape: Shape,
    plan: SlotTensors,
    lengths: torch.Tensor,
    swaps: Mapping[int, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention within each slot, computed on padded squares."""
    models, batch, longest = len(stream), plan.layout.batch, plan.longest
    flat = torch.baddbmm(own["attend_bias"][:, None], stream, own["attend"])  # (models, size, 3w)
    padded = flat.new_zeros(models, batch * longest, flat.shape[2])
    places = plan.slot_of * longest + plan.position_of
    padded = padded.index_copy(1, places, flat)
    queries, keys, values = (
        part.reshape(models, batch, longest, shape.heads, -1).transpose(2, 3)
        for part in torch.split(padded, shape.width, dim=2)
    )  # (models, batch, heads, longest, width / heads)
    scores = queries @ keys.transpose(3, 4) * (shape.width // shape.heads) ** -0.5
    place = torch.arange(longest, device=flat.device)
    absent = (place >= lengths[..., None])[:, :, None, None]  # (models, batch, 1, 1, key)
    if shape.causal:
        absent = absent | (place > place[:, None])
    scores = scores.masked_fill(absent, float("-inf"))
    weights = scores.softmax(dim=4)
    for head, cells in swaps.items():
        swapped = torch.zeros_like(weights[:, :, head]).flatten(1)
        weights = weights.clone()
        weights[:, :, head] = swapped.index_copy(1, plan.square, cells).view_as(weights[:, :, head])
    mixed = (weights @ values).transpose(2, 3).flatten(3).flatten(1, 2)[:, places]
    cells = weights.transpose(1, 2).flatten(2)[:, :, plan.square]
    return mixed @ own["join"], cells


def _add_norm(stream: torch.Tensor, change: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
    bias, gain, shift = (norm[:, row, None] for row in range(3))
    total = stream + change + bias
    return functional.layer_norm(total, total.shape[2:], eps=NORM_EPSILON) * gain + shift


def token_weights(batch: StackBatch, plan: SlotTensors) -> torch.Tensor:
    """What each token counts: the loss is a mean over sequences of means over tokens."""
    counted = (batch.targets != -1).float()
    per_slot = counted.new_zeros(len(counted), plan.layout.batch)
    per_slot.index_add_(1, plan.slot_of, counted)
    return counted / (per_slot[:, plan.slot_of].clamp(min=1) * plan.layout.batch)


def losses(
    logits: torch.Tensor, batch: StackBatch, plan: SlotTensors, class_mask: torch.Tensor
) -> torch.Tensor:
    """Return each model's loss. Classes a model does not have are masked with -inf. (models,)"""
    log_chance = (logits + class_mask[:, None]).log_softmax(dim=2)
    picked = log_chance.gather(2, batch.targets.clamp(min=0)[..., None].long())[..., 0]
    is_learnt = (batch.targets >= 0).float()
    return -(picked * is_learnt * token_weights(batch, plan)).sum(dim=1)
