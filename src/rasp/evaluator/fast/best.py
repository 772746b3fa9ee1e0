"""A `select_best` in, the best score key of each query out.

A score is `keys[j] * queries[i]`: where the query is positive the best pick has the largest key,
where it is negative the smallest, where it is zero all picks tie. So each query needs one
highest rank among its picks: over each conjunction of a cover of the selector the keys a query
may pick are neighbours in sorted order, and the highest of a stretch is the higher of two
overlapping stretches whose length is a power of two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rasp.evaluator.fast.blocked import blocked_best, blocked_highest
from rasp.evaluator.fast.coding import sorting_order
from rasp.evaluator.fast.columns import INT, Array, Column, numbers, one_kind
from rasp.evaluator.fast.layout import Layout, lay_out
from rasp.evaluator.fast.plan import plan_best, shared_equalities
from rasp.evaluator.fast.sums import counted
from rasp.evaluator.fast.workspace import Workspace
from rasp.graph import Score, SelectBest, Selector


def best_keys(node: SelectBest, space: Workspace) -> Column:
    """For each query, the score key of its best picks; of no meaning where it picks none."""
    scorer = node.scorer
    assert isinstance(scorer, Score)
    keys = space.columns[scorer.keys]
    if keys.size == 1:
        return keys
    codes = space.codes(scorer.keys).arrays[0]
    values, first, ranks = np.unique(codes, return_index=True, return_inverse=True)
    sign = np.sign(space.columns[scorer.queries].numerators)
    highest = np.zeros(1, np.int64)
    if (sign > 0).any():
        highest = _highest(node.selector, space, ranks)
    if (sign < 0).any():
        lowest = len(values) - 1 - _highest(node.selector, space, len(values) - 1 - ranks)
        highest = np.where(sign < 0, lowest, highest)
    return keys.take(first[np.where((highest < 0) | (highest >= len(values)), 0, highest)])


def best_scores(node: SelectBest, space: Workspace) -> Column:
    """For each query, the score of its best picks in a sum of scores, as a whole number.

    The number is the score times a factor that is the same everywhere.
    """
    plan = plan_best(node.selector)
    grouping = plan if plan.blocked else replace(plan, grouping=shared_equalities(plan.terms))
    return numbers(one_kind(INT), blocked_best(node.selector, grouping, space, node.scorer))


def _highest(selector: Selector, space: Workspace, ranks: Array) -> Array:
    """For each query, the highest rank among its picks; -1 where it picks none."""
    plan = plan_best(selector)
    if plan.blocked:
        return blocked_highest(selector, plan, space, ranks)
    highest = np.full(space.batch.size, -1, np.int64)
    for term in space.meter.watched(plan.terms, 1):
        layout = lay_out(term.meeting, space)
        if layout is None:
            continue
        found = _highest_in_layout(layout, counted(term, space).keys, ranks)
        if layout.queries is None:
            highest = np.maximum(highest, found)
        else:
            highest[layout.queries] = np.maximum(highest[layout.queries], found)
    return highest


def _highest_in_layout(layout: Layout, keys: Array | None, ranks: Array) -> Array:
    codings = layout.first
    codes = codings.keys if keys is None else codings.keys[keys]
    starts = np.zeros(codings.size + 1, np.int64)
    np.cumsum(np.bincount(codes, minlength=codings.size), out=starts[1:])
    in_order = (ranks if keys is None else ranks[keys])[sorting_order(codes)]
    return stretch_highest(in_order, starts[codings.low], starts[codings.ends])


def stretch_highest(values: Array, begin: Array, end: Array) -> Array:
    """The highest of `values[begin:end]` for each stretch; -1 where it is empty.

    >>> stretch_highest(np.array([3, 1, 2]), np.array([0, 1, 2]), np.array([2, 3, 2])).tolist()
    [3, 2, -1]
    """
    result = np.full(len(begin), -1, np.int64)
    lengths = end - begin
    window = 1  # values[i] is the highest of `window` original values from i on
    while True:
        fitting = np.flatnonzero((lengths >= window) & (lengths < 2 * window))
        left, right = values[begin[fitting]], values[end[fitting] - window]
        result[fitting] = np.maximum(left, right)
        if not (lengths >= 2 * window).any():
            return result
        values = np.maximum(values[:-window], values[window:])
        window *= 2
