"""A seed in, a random graph out, which can be computed on every input of numbers."""

from __future__ import annotations

from random import Random

from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
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


def random_outputs(
    seed: int, size: int, aggregates: float = 0.35, operators: str = "+-*"
) -> list[Node]:
    """Return the outputs of a random graph of about `size` nodes; they are s-ops and selectors."""
    random = Random(seed)
    s_ops: list[SOp] = [Tokens(), Indices(), Const(1)]
    selectors: list[Selector] = [Select(Tokens(), Tokens(), "==")]
    while len(s_ops) + len(selectors) < size:
        # near the end of the list is later in the graph: deep and wide shapes both come up
        def some(pool: list, random: Random = random):
            return pool[-random.randint(1, min(len(pool), random.choice((3, 8, 1000))))]

        chance = random.random()
        if chance < aggregates:
            s_ops.append(Aggregate(some(selectors), some(s_ops), random.choice((0, 1))))
        elif chance < aggregates + 0.25:
            s_ops.append(Elementwise(random.choice(operators), (some(s_ops), some(s_ops))))
        elif chance < aggregates + 0.45:
            selectors.append(Select(some(s_ops), some(s_ops), random.choice(COMPARISONS)))
        else:
            selectors.append(_combined(random, some, selectors, s_ops))
    chosen: list[Node] = [s_ops[-1], *random.sample(s_ops, min(2, len(s_ops)))]
    if random.random() < 0.2:
        chosen.append(random.choice(selectors))
    return list(dict.fromkeys(chosen))


def _combined(random: Random, some, selectors: list[Selector], s_ops: list[SOp]) -> Selector:
    match random.randint(0, 3):
        case 0:
            return SelectorAnd(some(selectors), some(selectors))
        case 1:
            return SelectorOr(some(selectors), some(selectors))
        case 2:
            return SelectorNot(some(selectors))
    return SelectBest(some(selectors), Score(some(s_ops), Const(random.choice((1, 2, -1)))))
