"""Runs in, records out: decoders trained side by side, saved often, never trained twice.

One run is a frozen configuration; its record says how often the decoder is right on inputs of
trained and of longer lengths. A stack of runs is saved every so many steps and goes on from there
after a kill.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rasp.models.training.next_token.config import RECIPE, DecoderRun
from rasp.models.training.next_token.data import (
    IGNORED,
    Coding,
    Sequences,
    coding_of,
    make_sequences,
)
from rasp.models.training.next_token.decoder import Parameters, Size, initial, logits
from rasp.models.training.next_token.tasks import NextToken
from rasp.models.training.run_store import Store
from rasp.models.training.tensors import open_tensors, write_tensors

BINS = ((1, 50), (51, 100), (101, 150))
BATCH_TESTED = 100
RECORDS = "decoders.jsonl"
"""Where finished runs are kept, beside the other records."""


Progress = Callable[[str], None]


def train(
    runs: Sequence[DecoderRun],
    tasks: dict[str, NextToken],
    folder: Path,
    device: str = "cpu",
    tell: Progress = lambda line: None,
    save_every: int = 500,
) -> dict[str, dict[str, Any]]:
    """Train the runs that have no record yet, stack by stack; return all records by id."""
    store = Store(folder, RECORDS)
    torch.set_float32_matmul_precision("high")
    missing = [run for run in runs if run.id not in store.records()]
    stacks: dict[tuple[Any, ...], list[DecoderRun]] = {}
    for run in missing:
        key = (*run.stack_key, tasks[run.task].generates)
        stacks.setdefault(key, []).append(run)
    for stack in stacks.values():
        for record in _Training(stack, tasks, folder, device, tell).finish(save_every):
            store.add_record(record)
    records = store.records()
    return {run.id: records[run.id] for run in runs}


class _Training:
    """One stack of runs on its way."""

    def __init__(
        self,
        runs: Sequence[DecoderRun],
        tasks: dict[str, NextToken],
        folder: Path,
        device: str,
        tell: Progress,
    ) -> None:
        self.runs, self.device, self.tell = list(runs), device, tell
        self.data = {name: _Data(tasks[name], runs[0]) for name in {run.task for run in runs}}
        codings = [self.data[run.task].coding for run in runs]
        first = runs[0]
        longest = max(data.longest for data in self.data.values())
        self.size = Size(
            first.layers, first.heads, first.width,
            max(coding.token_count for coding in codings),
            max(coding.answer_count for coding in codings),
            longest if first.positions == "learned" else 0,
        )  # fmt: skip
        together = hashlib.sha256("".join(run.id for run in runs).encode()).hexdigest()[:16]
        self.snapshot = folder / "snapshots" / f"{together}.safetensors"
        self.parameters: Parameters = {
            name: tensor.to(device).requires_grad_()
            for name, tensor in initial(self.size, [run.seed for run in runs]).items()
        }
        self.optimiser = torch.optim.AdamW(
            self.parameters.values(), lr=first.rate, betas=(0.9, 0.98), weight_decay=0.01
        )
        self.pool = self._pool()
        self.step, self.losses = 0, torch.zeros(len(runs), device=device)
        self.seconds = 0.0

    def finish(self, save_every: int) -> list[dict[str, Any]]:
        """Train to the last step, from the last snapshot on, and test."""
        self._resume()
        started, steps = time.monotonic() - self.seconds, self.runs[0].steps
        while self.step < steps:
            self._train_step(steps)
            if self.step % save_every == 0 or self.step == steps:
                self.seconds = time.monotonic() - started
                self._save()
                loss = self.losses.mean().item()
                self.tell(f"step {self.step} of {steps}: {len(self.runs)} runs, loss {loss:.4f}, "
                          f"{self.seconds:.0f} s")  # fmt: skip
        records = self._records()
        self.snapshot.unlink(missing_ok=True)
        return records

    def _train_step(self, steps: int) -> None:
        first = self.runs[0]
        warm = min(1.0, (self.step + 1) / 200)
        rate = first.rate * warm * 0.5 * (1 + np.cos(np.pi * self.step / steps))
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        tokens, targets, offsets = self._batch()
        said = logits(self.parameters, self.size, tokens, offsets)
        self.losses = _losses(said, targets, self._absent_answers())
        self.optimiser.zero_grad(set_to_none=True)
        self.losses.sum().backward()  # type: ignore[no-untyped-call]
        self._clip()
        self.optimiser.step()
        self.step += 1
        self.losses = self.losses.detach()

    def _clip(self) -> None:
        """Bound each model's gradient by itself: neighbours make no difference."""
        squares = torch.zeros(len(self.runs), device=self.device)
        gradients = [one.grad for one in self.parameters.values() if one.grad is not None]
        for gradient in gradients:
            squares += gradient.flatten(1).square().sum(dim=1)
        scale = (1.0 / (squares.sqrt() + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient *= scale.view(-1, *[1] * (gradient.dim() - 1))

    def _batch(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """A batch for each model; a run's batches depend on its seed and the step alone."""
        tasks, tokens, targets = self.pool
        longest = tokens.shape[2]
        chosen, offsets = np.zeros((2, len(self.runs), self.runs[0].batch), np.int64)
        for number, run in enumerate(self.runs):
            random = np.random.default_rng([run.seed, self.step])
            chosen[number] = random.integers(0, run.train, run.batch)
            if self.size.places:
                offsets[number] = random.integers(0, self.size.places - longest + 1, run.batch)
        rows = torch.from_numpy(chosen).to(self.device)
        return (tokens[tasks, rows].long(), targets[tasks, rows].long(),
                torch.from_numpy(offsets).to(self.device))  # fmt: skip

    def _pool(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Each run's task, and what there is to learn from, on the device. (tasks, count, …)"""
        names = list(self.data)
        longest = max(data.train.tokens.shape[1] for data in self.data.values())
        parts = []
        for kind, filler in (("tokens", 0), ("targets", IGNORED)):
            arrays = [getattr(self.data[name].train, kind) for name in names]
            padded = [np.pad(array, ((0, 0), (0, longest - array.shape[1])), constant_values=filler)
                      for array in arrays]  # fmt: skip
            parts.append(torch.from_numpy(np.stack(padded).astype(np.int16)).to(self.device))
        tasks = torch.tensor([names.index(run.task) for run in self.runs], device=self.device)
        return tasks[:, None], parts[0], parts[1]

    def _absent_answers(self) -> torch.Tensor:
        """Minus infinity at answers that a model's task does not have. (models, answers)"""
        absent = torch.zeros(len(self.runs), self.size.answers)
        for number, run in enumerate(self.runs):
            absent[number, self.data[run.task].coding.answer_count :] = -torch.inf
        return absent.to(self.device)

    def _save(self) -> None:
        self.snapshot.parent.mkdir(parents=True, exist_ok=True)
        tensors = {f"weight.{name}": tensor.detach() for name, tensor in self.parameters.items()}
        state = self.optimiser.state_dict()["state"]
        for number, name in enumerate(self.parameters):
            for part in ("exp_avg", "exp_avg_sq"):
                tensors[f"{part}.{name}"] = state[number][part]
        about = {"step": self.step, "seconds": self.seconds}
        write_tensors(self.snapshot, {name: tensor.cpu().contiguous()
                                      for name, tensor in tensors.items()}, about)  # fmt: skip

    def _resume(self) -> None:
        if not self.snapshot.exists():
            return
        file = open_tensors(self.snapshot)
        self.step, self.seconds = int(file.about["step"]), float(file.about["seconds"])
        state = {}
        with torch.no_grad():
            for number, (name, tensor) in enumerate(self.parameters.items()):
                tensor.copy_(file.read(f"weight.{name}"))
                state[number] = {
                    "step": torch.tensor(float(self.step)),
                    **{part: file.read(f"{part}.{name}") for part in ("exp_avg", "exp_avg_sq")},
                }
        self.optimiser.load_state_dict(
            {"state": state, "param_groups": self.optimiser.state_dict()["param_groups"]}
        )

    def _records(self) -> list[dict[str, Any]]:
        scores = [self._scores(number) for number in range(len(BINS))]
        return [
            {
                "id": run.id,
                "name": run.name,
                "config": asdict(run) | {"recipe": RECIPE},
                "loss": float(self.losses[number]),
                "exact": {f"{low}-{high}": scores[place][0][number]
                          for place, (low, high) in enumerate(BINS)},
                "tokens": {f"{low}-{high}": scores[place][1][number]
                           for place, (low, high) in enumerate(BINS)},
                "seconds": round(self.seconds, 1),
                "stack": len(self.runs),
                "versions": {"torch": torch.__version__, "numpy": np.__version__},
                "device": self._device_name(),
            }
            for number, run in enumerate(self.runs)
        ]  # fmt: skip

    def _device_name(self) -> str:
        return torch.cuda.get_device_name() if self.device.startswith("cuda") else "CPU"

    @torch.no_grad()
    def _scores(self, place: int) -> tuple[list[float], list[float]]:
        """Shares of inputs wholly right, and of single tokens right, for each model."""
        wholly, single, asked_in_all = torch.zeros(3, len(self.runs), device=self.device)
        count = 0
        absent = self._absent_answers()[:, None, None]
        longest = max(data.test[place].tokens.shape[1] for data in self.data.values())
        for start in range(0, self.runs[0].test, BATCH_TESTED):
            parts = [self._test_part(run, place, start, longest) for run in self.runs]
            tokens, targets = (torch.from_numpy(np.stack(arrays)).to(self.device)
                               for arrays in zip(*parts, strict=True))  # fmt: skip
            offsets = torch.zeros(tokens.shape[:2], dtype=torch.long, device=self.device)
            said = (logits(self.parameters, self.size, tokens, offsets) + absent).argmax(dim=3)
            is_asked = targets != IGNORED
            is_right = said == targets
            wholly = wholly + (is_right | ~is_asked).all(dim=2).sum(dim=1)
            single = single + (is_right & is_asked).sum(dim=(1, 2))
            asked_in_all = asked_in_all + is_asked.sum(dim=(1, 2))
            count += tokens.shape[1]
        return (wholly / count).tolist(), (single / asked_in_all).tolist()

    def _test_part(
        self, run: DecoderRun, place: int, start: int, longest: int
    ) -> tuple[np.ndarray, np.ndarray]:
        test = self.data[run.task].test[place]
        rows = slice(start, start + BATCH_TESTED)
        more = ((0, 0), (0, longest - test.tokens.shape[1]))
        return (np.pad(test.tokens[rows], more),
                np.pad(test.targets[rows], more, constant_values=IGNORED))  # fmt: skip


class _Data:
    """A task's sequences: to learn from, and to be tested on, by lengths."""

    def __init__(self, task: NextToken, run: DecoderRun) -> None:
        self.coding: Coding = coding_of(task)
        self.train: Sequences = make_sequences(task, self.coding, BINS[0], run.train, seed=0)
        self.test = [make_sequences(task, self.coding, lengths, run.test, seed=1)
                     for lengths in BINS]  # fmt: skip

    @property
    def longest(self) -> int:
        return max(int(part.tokens.shape[1]) for part in (self.train, *self.test))


def _losses(said: torch.Tensor, targets: torch.Tensor, absent: torch.Tensor) -> torch.Tensor:
    """Each model's mean loss over what it is asked. (models,)"""
    log_chance = (said + absent[:, None, None]).log_softmax(dim=3)
    picked = log_chance.gather(3, targets.clamp(min=0)[..., None])[..., 0]
    asked = (targets != IGNORED).float()
    return -(picked * asked).sum(dim=(1, 2)) / asked.sum(dim=(1, 2)).clamp(min=1)
