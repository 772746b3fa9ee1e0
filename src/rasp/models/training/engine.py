"""A stack trained and tested: a step is a pure function, which `torch.compile` makes fast.

On a GPU, forward, gradient and Adam are one graph; nothing is changed in place, so that it can be
recorded and replayed. On a CPU, and where a step cannot be compiled, the same function
runs as it is written.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import torch

from rasp.models.training.network import SlotTensors, StackBatch, forward, losses
from rasp.models.training.parameters import views
from rasp.models.training.stack import SplitScores, Stack, StackState

BETAS = (0.9, 0.999)
EPSILON = 1e-8
Result = TypeVar("Result")


class Engine:
    """Computes with a stack, one batch at a time."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.plans = {
            split: SlotTensors(pool.layout, stack.device, stack.shape.width)
            for split, pool in stack.pools.items()
        }
        columns = torch.arange(stack.shape.classes, device=stack.device)
        has = columns < stack.counts[:, None]
        self.class_mask = torch.zeros(has.shape, device=stack.device).masked_fill(~has, -torch.inf)
        self.step = fast(self._step, stack.device)

    def start_epoch(self, order: np.ndarray, rates: np.ndarray) -> None:
        """Take an epoch's order (models, batches, batch) and learning rates (models,)."""
        device = self.stack.device
        self.order = torch.from_numpy(order).long().to(device)
        self.rates = torch.from_numpy(rates).float().to(device)
        self.total = torch.zeros(len(rates), device=device)

    def train_batch(self, number: int) -> None:
        """Take one step."""
        self.stack.state, loss = self.step(self.stack.state, self.order[:, number], self.rates)
        self.total = self.total + loss

    def losses(self) -> np.ndarray:
        """Return the mean loss since the epoch began. (models,)"""
        return (self.total / self.stack.batches).cpu().numpy()

    def evaluate(self, rows: torch.Tensor, split: str) -> SplitScores:
        """Return how well some weights do."""
        pool, plan = self.stack.pools[split], self.plans[split]
        counted = torch.zeros(3, len(rows), device=rows.device)  # right, tokens, inputs right
        with torch.no_grad():
            for order in torch.from_numpy(pool.in_turn()).to(rows.device):
                batch = pool.gather(order.expand(len(rows), -1), plan)
                logits, _ = forward(views(rows, self.stack.shape), self.stack.shape, plan, batch)
                guess = (logits + self.class_mask[:, None]).argmax(dim=2)
                counted += tally(guess == batch.targets, batch.targets, plan)
        return as_scores(counted, pool.batches * pool.layout.batch)

    def _step(
        self, state: StackState, order: torch.Tensor, rates: torch.Tensor
    ) -> tuple[StackState, torch.Tensor]:
        """Return the state after a batch, and each model's loss on it. (models,)"""
        stack, plan = self.stack, self.plans["train"]
        batch = stack.pools["train"].gather(order, plan)

        def learnt(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            logits, attention = forward(views(rows, stack.shape), stack.shape, plan, batch)
            loss = losses(logits, batch, plan, self.class_mask)
            if stack.supervision is None:
                return loss.sum(), loss
            return (loss + self._attention_loss(attention, batch, order)).sum(), loss

        gradient, loss = torch.func.grad(learnt, has_aux=True)(state.rows)
        return adam(state, gradient, rates), loss

    def _attention_loss(
        self, attention: list[torch.Tensor], batch: StackBatch, order: torch.Tensor
    ) -> torch.Tensor:
        stack, plan = self.stack, self.plans["train"]
        assert stack.supervision is not None
        values = take_extras(stack, order, plan)
        weight = stack.configs[0].attention
        total = torch.zeros(len(stack), device=stack.device)
        for head in stack.supervision.heads:
            target, counts = stack.supervision.targets(head.selector, values, plan, batch.lengths)
            off = (attention[head.layer][:, head.head] - target).square() * counts
            total = total + (off * cell_weights(batch.lengths, plan)).sum(dim=1) * weight
        return total


def adam(state: StackState, gradient: torch.Tensor, rates: torch.Tensor) -> StackState:
    """Take a step of Adam; every model has its own rate."""
    steps = state.steps + 1
    first = state.first_moment.lerp(gradient, 1 - BETAS[0])
    second = state.second_moment * BETAS[1] + gradient.square() * (1 - BETAS[1])
    corrections = [(1 - beta ** steps.double()).float()[:, None] for beta in BETAS]
    size = (second / corrections[1]).sqrt() + EPSILON
    rows = state.rows - rates[:, None] * (first / corrections[0]) / size
    return StackState(rows, first, second, steps)


def fast(step: Callable[..., Result], device: str) -> Callable[..., Result]:
    """Return a step as fast as a device can have it: compiled on a GPU, the same anywhere else."""
    if not device.startswith("cuda"):
        return step
    torch.set_float32_matmul_precision("high")
    compiled = torch.compile(step, mode="reduce-overhead", dynamic=False)
    chosen: list[Callable[..., Result]] = []

    def stepping(*given: Any) -> Result:
        if chosen:
            return chosen[0](*given)
        try:
            result = compiled(*given)
            chosen.append(compiled)
        except Exception as error:  # no compiler for this GPU: the plain step says what is wrong
            result = step(*given)
            chosen.append(step)
            warnings.warn(f"training is slower, since its step cannot be compiled: {error}")  # noqa: B028
        return result

    return stepping


def take_extras(stack: Stack, order: torch.Tensor, plan: SlotTensors) -> Mapping[str, torch.Tensor]:
    """Lay the leaves of selectors out as the batch is. (models, size) each"""
    pool = stack.pools["train"]
    rows = (order + pool.first[:, None])[:, plan.slot_of]
    return {name: values[rows, plan.position_of] for name, values in pool.extras.items()}


def cell_weights(lengths: torch.Tensor, plan: SlotTensors) -> torch.Tensor:
    """What each cell counts: a mean over a sequence's square, then over the batch."""
    squares = lengths.float().square()[:, plan.slot_of[plan.cell_queries]]
    return 1 / (squares * plan.layout.batch)


def tally(hits: torch.Tensor, targets: torch.Tensor, plan: SlotTensors) -> torch.Tensor:
    """Count right tokens, tokens, and wholly right inputs. (3, models)"""
    counted = (targets != -1).float()
    hit = hits.float() * counted
    missed = (counted - hit).new_zeros(len(hit), plan.layout.batch)
    missed.index_add_(1, plan.slot_of, counted - hit)
    return torch.stack([hit.sum(1), counted.sum(1), (missed == 0).float().sum(1)])


def as_scores(counted: torch.Tensor, inputs: int) -> SplitScores:
    """Turn counts into shares."""
    right, tokens, sequences = counted.double().cpu().numpy()
    return SplitScores(right / tokens, sequences / inputs)
