"""A scheduling problem in, floors out: no schedule can be narrower, or have fewer heads.

A schedule that meets both floors is proved best without any search. Most programs' earliest
schedule does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from rasp.insight.schedule.problem import Problem

MOST_LOOKS = 200_000
"""Pairs of a span and a window that are looked at; beyond, single slots must do."""

Window: TypeAlias = tuple[int, int, int]
"""The last slot, the first slot and the kind of an attention."""


def least_heads(problem: Problem) -> int:
    """Return a floor for the number of heads in all slots together."""
    return _heads_inside(_windows(problem), 1, problem.order.slots)


def least_width(problem: Problem) -> int:
    """Return a floor for the width."""
    return tightest_span(problem)[0]


def tightest_span(problem: Problem) -> tuple[int, int, int]:
    """Return a floor for the width, with the first and last slot of the span that forces it.

    The heads of attentions that must all fall in a span have to be shared out over its slots.
    """
    slots, windows = problem.order.slots, _windows(problem)
    stuck = Counter(first for last, first, _ in windows if first == last)
    best = max(((count, slot, slot) for slot, count in stuck.items()), default=(0, 1, 1))
    longer = [(1, slots)]
    if slots * slots * len(windows) < 2 * MOST_LOOKS:
        longer = [(low, high) for low in range(1, slots) for high in range(low + 1, slots + 1)]
    for low, high in sorted(longer, key=lambda span: span[1] - span[0]):
        floor = -(-_heads_inside(windows, low, high) // (high - low + 1))
        if floor > best[0]:
            best = (floor, low, high)
    return best


def _windows(problem: Problem) -> list[Window]:
    """The different windows, those that end first in front."""
    return sorted(
        {
            (problem.latest[attention], problem.earliest[attention], problem.kind[attention])
            for attention in problem.attentions
        }
    )


def _heads_inside(windows: Iterable[Window], low: int, high: int) -> int:
    """Count the heads that attentions bound to the span `low` to `high` need at the least.

    One head serves all attentions of its kind whose windows it meets; going by where windows
    end, a new one is needed only where the last one is too early.
    """
    reached: dict[int, int] = {}
    count = 0
    for last, first, kind in windows:
        if low <= first and last <= high and first > reached.get(kind, 0):
            count += 1
            reached[kind] = last
    return count
