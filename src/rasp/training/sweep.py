"""Configurations in, records out: the runs that are missing are trained, together where they fit.

Finished runs are never repeated, unfinished ones go on from their last epoch, and a budget of time
ends the sweep between two epochs. Runs of one shape make a stack; several stacks share a GPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any


from rasp.training.config import RunConfig
from rasp.training.data import Data, make_data
from rasp.training.devices import choose_device, describe_machine, describe_versions
from rasp.training.engines import make_engine
from rasp.training.parameters import views
from rasp.training.stack import Engine, Stack
from rasp.training.store import Place, Record, Snapshot, Store, restore, snapshot_of


@dataclass(frozen=True)
class Settings:
    """How to train, none of which changes what is trained."""

    device: str = "auto"
    budget: float | None = None
    """Minutes; None is no limit."""
    together: int = 64
    """The most models on the device at a time."""
    save_every: int = 1
    """Epochs between two snapshots."""
    report: Callable[[Sequence[Stack], float], None] | None = None
    """Called after each epoch with the stacks in training and the seconds left, as estimated."""
    keep_weights: bool = True
    wrap_up: Callable[[Stack, int, Record], Record] | None = None
    """Adds to a finished run's record."""


@dataclass
class Clock:
    """How long there is, and whether another epoch fits."""

    budget: float | None
    started: float = field(default_factory=time.monotonic)
    longest_epoch: float = 0.0

    def has_time(self) -> bool:
        if self.budget is None:
            return True
        return time.monotonic() - self.started + 1.1 * self.longest_epoch < self.budget * 60


def sweep(configs: Sequence[RunConfig], store: Store, settings: Settings | None = None) -> bool:
    """Train what is missing; return whether everything is finished."""
    settings = settings or Settings()
    device = choose_device(settings.device)
    store.check_names(configs)
    finished = store.records()
    missing = [config for config in configs if config.id not in finished]
    clock = Clock(settings.budget)
    make = DataMaker()
    for wave in waves(stacks_of(missing, store.unfinished()), settings.together):
        if not clock.has_time():
            return False
        stacks = [_prepared(group, store, make, device) for group in wave]
        if not _train(stacks, store, settings, clock):
            return False
    store.tidy()
    return True


class DataMaker:
    """Makes each task's data once."""

    def __init__(self) -> None:
        self._made: dict[Any, Data] = {}

    def __call__(self, config: RunConfig) -> Data:
        key = (config.task, config.data_seed, tuple(config.sizes.items()))
        if key not in self._made:
            self._made[key] = make_data(config.task, config.data_seed, config.sizes)
        return self._made[key]


Group = list[tuple[RunConfig, Place | None]]


def stacks_of(configs: Iterable[RunConfig], places: dict[str, Place]) -> list[Group]:
    """Put runs of one shape, and as far along, into one group."""
    groups: dict[Any, Group] = {}
    for config in configs:
        place = places.get(config.id)
        key = (config.stack_key, place.epoch if place else 0)
        groups.setdefault(key, []).append((config, place))
    return list(groups.values())


def waves(groups: Sequence[Group], together: int) -> list[list[Group]]:
    """Cut groups into waves of at most so many models; a larger group is a wave of its own."""
    found: list[list[Group]] = []
    for group in groups:
        last = sum(len(each) for each in found[-1]) if found else together
        if last + len(group) > together:
            found.append([])
        found[-1].append(group)
    return found


def _prepared(group: Group, store: Store, make: DataMaker, device: str) -> Stack:
    configs = [config for config, _ in group]
    stack = Stack(configs, [make(config) for config in configs], device)
    places = [place for _, place in group if place is not None]
    if places:
        restore(stack, store, places)
    return stack


def _train(stacks: Sequence[Stack], store: Store, settings: Settings, clock: Clock) -> bool:
    """Train stacks side by side, epoch by epoch; return whether all got to their end."""
    engines = [make_engine(stack) for stack in stacks]
    pairs = list(zip(stacks, engines, strict=True))
    with ThreadPoolExecutor(1) as writer:
        written: Future[None] | None = None
        while active := [pair for pair in pairs if not pair[0].is_finished]:
            if not clock.has_time():
                _write(store, [snapshot_of(stack) for stack, _ in active])
                return False
            began = time.monotonic()
            _epoch(active)
            seconds = time.monotonic() - began
            for stack, _ in active:
                for progress in stack.progress:
                    progress.seconds += seconds * 1 / sum(len(each) for each, _ in active)
            if active[0][0].epoch % settings.save_every == 0:
                snapshots = [snapshot_of(stack) for stack, _ in active]
                if written is not None:
                    written.result()  # raises what went wrong
                written = writer.submit(_write, store, snapshots)
            for stack, engine in active:
                if stack.is_finished:
                    _finish(stack, engine, store, settings)
            clock.longest_epoch = max(clock.longest_epoch, time.monotonic() - began)
            if settings.report:
                left = max((stack.configs[0].epochs - stack.epoch for stack, _ in active))
                settings.report([stack for stack, _ in active], left * seconds)
        if written is not None:
            written.result()
    return True


def _epoch(active: Sequence[tuple[Stack, Engine]]) -> None:
    for stack, engine in active:
        stack.start_epoch(engine)
    for number in range(max(stack.batches for stack, _ in active)):
        for stack, engine in active:
            if number < stack.batches:
                engine.train_batch(number)
    for stack, engine in active:
        stack.finish_epoch(engine)


def _write(store: Store, snapshots: Sequence[Snapshot]) -> None:
    for snapshot in snapshots:
        store.save_snapshot(snapshot)


def _finish(stack: Stack, engine: Engine, store: Store, settings: Settings) -> None:
    """Test every model of a stack with its best weights, and write its record."""
    test, longer = (engine.evaluate(stack.best, split) for split in ("test", "longer"))
    for model, config in enumerate(stack.configs):
        progress = stack.progress[model]
        record: Record = {
            "id": config.id,
            "name": config.name,
            "config": config.content,
            "versions": describe_versions(),
            "machine": describe_machine(stack.device),
            "seconds": round(progress.seconds, 3),
            "best_epoch": progress.best_epoch,
            "test": {
                "tokens": _share(test.tokens[model]),
                "sequences": _share(test.sequences[model]),
            },
            "longer": {
                "tokens": _share(longer.tokens[model]),
                "sequences": _share(longer.sequences[model]),
            },
            "curves": {
                "loss": [float(f"{each:.5g}") for each in progress.loss],
                "validation": [_share(each) for each in progress.validation],
            },
        }
        if settings.wrap_up:
            record = settings.wrap_up(stack, model, record)
        if settings.keep_weights:
            row = stack.own_row(stack.best, model)[None]
            named = {
                name: each[0].clone() for name, each in views(row, stack.own_shapes[model]).items()
            }
            store.save_weights(config, named)
        store.add_record(record)


def _share(value: float) -> float:
    return round(float(value), 6)
