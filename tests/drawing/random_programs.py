"""A seed in, a random program on numbers out: it evaluates on every input of numbers."""

from __future__ import annotations

import random

from rasp.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Program,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
)


def random_program(seed: int) -> tuple[list[SOp], Program, list[int]]:
    """Return outputs, a program that names some nodes, and an input."""
    rng = random.Random(seed)
    sops: list[SOp] = [Tokens(), Indices(), Const(1), Const(-2)]
    selectors: list[Selector] = [Select(Indices(), Indices(), "<=")]
    for _ in range(rng.randint(4, 18)):
        made = rng.random()
        one, other = rng.choice(sops), rng.choice(sops)
        if made < 0.35:
            sops.append(Aggregate(rng.choice(selectors), one, rng.randint(-1, 1)))
        elif made < 0.6:
            sops.append(Elementwise(rng.choice("+-"), (one, other)))
        elif made < 0.8:
            selectors.append(Select(one, other, rng.choice(COMPARISONS)))
        else:
            selectors.append(combined(rng, rng.choice(selectors), rng.choice(selectors), one))
    outputs = rng.sample([node for node in sops if not isinstance(node, Const)], rng.randint(1, 2))
    nodes = [*sops[4:], *selectors]
    names = {node: f"name{at}" for at, node in enumerate(nodes) if rng.random() < 0.4}
    given = [rng.randint(-3, 3) for _ in range(rng.randint(1, 8))]
    return outputs, Program(names=names), given


def combined(rng: random.Random, left: Selector, right: Selector, keys: SOp) -> Selector:
    """Make one selector of others."""
    return rng.choice(
        [
            SelectorAnd(left, right),
            SelectorOr(left, right),
            SelectorNot(left),
            SelectBest(left, Score(keys, Const(1))),
        ]
    )
