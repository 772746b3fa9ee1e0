"""A sum of scores in, whole numbers that compare as the scores do out.

Keys and queries of each product are brought over one denominator, and the products over one
again: a common factor, which changes no order. Numbers that might not fit into 64 bits are
Python's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rasp.evaluator.fast.columns import Array, Column
from rasp.evaluator.fast.workspace import Workspace
from rasp.graph import Scorer, score_terms

LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class ScaledScores:
    """For each product, what every key and every query counts; one number stands for all."""

    products: list[tuple[Array, Array]]  # keys, queries
    dtype: type

    def of(self, queries: Array, keys: Array) -> Array:
        """The scores of some queries and some keys. (queries, keys)"""
        total: Array = np.zeros((len(queries), len(keys)), self.dtype)
        for of_keys, of_queries in self.products:
            total += _at(of_keys, keys)[None, :] * _at(of_queries, queries)[:, None]
        return total


def scaled_scores(scorer: Scorer, space: Workspace) -> ScaledScores:
    """Bring the products of a scorer over one denominator."""
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


def _at(values: Array, positions: Array) -> Array:
    return np.broadcast_to(values, len(positions)) if len(values) == 1 else values[positions]
