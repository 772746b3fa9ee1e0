"""Configurations in, records out: the runs that are missing are trained, together where they fit.

Finished runs are never repeated, unfinished ones go on from their last epoch, and a budget of time
ends the sweep between two epochs. Runs of one shape make a stack.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from rasp.base.progress import Progress, ignore, part_of
from rasp.models.training.config import RunConfig
from rasp.models.training.data import Data, make_data
from rasp.models.training.devices import choose_device
from rasp.models.training.engine import Engine
from rasp.models.training.finish import finish
from rasp.models.training.run_store import Store
from rasp.models.training.stack import RunSnapshot, Stack

Snapshots = dict[str, RunSnapshot]


@dataclass(frozen=True)
class SweepSettings:
    """How to train, none of which changes what is trained."""

    device: str = "auto"
    budget: float | None = None
    """Minutes; None: no limit."""
    together: int = 24
    """The most models in a stack."""
    save_every: int = 1
    """Epochs between two snapshots."""
    keep_weights: bool = True
    processes: int = 1
    """Processes that make data; more than one only from a program that can be started again."""
    progress: Progress = ignore


@dataclass
class SweepClock:
    """How long there is, and whether another epoch fits."""

    budget: float | None
    started: float = field(default_factory=time.monotonic)

    def has_time(self, seconds: float = 0.0) -> bool:
        if self.budget is None:
            return True
        return time.monotonic() - self.started + 1.1 * seconds < self.budget * 60


def sweep(
    configs: Sequence[RunConfig], store: Store, settings: SweepSettings | None = None
) -> bool:
    """Train what is missing; return whether everything is finished.

    >>> import tempfile
    >>> from rasp.models.training.own import own_config, own_task
    >>> task = own_task("first = aggregate(select(indices, 0, ==), tokens);", "first",
    ...                 ("a", "b"), (1, 4))
    >>> config = own_config(task, width=8, feed_forward=8, epochs=1, batch=10,
    ...                     train=20, validation=10, test=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     finished = sweep([config], Store(folder))
    ...     finished, Store(folder).records()[config.id].best_epoch
    (True, 1)
    """
    settings = settings or SweepSettings()
    device = choose_device(settings.device)
    store.make_folders()
    store.check_names(configs)
    finished = store.finished(configs)
    missing = [config for config in configs if config.id not in finished]
    left = {config.id: snapshot for config in missing
            if (snapshot := store.snapshot(config)) is not None}  # fmt: skip
    groups = groups_of(missing, left, settings.together)
    clock, make = SweepClock(settings.budget), DataMaker(settings.processes)
    make.prepare(missing)
    for number, group in enumerate(groups):
        if not clock.has_time():
            return False
        stack = Stack(group, [make(config) for config in group], device)
        if group[0].id in left:
            stack.restore([left[config.id] for config in group])
        shares = (number / len(groups), (number + 1) / len(groups))
        if not train(stack, store, settings, clock, shares):
            return False
    return True


class DataMaker:
    """Makes each task's data once, several tasks at a time in processes of their own."""

    def __init__(self, processes: int = 1) -> None:
        self.processes = processes
        self._made: dict[Any, Data] = {}

    def __call__(self, config: RunConfig) -> Data:
        return self._made[_data_key(config)]

    def prepare(self, configs: Sequence[RunConfig]) -> None:
        """Make the data of several runs."""
        missing = {_data_key(config): config for config in configs}
        if self.processes == 1 or len(missing) < 2:
            self._made = {key: _data_of(config) for key, config in missing.items()}
            return
        with ProcessPoolExecutor(
            min(self.processes, len(missing)), mp_context=get_context("spawn")
        ) as pool:
            self._made = dict(zip(missing, pool.map(_data_of, missing.values()), strict=True))


def _data_key(config: RunConfig) -> Any:
    return (config.task, config.data_seed, tuple(config.sizes.items()))


def _data_of(config: RunConfig) -> Data:
    return make_data(config.task, config.data_seed, config.sizes)


def groups_of(
    configs: Iterable[RunConfig], left: Snapshots, together: int
) -> list[list[RunConfig]]:
    """Put runs of one shape, and as far along, into groups of at most so many."""
    groups: dict[Any, list[RunConfig]] = {}
    for config in configs:
        epoch = left[config.id].epoch if config.id in left else 0
        groups.setdefault((config.stack_key, epoch), []).append(config)
    return [group[at : at + together] for group in groups.values()
            for at in range(0, len(group), together)]  # fmt: skip


def train(
    stack: Stack,
    store: Store,
    settings: SweepSettings,
    clock: SweepClock,
    shares: tuple[float, float] = (0.0, 1.0),
) -> bool:
    """Train a stack to its end; return whether there was time. It is `shares` of the whole."""
    engine, seconds, saved = Engine(stack), 0.0, stack.epoch
    report = part_of(settings.progress, *shares)
    while not stack.is_finished:
        if not clock.has_time(seconds):
            save(stack, store)
            return False
        seconds = train_epoch(stack, engine, report)
        if stack.epoch - saved >= settings.save_every and not stack.is_finished:
            save(stack, store)
            saved = stack.epoch
    finish(stack, engine, store, settings.keep_weights)
    return True


def train_epoch(stack: Stack, engine: Engine, report: Progress = ignore) -> float:
    """Train every model on each of its examples once; return how many seconds that took."""
    began, doing = time.monotonic(), describe(stack)
    stack.start_epoch(engine)
    for number in range(stack.batches):
        done = stack.epoch + number / stack.batches
        report(done / stack.configs[0].epochs, doing)
        engine.train_batch(number)
    stack.finish_epoch(engine)
    seconds = time.monotonic() - began
    for history in stack.histories:
        history.seconds += seconds / len(stack)
    return seconds


def save(stack: Stack, store: Store) -> None:
    """Write where each run of a stack is."""
    if stack.epoch:
        for config, snapshot in zip(stack.configs, stack.snapshots(), strict=True):
            store.save_snapshot(config, snapshot)


def describe(stack: Stack) -> str:
    """Say how far a stack is: its epoch, and each task's loss and best validation accuracy."""
    config, tasks = stack.configs[0], dict[str, tuple[float, float]]()
    for run, history in zip(stack.configs, stack.histories, strict=True):
        loss, best = tasks.get(run.task.name, (math.inf, 0.0))
        last = history.loss[-1] if history.loss and math.isfinite(history.loss[-1]) else math.inf
        tasks[run.task.name] = (min(loss, last), max(best, history.best))
    parts = [f"epoch {min(stack.epoch + 1, config.epochs)} of {config.epochs}"]
    for name, (loss, best) in tasks.items() if stack.epoch else ():
        shown = f"loss {loss:.4f}" if loss < math.inf else "diverged"
        parts.append(f"{name}: {shown}, {100 * max(best, 0):.2f} % right")
    return "; ".join(parts)
