"""A `select_best` in, the best score key of each query out.

A score is `keys[j] * queries[i]`: where the query is positive the best pick has the largest key,
where it is negative the smallest, where it is zero all picks tie. So each query needs one
highest rank among its picks, the highest over all conjunctions of a cover of the selector.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rasp.language.evaluator.fast.blocked import blocked_best, blocked_highest
from rasp.language.evaluator.fast.columns import INT, Array, Column, numbers, one_kind
from rasp.language.evaluator.fast.highest import highest_ranks
from rasp.language.evaluator.fast.key_layout import lay_out
from rasp.language.evaluator.fast.key_plan import plan_best, shared_equalities
from rasp.language.evaluator.fast.range_sums import counted
from rasp.language.evaluator.fast.workspace import Workspace
from rasp.language.graph import Score, SelectBest, Selector


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
        of_term = highest_ranks(layout, counted(term, space).keys, ranks, space.meter)
        if layout.queries is None:
            highest = np.maximum(highest, of_term)
        else:
            highest[layout.queries] = np.maximum(highest[layout.queries], of_term)
    return highest
