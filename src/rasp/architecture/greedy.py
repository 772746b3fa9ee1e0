"""A scheduling problem in, a good placement out, fast: list scheduling under a width.

Layer by layer, what cannot wait is placed first; room that is left goes to what is most
urgent. Two tempers are tried: an eager one that fills the room, and a patient one that lets
a head wait while more aggregates may still join it. The earliest placement is always among
the candidates, so the result is never worse than the paper's.
"""

from __future__ import annotations

from collections.abc import Iterator

from rasp.architecture.bounds import least_width
from rasp.architecture.layers import layers_between
from rasp.architecture.problem import (
    Placement,
    Problem,
    earliest_placement,
    heads_per_layer,
)
from rasp.graph import Aggregate, Node, users


def greedy_placement(problem: Problem) -> Placement:
    """Return the best placement that the tempers find: least width, fewest heads, earliest."""
    best = earliest_placement(problem)
    needed_by = users(problem.outputs)
    for width in _widths_to_try(problem, best, needed_by):
        for patient in (False, True):
            found = _listed(problem, needed_by, width, patient)
            if found is not None:
                best = min(best, found, key=lambda each: cost(problem, each))
    return best


def cost(problem: Problem, placement: Placement) -> tuple[int, int, int]:
    """Return width, heads in all, and the sum of the layers: less is better, in this order."""
    counts = heads_per_layer(problem, placement)
    return max(counts, default=0), sum(counts), sum(placement.values())


def _widths_to_try(
    problem: Problem, start: Placement, needed_by: dict[Node, list[Node]]
) -> Iterator[int]:
    """Halve the range between the floor and the earliest placement's width."""
    low, high = least_width(problem), cost(problem, start)[0]
    while low < high:
        middle = (low + high) // 2
        yield middle
        if _listed(problem, needed_by, middle, patient=False) is None:
            low = middle + 1
        else:
            high = middle
    yield high


class _Readiness:
    """Which attentions can be placed, as others are."""

    def __init__(self, problem: Problem, needed_by: dict[Node, list[Node]]) -> None:
        self.needed_by = needed_by
        self.placeable = frozenset(problem.attentions)
        self.missing = {node: len(set(node.needs)) for node in needed_by}
        self.layer = dict.fromkeys(needed_by, 0)
        self.ready: dict[Node, int] = {}
        for node in needed_by:
            if not node.needs:
                self._spread(node)

    def place(self, attention: Node, layer: int) -> None:
        del self.ready[attention]
        if isinstance(attention, Aggregate):
            self.layer[attention] = layer
            self._spread(attention)

    def _spread(self, start: Node) -> None:
        stack = [start]
        while stack:
            node = stack.pop()
            for user in self.needed_by[node]:
                after = self.layer[node] + layers_between(user, node)
                self.layer[user] = max(self.layer[user], after)
                self.missing[user] -= 1
                if self.missing[user] == 0:
                    if user in self.placeable:
                        self.ready[user] = self.layer[user]
                    if not isinstance(user, Aggregate):
                        stack.append(user)


def _listed(
    problem: Problem, needed_by: dict[Node, list[Node]], width: int, patient: bool
) -> Placement | None:
    """Place layer by layer with at most `width` heads each, or None where that runs out."""
    readiness = _Readiness(problem, needed_by)
    waiting: dict[int, int] = {}  # how many of each kind are yet to be placed
    for attention in problem.attentions:
        waiting[problem.kind[attention]] = waiting.get(problem.kind[attention], 0) + 1
    placement: Placement = {}
    for layer in range(1, problem.depth + 1):
        by_kind: dict[int, list[Node]] = {}
        for attention, ready in readiness.ready.items():
            if ready <= layer:
                by_kind.setdefault(problem.kind[attention], []).append(attention)
        urgency = {
            kind: min(problem.latest[attention] for attention in group)
            for kind, group in by_kind.items()
        }
        opened = [kind for kind in by_kind if urgency[kind] <= layer]
        if len(opened) > width:
            return None
        for kind in sorted(by_kind, key=urgency.__getitem__):
            complete = len(by_kind[kind]) == waiting[kind]
            if len(opened) < width and kind not in opened and (complete or not patient):
                opened.append(kind)
        for kind in opened:
            for attention in by_kind[kind]:
                placement[attention] = layer
                readiness.place(attention, layer)
            waiting[kind] -= len(by_kind[kind])
    return placement
