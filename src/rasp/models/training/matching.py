"""A trained model and its task in, numbers for "does its attention match the program?" out.

The paper judges this by eye. Here every selector of the program is given a head of the model, each
head to one selector, so that the agreement on held-out inputs is greatest in all. Agreement is how
much of the attention lies where the normalised selection does: the sum over keys of the lesser of
the two, averaged over queries; 1 is the selection itself. What uniform attention would reach is
given beside it, since some selections are nearly uniform. The match is then put to the test: the
selection takes the head's place, and a model that uses the head as the program does stays right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from rasp.base.errors import RaspUnsupportedError
from rasp.models.training.batch_shapes import SlotLayout
from rasp.models.training.data import IGNORED, Data, Examples
from rasp.models.training.network import Replaced, SlotTensors, StackBatch, forward
from rasp.models.training.parameters import Shape, views
from rasp.models.training.records import Match, SelectorMatch
from rasp.models.training.supervision import Supervised, leaf_values, plan_supervision

INPUTS = 100


@dataclass(frozen=True)
class Held:
    """Held-out inputs of one model, with what its program's selectors pick on them."""

    plan: SlotTensors
    batch: StackBatch
    selectors: tuple[Supervised, ...]
    targets: tuple[tuple[torch.Tensor, torch.Tensor], ...]
    """Each selector's normalised selection, and where it counts. (1, cells) each"""


def find_match(row: torch.Tensor, shape: Shape, data: Data, inputs: int = INPUTS) -> Match | None:
    """Measure a model's attention against its program's.

    None where the program does not fit in, or has no selectors.
    """
    try:
        held = hold_out(data, shape, inputs, str(row.device))
    except RaspUnsupportedError:
        return None
    if not held.targets:
        return None
    with torch.no_grad():
        logits, attention = forward(views(row, shape), shape, held.plan, held.batch)
        own = [(layer, head) for layer in range(shape.layers) for head in range(shape.heads)]
        table = np.array([[agreement(attention[layer][:, head], *target, held.plan)
                           for layer, head in own] for target in held.targets])  # fmt: skip
        places = [own[choice] for choice in assign(table)]
        swaps = [  # the program's selection in a head's place, but for the rows that do not count
            {(layer, head): torch.where(counts, target, attention[layer][:, head])}
            for (layer, head), (target, counts) in zip(places, held.targets, strict=True)
        ]
        rows = [
            _row(row, shape, held, number, place, float(table[number, own.index(place)]), swap)
            for number, (place, swap) in enumerate(zip(places, swaps, strict=True))
        ]
        everything = {place: cells for swap in swaps for place, cells in swap.items()}
        return Match(
            inputs,
            _rounded(float(np.mean([row.agreement for row in rows]))),
            accuracy(logits, held),
            _swapped(row, shape, held, everything),
            rows,
        )


def hold_out(data: Data, shape: Shape, inputs: int, device: str) -> Held:
    """Take test inputs of all lengths, one slot each, and compute every selection on them."""
    supervision = plan_supervision(data.task, shape.layers, shape.heads)
    test = data.splits["test"]
    chosen = np.unique(np.linspace(0, len(test) - 1, inputs).astype(int))
    some = Examples(test.tokens[chosen], test.lengths[chosen], test.targets[chosen])
    plan = SlotTensors(
        SlotLayout(tuple(int(length) for length in some.lengths)), device, shape.width
    )
    inside = np.arange(some.tokens.shape[1]) < some.lengths[:, None]

    def in_a_row(sequences: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(sequences[inside])[None].to(device)

    batch = StackBatch(
        in_a_row(some.tokens).long(),
        torch.from_numpy(some.lengths)[None].to(device),
        in_a_row(some.targets).long(),
    )
    leaves = leaf_values(supervision, Data(data.task, data.classes, {"test": some}), "test")
    values = {name: in_a_row(array) for name, array in leaves.items()}
    targets = tuple(
        supervision.targets(head.selector, values, plan, batch.lengths)
        for head in supervision.heads
    )
    return Held(plan, batch, supervision.heads, targets)


def agreement(
    attention: torch.Tensor, target: torch.Tensor, counts: torch.Tensor, plan: SlotTensors
) -> float:
    """Return how much of the attention lies where it should, over the rows that count."""
    rows = torch.zeros(2, 1, plan.layout.size, device=target.device)
    rows[0].index_add_(1, plan.cell_queries, torch.minimum(attention, target) * counts)
    rows[1].index_add_(1, plan.cell_queries, target * counts)
    counted = rows[1] > 0.5
    return float(rows[0][counted].mean()) if counted.any() else 1.0


def accuracy(logits: torch.Tensor, held: Held) -> float:
    """Return the share of tokens that are right."""
    counted = held.batch.targets != IGNORED
    hits = (logits.argmax(dim=2) == held.batch.targets) & counted
    return _rounded(float(hits.sum() / counted.sum()))


def assign(table: np.ndarray) -> list[int]:
    """Give each row of a table a column of its own so that the sum is greatest.

    >>> assign(np.array([[0.9, 0.8], [0.9, 0.1]]))
    [1, 0]
    """
    from scipy.optimize import (  # type: ignore[import-untyped,unused-ignore]
        linear_sum_assignment,
    )

    _, columns = linear_sum_assignment(table, maximize=True)
    return [int(column) for column in columns]


def _swapped(row: torch.Tensor, shape: Shape, held: Held, swap: Replaced) -> float:
    logits, _ = forward(views(row, shape), shape, held.plan, held.batch, swap)
    return accuracy(logits, held)


def _row(
    row: torch.Tensor, shape: Shape, held: Held, number: int, place: tuple[int, int],
    agreed: float, swap: Replaced,
) -> SelectorMatch:  # fmt: skip
    selector = held.selectors[number]
    lengths = held.batch.lengths[:, held.plan.slot_of[held.plan.cell_queries]]
    flat = agreement(1 / lengths.float(), *held.targets[number], held.plan)
    return SelectorMatch(
        selector.title,
        (selector.layer + 1, selector.head + 1),
        (place[0] + 1, place[1] + 1),
        _rounded(agreed),
        _rounded(flat),
        _swapped(row, shape, held, swap),
    )


def _rounded(share: float) -> float:
    return round(share, 5)
