"""A model in, a score for each edge out, as methods that look for circuits give them.

`patched` replaces each edge alone and counts the answers that change: slow and exact. Edge
attribution patching (EAP; Syed and others, 2023) replaces that by its first-order estimate, the
change of what the edge carries times the gradient of the loss where it arrives. With integrated
gradients (EAP-IG; Hanna and others, 2024) the gradient is averaged along the way from the
replaced input to the own one. `auroc` compares scores with a circuit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from rasp.models.certificate import Array
from rasp.models.testbed.edges import POSITIONS, TOKENS, Edge
from rasp.models.testbed.patching import WrittenByPart
from rasp.models.testbed.truth import EqualLengths, Laboratory

Scores = dict[Edge, float]

ROUNDING = 1e-6
"""A score that is a smaller part of the largest one is what rounding left of 0: its size depends
on the machine, and its rank would be chance."""


def patched(laboratory: Laboratory, edges: Sequence[Edge], rounds: int = 4) -> Scores:
    """The share of inputs whose answer changes when an edge alone is replaced."""
    return {edge: laboratory.share_changed([edge], rounds) for edge in edges}


def attributed(laboratory: Laboratory, edges: Sequence[Edge], steps: int = 0) -> Scores:
    """Edge attribution patching; with `steps`, integrated gradients of so many steps."""
    totals = dict.fromkeys(edges, 0.0)
    count = 0
    for batch in laboratory.batches:
        elsewhere = laboratory.pool.drawn(batch.written, laboratory.drawn_rows(batch))
        gradients = _gradients(laboratory, batch, elsewhere, steps)
        for edge in edges:
            change = elsewhere[edge.source] - batch.written[edge.source]
            totals[edge] += float((change * gradients[edge.target, edge.role]).sum())
        count += len(batch.inputs)
    least = ROUNDING * max(map(abs, totals.values()), default=0.0)
    return {edge: abs(total) / count if abs(total) > least else 0.0
            for edge, total in totals.items()}  # fmt: skip


def _gradients(
    laboratory: Laboratory, batch: EqualLengths, elsewhere: WrittenByPart, steps: int
) -> dict[tuple[str, str], Tensor]:
    """The gradient of the loss by what each part reads, averaged over the steps."""
    total: dict[tuple[str, str], Tensor] = {}
    ways = [step / steps for step in range(1, steps + 1)] if steps else [1.0]
    for way in ways:
        begin = {name: (elsewhere[name] + way * (batch.written[name] - elsewhere[name]))
                 .detach().requires_grad_() for name in (TOKENS, POSITIONS)}  # fmt: skip
        keep: dict[tuple[str, str], Tensor] = {}
        _, logits = laboratory.patchable.run(begin, keep=keep)
        loss = laboratory.patchable.loss(logits, batch.answers)
        loss.backward()  # type: ignore[no-untyped-call]
        for place, read in keep.items():
            gradient = read.grad if read.grad is not None else torch.zeros_like(read)
            total[place] = total.get(place, torch.zeros_like(gradient)) + gradient / len(ways)
    return total


def auroc(scores: Mapping[Edge, float], circuit: Iterable[Edge]) -> float:
    """The chance that an edge of the circuit scores above one outside it; a tie is half of one.

    >>> first, second = Edge("tokens", "output", "input"), Edge("positions", "output", "input")
    >>> auroc({first: 0.3, second: 0.1}, [first])
    1.0
    """
    inside = set(circuit)
    good = np.array([score for edge, score in scores.items() if edge in inside])
    bad = np.array([score for edge, score in scores.items() if edge not in inside])
    if not good.size or not bad.size:
        return float("nan")
    above: Array = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    return float(above)
