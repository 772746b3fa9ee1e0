"""Training as it goes, for people: one line that changes on a terminal, a few lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from rasp.base.terminal_text import redraw
from rasp.models.training.stack import Stack

SECONDS_BETWEEN_LINES = 20.0


class Live:
    """Prints what a sweep reports after each epoch."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stderr
        self.on_terminal = self.out.isatty()
        self.last = -SECONDS_BETWEEN_LINES

    def __call__(self, stacks: Sequence[Stack], stack: Stack, seconds_left: float) -> None:
        now = time.monotonic()
        if (
            not self.on_terminal
            and now - self.last < SECONDS_BETWEEN_LINES
            and not stack.is_finished
        ):
            return
        self.last = now
        line = describe(stacks, stack, seconds_left)
        if self.on_terminal:
            redraw(self.out, line)
            if stack.is_finished:
                self.out.write("\n")
        else:
            self.out.write(line + "\n")
        self.out.flush()


def describe(stacks: Sequence[Stack], stack: Stack, seconds_left: float) -> str:
    """Say how far a stack is: its epoch, and each task's loss and best validation accuracy."""
    config = stack.configs[0]
    tasks: dict[str, tuple[float, float]] = {}
    for run, progress in zip(stack.configs, stack.progress, strict=True):
        loss, best = tasks.get(run.task.name, (float("inf"), 0.0))
        last = progress.loss[-1] if math.isfinite(progress.loss[-1]) else math.inf
        tasks[run.task.name] = (min(loss, last), max(best, progress.best))
    parts = [
        f"{name} {_loss(loss)} best {100 * max(best, 0):.2f} %"
        for name, (loss, best) in tasks.items()
    ]
    more = len(stacks) - 1
    others = f", and {more} more size{'s' * (more > 1)}" if more else ""
    return (
        f"{config.size} epoch {stack.epoch}/{config.epochs}: {'; '.join(parts)}{others}, "
        f"{_duration(seconds_left)} left"
    )


def _loss(loss: float) -> str:
    return f"loss {loss:.4f}" if math.isfinite(loss) else "diverged"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"
