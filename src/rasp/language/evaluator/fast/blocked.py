"""A selector in, its rows out, some at a time: what is left when no shortcut applies.

A block of query rows is a boolean matrix made by comparing codes, so memory is O(n · block) and
time O(n²). Equalities that every pick satisfies still help: rows and keys are sorted by group,
and a block looks only at the keys of its own groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rasp.language.evaluator.fast.coding import compressed, sorting_order
from rasp.language.evaluator.fast.columns import LARGEST, Array, Column
from rasp.language.evaluator.fast.conjunctions import Best
from rasp.language.evaluator.fast.key_layout import grouped
from rasp.language.evaluator.fast.key_plan import SumPlan
from rasp.language.evaluator.fast.workspace import Workspace
from rasp.language.graph import (
    Score,
    Scorer,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    last_needed,
    score_terms,
    selectors_in,
)
from rasp.language.operators import COMPARE

BLOCK_CELLS = 2**20
SMALL_SUM = 2**24  # below this, single precision adds whole numbers exactly


@dataclass(frozen=True, eq=False)
class PickedRows:
    """Some rows of a selection, and the columns that these rows can pick from."""

    queries: Array  # (rows,) positions
    keys: Array  # (columns,) positions
    picks: Array  # (rows, columns) bool


def blocks(selector: Selector, plan: SumPlan, space: Workspace) -> Iterator[PickedRows]:
    """Make all rows of a selection, block by block."""
    groups = grouped(plan.grouping, space, None)
    codes = compressed([groups.keys, groups.low]) if groups.size > 1 else None
    key_groups = groups.keys if codes is None else codes.arrays[0]
    query_groups = groups.low if codes is None else codes.arrays[1]
    keys = sorting_order(key_groups)
    queries = sorting_order(query_groups)
    counts = np.bincount(key_groups, minlength=1 if codes is None else codes.size)
    ends = np.cumsum(counts)
    row_groups = query_groups[queries]
    begins, ends = (ends - counts)[row_groups], ends[row_groups]  # of each row's keys
    row = 0
    while row < len(queries):
        space.meter.check()
        stop = _block_end(row, int(begins[row]), ends)
        columns = keys[begins[row] : ends[stop - 1]]
        rows = queries[row:stop]
        if len(columns):
            yield PickedRows(rows, columns, picks(selector, rows, columns, space))
        row = stop


def picks(selector: Selector, queries: Array, keys: Array, space: Workspace) -> Array:
    """The selection's cells for some queries and some keys."""
    cells: dict[Selector, Array] = {}
    order = selectors_in(selector)
    for node, expired in zip(order, last_needed(order, [selector]), strict=True):
        cells[node] = _cells_of(node, queries, keys, cells, space)
        space.meter.check()
        for needed in expired:
            cells.pop(needed, None)  # type: ignore[call-overload]
    numbers = space.batch.numbers
    chosen = cells[selector]  # (rows, columns)
    return chosen if numbers is None else chosen & (numbers[queries][:, None] == numbers[keys])


def blocked_sums(
    selector: Selector, plan: SumPlan, space: Workspace, weights: Sequence[Array | None]
) -> list[Array]:
    """For each weight (None counts the keys), one whole number per query."""
    narrow = [weight if weight is None else _narrowed(weight) for weight in weights]
    sums = [np.zeros(space.batch.size, np.int64) for _ in weights]
    for block in blocks(selector, plan, space):
        for total, weight in zip(sums, narrow, strict=True):
            total[block.queries] = _row_sums(block, weight)
    return sums


def _narrowed(weight: Array) -> Array:
    """Single precision where even so every sum is exact."""
    return weight.astype(np.float32) if np.abs(weight).sum() < SMALL_SUM else weight


def _row_sums(block: PickedRows, weight: Array | None) -> Array:
    if weight is None:
        return np.asarray(np.count_nonzero(block.picks, axis=1))
    # `einsum` rather than a matrix product, whose threads fight over a busy machine
    cells = block.picks.astype(weight.dtype)
    return np.asarray(np.einsum("qk,k->q", cells, weight[block.keys]))


def blocked_highest(selector: Selector, plan: SumPlan, space: Workspace, ranks: Array) -> Array:
    """For each query, the highest rank among the keys it picks; -1 where it picks none."""
    highest = np.full(space.batch.size, -1, np.int64)
    for block in blocks(selector, plan, space):
        ranked = np.where(block.picks, ranks[block.keys], -1)
        highest[block.queries] = ranked.max(axis=1)
    return highest


def blocked_best(selector: Selector, plan: SumPlan, space: Workspace, scorer: Scorer) -> Array:
    """For each query, the highest score of the keys it picks, as `scaled_scores` has it."""
    scores = scaled_scores(scorer, space)
    highest: Array = np.zeros(space.batch.size, scores.dtype)
    for block in blocks(selector, plan, space):
        cells = scores.of(block.queries, block.keys)
        some = block.picks.any(axis=1)
        lowest = cells.min(initial=0)
        highest[block.queries[some]] = np.where(block.picks, cells, lowest).max(axis=1)[some]
    return highest


@dataclass(frozen=True, eq=False)
class ScaledScores:
    """For each product, what every key and every query counts; one number holds for all."""

    products: list[tuple[Array, Array]]  # keys, queries
    dtype: type

    def of(self, queries: Array, keys: Array) -> Array:
        """The scores of some queries and some keys. (queries, keys)"""
        total: Array = np.zeros((len(queries), len(keys)), self.dtype)
        for of_keys, of_queries in self.products:
            total += _part(of_keys, keys)[None, :] * _part(of_queries, queries)[:, None]
        return total


def scaled_scores(scorer: Scorer, space: Workspace) -> ScaledScores:
    """Whole numbers that compare as a scorer's do: all products over one denominator.

    A common factor changes no order. Numbers that might not fit into 64 bits are Python's own.
    """
    sides = [(_whole(space.columns[term.keys]), _whole(space.columns[term.queries]))
             for term in score_terms(scorer)]  # fmt: skip
    common = math.lcm(*(keys[1] * queries[1] for keys, queries in sides))
    products = [
        (keys[0] * (common // (keys[1] * queries[1])), queries[0]) for keys, queries in sides
    ]
    sizes = [(int(abs(keys).max()), int(abs(queries).max())) for keys, queries in products]
    largest = max(sum(key * query for key, query in sizes), *map(max, sizes))
    dtype = np.int64 if largest < LARGEST else object
    narrow = [(keys.astype(dtype), queries.astype(dtype)) for keys, queries in products]
    return ScaledScores(narrow, dtype)


def _whole(column: Column) -> tuple[Array, int]:
    """Numbers as whole ones of one denominator."""
    tops, bottoms = column.numerators.astype(object), column.denominators.astype(object)
    common = math.lcm(*set(bottoms.tolist()))
    return tops * (common // bottoms), common


def _block_end(row: int, begin: int, ends: Array) -> int:
    """The last row (exclusive) such that the block from `row` on stays within its cells."""
    low, high = row + 1, min(len(ends), row + BLOCK_CELLS)
    while low < high:
        middle = (low + high + 1) // 2
        if (middle - row) * (int(ends[middle - 1]) - begin) <= BLOCK_CELLS:
            low = middle
        else:
            high = middle - 1
    return low


def _cells_of(
    node: Selector, queries: Array, keys: Array, cells: dict[Selector, Array], space: Workspace
) -> Array:
    match node:
        case Select(key_sop, query_sop, op):
            codes = space.codes(key_sop, query_sop)
            return _compared(COMPARE[op], codes.arrays, codes.size, queries, keys)
        case SelectorAnd(left, right):
            return cells[left] & cells[right]
        case SelectorOr(left, right):
            return cells[left] | cells[right]
        case SelectorNot(inner):
            return ~cells[inner]
        case SelectBest(inner, Score(score_keys, score_queries) as scorer):
            best = Best(inner, scorer)
            codes = space.codes(score_keys, best)
            is_best = _compared(COMPARE["=="], codes.arrays, codes.size, queries, keys)
            zero = space.columns[score_queries].numerators == 0
            return cells[inner] & (is_best | _part(zero, queries)[:, None])
        case SelectBest(inner, scorer):
            scores = scaled_scores(scorer, space).of(queries, keys)
            highest = _part(space.columns[Best(inner, scorer)].numerators, queries)
            is_best = np.asarray(scores == highest[:, None], bool)
            return cells[inner] & is_best
    raise AssertionError(f"no cells for {type(node).__name__}")


def _compared(
    compare: Callable[[Array, Array], Array],
    codes: tuple[Array, ...],
    size: int,
    queries: Array,
    keys: Array,
) -> Array:
    narrow = np.int32 if size < 2**31 else np.int64
    key_codes, query_codes = (_part(codes[0], keys), _part(codes[1], queries))
    return compare(key_codes.astype(narrow), query_codes.astype(narrow)[:, None])


def _part(values: Array, positions: Array) -> Array:
    return np.broadcast_to(values, len(positions)) if len(values) == 1 else values[positions]
