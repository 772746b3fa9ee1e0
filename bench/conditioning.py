"""How compact and robust models bear noise and rotations: a table of docs/comparison.md.

`python bench/conditioning.py` compiles four programs of the gallery at length 16 in both styles and
prints their largest weight, the answers that become wrong with noise on the embedded input and
after a random rotation of the stream, and the largest derivative of a logit by the embedding. It
runs in float32 and needs torch.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models" / "compiler"))

from compile_gallery import vocabulary_of
from conditions import rotated
from robust import answers_to
from robust_gpu import Model

import rasp.teaching.gallery
from rasp.base.atoms import Atom, read_input
from rasp.models.compiler import Transformer, compile

LENGTH, INPUTS, NOISES, SEED = 16, 200, (1e-4, 1e-3), 0
Input = tuple[Atom, ...]


def inputs_of(name: str) -> list[Input]:
    """Different inputs of the full length."""
    entry, chooser = rasp.programs.entry(name), Random(name)
    drawn = {read_input(entry.inputs.sample(chooser, LENGTH)): None for _ in range(INPUTS)}
    return [tokens for tokens in drawn if len(tokens) == LENGTH]


def largest_weight(model: Transformer) -> float:
    return max(float(abs(array).max()) for array in model.weights.arrays().values() if array.size)


def largest_gradient(model: Model, inputs: list[Input]) -> float:
    """The largest derivative of a logit by a number of the embedding."""
    largest = 0.0
    for tokens in inputs[:10]:
        slopes = torch.autograd.functional.jacobian(
            lambda x: model.scores(x, fused=False), model.embedded([tokens])
        )
        largest = max(largest, float(slopes.abs().max()))
    return largest


def wrong(model: Model, expected: dict[Input, list[Atom]], noise: float) -> int:
    inputs, chooser = list(expected), torch.Generator().manual_seed(SEED)
    x = model.embedded(inputs)
    x = x + noise * torch.randn(x.shape, generator=chooser)
    rows = model.answers(model.scores(x, fused=False))
    return sum(row != expected[tokens] for tokens, row in zip(inputs, rows, strict=True))


def main() -> None:
    for name in ("hist", "reverse", "dyck1", "tomita4"):
        entry, handle = rasp.programs.entry(name), rasp.programs.load(name)
        inputs = inputs_of(name)
        expected = answers_to(handle, inputs)
        for style in ("compact", "robust"):
            compiled = compile({"out": handle}, vocabulary=vocabulary_of(entry, LENGTH),
                               max_length=LENGTH, style=style)  # fmt: skip
            model = Model(compiled, "cpu")
            turned = Model(rotated(compiled, np.random.default_rng(SEED)), "cpu")
            print(
                f"{name}, {style}: largest weight {largest_weight(compiled):.2g};",
                f"of {len(expected)} inputs",
                *(f"{wrong(model, expected, noise)} wrong at {noise:g}," for noise in NOISES),
                f"{wrong(turned, expected, 0)} rotated;",
                f"largest gradient {largest_gradient(model, inputs):.2g}",
            )


if __name__ == "__main__":
    main()
