"""A scheduling problem in, a good placement out, fast: list scheduling under a width.

Slot by slot, what cannot wait is placed first; room that is left goes to what is most
urgent. Two tempers are tried: an eager one that fills the room, and a patient one that lets
a head wait while more aggregates may still join it. The earliest placement is always among
the candidates, so the result is never worse than the paper's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rasp.insight.schedule.bounds import least_width
from rasp.insight.schedule.problem import Placement, Problem, earliest_placement, heads_per_slot
from rasp.insight.schedule.sublayer_order import input_sources, time_for
from rasp.language.graph import Aggregate, Elementwise, Node, users


def greedy_placement(problem: Problem) -> Placement:
    """Return the best placement that the tempers find: least width, fewest heads, earliest."""
    best = earliest_placement(problem)
    needed_by = users(problem.outputs)
    for width in _widths_to_try(problem, best, needed_by):
        for patient in (False, True):
            placement = _listed(problem, needed_by, width, patient)
            if placement is not None:
                best = min(best, placement, key=lambda candidate: cost(problem, candidate))
    return best


def cost(problem: Problem, placement: Placement) -> tuple[int, int, int]:
    """Return width, heads in all, and the sum of the slots: less is better, in this order."""
    counts = heads_per_slot(problem, placement)
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
    """Which attentions can be placed, and from which slot on, as others are."""

    def __init__(self, problem: Problem, needed_by: dict[Node, list[Node]]) -> None:
        self.order = problem.order
        self.needed_by = needed_by
        self.placeable = frozenset(problem.attentions)
        sources = input_sources(list(needed_by))
        self.free = {node for node, read in sources.items() if len(read) < 2}
        self.missing = {node: len(set(node.needs)) for node in needed_by}
        self.time = dict.fromkeys(needed_by, 0)
        self.ready: dict[Node, int] = {}
        for node in needed_by:
            if not node.needs:
                self._spread(node)

    def place(self, attention: Node, slot: int) -> None:
        del self.ready[attention]
        if isinstance(attention, Aggregate):
            self.time[attention] = 2 * slot
            self._spread(attention)

    def _spread(self, start: Node) -> None:
        stack = [start]
        while stack:
            node = stack.pop()
            for user in self.needed_by[node]:
                self.time[user] = max(self.time[user], time_for(user, node, self.time[node]))
                self.missing[user] -= 1
                if self.missing[user] == 0:
                    self._finish(user, stack)

    def _finish(self, node: Node, stack: list[Node]) -> None:
        """Everything that a node needs is there."""
        if isinstance(node, Elementwise) and node not in self.free:
            self.time[node] = self.order.fed_forward(self.time[node])
        if node in self.placeable:
            self.ready[node] = self.time[node] // 2
        if not isinstance(node, Aggregate):
            stack.append(node)


def _listed(
    problem: Problem, needed_by: dict[Node, list[Node]], width: int, patient: bool
) -> Placement | None:
    """Place slot by slot with at most `width` heads each, or None where that runs out."""
    readiness = _Readiness(problem, needed_by)
    # how many of each kind are yet to be placed
    waiting = Counter(problem.kind[attention] for attention in problem.attentions)
    placement: Placement = {}
    for slot in range(1, problem.order.slots + 1):
        by_kind: dict[int, list[Node]] = {}
        for attention, ready in readiness.ready.items():
            if ready <= slot:
                by_kind.setdefault(problem.kind[attention], []).append(attention)
        opened = _opened(problem, by_kind, waiting, slot, width, patient)
        if len(opened) > width:
            return None
        for kind in opened:
            for attention in by_kind[kind]:
                placement[attention] = slot
                readiness.place(attention, slot)
            waiting[kind] -= len(by_kind[kind])
    return placement


def _opened(
    problem: Problem,
    by_kind: dict[int, list[Node]],
    waiting: dict[int, int],
    slot: int,
    width: int,
    patient: bool,
) -> list[int]:
    """The kinds that get a head in this slot: those that cannot wait, then the most urgent."""
    urgency = {
        kind: min(problem.latest[attention] for attention in group)
        for kind, group in by_kind.items()
    }
    opened = [kind for kind in by_kind if urgency[kind] <= slot]
    for kind in sorted(by_kind, key=urgency.__getitem__):
        is_complete = len(by_kind[kind]) == waiting[kind]
        can_open = urgency[kind] > slot and (is_complete or not patient)
        if can_open and len(opened) < width:
            opened.append(kind)
    return opened
