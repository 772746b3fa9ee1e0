"""A stack trained on a GPU: fused kernels, and a whole step recorded once as a CUDA graph.

Each stack has a stream of its own, so that several small ones fill the machine together.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch

from rasp.models.training import kernels
from rasp.models.training.engines import can_fuse
from rasp.models.training.fused import FusedModel, new_stream
from rasp.models.training.network import SlotTensors
from rasp.models.training.parameters import views
from rasp.models.training.plain_engine import (
    PlainEngine,
    as_scores,
    cell_weights,
    take_extras,
    tally,
)
from rasp.models.training.stack import SplitScores, Stack

BLOCK = 1024


class FusedEngine:
    """Trains a stack with recorded steps; without CUDA (Triton's interpreter), step by step."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.on_gpu = stack.device.startswith("cuda")
        self.stream: Any = new_stream() if self.on_gpu else None
        pool, device = stack.pools["train"], stack.device
        models, batch = len(stack), pool.layout.batch
        self.order = torch.zeros(models, pool.batches, batch, dtype=torch.int32, device=device)
        self.now = torch.zeros(models, dtype=torch.int32, device=device)
        self.rates = torch.zeros(models, device=device)
        self.total = torch.zeros(models, device=device)
        self.gradient = torch.zeros_like(stack.rows)
        self.chosen = stack.rows.clone()
        """The weights that are evaluated."""
        self.plans = {
            split: SlotTensors(pool.layout, device) for split, pool in stack.pools.items()
        }
        self.batches = {split: _Buffers(stack, split, self.plans[split]) for split in stack.pools}
        self.model = FusedModel(
            stack.shape, pool.layout, views(stack.rows, stack.shape), stack.counts
        )
        self.judges = {
            split: FusedModel(
                stack.shape, split_pool.layout, views(self.chosen, stack.shape), stack.counts, False
            )
            for split, split_pool in stack.pools.items()
            if can_fuse(stack.shape, split_pool.layout)
        }
        self.counted = torch.zeros(3, models, device=device)
        with self._in_stream():
            if self.on_gpu:
                torch.set_float32_matmul_precision("high")
            self.step = self._recorded(self._step)
            self.validate = self._recorded(lambda: self._tally("validation"))

    def start_epoch(self, order: np.ndarray, rates: np.ndarray) -> None:
        with self._in_stream():
            self.order.copy_(torch.from_numpy(order))
            self.rates.copy_(torch.from_numpy(rates))
            self.now.zero_()
            self.total.zero_()

    def train_batch(self, number: int) -> None:
        if self.on_gpu:
            with torch.cuda.stream(self.stream):
                self.step()
        else:
            self.step()

    def losses(self) -> np.ndarray:
        with self._in_stream():
            return (self.total / self.stack.batches).cpu().numpy()

    def evaluate(self, rows: torch.Tensor, split: str) -> SplitScores:
        pool = self.stack.pools[split]
        with self._in_stream():
            if split not in self.judges:
                return PlainEngine(self.stack).evaluate(rows, split)
            self.chosen.copy_(rows)
            self.validate() if split == "validation" else self._tally(split)
            return as_scores(self.counted, pool.batches * pool.layout.batch)

    def _step(self) -> None:
        stack, buffers = self.stack, self.batches["train"]
        buffers.gather(self.order, self.now)
        logits = self.model.forward(buffers.tokens, buffers.lengths)
        loss, _ = self.model.loss(logits, buffers.targets, buffers.weights)
        self.total += loss.sum(dim=1)
        d_cells = self._attention_gradient() if stack.supervision else None
        gradient = views(self.gradient, stack.shape)
        self.model.backward(logits, buffers.tokens, buffers.lengths, gradient, d_cells)
        self.now += 1
        stack.steps += 1
        kernels.adam[(len(stack), -(-stack.shape.row // BLOCK))](
            stack.rows, self.gradient, stack.first_moment, stack.second_moment,
            self.rates, stack.steps, stack.shape.row, BLOCK=BLOCK,
        )  # fmt: skip

    def _attention_gradient(self) -> dict[int, torch.Tensor]:
        """The gradient of attention's own loss, by layer. (models, heads, cells) each"""
        stack, plan, buffers = self.stack, self.plans["train"], self.batches["train"]
        supervision = stack.supervision
        assert supervision is not None
        now = self.now.long()[:, None, None].expand(-1, 1, plan.layout.batch)
        order = self.order.gather(1, now)[:, 0]
        values = take_extras(stack, order, plan)
        scale = 2 * stack.configs[0].attention * cell_weights(buffers.lengths, plan)
        by_layer: dict[int, torch.Tensor] = {}
        for head in supervision.heads:
            target, counts = supervision.targets(head.selector, values, plan, buffers.lengths)
            cells = self.model.saved[head.layer].cells
            assert cells is not None
            d_cells = by_layer.setdefault(head.layer, torch.zeros_like(cells))
            d_cells[:, head.head] = (cells[:, head.head] - target) * counts * scale
        return by_layer

    def _tally(self, split: str) -> None:
        buffers, pool = self.batches[split], self.stack.pools[split]
        self.counted.zero_()
        for number in range(pool.batches):
            buffers.gather(buffers.in_turn, buffers.now)
            logits = self.judges[split].forward(buffers.tokens, buffers.lengths)
            _, hits = self.judges[split].loss(logits, buffers.targets, buffers.weights)
            self.counted += tally(hits, buffers.targets, self.plans[split])
            buffers.now.fill_(number + 1)
        buffers.now.zero_()

    def _recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """Record work as a CUDA graph; trying it first must leave no trace on the stack."""
        if not self.on_gpu:
            return work
        stack = self.stack
        kept = (stack.rows, stack.first_moment, stack.second_moment, stack.steps, self.now)
        before = [tensor.clone() for tensor in kept]
        for _ in range(2):
            work()
        torch.cuda.current_stream().synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            work()
        for tensor, old in zip(kept, before, strict=True):
            tensor.copy_(old)
        return graph.replay

    def _in_stream(self) -> Any:
        """Work in the stack's own stream, after all that was asked of the caller's."""
        if not self.on_gpu:
            return nullcontext()
        self.stream.wait_stream(torch.cuda.current_stream())
        return torch.cuda.stream(self.stream)


class _Buffers:
    """Where the batches of a split are."""

    def __init__(self, stack: Stack, split: str, plan: SlotTensors) -> None:
        self.pool, self.plan = stack.pools[split], plan
        device, models, size = stack.device, len(stack), plan.layout.size
        kind = torch.int32
        self.tokens, self.targets = (
            torch.zeros(models, size, dtype=kind, device=device) for _ in range(2)
        )
        self.weights = torch.zeros(models, size, device=device)
        self.lengths = torch.ones(models, plan.layout.batch, dtype=kind, device=device)
        self.now = torch.zeros(models, dtype=kind, device=device)
        in_turn = torch.from_numpy(self.pool.in_turn()).int()
        self.in_turn = in_turn.expand(models, -1, -1).contiguous().to(device)
        self.slot_of, self.position_of = plan.slot_of.int(), plan.position_of.int()
        self.bos = self.pool.bos.int()

    def gather(self, order: torch.Tensor, now: torch.Tensor) -> None:
        """Take each model's batch number `now`. (models,)"""
        pool, size = self.pool, self.plan.layout.size
        kernels.gather_batch[(len(now), -(-size // BLOCK))](
            order, now, pool.first, pool.tokens, pool.targets, pool.lengths,
            self.slot_of, self.position_of, self.bos,
            self.tokens, self.targets, self.weights, self.lengths,
            pool.batches, pool.layout.batch, size, pool.longest, BLOCK=BLOCK,
        )  # fmt: skip
