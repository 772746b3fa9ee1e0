"""A conjunction in, a layout out: a code for each key and, for each query, a range of codes.

A query picks the keys whose codes lie in its range. Equalities join into one group number (the
number of the input is the first of them); a comparison by order refines the group's code, so
that the keys a query picks are neighbours. Sums over a range are a difference of two running
sums: O(n) where codes are few, O(n log n) where they must be sorted first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rasp.language.evaluator.fast.coding import WIDEST, Codes, compressed, numbered
from rasp.language.evaluator.fast.columns import Array
from rasp.language.evaluator.fast.conjunctions import Pair
from rasp.language.evaluator.fast.key_plan import Meeting, Range
from rasp.language.evaluator.fast.workspace import Workspace
from rasp.language.operators.comparisons import EQUAL, GREATER, LESS

CODES_PER_POSITION = 4
SPARE_CODES = 1024


@dataclass(frozen=True, eq=False)
class Codings:
    """For each key a code, and for each query the codes from `low` to before `high`."""

    keys: Array
    low: Array
    high: Array | None  # None: just `low`, the query's own group
    size: int

    @property
    def ends(self) -> Array:
        return self.low + 1 if self.high is None else self.high


@dataclass(frozen=True, eq=False)
class Pairing:
    """Which queries take part (None: all), and how keys and queries find each other."""

    queries: Array | None
    first: Codings
    second: Codings | None = None  # a second order: both ranges must hold


Bound: TypeAlias = tuple[Array, int]  # codes, and 1 where the bound is the code after them


@dataclass(frozen=True, eq=False)
class KeyOrder:
    """The codes of one s-op's keys, and the bounds of each query's range among them."""

    keys: Array
    low: Bound | None  # None: from the first code on
    high: Bound | None  # None: to the last code
    size: int


def lay_out(meeting: Meeting, space: Workspace) -> Pairing | None:
    """Arrange keys and queries that meet; None where no query is left."""
    queries = space.filtered(meeting.query_filters)
    if queries is not None and not len(queries):
        return None
    groups = grouped(meeting.equalities, space, queries)
    if not meeting.ranges:
        return Pairing(queries, groups)
    orders = [_ordered(order, space, queries) for order in meeting.ranges]
    orders.sort(key=lambda order: -order.size)
    first = _refined(groups, orders[0])
    if len(orders) == 1:
        return Pairing(queries, first)
    alone = Codings(groups.keys * 0, groups.low * 0, None, 1)
    return Pairing(queries, first, _refined(alone, orders[1]))


def grouped(equalities: Iterable[Pair], space: Workspace, queries: Array | None) -> Codings:
    """One number per group of keys and queries that are equal in every way asked for."""
    size = space.batch.size
    keys, count = space.batch.numbers_or_zero, len(space.batch.inputs)
    asked = keys
    for pair in equalities:
        codes = space.codes(pair.keys, pair.queries)
        if count * codes.size >= WIDEST:
            (keys, asked), count = _ranked(keys, asked)
            codes = Codes(*_ranked(*codes.arrays))
        is_same = asked is keys and codes.arrays[0] is codes.arrays[1]
        joined = keys * codes.size + codes.arrays[0]
        asked = joined if is_same else asked * codes.size + codes.arrays[1]
        keys = joined
        count *= codes.size
    is_same = asked is keys and queries is None
    keys = _kept(keys, None, size)
    asked = keys if is_same else _kept(asked, queries, size)
    if _is_sparse(count, keys, asked):
        (keys, asked), count = _ranked(keys, asked)
    return Codings(keys, asked, None, count)


def _ordered(order: Range, space: Workspace, queries: Array | None) -> KeyOrder:
    bounds = list(order.bounds)
    codes = space.codes(order.keys, *(bound for bound, _ in bounds))
    size = space.batch.size
    low: Bound | None = None
    high: Bound | None = None
    keys = _kept(codes.arrays[0], None, size)
    for bound, (_, outcomes) in zip(codes.arrays[1:], bounds, strict=True):
        asked = (
            keys if bound is codes.arrays[0] and queries is None else _kept(bound, queries, size)
        )
        if not outcomes & LESS:
            low = _tighter(np.maximum, low, (asked, 0 if outcomes & EQUAL else 1))
        if not outcomes & GREATER:
            high = _tighter(np.minimum, high, (asked, 1 if outcomes & EQUAL else 0))
    return KeyOrder(keys, low, high, codes.size)


def _tighter(choose: Callable[[Array, Array], Array], other: Bound | None, bound: Bound) -> Bound:
    if other is None:
        return bound
    return choose(other[0] + other[1], bound[0] + bound[1]), 0


def _refined(groups: Codings, order: KeyOrder) -> Codings:
    """Groups in turn, each ordered inside."""
    count, size = groups.size, order.size
    if _is_sparse(count * size, groups.keys, groups.low):
        return _refined_and_ranked(groups, order)
    base = groups.low * size
    low = base if order.low is None else base + sum(order.low)
    high = base + (size if order.high is None else sum(order.high))
    return Codings(groups.keys * size + order.keys, low, np.maximum(low, high), count * size)


def _refined_and_ranked(groups: Codings, order: KeyOrder) -> Codings:
    """The same where codes would be far more than keys: number those that occur.

    Only bounds inside a group need a place among the codes; its ends are known by counting.
    """
    if groups.size * order.size >= WIDEST:
        return _refined_and_ranked(groups, _order_ranked(order))
    size = order.size + 1  # a bound may lie after the last code
    parts = [groups.keys * size + order.keys]
    places: list[int] = []  # of each bound among the parts
    for bound in (order.low, order.high):
        if bound is None:
            continue
        if bound[0] is order.keys and groups.low is groups.keys:
            places.append(0)
        else:
            parts.append(groups.low * size + bound[0])
            places.append(len(parts) - 1)
    values, ranks = numbered(parts[0] if len(parts) == 1 else np.concatenate(parts))
    split = np.split(ranks, np.cumsum([len(part) for part in parts])[:-1])
    ends = np.cumsum(np.bincount(values // size, minlength=groups.size))
    if order.low is None:
        low = np.concatenate([[0], ends])[groups.low]
    else:
        low = split[places[0]] + order.low[1]
    high = ends[groups.low] if order.high is None else split[places[-1]] + order.high[1]
    return Codings(split[0], low, np.maximum(low, high), len(values))


def _order_ranked(order: KeyOrder) -> KeyOrder:
    bounds = [bound for bound in (order.low, order.high) if bound is not None]
    codes = compressed([order.keys, *(bound[0] for bound in bounds)])
    low = None if order.low is None else (codes.arrays[1], order.low[1])
    high = None if order.high is None else (codes.arrays[-1], order.high[1])
    return KeyOrder(codes.arrays[0], low, high, codes.size)


def _is_sparse(count: int, keys: Array, queries: Array) -> bool:
    """Tell whether a table of all codes would be far longer than the keys and queries."""
    return count > CODES_PER_POSITION * (len(keys) + len(queries)) + SPARE_CODES


def _ranked(left: Array, right: Array) -> tuple[tuple[Array, Array], int]:
    """Renumber without gaps."""
    codes = compressed([left] if left is right else [left, right])
    return (codes.arrays[0], codes.arrays[-1]), codes.size


def _kept(values: Array, positions: Array | None, size: int) -> Array:
    """The values at some positions; one value holds for all."""
    if len(values) == 1:
        return np.broadcast_to(values, size if positions is None else len(positions))
    return values if positions is None else values[positions]
