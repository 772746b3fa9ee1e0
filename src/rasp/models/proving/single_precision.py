"""The forward pass as a model runs: float32, in NumPy or, on a GPU, in torch.

This proves nothing. It finds differences fast, and says what *run* says: every input was run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rasp.base.errors import RaspUnsupportedError
from rasp.base.installing import missing
from rasp.models.proving.activations import SQRT_TWO_OVER_PI
from rasp.models.proving.digits import Array
from rasp.models.proving.network_table import (
    Activate,
    Affine,
    Attend,
    Network,
    Normalise,
    PoolPositions,
)
from rasp.models.proving.prefixes import Prefixes


def _torch_on(device: str) -> Any:
    """Torch, where it can compute on a device."""
    try:
        import torch

        torch.zeros(1, device=device)
    except ImportError:
        raise missing("torch", "models", "running on a device") from None
    except (RuntimeError, AssertionError):
        raise RaspUnsupportedError(
            f"torch cannot compute on `{device}` here", hint="leave the device out, or use `cpu`"
        ) from None
    return torch


class Single:
    """Float32 in NumPy, or in torch on a device such as `cuda`."""

    def __init__(self, device: str | None = None) -> None:
        self.device = device
        self._ready: dict[Any, Any] = {}
        self.lib: Any = np if device is None else _torch_on(device)

    def number(self, array: Array, kind: str = "float32") -> Any:
        """An array where the model is."""
        if self.device is None:
            return np.ascontiguousarray(array, dtype=kind)
        made = self.lib.as_tensor(np.ascontiguousarray(array, dtype=kind))
        return made.to(self.device)

    def array(self, x: Any) -> Array:
        """Logits in NumPy again."""
        return np.asarray(x if self.device is None else x.cpu().numpy())

    def _constants(self, step: Any, *arrays: Array) -> list[Any]:
        if step not in self._ready:
            self._ready[step] = [self.number(array) for array in arrays]
        found: list[Any] = self._ready[step]
        return found

    def embed(self, network: Network, layout: Prefixes) -> Any:
        shift = np.zeros(1) if network.shift is None else network.shift
        positions = np.zeros((1, 1)) if network.positions is None else network.positions
        tokens, places, more = self._constants(network, network.tokens, positions, shift)
        x = tokens[self.number(layout.ids, "int64")]
        if network.positions is not None:
            x = x + places[self.number(layout.places, "int64")]
        return x if network.shift is None else x + more

    def affine(self, x: Any, step: Affine) -> Any:
        weight, bias = self._constants(step, step.weight.T, step.bias)
        return x @ weight + bias

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def normalise(self, x: Any, step: Normalise) -> Any:
        gain, shift = self._constants(step, step.gain, step.shift)
        centred = x - x.mean(-1)[:, None]
        spread = (centred * centred).mean(-1)[:, None] + step.epsilon
        scaled = centred / self.lib.sqrt(spread)
        return scaled if step.is_folded else scaled * gain + shift

    def activate(self, x: Any, step: Activate) -> Any:
        match step.kind:
            case "relu":
                return x * (x > 0)
            case "tanh":
                return self.lib.tanh(x)
            case "gelu":
                return x * (self._erf(x * math.sqrt(0.5)) + 1.0) * 0.5
            case _:
                inner = (x + 0.044715 * x * x * x) * SQRT_TWO_OVER_PI
                return x * (self.lib.tanh(inner) + 1.0) * 0.5

    def _erf(self, x: Any) -> Any:
        if self.device is not None:
            return self.lib.erf(x)
        return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float32)

    def pool(self, x: Any, step: PoolPositions, layout: Prefixes) -> Any:
        rows = x[self.number(layout.nodes, "int64")]
        return rows.sum(1) if step.kind == "sum" else rows.mean(1)

    def attend(self, x: Any, step: Attend, layout: Prefixes) -> Any:
        """All heads' maps at once; then head by head, group by group."""
        ready = self._heads(step)
        if not step.heads:
            return self.number(np.zeros(tuple(x.shape))) + ready[3]
        queries, keys, values = (x @ weight + bias for weight, bias in ready[0])
        groups, order = self._groups(layout)
        written = ready[3]
        for (scores, moves), out in zip(ready[1], ready[2], strict=True):
            query, key, value = queries[:, scores], keys[:, scores], values[:, moves]
            moved = [self._moved(query[asking], key[asked], value[asked])
                     for asking, asked in groups]  # fmt: skip
            together = moved[0] if len(moved) == 1 else self._joined(moved)
            written = written + together[order] @ out
        return written

    def _moved(self, query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.swapaxes(-1, -2)
        powers = self.lib.exp(scores - self.lib.amax(scores, -1)[..., None])
        moved = (powers / powers.sum(-1)[..., None]) @ value
        return moved.reshape(-1, moved.shape[-1])

    def _joined(self, parts: list[Any]) -> Any:
        return np.concatenate(parts) if self.device is None else self.lib.cat(parts)

    def _groups(self, layout: Prefixes) -> tuple[list[tuple[Any, Any]], Any]:
        own = [asking.reshape(-1) for asking, _ in layout.groups]
        order = self.number(np.argsort(np.concatenate(own)), "int64")
        groups = [(self.number(asking, "int64"), self.number(asked, "int64"))
                  for asking, asked in layout.groups]  # fmt: skip
        return groups, order

    def _heads(self, step: Attend) -> Any:
        """The maps of all heads side by side, where each head's part is, and outputs."""
        if step in self._ready:
            return self._ready[step]
        maps: list[Any] = []
        for role in ("query", "key", "value"):
            parts = [(getattr(head, role), head.squared**-0.5 if role == "query" else 1.0)
                     for head in step.heads]  # fmt: skip
            if parts:
                weight = np.concatenate([part.weight * scale for part, scale in parts]).T
                bias = np.concatenate([part.bias * scale for part, scale in parts])
                maps.append((self.number(weight), self.number(bias)))
        places, at, to = [], 0, 0
        for head in step.heads:
            ends = at + len(head.query.bias), to + len(head.value.bias)
            places.append((slice(at, ends[0]), slice(to, ends[1])))
            at, to = ends
        outs = [self.number(head.out.T) for head in step.heads]
        self._ready[step] = (maps, places, outs, self.number(step.bias))
        return self._ready[step]
