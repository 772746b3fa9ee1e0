"""A compiled program trained further: does gradient descent keep it?

The compiler's model is exact, so its mistakes are 0 before the first step; what is measured is
whether training on its own task leaves it so, and whether its heads go on attending to what the
program selects. The model is the compiled one (no LayerNorm, a sink), not the paper's.

    python bench/compiled_start.py FILE NAME [--alphabet abcde] [--longest 12] [--steps 300]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rasp.base.errors import RaspUnsupportedError
from rasp.models.compiler import Transformer, compile
from rasp.models.training.config import refuse_rates, refuse_seeds, refuse_sizes
from rasp.models.training.data import IGNORED, Data, Examples, make_data
from rasp.models.training.own import own_task
from rasp.models.training.tasks import TrainingTask

Arrays = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class FineTuning:
    """How to train on."""

    rate: float = 1e-4
    relative: bool = True
    """Whether a step is in proportion to the weight (0 stays 0), or the same for all.

    In the compact style sums are made by weights of 10⁹, against which no plain step is small.
    """
    steps: int = 500
    batch: int = 50
    seed: int = 0
    examples: int = 2_000
    style: str = "robust"

    def __post_init__(self) -> None:
        refuse_sizes(steps=self.steps, batch=self.batch, examples=self.examples)
        refuse_rates(rate=self.rate)
        refuse_seeds(seed=self.seed)


def fine_tune(task: TrainingTask, how: FineTuning | None = None) -> dict[str, Any]:
    """Compile a task's program, train the weights on, and say what became of it.

    >>> task = TrainingTask("first", "first = aggregate(select(indices, 0, ==), tokens);", "first",
    ...             ("a", "b"), lengths=(1, 4))
    >>> found = fine_tune(task, FineTuning(steps=2, batch=10, examples=20))
    >>> found["before"]["tokens"], found["how"]["steps"]
    (1.0, 2)
    """
    how = how or FineTuning()
    model = compile(
        task.handle, vocabulary=list(task.vocabulary), max_length=task.longest, bos=task.bos,
        style=how.style,
    )  # fmt: skip
    if not model.readouts[0].scored:
        raise RaspUnsupportedError(
            f"`{task.output}` has too many values to be scored one by one",
            hint="clip what it gives, or take shorter inputs",
        )
    sizes = {"train": how.examples, "test": max(200, how.batch)}
    data = make_data(task, how.seed, sizes)
    start = {name: torch.from_numpy(np.array(array, np.float32))
             for name, array in model.weights.arrays().items()}  # fmt: skip
    before = _measure(model, start, data, start)
    arrays, losses = _train(model, start, data, how)
    after = _measure(model, arrays, data, start)
    return {
        "task": task.name, "how": asdict(how),
        "parameters": model.parameter_count, "before": before, "after": after,
        "loss": [round(each, 5) for each in (losses[0], losses[-1])],
    }  # fmt: skip


def _train(
    model: Transformer, start: Arrays, data: Data, how: FineTuning
) -> tuple[Arrays, list[float]]:
    """Train on batches of one length each, lengths drawn as often as they occur."""
    random = np.random.default_rng(how.seed)
    changes = {name: torch.zeros_like(array).requires_grad_() for name, array in start.items()}
    optimiser = torch.optim.Adam(list(changes.values()), lr=how.rate)
    examples, losses = data.splits["train"], []

    def now() -> Arrays:
        if how.relative:
            return {name: array * (1 + changes[name]) for name, array in start.items()}
        return {name: array + changes[name] for name, array in start.items()}

    for _ in range(how.steps):
        length = int(random.choice(examples.lengths))
        alike = np.flatnonzero(examples.lengths == length)
        chosen = random.choice(alike, min(how.batch, len(alike)), replace=False)
        scores, _ = run_compiled(model, now(), _tokens(examples, chosen, length))
        targets = _targets(model, data, examples, chosen, length)
        loss = torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), targets.flatten(), ignore_index=IGNORED
        )
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(float(loss.detach()))
    return {name: array.detach() for name, array in now().items()}, losses


def run_compiled(
    model: Transformer, arrays: Arrays, tokens: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Run a compiled model in PyTorch on inputs of one length: scores, and attention by head."""
    stream = arrays["tokens"][tokens] + arrays["positions"][: tokens.shape[1]]
    if model.uses_sink:
        sink = arrays["tokens"][-1].expand(len(tokens), 1, -1)
        stream = torch.cat([sink, stream], dim=1)
    attention: dict[str, torch.Tensor] = {}
    for layer in range(len(model.heads_per_layer) + 1):
        if layer:
            added = torch.zeros_like(stream)
            for head in range(1, model.heads_per_layer[layer - 1] + 1):
                name = f"layer{layer}.head{head}"
                weights, out = _head(stream, arrays, name)
                attention[name] = weights
                added = added + out
            stream = stream + added
        inside = arrays.get(f"layer{layer}.feed_forward.inside")
        if inside is not None:
            hidden = torch.relu(stream @ inside.T + arrays[f"layer{layer}.feed_forward.bias"])
            stream = stream + hidden @ arrays[f"layer{layer}.feed_forward.out"].T
    stream = stream[:, int(model.uses_sink) :]
    return stream @ arrays["output0.weight"].T + arrays["output0.bias"], attention


def _head(stream: torch.Tensor, arrays: Arrays, name: str) -> tuple[torch.Tensor, torch.Tensor]:
    queries, keys, values = (
        stream @ arrays[f"{name}.{part}"].T + arrays[f"{name}.{part}_bias"]
        for part in ("query", "key", "value")
    )
    weights = (queries @ keys.mT).softmax(dim=2)
    return weights, (weights @ values) @ arrays[f"{name}.out"].T


def _measure(model: Transformer, arrays: Arrays, data: Data, start: Arrays) -> dict[str, float]:
    """Accuracy on test inputs, attention that stayed where it was, the most a weight moved."""
    examples = data.splits["test"]
    right = counted = 0
    kept: list[float] = []
    with torch.no_grad():
        for length in np.unique(examples.lengths).tolist():
            chosen = np.flatnonzero(examples.lengths == length)
            tokens = _tokens(examples, chosen, length)
            scores, attention = run_compiled(model, arrays, tokens)
            _, first = run_compiled(model, start, tokens)
            targets = _targets(model, data, examples, chosen, length)
            right += int(((scores.argmax(dim=2) == targets) & (targets != IGNORED)).sum())
            counted += int((targets != IGNORED).sum())
            kept += [float(torch.minimum(attention[name], first[name]).sum(dim=2).mean())
                     for name in first]  # fmt: skip
        moved = max(_moved(arrays[name], start[name]) for name in start)
    return {
        "tokens": round(right / counted, 6),
        "attention_kept": round(float(np.mean(kept)), 4),
        "moved": round(moved, 5),
    }


def _moved(now: torch.Tensor, before: torch.Tensor) -> float:
    return float(((now - before).abs() / before.abs().clamp(min=1)).max())


def _tokens(examples: Examples, chosen: np.ndarray, length: int) -> torch.Tensor:
    return torch.from_numpy(examples.tokens[chosen, :length].astype(np.int64))


def _targets(
    model: Transformer, data: Data, examples: Examples, chosen: np.ndarray, length: int
) -> torch.Tensor:
    """Targets as the compiled model numbers its answers."""
    atoms = model.readouts[0].atoms
    number = [atoms.index(atom) for atom in data.classes]
    classes = examples.targets[chosen, :length].astype(np.int64)
    found = np.where(classes >= 0, np.array([*number, IGNORED])[classes], IGNORED)
    return torch.from_numpy(found)


def describe_fine_tuning(found: Mapping[str, Any]) -> str:
    """Say what became of a compiled program.

    >>> right = {"tokens": 1.0, "attention_kept": 1.0, "moved": 0.01}
    >>> print(describe_fine_tuning({
    ...     "task": "first", "how": asdict(FineTuning(steps=2)), "parameters": 40,
    ...     "before": right, "after": right, "loss": [0.1, 0.05],
    ... }))
    first, compiled (40 parameters), then 2 steps of 0.0001, in proportion to each weight:
    loss 0.1 to 0.05, 100.00 % to 100.00 % of tokens right, 100.0 % of the attention where it was:
    the program was kept
    """
    how, after = found["how"], found["after"]
    steps = "in proportion to each weight" if how["relative"] else "alike for all weights"
    kept = after["tokens"] == found["before"]["tokens"]
    return (
        f"{found['task']}, compiled ({found['parameters']} parameters), then {how['steps']} steps "
        f"of {how['rate']:g}, {steps}:\n"
        f"loss {found['loss'][0]:.4g} to {found['loss'][1]:.4g}, "
        f"{100 * found['before']['tokens']:.2f} % to {100 * after['tokens']:.2f} % of tokens right,"
        " "
        f"{100 * after['attention_kept']:.1f} % of the attention where it was: the program was "
        + ("kept" if kept else "lost")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("name")
    parser.add_argument("--alphabet", default="abcde")
    parser.add_argument("--longest", type=int, default=12)
    parser.add_argument("--bos")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--style", default="robust")
    given = parser.parse_args()
    task = own_task(
        given.file.read_text(), given.name, given.alphabet, (1, given.longest), bos=given.bos
    )
    for relative in (True, False):
        how = FineTuning(given.rate, relative, given.steps, style=given.style)
        print(describe_fine_tuning(fine_tune(task, how)))


if __name__ == "__main__":
    main()
