"""How many sequences a second a stack of models trains on: stacked, one by one, and side by side.

    python bench/train.py [--device cuda] [--task reverse] [--steps 200]

Prints one line per case. On a GPU it also checks the fused engine against the plain one first.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from rasp.models.training.config import RunConfig, miniature
from rasp.models.training.data import make_data
from rasp.models.training.devices import choose_device
from rasp.models.training.engines import make_engine
from rasp.models.training.paper_tasks import ROWS, TASKS
from rasp.models.training.plain_engine import PlainEngine
from rasp.models.training.stack import Engine, Stack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--task", default="reverse")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--models", default="1,4,12,16")
    parser.add_argument("--table", action="store_true", help="all of Table 1, side by side")
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    if device == "cuda":
        torch.set_float32_matmul_precision("high")
        check(device)
    for models in map(int, arguments.models.split(",")):
        stack = make_stack([arguments.task] * models, device)
        report(f"{models} × {arguments.task}", [stack], arguments.steps, arguments.profile)
    if arguments.table:
        groups: dict[tuple[int, int], list[str]] = {}
        for name, row in ROWS.items():
            groups.setdefault((row.layers, row.heads), []).extend([name] * 4)
        report("Table 1", [make_stack(names, device) for names in groups.values()], arguments.steps)


def make_stack(tasks: Sequence[str], device: str, attention: float = 0.0) -> Stack:
    configs = []
    for seed, task in enumerate(tasks):
        row = ROWS[task]
        config = RunConfig("bench", TASKS[task], row.layers, row.heads, seed=seed)
        config = replace(config, train=5_000, attention=attention)
        configs.append(miniature(config) if device == "cpu" else config)
    made = {config.task.name: make_data(config.task, 0, config.sizes) for config in configs}
    return Stack(configs, [made[task] for task in tasks], device)


def report(title: str, stacks: list[Stack], steps: int, profile: bool = False) -> None:
    began = time.perf_counter()
    engines = [make_engine(stack) for stack in stacks]
    ready = time.perf_counter() - began
    run_steps(stacks, engines, 20)
    took = min(run_steps(stacks, engines, steps) for _ in range(2))
    trained = steps * sum(len(stack) * stack.configs[0].batch for stack in stacks)
    layers = steps * sum(
        len(stack) * stack.configs[0].batch * stack.shape.layers for stack in stacks
    )
    print(
        f"{title:16} {type(engines[0]).__name__:12} {1e3 * took / steps:7.3f} ms a step "
        f"{trained / took:10,.0f} sequences/s {layers / took:10,.0f} layers/s "
        f"(ready in {ready:.1f} s; {stacks[0].pools['train'].layout.size} tokens a batch)",
        flush=True,
    )
    if profile and stacks[0].device == "cuda":
        from torch.profiler import ProfilerActivity
        from torch.profiler import profile as record

        with record(activities=[ProfilerActivity.CUDA]) as seen:
            run_steps(stacks, engines, 10)
        print(
            seen.key_averages().table(
                sort_by="cuda_time_total", row_limit=25, max_name_column_width=60
            )
        )


def run_steps(stacks: list[Stack], engines: list[Engine], steps: int) -> float:
    for stack, engine in zip(stacks, engines, strict=True):
        stack.start_epoch(engine)
    wait(stacks)
    began = time.perf_counter()
    for step in range(steps):
        for stack, engine in zip(stacks, engines, strict=True):
            number = step % stack.batches
            if step and not number:
                stack.start_epoch(engine)
            engine.train_batch(number)
    wait(stacks)
    return time.perf_counter() - began


def wait(stacks: list[Stack]) -> None:
    if stacks[0].device == "cuda":
        torch.cuda.synchronize()


def check(device: str) -> None:
    """Compare the fused engine's losses, weights and scores with the plain engine's."""
    for tasks, attention in (
        (["reverse", "sort"], 0.0),
        (["most_freq"], 100.0),
        (["double_hist"], 0.0),
    ):
        found = []
        for make in (PlainEngine, make_engine):
            stack = make_stack(tasks, device, attention)
            engine = make(stack)
            torch.set_float32_matmul_precision("highest" if make is PlainEngine else "high")
            stack.start_epoch(engine)
            for number in range(20):
                engine.train_batch(number)
            scores = engine.evaluate(stack.rows, "validation")
            found.append((engine.losses() * stack.batches / 20, scores.tokens, stack.rows.clone()))
        apart = (found[0][2] - found[1][2]).norm() / (
            found[0][2] - stack_start(tasks, device)
        ).norm()
        print(
            f"check {tasks}: losses {np.round(found[0][0], 5)} {np.round(found[1][0], 5)}, "
            f"accuracies {found[0][1]} {found[1][1]}, weights apart {apart:.4f} of the way",
            flush=True,
        )


def stack_start(tasks: Sequence[str], device: str) -> torch.Tensor:
    return make_stack(tasks, device).rows


if __name__ == "__main__":
    main()
