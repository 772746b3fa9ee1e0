"""A compiled model in, one with fewer dimensions out, trained to answer alike.

All weights are projected to a random subspace, where features share dimensions, and trained from
there on the certified model's answers. What comes out is not exact, and says so: the share of right
answers on inputs that it was not trained on is what is known of it. Its heads and feed-forwards are
those of the model it began as, one for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from rasp.compiler.emitting.weights import (
    Array,
    FeedForwardWeights,
    HeadWeights,
    ReadoutWeights,
    Weights,
)
from rasp.compiler.model.transformer import Transformer
from rasp.testbed.dials import rotated
from rasp.testbed.patching import Patchable
from rasp.testbed.truth import Tokens, usable_inputs

INPUTS = 6000
BATCH = 128
STEPS = 10_000
RATE = 1e-2
GOOD = 0.9995
"""The share of right answers at which training ends."""
EVERY = 250


@dataclass(frozen=True, eq=False)
class Superposed:
    """A trained model, and its share of right answers on inputs that it was not trained on."""

    model: Transformer
    right: float
    steps: int


def superposed(model: Transformer, share: float, seed: int, steps: int = STEPS) -> Superposed:
    """Leave out a share of the dimensions, and train what is left."""
    tests = unseen_inputs(model, seed)
    lessons = usable_inputs(model, INPUTS, seed)[len(tests) :] or tests
    student = Patchable(_projected(model, share, seed), torch.float32, _device())
    parameters = [each.requires_grad_() for each in student.parameters() if each.numel()]
    optimiser = torch.optim.Adam(parameters, lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    step = 0
    for step, (ids, answers) in enumerate(_batches(model, lessons, seed, steps), 1):
        optimiser.zero_grad()
        _, logits = student.run(student.embedded(ids))
        loss = student.loss(logits, answers) / ids.size
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        schedule.step()
        if step % EVERY == 0 and share_right(model, _trained(student), tests) >= GOOD:
            break
    found = _trained(student)
    return Superposed(found, share_right(model, found, tests), step)


def share_right(model: Transformer, other: Transformer, inputs: list[Tokens]) -> float:
    """On which share of inputs every answer is the same."""
    same = 0
    for ids in _ids_by_length(model, inputs).values():
        wanted, found = model.answers(ids), other.answers(ids)
        same += sum(all(wanted[name][row] == found[name][row] for name in wanted)
                    for row in range(len(ids)))  # fmt: skip
    return same / max(1, len(inputs))


def with_arrays(model: Transformer, arrays: Mapping[str, Array]) -> Transformer:
    """A model of the same parts with other weights, by the names that `Weights.arrays` gives."""
    size = arrays["tokens"].shape[1]
    empty = FeedForwardWeights(np.zeros((0, size)), np.zeros(0), np.zeros((size, 0)))
    weights = Weights(
        arrays["tokens"], arrays["positions"],
        [[HeadWeights(*(arrays[f"layer{layer}.head{number}.{name}"] for name in vars(head)))
          for number, head in enumerate(heads, 1)]
         for layer, heads in enumerate(model.weights.heads, 1)],
        [FeedForwardWeights(*(arrays[f"layer{layer}.feed_forward.{name}"] for name in vars(block)))
         if block.bias.size else empty for layer, block in enumerate(model.weights.feed_forwards)],
        [ReadoutWeights(arrays[f"output{number}.weight"], arrays[f"output{number}.bias"])
         for number in range(len(model.readouts))],
    )  # fmt: skip
    return replace(model, weights=weights, certificate=None)


def unseen_inputs(model: Transformer, seed: int) -> list[Tokens]:
    """The inputs that a model is not trained on."""
    every = usable_inputs(model, INPUTS, seed)
    return every[: max(1, len(every) // 5)]


def _projected(model: Transformer, share: float, seed: int) -> Transformer:
    """The model in a random subspace: nearly all of it is still there, and mixed."""
    chooser = np.random.default_rng([seed, 31])
    kept = max(1, round(model.d_model * (1 - share)))
    corner, _ = np.linalg.qr(chooser.normal(size=(model.d_model, model.d_model)))
    return replace(model, weights=rotated(model.weights, corner[:, :kept]), certificate=None)


def _trained(student: Patchable) -> Transformer:
    return replace(student.model, weights=student.weights())


def _batches(
    model: Transformer, inputs: list[Tokens], seed: int, count: int
) -> Iterator[tuple[Array, Array]]:
    """Random batches of one length each, with the places of the right answers."""
    teacher, chooser = Patchable(model), np.random.default_rng([seed, 37])
    known = []
    for ids in _ids_by_length(model, inputs).values():
        with torch.no_grad():
            known.append((ids, teacher.answers(teacher.run(teacher.embedded(ids))[1])))
    sizes = np.array([len(ids) for ids, _ in known], float)
    for _ in range(count):
        ids, answers = known[chooser.choice(len(known), p=sizes / sizes.sum())]
        rows = chooser.integers(0, len(ids), BATCH)
        yield ids[rows], answers[rows]


def _ids_by_length(model: Transformer, inputs: list[Tokens]) -> dict[int, Array]:
    return {length: np.stack([model.token_ids(list(tokens)) for tokens in inputs
                              if len(tokens) == length])
            for length in sorted({len(tokens) for tokens in inputs})}  # fmt: skip


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
