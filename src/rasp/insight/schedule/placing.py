"""A scheduling problem and a method in, a placement out, with what is known about it.

`auto` looks in this order: the earliest placement, if it meets the floors; the greedy one, if
it does; the exact one, if SciPy is there and the problem small enough; else the greedy one,
which then says that it may not be best.
"""

from __future__ import annotations

from dataclasses import dataclass

from rasp.base.errors import RaspLimitError, RaspValueError
from rasp.base.installing import install_command
from rasp.insight.schedule.bounds import least_heads, least_width
from rasp.insight.schedule.exact import exact_placement, solver_is_installed
from rasp.insight.schedule.greedy import cost, greedy_placement
from rasp.insight.schedule.problem import Placement, Problem, earliest_placement
from rasp.language.graph import in_order

METHODS = ("auto", "exact", "greedy", "earliest")
MOST_CHOICES = 3_000
"""Pairs of an attention and a slot beyond which `auto` does not try the exact search."""
MOST_NODES = 20_000
SECONDS_FOR_AUTO = 2.0
SECONDS_FOR_EXACT = 60.0


@dataclass(frozen=True)
class Placed:
    """A placement, how it was found, and whether it is proved best."""

    problem: Problem
    placement: Placement
    method: str
    exact: bool
    remark: str


def place(problem: Problem, method: str = "auto") -> Placed:
    """Choose a slot for every attention."""
    if method not in METHODS:
        raise RaspValueError(
            f"there is no scheduling method `{method}`", hint="use " + ", ".join(METHODS)
        )
    floor = (least_width(problem), least_heads(problem))
    earliest = earliest_placement(problem)
    is_best = cost(problem, earliest)[:2] == floor
    if is_best or method == "earliest":
        remark = "everything as early as it can be"
        return Placed(problem, earliest, "earliest", is_best, remark)
    greedy = greedy_placement(problem)
    is_best = cost(problem, greedy)[:2] == floor
    if is_best or method == "greedy":
        return Placed(problem, greedy, "greedy", is_best, "the greedy schedule")
    if method == "exact":
        return _exact_or_error(problem, greedy)
    return _exact_or_greedy(problem, greedy)


def _exact_or_error(problem: Problem, greedy: Placement) -> Placed:
    best = exact_placement(problem, greedy, SECONDS_FOR_EXACT)
    if best is None:
        raise RaspLimitError(
            f"the exact schedule was not found in {SECONDS_FOR_EXACT:.0f} seconds",
            hint="take the method `auto`: it falls back on the greedy schedule and says so",
        )
    return Placed(problem, best, "exact", True, "the exact schedule")


def _exact_or_greedy(problem: Problem, greedy: Placement) -> Placed:
    if not solver_is_installed():
        why = f"the exact search needs SciPy: {install_command('schedule')}"
    elif choices(problem) > MOST_CHOICES or len(in_order(problem.outputs)) > MOST_NODES:
        why = "the graph is too large for the exact search"
    else:
        best = exact_placement(problem, greedy, SECONDS_FOR_AUTO)
        if best is not None:
            return Placed(problem, best, "exact", True, "the exact schedule")
        why = "the exact search ran out of time"
    remark = f"the greedy schedule, which may not be the best: {why}"
    return Placed(problem, greedy, "greedy", False, remark)


def choices(problem: Problem) -> int:
    """Count the pairs of an attention and a slot in which it may be."""
    return sum(
        problem.latest[attention] - problem.earliest[attention] + 1
        for attention in problem.attentions
    )
