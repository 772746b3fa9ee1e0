"""A shape in, the parameters of a stack of models out: one flat row per model, named views of it.

Keeping each model's numbers in one row makes the optimiser one operation, a checkpoint one array,
and a member of a stack nothing but a row: it can be taken out and put in another stack.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch

ALIGNMENT = 64  # numbers: every parameter begins on a 256-byte line


@dataclass(frozen=True)
class Shape:
    """The size of a model. Models of one shape can be trained together."""

    layers: int
    heads: int
    width: int
    """The embedding dimension."""
    feed_forward: int
    tokens: int
    classes: int
    causal: bool = False
    """Whether a position sees only itself and those before it."""

    @cached_property
    def places(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Where each parameter lies in a model's row, and its shape."""
        places: dict[str, tuple[int, tuple[int, ...]]] = {}
        start = 0
        for name, size in self._sizes().items():
            places[name] = (start, size)
            start += -(-math.prod(size) // ALIGNMENT) * ALIGNMENT
        return places

    @cached_property
    def row(self) -> int:
        """How many numbers a model's row holds."""
        start, size = list(self.places.values())[-1]
        return start + -(-math.prod(size) // ALIGNMENT) * ALIGNMENT

    def _sizes(self) -> dict[str, tuple[int, ...]]:
        width, hidden = self.width, self.feed_forward
        sizes: dict[str, tuple[int, ...]] = {"embedding": (self.tokens, width)}
        for layer in range(self.layers):
            sizes |= {
                f"{layer}.attend": (width, 3 * width),  # queries, keys, values side by side
                f"{layer}.attend_bias": (3 * width,),
                f"{layer}.join": (width, width),
                f"{layer}.join_norm": (3, width),  # the bias of `join`, then the norm's gain, shift
                f"{layer}.widen": (width, hidden),
                f"{layer}.widen_bias": (hidden,),
                f"{layer}.narrow": (hidden, width),
                f"{layer}.narrow_norm": (3, width),
            }
        return sizes | {"classify": (width, self.classes), "classify_bias": (self.classes,)}


Parameters = dict[str, torch.Tensor]


def views(rows: torch.Tensor, shape: Shape) -> Parameters:
    """Return each parameter of a stack as a view of its rows. (models, *size)"""
    named = {}
    for name, (start, size) in shape.places.items():
        named[name] = rows[:, start : start + math.prod(size)].view(-1, *size)
    return named


def initial_row(shape: Shape, seed: int) -> torch.Tensor:
    """Draw one model's parameters as PyTorch's own transformer layers do."""
    generator = torch.Generator().manual_seed(seed)
    row = torch.zeros(1, shape.row)
    for name, parameter in views(row, shape).items():
        part = name.rpartition(".")[2]
        if part == "embedding":
            parameter.normal_(generator=generator)
        elif part.endswith("norm"):
            parameter[:, 1] = 1.0
        elif part == "attend":
            bound = math.sqrt(6 / (4 * shape.width))
            parameter.uniform_(-bound, bound, generator=generator)
        elif part != "attend_bias":
            fan_in = {"narrow": shape.feed_forward}.get(part, shape.width)
            parameter.uniform_(-(fan_in**-0.5), fan_in**-0.5, generator=generator)
    return row[0]


def move_row(row: torch.Tensor, old: Shape, new: Shape) -> torch.Tensor:
    """Return a model's row in a shape with more (or fewer) tokens and classes, zeros where new."""
    moved = torch.zeros(1, new.row, dtype=row.dtype)
    here, there = views(row.cpu()[None], old), views(moved, new)
    for name, parameter in here.items():
        shared = tuple(
            slice(0, min(pair)) for pair in zip(parameter.shape, there[name].shape, strict=True)
        )
        there[name][shared] = parameter[shared]
    return moved[0]


def sinusoids(longest: int, width: int) -> torch.Tensor:
    """Return the positions' encodings: sines and cosines of geometric periods. (longest, width)"""
    position = torch.arange(longest, dtype=torch.float64)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float64) * (-math.log(10_000) / width))
    angles = position * rate
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1).float()
