"""Examples of several models on a device, and the batches taken from them.

Models of one task share their examples; a pool holds each task's once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rasp.models.training.batch_shapes import SlotLayout, lay_out
from rasp.models.training.data import IGNORED, Data
from rasp.models.training.network import SlotTensors, StackBatch


@dataclass(frozen=True)
class Pool:
    """One split of every model's data."""

    layout: SlotLayout
    batches: int
    tokens: torch.Tensor  # (examples, longest)
    targets: torch.Tensor  # (examples, longest)
    lengths: torch.Tensor  # (examples,)
    first: torch.Tensor  # (models,): where a model's examples begin
    extras: Mapping[str, torch.Tensor]
    """Further sequences of every example, by name. (examples, longest) each"""

    def gather(self, order: torch.Tensor, plan: SlotTensors) -> StackBatch:
        """Take one batch for each model; `order` says which examples. (models, batch)"""
        examples = order.long() + self.first[:, None]
        lengths = self.lengths[examples]
        return StackBatch(
            self.take(self.tokens, examples, plan, 0),
            lengths,
            self.take(self.targets, examples, plan, IGNORED),
        )

    def take(
        self, sequences: torch.Tensor, examples: torch.Tensor, plan: SlotTensors, outside: int
    ) -> torch.Tensor:
        """Lay some examples' sequences out in a row. (models, size)"""
        taken = sequences[examples[:, plan.slot_of], plan.position_of].long()
        inside = plan.position_of < self.lengths[examples][:, plan.slot_of]
        return torch.where(inside, taken, outside)

    def in_turn(self) -> np.ndarray:
        """Return the examples of each batch when all are taken in turn. (batches, batch)"""
        within = np.arange(self.batches)[:, None]
        return within + np.arange(self.layout.batch) * self.batches


def make_pool(
    data: Sequence[Data],
    split: str,
    batch: int,
    device: str,
    extras: Mapping[str, np.ndarray] | None = None,
) -> Pool:
    """Put one split of every model's data on a device."""
    kept = list({id(own): own for own in data}.values())
    examples = [own.splits[split] for own in kept]
    longest = max(example.tokens.shape[1] for example in examples)
    starts = np.cumsum([0, *(len(example) for example in examples)])
    first = [int(starts[next(n for n, one in enumerate(kept) if one is own)]) for own in data]

    def joined(parts: list[np.ndarray], fill: int) -> torch.Tensor:
        wide = [np.pad(part, ((0, 0), (0, longest - part.shape[1])), constant_values=fill)
                for part in parts]  # fmt: skip
        return torch.from_numpy(np.concatenate(wide)).to(device)

    lengths = np.concatenate([example.lengths for example in examples]).astype(np.int32)
    return Pool(
        lay_out([example.lengths for example in examples], batch),
        len(examples[0]) // batch,
        joined([example.tokens for example in examples], 0),
        joined([example.targets for example in examples], IGNORED),
        torch.from_numpy(lengths).to(device),
        torch.tensor(first, device=device),
        {name: torch.from_numpy(array).to(device) for name, array in (extras or {}).items()},
    )
