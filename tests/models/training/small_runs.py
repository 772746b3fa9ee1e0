"""Runs small enough for a test, and one way to train them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rasp.models.training.config import RunConfig, miniature
from rasp.models.training.data import make_data
from rasp.models.training.engine import Engine
from rasp.models.training.paper_tasks import TASKS
from rasp.models.training.records import Curves, Record, Shares
from rasp.models.training.stack import Stack
from rasp.models.training.sweep import train_epoch


def small_run(task: str, seed: int = 0, layers: int = 2, **given: Any) -> RunConfig:
    config = RunConfig(f"{task}-{seed}", TASKS[task], layers, 2, width=128, seed=seed)
    return replace(miniature(config), **({"train": 120, "validation": 40, "test": 40} | given))


def make_stack(configs: Sequence[RunConfig]) -> Stack:
    made: dict[str, Any] = {}
    data = [
        made.setdefault(each.task.name, make_data(each.task, 0, each.sizes)) for each in configs
    ]
    return Stack(configs, data, "cpu")


def train_epochs(stack: Stack, epochs: int) -> Engine:
    engine = Engine(stack)
    for _ in range(epochs):
        train_epoch(stack, engine)
    return engine


def record_called(name: str, **given: Any) -> Record:
    """A record that says as little as one can."""
    half = Shares(0.5, 0.5)
    return Record(name, name, {}, 1, half, half, Curves([1.0], [0.5]), **given)
