"""Runs of one shape in, the same runs trained out: a stack of models that learn side by side.

Models share nothing but the machine's attention: a batched matrix product for sixteen of them
costs little more than for one. A model's weights, order of examples and learning rate come from
its own configuration, so its neighbours make no difference (but for rounding).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Protocol

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


class Learner(Protocol):
    """What trains and tests a stack."""

    def start_epoch(self, order: np.ndarray, rates: np.ndarray) -> None: ...

    def train_batch(self, number: int) -> None: ...

    def losses(self) -> np.ndarray: ...

    def evaluate(self, rows: torch.Tensor, split: str) -> SplitScores: ...


class StackState(NamedTuple):
    """What a step changes."""

    rows: torch.Tensor  # (models, row): the weights
    first_moment: torch.Tensor
    second_moment: torch.Tensor
    steps: torch.Tensor  # (models,)


@dataclass
class History:
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

    def as_dict(self) -> dict[str, Any]:
        """The history for JSON, which has no NaN."""
        loss = [value if math.isfinite(value) else None for value in self.loss]
        return asdict(self) | {"loss": loss}

    @staticmethod
    def of(kept: dict[str, Any]) -> History:
        """Read a history; `ValueError` and the like where it is not one."""
        loss = [math.nan if value is None else float(value) for value in kept["loss"]]
        validation = [float(value) for value in kept["validation"]]
        best_epoch, seconds = int(kept["best_epoch"]), float(kept["seconds"])
        if len(loss) != len(validation) or not 0 <= best_epoch <= len(loss):
            raise ValueError("its history is cut short")
        return History(loss, validation, best_epoch, seconds)


@dataclass(frozen=True)
class RunSnapshot:
    """Where one run is between two epochs: its weights, its optimiser and its history."""

    tensors: Mapping[str, torch.Tensor]
    """`rows`, `first_moment`, `second_moment` and `best`. (row,) each"""
    history: History

    @property
    def epoch(self) -> int:
        return len(self.history.loss)

    @staticmethod
    def of(tensors: Mapping[str, torch.Tensor], history: dict[str, Any]) -> RunSnapshot:
        """Read a snapshot; `ValueError` and the like where it is not one."""
        rows = [tensors[part] for part in PARTS]
        if len({row.shape for row in rows}) != 1 or rows[0].dim() != 1:
            raise ValueError("its models have several sizes")
        snapshot = RunSnapshot(tensors, History.of(history))
        if not snapshot.epoch:
            raise ValueError("it has not begun")
        return snapshot


PARTS = ("rows", "first_moment", "second_moment", "best")


class Stack:
    """The weights, optimiser and history of several runs of one shape."""

    def __init__(self, configs: Sequence[RunConfig], data: Sequence[Data], device: str) -> None:
        self.configs, self.data, self.device = tuple(configs), tuple(data), device
        self.own_shapes = [_own_shape(*pair) for pair in zip(configs, data, strict=True)]
        first = self.own_shapes[0]
        self.shape = Shape(
            first.layers, first.heads, first.width, first.feed_forward,
            tokens=_padded(max(shape.tokens for shape in self.own_shapes)),
            classes=_padded(max(shape.classes for shape in self.own_shapes)),
            causal=first.causal,
        )  # fmt: skip
        seeds = [config.seed for config in configs]
        rows = self.widen(list(map(initial_row, self.own_shapes, seeds)))
        steps = torch.zeros(len(configs), dtype=torch.int32, device=device)
        self.state = StackState(rows, torch.zeros_like(rows), torch.zeros_like(rows), steps)
        self.best = rows.clone()
        self.counts = torch.tensor([shape.classes for shape in self.own_shapes],
                                   dtype=torch.int32, device=device)  # fmt: skip
        self.epoch = 0
        self.histories = [History() for _ in configs]
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

    def start_epoch(self, engine: Learner) -> None:
        batch = self.configs[0].batch
        order = np.stack([deal((config.seed, self.epoch), batch, self.batches)
                          for config in self.configs])  # fmt: skip
        rates = np.array([config.rate * config.decay**self.epoch for config in self.configs])
        engine.start_epoch(order, rates)

    def finish_epoch(self, engine: Learner) -> None:
        """Validate, and keep the weights of every model that never did better."""
        rows = self.state.rows
        scores = engine.evaluate(rows, "validation")
        self.epoch += 1
        losses = engine.losses()
        for model, history in enumerate(self.histories):
            is_finite = bool(np.isfinite(losses[model]) and torch.isfinite(rows[model]).all())
            if scores.tokens[model] > history.best and is_finite:
                self.best[model] = rows[model]
                history.best_epoch = self.epoch
            history.validation.append(float(scores.tokens[model]))
            history.loss.append(float(losses[model]))

    def snapshots(self) -> list[RunSnapshot]:
        """Copy each run's state."""
        parts = {"best": self.best.cpu(), **{name: getattr(self.state, name).cpu()
                                             for name in PARTS[:3]}}  # fmt: skip
        return [
            RunSnapshot({part: self.own_row(rows, model) for part, rows in parts.items()}, history)
            for model, history in enumerate(self.histories)
        ]

    def restore(self, snapshots: Sequence[RunSnapshot]) -> None:
        """Put the stack where its runs were left; all at the same epoch."""
        parts = {part: self.widen([snapshot.tensors[part] for snapshot in snapshots])
                 for part in PARTS}  # fmt: skip
        self.epoch, self.best = snapshots[0].epoch, parts["best"]
        steps = torch.full_like(self.state.steps, self.epoch * self.batches)
        self.state = StackState(parts["rows"], parts["first_moment"], parts["second_moment"], steps)
        self.histories = [snapshot.history for snapshot in snapshots]

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
        len(data.task.vocabulary), len(data.classes), config.task.causal,
    )  # fmt: skip


def _padded(number: int) -> int:
    return -(-number // 8) * 8
