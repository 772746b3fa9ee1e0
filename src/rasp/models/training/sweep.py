"""Configurations in, records out: the runs that are missing are trained, together where they fit.

Finished runs are never repeated, unfinished ones go on from their last epoch, and a budget of time
ends the sweep between two epochs. Runs of one shape make a stack; several stacks share a GPU.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from rasp.models.training.config import RunConfig
from rasp.models.training.data import Data, make_data
from rasp.models.training.devices import choose_device
from rasp.models.training.engines import make_engine
from rasp.models.training.finish import finish
from rasp.models.training.run_store import SavedPlace, Snapshot, Store, restore, snapshot_of
from rasp.models.training.stack import Engine, Stack

STRIDE = 10
"""Steps of one stack before another has its turn."""


@dataclass(frozen=True)
class SweepSettings:
    """How to train, none of which changes what is trained."""

    device: str = "auto"
    budget: float | None = None
    """Minutes; None: no limit."""
    together: int = 24
    """The most models on the device at a time."""
    save_every: int = 1
    """Epochs between two snapshots."""
    keep_weights: bool = True
    processes: int = 1
    """Processes that make data; more than one only from a program that can be started again."""
    report: Callable[[Sequence[Stack], Stack, float], None] | None = None
    """Called after each epoch of a stack: with all in training, this one, and seconds left."""


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
    ...     finished, Store(folder).records()[config.id]["best_epoch"]
    (True, 1)
    """
    settings = settings or SweepSettings()
    device = choose_device(settings.device)
    store.make_folders()
    store.check_names(configs)
    finished = store.finished(configs)
    missing = [config for config in configs if config.id not in finished]
    clock, make = SweepClock(settings.budget), DataMaker(settings.processes)
    for wave in waves(stacks_of(missing, store.unfinished()), settings.together):
        if not clock.has_time():
            return False
        make.prepare([config for group in wave for config, _ in group])
        stacks = [prepared(group, store, make, device) for group in wave]
        if not train(stacks, store, settings, clock):
            return False
    store.tidy()
    return True


class DataMaker:
    """Makes each task's data once, several tasks at a time in processes of their own."""

    def __init__(self, processes: int = 1) -> None:
        self.processes = processes
        self._made: dict[Any, Data] = {}

    def __call__(self, config: RunConfig) -> Data:
        self.prepare([config])
        return self._made[_data_key(config)]

    def prepare(self, configs: Sequence[RunConfig]) -> None:
        """Make the data of several runs."""
        wanted = {_data_key(config): config for config in configs}
        missing = {key: config for key, config in wanted.items() if key not in self._made}
        if self.processes == 1 or len(missing) < 2:
            self._made |= {key: _data_of(config) for key, config in missing.items()}
            return
        with ProcessPoolExecutor(
            min(self.processes, len(missing)), mp_context=get_context("spawn")
        ) as pool:
            self._made |= dict(zip(missing, pool.map(_data_of, missing.values()), strict=True))


def _data_key(config: RunConfig) -> Any:
    return (config.task, config.data_seed, tuple(config.sizes.items()))


def _data_of(config: RunConfig) -> Data:
    return make_data(config.task, config.data_seed, config.sizes)


Group = list[tuple[RunConfig, SavedPlace | None]]


def stacks_of(configs: Iterable[RunConfig], places: dict[str, SavedPlace]) -> list[Group]:
    """Put runs of one shape, and as far along, into one group."""
    groups: dict[Any, Group] = {}
    for config in configs:
        place = places.get(config.id)
        key = (config.stack_key, place.epoch if place else 0)
        groups.setdefault(key, []).append((config, place))
    return list(groups.values())


def waves(groups: Sequence[Group], together: int) -> list[list[Group]]:
    """Cut groups into waves of at most so many models; a larger group is a wave of its own."""
    listed: list[list[Group]] = []
    for group in groups:
        last = sum(len(stack) for stack in listed[-1]) if listed else together
        if last + len(group) > together:
            listed.append([])
        listed[-1].append(group)
    return listed


def prepared(group: Group, store: Store, make: DataMaker, device: str) -> Stack:
    """Return a group as a stack, where its snapshots left it."""
    configs = [config for config, _ in group]
    stack = Stack(configs, [make(config) for config in configs], device)
    places = [place for _, place in group if place is not None]
    if places:
        restore(stack, store, places)
    return stack


@dataclass
class _Runner:
    """A stack in training."""

    stack: Stack
    engine: Engine
    step: int = 0
    began: float = 0.0
    epoch_seconds: float = 0.0
    saved_epoch: int = 0

    @property
    def share_done(self) -> float:
        total = self.stack.configs[0].epochs * self.stack.batches
        return (self.stack.epoch * self.stack.batches + self.step) / total

    def advance(self) -> bool:
        """Take some steps; return whether an epoch ended."""
        if self.step == 0:
            self.began = time.monotonic()
            self.stack.start_epoch(self.engine)
        until = min(self.step + STRIDE, self.stack.batches)
        for number in range(self.step, until):
            self.engine.train_batch(number)
        self.step = until % self.stack.batches
        if self.step:
            return False
        self.stack.finish_epoch(self.engine)
        self.epoch_seconds = time.monotonic() - self.began
        return True


def train(
    stacks: Sequence[Stack], store: Store, settings: SweepSettings, clock: SweepClock
) -> bool:
    """Train stacks side by side; return whether all got to their end."""
    runners = [_Runner(stack, make_engine(stack), saved_epoch=stack.epoch) for stack in stacks]
    with ThreadPoolExecutor(1) as writer:
        writing = _Writing(store, writer)
        while active := [runner for runner in runners if not runner.stack.is_finished]:
            if not all(waiting.step or clock.has_time(waiting.epoch_seconds) for waiting in active):
                active = _until_epochs_end(active)
                writing.save(active)
                writing.wait()
                return False
            runner = min(active, key=lambda waiting: waiting.share_done)
            if runner.advance():
                _after_epoch(runner, active, writing, settings)
        writing.wait()
    return True


def _until_epochs_end(active: Sequence[_Runner]) -> list[_Runner]:
    """Bring every stack to the end of the epoch it is in."""
    for runner in active:
        while runner.step and not runner.advance():
            pass
    return list(active)


def _after_epoch(
    runner: _Runner, active: Sequence[_Runner], writing: _Writing, settings: SweepSettings
) -> None:
    stack = runner.stack
    models = sum(len(other.stack) for other in active)
    for progress in stack.progress:
        progress.seconds += runner.epoch_seconds / models
    if stack.is_finished:
        writing.wait()
        finish(stack, runner.engine, writing.store, settings.keep_weights)
    elif stack.epoch - runner.saved_epoch >= settings.save_every:
        writing.save([runner])
    if settings.report:
        left = max(
            other.epoch_seconds * (other.stack.configs[0].epochs - other.stack.epoch)
            for other in active
        )
        settings.report([other.stack for other in active], stack, left)


@dataclass
class _Writing:
    """Snapshots on their way to disk, while training goes on."""

    store: Store
    writer: ThreadPoolExecutor
    last: Future[None] | None = None

    def save(self, runners: Sequence[_Runner]) -> None:
        due = [runner for runner in runners if runner.stack.epoch > runner.saved_epoch]
        snapshots = [snapshot_of(due_runner.stack) for due_runner in due]
        self.wait()
        self.last = self.writer.submit(self._write, snapshots)
        for due_runner in due:
            due_runner.saved_epoch = due_runner.stack.epoch

    def wait(self) -> None:
        """Wait for the last snapshots; raise what went wrong with them."""
        if self.last is not None:
            self.last.result()
        self.last = None

    def _write(self, snapshots: Sequence[Snapshot]) -> None:
        for snapshot in snapshots:
            self.store.save_snapshot(snapshot)
