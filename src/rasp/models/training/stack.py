"""Runs of one shape in, the same runs trained out: a stack of models that learn side by side.

Models share nothing but the machine's attention: a batched matrix product for sixteen of them
costs little more than for one. A model's weights, order of examples and learning rate come from
its own configuration, so its neighbours make no difference (but for rounding).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch

from rasp.models.training.batch_shapes import deal
from rasp.models.training.config import RunConfig
from rasp.models.training.data import Data
from rasp.models.training.parameters import Shape, initial_row, move_row
from rasp.models.training.pool import Pool, make_pool
from rasp.models.training.supervision import Supervision, supervise


@dataclass(frozen=True)
class SplitScores:
    """How well each model does on a split: shares of right tokens, and of wholly right inputs."""

    tokens: np.ndarray  # (models,)
    sequences: np.ndarray  # (models,)


class Engine(Protocol):
    """Computes with a stack: `plain` anywhere, `fused` on a GPU."""

    def start_epoch(self, order: np.ndarray, rates: np.ndarray) -> None:
        """Take the order of an epoch (models, batches, batch) and learning rates (models,)."""

    def train_batch(self, number: int) -> None:
        """Take one step."""

    def losses(self) -> np.ndarray:
        """Return the mean loss since the epoch began. (models,)"""

    def evaluate(self, rows: torch.Tensor, split: str) -> SplitScores:
        """Return how well some weights do."""


@dataclass
class Progress:
    """One run so far: a number per epoch, and the best epoch by validation."""

    loss: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best_epoch: int = 0
    seconds: float = 0.0

    @property
    def best(self) -> float:
        """The best validation so far, of the epochs that ended with numbers."""
        return max(self.validation[: self.diverged - 1 if self.diverged else None], default=-1.0)

    @property
    def diverged(self) -> int:
        """The first epoch whose loss is not a number any more; 0 where there is none."""
        return next((at for at, loss in enumerate(self.loss, 1) if not math.isfinite(loss)), 0)


class Stack:
    """The weights, optimiser and progress of several runs of one shape."""

    def __init__(self, configs: Sequence[RunConfig], data: Sequence[Data], device: str) -> None:
        self.configs, self.data, self.device = tuple(configs), tuple(data), device
        self.own_shapes = [_own_shape(*pair) for pair in zip(configs, data, strict=True)]
        first = self.own_shapes[0]
        self.shape = Shape(
            first.layers, first.heads, first.width, first.feed_forward,
            tokens=_padded(max(shape.tokens for shape in self.own_shapes)),
            classes=_padded(max(shape.classes for shape in self.own_shapes)),
        )  # fmt: skip
        seeds = [config.seed for config in configs]
        self.rows = self.widen(list(map(initial_row, self.own_shapes, seeds)))
        self.first_moment, self.second_moment = (torch.zeros_like(self.rows) for _ in range(2))
        self.best = self.rows.clone()
        self.steps = torch.zeros(len(configs), dtype=torch.int32, device=device)
        self.counts = torch.tensor([shape.classes for shape in self.own_shapes],
                                   dtype=torch.int32, device=device)  # fmt: skip
        self.epoch = 0
        self.progress = [Progress() for _ in configs]
        self.supervision: Supervision | None = None
        extras: Mapping[str, np.ndarray] = {}
        if configs[0].attention:
            self.supervision, extras = supervise(data[0], configs[0])
        self.pools: dict[str, Pool] = {
            split: make_pool(data, split, configs[0].batch, device,
                             extras if split == "train" else None)
            for split in data[0].splits
        }  # fmt: skip

    def __len__(self) -> int:
        return len(self.configs)

    @property
    def is_finished(self) -> bool:
        return self.epoch >= self.configs[0].epochs

    @property
    def batches(self) -> int:
        return self.pools["train"].batches

    def start_epoch(self, engine: Engine) -> None:
        batch = self.configs[0].batch
        order = np.stack([deal((config.seed, self.epoch), batch, self.batches)
                          for config in self.configs])  # fmt: skip
        rates = np.array([config.rate * config.decay**self.epoch for config in self.configs])
        engine.start_epoch(order, rates)

    def finish_epoch(self, engine: Engine) -> None:
        """Validate, and keep the weights of every model that never did better."""
        scores = engine.evaluate(self.rows, "validation")
        self.epoch += 1
        losses = engine.losses()
        for model, progress in enumerate(self.progress):
            is_finite = bool(np.isfinite(losses[model]) and torch.isfinite(self.rows[model]).all())
            if scores.tokens[model] > progress.best and is_finite:
                self.best[model] = self.rows[model]
                progress.best_epoch = self.epoch
            progress.validation.append(float(scores.tokens[model]))
            progress.loss.append(float(losses[model]))

    def widen(self, own_rows: Sequence[torch.Tensor]) -> torch.Tensor:
        """Put rows of the models' own shapes together, in the stack's shape."""
        pairs = zip(own_rows, self.own_shapes, strict=True)
        return torch.stack([move_row(row, own, self.shape) for row, own in pairs]).to(self.device)

    def own_row(self, rows: torch.Tensor, model: int) -> torch.Tensor:
        """Take one model's row out, in its own shape."""
        return move_row(rows[model], self.shape, self.own_shapes[model])


def _own_shape(config: RunConfig, data: Data) -> Shape:
    return Shape(
        config.layers, config.heads, config.width, config.feed_forward,
        len(data.task.vocabulary), len(data.classes),
    )  # fmt: skip


def _padded(number: int) -> int:
    return -(-number // 8) * 8
