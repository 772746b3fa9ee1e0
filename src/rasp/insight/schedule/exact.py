"""A scheduling problem in, a provably best placement out: integer programming with HiGHS.

One variable says whether an attention is in a slot, one whether a kind has a head there.
First the width and then the number of heads is made least, then, among what is left, the
placement that is earliest is taken. Needs SciPy (the extra `schedule`).
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from threading import Thread
from typing import Any, TypeAlias

from rasp.base.installing import missing
from rasp.insight.schedule.greedy import cost
from rasp.insight.schedule.problem import Placement, Problem, prerequisites
from rasp.language.graph import Node


def solver_is_installed() -> bool:
    """Tell whether SciPy is there."""
    from importlib.util import find_spec

    return find_spec("scipy") is not None


def exact_placement(problem: Problem, start: Placement, seconds: float) -> Placement | None:
    """Return a best placement, or None where the time was too short to prove one.

    `start` is any placement: nothing wider is looked at.
    """
    if not solver_is_installed():
        raise missing("scipy", "schedule", "the exact schedule", "take the greedy schedule")
    until = time.monotonic() + seconds
    model = _Model(problem)
    most = len(model.head)
    best = model.solve(model.width_then_heads(most + 1), cost(problem, start)[0], most, until)
    if best is None:
        return None
    width, heads, _ = cost(problem, best)
    return model.solve(model.sum_of_slots(), width, heads, until) or best


LOOK_AGAIN = 0.1
"""Seconds between two looks at whether the solver is done."""
INFEASIBLE = 2  # what `milp` answers where no point meets all rows

Row: TypeAlias = tuple[dict[int, float], float, float]
"""Coefficients by column, and what their sum must lie between."""


@dataclass(frozen=True)
class _Model:
    """The integer program: columns are placements, then heads, then the width."""

    problem: Problem

    @cached_property
    def place(self) -> dict[tuple[Node, int], int]:
        problem = self.problem
        keys = [
            (attention, slot)
            for attention in problem.attentions
            for slot in range(problem.earliest[attention], problem.latest[attention] + 1)
        ]
        return {key: column for column, key in enumerate(keys)}

    @cached_property
    def head(self) -> dict[tuple[int, int], int]:
        keys = dict.fromkeys((self.problem.kind[selector], slot) for selector, slot in self.place)
        return {key: column for column, key in enumerate(keys, start=len(self.place))}

    @property
    def columns(self) -> int:
        return len(self.place) + len(self.head) + 1

    def width_then_heads(self, large: int) -> list[float]:
        return [0.0] * len(self.place) + [1.0] * len(self.head) + [float(large)]

    def sum_of_slots(self) -> list[float]:
        return [float(slot) for _, slot in self.place] + [0.0] * (len(self.head) + 1)

    @cached_property
    def rows(self) -> list[Row]:
        slots, width = self.problem.order.slots, self.columns - 1
        rows: list[Row] = [
            (dict.fromkeys(self._up_to(attention, slots), 1.0), 1, 1)
            for attention in self.problem.attentions
        ]
        for (attention, slot), column in self.place.items():
            head = self.head[self.problem.kind[attention], slot]
            rows.append(({column: 1.0, head: -1.0}, -1, 0))
        for slot in range(1, slots + 1):
            heads = [column for (_, at), column in self.head.items() if at == slot]
            rows.append(({**dict.fromkeys(heads, 1.0), width: -1.0}, -math.inf, 0))
        for user, needed in prerequisites(self.problem).items():
            for one, is_worked_on in needed.items():
                rows += self._precedence(one, user, is_worked_on)
        return rows

    def _up_to(self, attention: Node, slot: int) -> list[int]:
        first = self.problem.earliest[attention]
        last = min(slot, self.problem.latest[attention])
        return [self.place[attention, at] for at in range(first, last + 1)]

    def _precedence(self, one: Node, user: Node, is_worked_on: bool) -> list[Row]:
        """`user` is at or before a slot only if `one` is far enough before it."""
        rows: list[Row] = []
        for slot in range(self.problem.earliest[user], self.problem.latest[user] + 1):
            before = slot - 1
            if is_worked_on:
                before = self.problem.order.last_feed_forward(2 * slot - 1) // 2
            if before < self.problem.latest[one]:
                coefficients = dict.fromkeys(self._up_to(user, slot), 1.0)
                coefficients |= dict.fromkeys(self._up_to(one, before), -1.0)
                rows.append((coefficients, -1, 0))
        return rows

    def solve(
        self, objective: list[float], width: int, heads: int, until: float
    ) -> Placement | None:
        """Minimise the objective with at most this width and so many heads."""
        import numpy
        from scipy.optimize import (  # type: ignore[import-untyped,unused-ignore]
            Bounds,
            LinearConstraint,
            milp,
        )

        left = until - time.monotonic()
        if left <= 0:
            return None
        ceiling = numpy.ones(self.columns)
        ceiling[-1] = width
        limit = (dict.fromkeys(self.head.values(), 1.0), 0, heads)
        constraint = LinearConstraint(*_matrix([*self.rows, limit], self.columns))
        solved: Any = _aside(lambda: milp(
            numpy.array(objective),
            integrality=numpy.ones(self.columns),
            bounds=Bounds(numpy.zeros(self.columns), ceiling),
            constraints=[constraint],
            options={"time_limit": left, "mip_rel_gap": 0.0},
        ))  # fmt: skip
        assert solved.status != INFEASIBLE, "a placement to start from is known"
        if solved.x is None or solved.status != 0:
            return None
        return {node: slot for (node, slot), at in self.place.items() if solved.x[at] > 0.5}


def _aside(compute: Callable[[], Any]) -> Any:
    """Compute something in another thread, so that Ctrl-C and alarms are heard meanwhile."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(compute())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    while True:
        with contextlib.suppress(TimeoutError):
            return future.result(LOOK_AGAIN)


def _matrix(rows: list[Row], columns: int) -> tuple[Any, Any, Any]:
    import numpy
    from scipy.sparse import csr_array  # type: ignore[import-untyped,unused-ignore]

    pointers, places, entries = [0], list[int](), list[float]()
    for coefficients, _, _ in rows:
        places.extend(coefficients)
        entries.extend(coefficients.values())
        pointers.append(len(places))
    # SciPy before 1.15 hands 64-bit indices to a solver that takes 32 bits alone.
    indices, starts = numpy.array(places, numpy.int32), numpy.array(pointers, numpy.int32)
    matrix = csr_array((entries, indices, starts), shape=(len(rows), columns))
    return matrix, [low for _, low, _ in rows], [high for _, _, high in rows]
