"""Selectors in, counts and sums over their picks out, each conjunction laid out only once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from rasp.evaluator.fast.algebra import Conjunction
from rasp.evaluator.fast.blocked import blocked_sums
from rasp.evaluator.fast.columns import Array
from rasp.evaluator.fast.layout import Layout, lay_out
from rasp.evaluator.fast.means import Picks
from rasp.evaluator.fast.plan import Term, plan_sums
from rasp.evaluator.fast.sums import layout_sums
from rasp.evaluator.fast.workspace import Workspace
from rasp.graph import Selector


class Selections:
    """The selections of one batch: aggregates that share a selector, or part of one, share work."""

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self._layouts: dict[Conjunction, Layout | None] = {}
        self._term_counts: dict[Conjunction, Array] = {}
        self._counts: dict[Selector, Array] = {}
        self._positions: dict[Selector, Array] = {}

    def picks(self, selector: Selector) -> Picks:
        """What a selector picks: how many keys per query, and ways to ask for more."""
        if selector not in self._counts:
            if plan_sums(selector).blocked:  # the rows are dear: ask for both at once
                weights = [None, self._position_weights()]
                self._counts[selector], self._positions[selector] = self.sums(selector, weights)
            else:
                [self._counts[selector]] = self.sums(selector, [None])
        return Picks(
            self._counts[selector],
            lambda: self.positions(selector),
            lambda weights: self.sums(selector, weights),
        )

    def positions(self, selector: Selector) -> Array:
        """The sum of the positions picked, which is the position where there is one."""
        if selector not in self._positions:
            [self._positions[selector]] = self.sums(selector, [self._position_weights()])
        return self._positions[selector]

    def sums(self, selector: Selector, weights: Sequence[Array | None]) -> list[Array]:
        """For each weight (None counts), its sum over the keys that each query picks."""
        plan = plan_sums(selector)
        if plan.blocked:
            return blocked_sums(selector, plan, self._space, weights)
        totals: list[Array] = [np.zeros(1, np.int64) for _ in weights]
        for term in plan.terms:
            sums = self._term_sums(term, weights)
            if term.coefficient != 1:
                sums = [term.coefficient * value for value in sums]
            totals = [total + value if total.any() else value
                      for total, value in zip(totals, sums, strict=True)]  # fmt: skip
        return [np.broadcast_to(total, self._space.batch.size) for total in totals]

    def forget(self, key: Hashable) -> None:
        """Drop what is kept for a selector or a conjunction."""
        caches: tuple[dict[Any, Any], ...] = (
            self._layouts, self._term_counts, self._counts, self._positions
        )  # fmt: skip
        for cache in caches:
            cache.pop(key, None)

    def _term_sums(self, term: Term, weights: Sequence[Array | None]) -> list[Array]:
        key = term.conjunction
        if key not in self._layouts:
            self._layouts[key] = lay_out(term, self._space)
        layout, size = self._layouts[key], self._space.batch.size
        if layout is None:
            return [np.zeros(1, np.int64) for _ in weights]
        if len(weights) == 1 and weights[0] is None:
            if key not in self._term_counts:
                [self._term_counts[key]] = layout_sums(layout, weights, size)
            return [self._term_counts[key]]
        return layout_sums(layout, weights, size)

    def _position_weights(self) -> Array:
        return np.arange(self._space.batch.size, dtype=np.float64)
