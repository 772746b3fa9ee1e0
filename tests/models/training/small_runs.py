"""Runs small enough for a test, and one way to train them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rasp.models.training.config import RunConfig, miniature
from rasp.models.training.data import make_data
from rasp.models.training.paper_tasks import TASKS
from rasp.models.training.plain_engine import PlainEngine
from rasp.models.training.stack import Stack


def small_run(task: str, seed: int = 0, layers: int = 2, **given: Any) -> RunConfig:
    config = RunConfig(f"{task}-{seed}", TASKS[task], layers, 2, width=128, seed=seed)
    return replace(miniature(config), **({"train": 120, "validation": 40, "test": 40} | given))


def make_stack(configs: Sequence[RunConfig]) -> Stack:
    made: dict[str, Any] = {}
    data = [
        made.setdefault(each.task.name, make_data(each.task, 0, each.sizes)) for each in configs
    ]
    return Stack(configs, data, "cpu")


def train_epochs(stack: Stack, epochs: int) -> PlainEngine:
    engine = PlainEngine(stack)
    for _ in range(epochs):
        stack.start_epoch(engine)
        for number in range(stack.batches):
            engine.train_batch(number)
        stack.finish_epoch(engine)
    return engine
