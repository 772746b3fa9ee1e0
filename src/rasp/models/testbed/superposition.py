"""A compiled model in, one with fewer dimensions out, trained to answer alike.

The stream is projected to fewer dimensions, in which features are mixed and share dimensions. There
are two projections to begin with: one keeps what the stream varies in, the other what is read from
it. Then all weights are trained on the certified model's answers. If 99 % right answers are not
reached, fewer dimensions are left out. What comes out is not exact, and says so: the share of right
answers on inputs that it was not trained on is what is known of it. Its heads and feed-forwards are
those of the model it began as, one for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import torch

from rasp.insight.equivalence.answering import Input
from rasp.models.certificate import Array, Weights
from rasp.models.compiler.model.transformer import Transformer
from rasp.models.testbed.dials import rotated
from rasp.models.testbed.patching import Patchable
from rasp.models.testbed.truth import different_answers, telling_inputs, usable_inputs

INPUTS = 20_000
"""Draws of random inputs; the same input may be drawn again."""
MOST_TESTS = 1000
STEPS, BATCH, EVERY = 8000, 128, 250
RATE, LAST_RATE, WARM_UP = 3e-3, 1e-4, 100
GOOD = 0.9995
"""The share of right answers at which training ends."""
HOPELESS, HOPELESS_AFTER = 0.65, 2000
"""A start that is below this after so many steps is given up."""
ENOUGH = 0.99
"""The share of right answers that a model needs to be written."""
LESS = (1.0, 0.67, 0.33)
"""Which part of the share is left out, from try to try."""


@dataclass(frozen=True, eq=False)
class Superposed:
    """A trained model, and its share of right answers on inputs that it was not trained on."""

    model: Transformer
    right: float


@dataclass(frozen=True)
class SplitInputs:
    """Different inputs to train on, to choose by, and to state the result on."""

    lessons: list[Input]
    choosing: list[Input]
    tests: list[Input]

    @staticmethod
    def of(model: Transformer, seed: int) -> SplitInputs:
        every = usable_inputs(model, INPUTS, seed)
        Random(f"superposition {seed}").shuffle(every)  # the likeliest were drawn first
        first = max(1, min(MOST_TESTS, len(every) // 5))
        second = first + max(1, min(MOST_TESTS, len(every) // 10))
        return SplitInputs(every[second:] or every, every[first:second] or every, every[:first])


def superposed(model: Transformer, share: float, seed: int, steps: int = STEPS) -> Superposed:
    """Leave out a share of the dimensions, or less if that is too much, and train what is left."""
    inputs = SplitInputs.of(model, seed)
    best = Superposed(model, -1.0)
    for less in LESS:
        kept = max(1, round(model.d_model * (1 - share * less)))
        for start in _starts(model, inputs, kept, seed):
            trained = _trained(model, start, inputs, seed, steps)
            right = share_right(model, trained, inputs.tests)
            if right > best.right:
                best = Superposed(trained, right)
            if best.right >= ENOUGH:
                return best
    return best


def share_right(model: Transformer, other: Transformer, inputs: list[Input]) -> float:
    """On which share of inputs every answer is the same."""
    return 1 - different_answers(model, other, inputs) / max(1, len(inputs))


def with_arrays(model: Transformer, arrays: Mapping[str, Array]) -> Transformer:
    """A model of the same parts with other weights, by the names that `Weights.arrays` gives."""
    weights = Weights.from_arrays(arrays, model.heads_per_layer, len(model.readouts))
    return replace(model, weights=weights, proof=None)


def _starts(model: Transformer, inputs: SplitInputs, kept: int, seed: int) -> list[Transformer]:
    """The model in fewer dimensions, mixed at random: the better start first."""
    teacher, rows = Patchable(model), []
    telling = telling_inputs(model, inputs.lessons, MOST_TESTS)
    for ids in _ids_by_length(model, telling).values():
        read: dict[tuple[str, str], torch.Tensor] = {}
        with torch.no_grad():
            teacher.run(teacher.embedded(ids), keep=read)
        rows += [stream.flatten(0, 1).numpy() for stream in read.values()]
    stream = np.concatenate(rows)
    mixed, _ = np.linalg.qr(np.random.default_rng([seed, 31]).normal(size=(kept, kept)))
    starts = []
    for write, read_back in (_by_reading(model.weights, stream), _by_variance(stream)):
        some = min(kept, write.shape[1])
        into, back = write[:, :some] @ mixed[:some], read_back[:, :some] @ mixed[:some]
        starts.append(replace(model, weights=rotated(model.weights, into, back), proof=None))
    return sorted(starts, key=lambda start: -share_right(model, start, inputs.choosing))


def _by_variance(stream: Array) -> tuple[Array, Array]:
    """Directions in which the stream (row, model) is largest, the largest first."""
    _, vectors = np.linalg.eigh(stream.T @ stream)
    return vectors[:, ::-1], vectors[:, ::-1]


def _by_reading(weights: Weights, stream: Array) -> tuple[Array, Array]:
    """Directions that matter most to all that is read from the stream, the most important first.

    With x = L·z for z of unit covariance, what all parts read is W·x = U·S·Vᵀ·z. Of it, the first
    columns of U keep as much as so many dimensions can: x' = Uᵀ·W·x, read with U. Both are scaled
    so that all dimensions are of one size.
    """
    parts = [array for layer in weights.heads for head in layer
             for array in (head.query, head.key, head.value)]  # fmt: skip
    parts += [block.inside for block in weights.feed_forwards]
    read = np.concatenate([*parts, *(readout.weight for readout in weights.readouts)])
    values, vectors = np.linalg.eigh(stream.T @ stream / len(stream))
    root = vectors * np.sqrt(np.maximum(values, 0))
    left, sizes, right = np.linalg.svd(read @ root, full_matrices=False)
    count = int((sizes > 1e-6 * sizes[0]).sum())
    return read.T @ left[:, :count] / sizes[:count], root @ right[:count].T


def _trained(
    model: Transformer, start: Transformer, inputs: SplitInputs, seed: int, steps: int
) -> Transformer:
    """The best model on the way from a start."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    student = Patchable(start, torch.float32, device)
    parameters = [
        parameter.requires_grad_() for parameter in student.parameters() if parameter.numel()
    ]
    optimiser = torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.99))
    best, best_model = share_right(model, start, inputs.choosing), start
    for step, (ids, answers) in enumerate(_batches(model, inputs.lessons, seed, steps), 1):
        if best >= GOOD or (step > HOPELESS_AFTER and best < HOPELESS):
            break
        for group in optimiser.param_groups:
            group["lr"] = _rate(step, steps)
        optimiser.zero_grad()
        _, logits = student.run(student.embedded(ids))
        loss = student.loss(logits, answers) / ids.size
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        if step % EVERY == 0 or step == steps:
            now = replace(start, weights=student.weights())
            right = share_right(model, now, inputs.choosing)
            if right > best:
                best, best_model = right, now
    return replace(best_model, weights=best_model.weights.cast())


def _rate(step: int, steps: int) -> float:
    """The learning rate: a short warm-up, then half a cosine."""
    along = 0.5 * (1 + np.cos(np.pi * step / steps))
    return float(min(1.0, step / WARM_UP) * (LAST_RATE + (RATE - LAST_RATE) * along))


def _batches(
    model: Transformer, inputs: list[Input], seed: int, count: int
) -> Iterator[tuple[Array, Array]]:
    """Random batches of one length each, with the places of the right answers.

    An input is drawn more often if an answer of it is rare, by the root of how rare it is.
    """
    teacher, chooser = Patchable(model), np.random.default_rng([seed, 37])
    answered = []
    for ids in _ids_by_length(model, inputs).values():
        with torch.no_grad():
            answered.append((ids, teacher.answers(teacher.run(teacher.embedded(ids))[1])))
    seen = Counter(answer for _, answers in answered for answer in _each(answers))
    weights = [np.array([min(seen[answer] for answer in _each(row[None])) ** -0.5
                         for row in answers]) for _, answers in answered]  # fmt: skip
    sizes = np.array([weight.sum() for weight in weights])
    for _ in range(count):
        place = chooser.choice(len(answered), p=sizes / sizes.sum())
        (ids, answers), weight = answered[place], weights[place]
        rows = chooser.choice(len(ids), BATCH, p=weight / weight.sum())
        yield ids[rows], answers[rows]


def _each(answers: Array) -> Iterator[tuple[int, int]]:
    """The answers of (batch, position, output), each with the number of its output."""
    for output in range(answers.shape[-1]):
        yield from ((output, answer) for answer in answers[..., output].ravel().tolist())


def _ids_by_length(model: Transformer, inputs: list[Input]) -> dict[int, Array]:
    return {length: np.stack([model.token_ids(list(tokens)) for tokens in inputs
                              if len(tokens) == length])
            for length in sorted({len(tokens) for tokens in inputs})}  # fmt: skip
