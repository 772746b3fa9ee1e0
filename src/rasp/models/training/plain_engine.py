"""A stack trained with PyTorch's own operations and autograd: on any device, and the oracle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from rasp.models.training.network import SlotTensors, StackBatch, forward, losses
from rasp.models.training.parameters import views
from rasp.models.training.stack import SplitScores, Stack

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class PlainEngine:
    """Trains a stack one batch at a time."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.plans = {
            split: SlotTensors(pool.layout, stack.device) for split, pool in stack.pools.items()
        }
        columns = torch.arange(stack.shape.classes, device=stack.device)
        has = columns < stack.counts[:, None]
        self.class_mask = torch.zeros(has.shape, device=stack.device).masked_fill(~has, -torch.inf)

    def start_epoch(self, order: np.ndarray, rates: np.ndarray) -> None:
        self.order = torch.from_numpy(order).to(self.stack.device)
        self.rates = torch.from_numpy(rates).float().to(self.stack.device)
        self.total = torch.zeros(len(rates), device=self.stack.device)

    def train_batch(self, number: int) -> None:
        stack, plan = self.stack, self.plans["train"]
        pool = stack.pools["train"]
        order = self.order[:, number]
        batch = pool.gather(order, plan)
        rows = stack.rows.detach().requires_grad_()
        logits, attention = forward(views(rows, stack.shape), stack.shape, plan, batch)
        loss = losses(logits, batch, plan, self.class_mask)
        self.total += loss.detach()
        if stack.supervision is not None:
            loss = loss + self._attention_loss(attention, batch, order)
        (gradient,) = torch.autograd.grad(loss.sum(), rows)
        self._adam(gradient)

    def losses(self) -> np.ndarray:
        return (self.total / self.stack.batches).cpu().numpy()

    def evaluate(self, rows: torch.Tensor, split: str) -> SplitScores:
        pool, plan = self.stack.pools[split], self.plans[split]
        counted = torch.zeros(
            3, len(rows), device=rows.device
        )  # tokens right, tokens, inputs right
        with torch.no_grad():
            for order in torch.from_numpy(pool.in_turn()).to(rows.device):
                batch = pool.gather(order.expand(len(rows), -1), plan)
                logits, _ = forward(views(rows, self.stack.shape), self.stack.shape, plan, batch)
                guess = (logits + self.class_mask[:, None]).argmax(dim=2)
                counted += tally(guess == batch.targets, batch.targets, plan)
        return as_scores(counted, pool.batches * pool.layout.batch)

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

    def _adam(self, gradient: torch.Tensor) -> None:
        stack = self.stack
        stack.steps += 1
        stack.first_moment.lerp_(gradient, 1 - BETAS[0])
        stack.second_moment.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        steps = stack.steps.double()
        corrections = [(1 - beta**steps).float()[:, None] for beta in BETAS]
        change = stack.first_moment / corrections[0]
        size = (stack.second_moment / corrections[1]).sqrt() + EPSILON
        stack.rows -= self.rates[:, None] * change / size


def take_extras(stack: Stack, order: torch.Tensor, plan: SlotTensors) -> Mapping[str, torch.Tensor]:
    """Lay the leaves of selectors out as the batch is. (models, size) each"""
    pool = stack.pools["train"]
    examples = order.long() + pool.first[:, None]
    rows = examples[:, plan.slot_of]
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
