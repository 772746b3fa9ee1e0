"""A scheduling problem in, floors out: no schedule can be narrower, or have fewer heads.

A schedule that meets both floors is proved best without any search. Most programs' earliest
schedule does.
"""

from __future__ import annotations

from collections.abc import Iterable

from rasp.architecture.problem import Problem

MOST_LAYERS_FOR_SPANS = 64


def least_heads(problem: Problem) -> int:
    """Return a floor for the number of heads in all layers together."""
    return _heads_inside(problem, 1, problem.depth)


def least_width(problem: Problem) -> int:
    """Return a floor for the width: the heads that must fall in a span, shared out over it."""
    depth = problem.depth
    if depth > MOST_LAYERS_FOR_SPANS:
        spans = [(layer, layer) for layer in range(1, depth + 1)] + [(1, depth)]
    else:
        spans = [(low, high) for low in range(1, depth + 1) for high in range(low, depth + 1)]
    return max((-(-_heads_inside(problem, *span) // _size(span)) for span in spans), default=0)


def _size(span: tuple[int, int]) -> int:
    return span[1] - span[0] + 1


def _heads_inside(problem: Problem, low: int, high: int) -> int:
    """Count the heads that attentions bound to the span `low` to `high` need at the least."""
    windows: dict[int, list[tuple[int, int]]] = {}
    for attention in problem.attentions:
        window = (problem.latest[attention], problem.earliest[attention])
        if low <= window[1] and window[0] <= high:
            windows.setdefault(problem.kind[attention], []).append(window)
    return sum(_stabs(each) for each in windows.values())


def _stabs(windows: Iterable[tuple[int, int]]) -> int:
    """The fewest layers that meet every window (given as last and first layer)."""
    count, reached = 0, 0
    for last, first in sorted(windows):
        if first > reached:
            count, reached = count + 1, last
    return count
