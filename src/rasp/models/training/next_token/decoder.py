"""A stack of decoders in plain PyTorch: every tensor begins with a dimension of models.

Pre-LayerNorm blocks with a causal mask and ReLU. Positions are learned vectors, begun at a random
offset in training, so that every position that a test needs was seen; or there are none.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as functional

Parameters = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Size:
    """The size of a decoder; decoders of one size train together."""

    layers: int = 3
    heads: int = 4
    width: int = 128
    tokens: int = 4
    answers: int = 4
    places: int = 304
    """How many position vectors there are; 0: none."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The name and shape of every parameter.

        >>> Size(layers=1, width=8, tokens=3, answers=2, places=0).shapes()["classify"]
        (8, 2)
        """
        wide = 4 * self.width
        shapes: dict[str, tuple[int, ...]] = {"embed": (self.tokens, self.width)}
        if self.places:
            shapes["place"] = (self.places, self.width)
        for layer in range(self.layers):
            shapes |= {
                f"{layer}.attend_norm": (2, self.width),
                f"{layer}.attend": (self.width, 3 * self.width),
                f"{layer}.join": (self.width, self.width),
                f"{layer}.feed_norm": (2, self.width),
                f"{layer}.widen": (self.width, wide),
                f"{layer}.widen_bias": (wide,),
                f"{layer}.narrow": (wide, self.width),
            }
        return shapes | {"last_norm": (2, self.width), "classify": (self.width, self.answers)}


def initial(size: Size, seeds: list[int]) -> Parameters:
    """Draw the first weights of each model from its seed alone."""
    models = []
    for seed in seeds:
        generator = torch.Generator().manual_seed(seed)
        own = {}
        for name, shape in size.shapes().items():
            if name.endswith("norm"):
                own[name] = torch.stack([torch.ones(shape[1]), torch.zeros(shape[1])])
            elif name.endswith("bias"):
                own[name] = torch.zeros(shape)
            else:
                own[name] = torch.randn(shape, generator=generator) * 0.02
        models.append(own)
    return {name: torch.stack([own[name] for own in models]) for name in size.shapes()}


def logits(
    parameters: Parameters, size: Size, tokens: torch.Tensor, offsets: torch.Tensor
) -> torch.Tensor:
    """What the models say after each token.

    tokens: (models, batch, length); offsets: (models, batch). Returns (models, batch, length,
    answers).
    """
    models, batch, length = tokens.shape
    number = torch.arange(models, device=tokens.device)[:, None, None]
    stream = parameters["embed"][number, tokens]
    if size.places:
        places = offsets[..., None] + torch.arange(length, device=tokens.device)
        stream = stream + parameters["place"][number, places]
    stream = stream.flatten(1, 2)  # (models, batch · length, width)
    for layer in range(size.layers):
        own = {name.partition(".")[2]: tensor for name, tensor in parameters.items()
               if name.startswith(f"{layer}.")}  # fmt: skip
        stream = stream + _attended(stream, own, size, (models, batch, length)) @ own["join"]
        hidden = torch.baddbmm(own["widen_bias"][:, None], _norm(stream, own["feed_norm"]),
                               own["widen"])  # fmt: skip
        stream = stream + torch.relu(hidden) @ own["narrow"]
    said = _norm(stream, parameters["last_norm"]) @ parameters["classify"]
    return said.view(models, batch, length, -1)


def _attended(
    stream: torch.Tensor, own: Parameters, size: Size, shape: tuple[int, int, int]
) -> torch.Tensor:
    models, batch, length = shape
    mixed = (_norm(stream, own["attend_norm"]) @ own["attend"]).view(
        models * batch, length, 3, size.heads, -1
    )
    queries, keys, values = mixed.permute(2, 0, 3, 1, 4)  # (models · batch, heads, length, …)
    attended = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return attended.transpose(1, 2).reshape(models, batch * length, size.width)


def _norm(stream: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
    gain, shift = norm[:, 0, None], norm[:, 1, None]
    return functional.layer_norm(stream, stream.shape[2:]) * gain + shift
