"""How many sequences a second a stack of models trains on, with the step compiled and as written.

    python bench/train.py [--device cuda] [--task reverse] [--steps 200]

Prints a line for each number of models. Only on a GPU is the step compiled.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import torch

from rasp.models.training.config import RunConfig, miniature
from rasp.models.training.data import make_data
from rasp.models.training.devices import choose_device
from rasp.models.training.engine import Engine
from rasp.models.training.paper_tasks import ROWS, TASKS
from rasp.models.training.stack import Stack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--task", default="reverse", choices=TASKS)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--models", default="1,4,12,16")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    print(f"{'models':>6} {'compiled/s':>12} {'as written/s':>12} {'ready in':>10}")
    for models in map(int, arguments.models.split(",")):
        stack = make_stack(arguments.task, models, device)
        began = time.perf_counter()
        engine = Engine(stack)
        seconds_of(stack, engine, 20)
        ready = time.perf_counter() - began
        sequences = arguments.steps * models * stack.configs[0].batch
        compiled = sequences / seconds_of(stack, engine, arguments.steps)
        engine.step = engine._step
        plain = sequences / seconds_of(stack, engine, arguments.steps)
        print(f"{models:>6} {compiled:>12,.0f} {plain:>12,.0f} {ready:>8.1f} s", flush=True)


def make_stack(task: str, models: int, device: str) -> Stack:
    row = ROWS[task]
    config = RunConfig("bench", TASKS[task], row.layers, row.heads, train=5_000)
    config = miniature(config) if device == "cpu" else config
    data = make_data(config.task, 0, config.sizes)
    configs = [replace(config, seed=seed) for seed in range(models)]
    return Stack(configs, [data] * models, device)


def seconds_of(stack: Stack, engine: Engine, steps: int) -> float:
    """Take some steps; the processor time is not asked for, since the GPU does the work."""
    stack.start_epoch(engine)
    engine.losses()  # waits for the GPU
    began = time.perf_counter()
    for step in range(steps):
        engine.train_batch(step % stack.batches)
    engine.losses()
    return time.perf_counter() - began


if __name__ == "__main__":
    torch.manual_seed(0)
    main()
