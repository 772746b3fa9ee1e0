"""A comparison in, a picture out: both computations on the shortest difference, or the margins.

For a difference, it shows the program's selections and the attention of every head on the same
input. Nothing says which head should match which selection: that is for the eye.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rasp.base.atoms import show_input, to_python
from rasp.base.errors import RaspError, RaspValueError
from rasp.insight.drawing import Drawing, heat_maps
from rasp.language.evaluator import apply
from rasp.language.graph import Aggregate, Node, Selector, expression, in_order
from rasp.models.proving.comparison import ModelComparison, ModelDifference
from rasp.models.proving.digits import Array
from rasp.models.proving.margin_chart import MarginChart
from rasp.models.proving.network_table import Attend, every_step, forward
from rasp.models.proving.prefixes import lay_out
from rasp.models.proving.proof_task import ProofTask
from rasp.models.proving.search import places_of
from rasp.models.proving.single_precision import Single
from rasp.models.proving.specification import Specification


def draw_comparison(comparison: ModelComparison) -> Drawing | MarginChart:
    """Draw what there is to see."""
    if comparison.task is None:
        raise RaspValueError("this comparison was read from a file", hint="prove it again")
    if comparison.difference is not None:
        return _beside(comparison, comparison.difference, comparison.task)
    return MarginChart(comparison.statement, comparison.lengths)


def _beside(comparison: ModelComparison, found: ModelDifference, task: ProofTask) -> Drawing:
    """Selections of the program, then heads of the model, as heat maps of one size."""
    adapter, length = task.adapter, len(found.tokens)
    ids = adapter.rows(places_of(task, found.tokens), length, task.network.longest)
    start, size = len(adapter.before), ids.shape[1]
    labels: list[Any] = [f"#{number}" for number in ids[0].tolist()]
    labels[start : start + length] = map(to_python, found.tokens)
    columns: list[list[tuple[str, Array]]] = []
    for name, selection in _selections(task.program, found):
        wide = np.zeros((size, size))
        wide[start : start + length, start : start + length] = selection
        columns.append([(f"program: {name}", wide)])
    columns += [[(f"model: {name}", matrix)] for name, matrix in attention(task, ids)]
    if not columns:
        raise RaspValueError(
            "neither the model nor the program has attention to draw", hint="leave out the drawing"
        )
    return heat_maps(
        [matrix for column in columns for _, matrix in column], labels,
        [title for column in columns for title, _ in column],
        f"different on {show_input(found.tokens)}", columns=[1] * len(columns),
    )  # fmt: skip


def _selections(specification: Specification, found: ModelDifference) -> list[tuple[str, Array]]:
    """Each selector that the program aggregates with, as shares of what it picks."""
    program, names = specification.program, dict(specification.names)
    if not isinstance(program, Node):
        return []
    selectors: dict[Selector, None] = {}
    for node in in_order([program]):
        if isinstance(node, Aggregate):
            selectors[node.selector] = None
    listed = []
    for selector in selectors:
        try:
            rows = np.array(apply(selector, list(found.tokens)), float)
        except RaspError:
            continue
        shares = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
        listed.append((expression(selector, names, depth=2), shares))
    return listed


class _Watched(Single):
    """Float32 that keeps the attention it computes."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Array] = []

    def _moved(self, query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.swapaxes(-1, -2)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        self.rows.append((powers / powers.sum(axis=-1, keepdims=True))[0])
        return super()._moved(query, key, value)


def attention(task: ProofTask, ids: Array) -> list[tuple[str, Array]]:
    """The attention of every head on one row of ids: (query, key)."""
    layout, size, watched = lay_out(ids, task.network.causal), ids.shape[1], _Watched()
    forward(task.network, layout, watched)
    steps = [step for step in every_step(task.network.steps) if isinstance(step, Attend)]
    names = [f"layer {layer}, head {head}" for layer, step in enumerate(steps, 1)
             for head in range(1, len(step.heads) + 1)]  # fmt: skip
    found = []
    for place, name in enumerate(names):
        rows = watched.rows[place * len(layout.groups) : (place + 1) * len(layout.groups)]
        matrix = np.zeros((size, size))
        queries = [query for part in rows for query in part]
        for row, weights in enumerate(queries):
            matrix[row, : len(weights)] = weights
        found.append((name, np.clip(matrix, 0.0, 1.0)))
    return found
