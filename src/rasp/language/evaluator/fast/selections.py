"""Selectors in, counts and sums over their picks out; what meets alike is arranged once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import add
from typing import Any

import numpy as np

from rasp.language.evaluator.fast.blocked import blocked_sums
from rasp.language.evaluator.fast.columns import Array
from rasp.language.evaluator.fast.key_layout import Pairing, lay_out
from rasp.language.evaluator.fast.key_plan import Meeting, Term, plan_sums
from rasp.language.evaluator.fast.means import KnownPicks
from rasp.language.evaluator.fast.range_sums import Counted, counted, layout_sums
from rasp.language.evaluator.fast.workspace import Workspace
from rasp.language.graph import Selector


class Selections:
    """The selections of one batch: aggregates that share a selector, or part of one, share work."""

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self._layouts: dict[Meeting, Pairing | None] = {}
        self._counted: dict[Term, Counted] = {}
        self._counts: dict[Selector, Array] = {}
        self._term_counts: dict[Term, Array] = {}
        self._positions: dict[Selector, Array] = {}

    def picks(self, selector: Selector) -> KnownPicks:
        """What a selector picks: how many keys per query, and ways to ask for more."""
        if selector not in self._counts:
            if plan_sums(selector).blocked:  # the rows are dear: ask for both at once
                weights = [None, self._position_weights()]
                self._counts[selector], self._positions[selector] = self.sums(selector, weights)
            else:
                [self._counts[selector]] = self.sums(selector, [None])
        return KnownPicks(
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
        totals: list[Array] = []
        for term in self._space.meter.watched(plan.terms, 1):
            sums = self._term_sums(term, weights)
            totals = list(map(add, totals, sums)) if totals else sums
        totals = totals or [np.zeros(1, np.int64) for _ in weights]
        return [np.broadcast_to(total, self._space.batch.size) for total in totals]

    def forget(self, key: Hashable) -> None:
        """Drop what is kept for a selector, a term or a meeting."""
        caches: tuple[dict[Any, Any], ...] = (
            self._layouts, self._counted, self._counts, self._term_counts, self._positions
        )  # fmt: skip
        for cache in caches:
            cache.pop(key, None)

    def _term_sums(self, term: Term, weights: Sequence[Array | None]) -> list[Array]:
        if term.meeting not in self._layouts:
            self._layouts[term.meeting] = lay_out(term.meeting, self._space)
        layout = self._layouts[term.meeting]
        if layout is None:
            return [np.zeros(1, np.int64) for _ in weights]
        if term not in self._counted:
            self._counted[term] = counted(term, self._space)
        keys = self._counted[term]
        size, meter = self._space.batch.size, self._space.meter
        factors = [keys.constant(weight) for weight in weights]
        if any(factors) and term not in self._term_counts:
            [self._term_counts[term]] = layout_sums(layout, keys, [None], size, meter)
        varying = [weight for weight, factor in zip(weights, factors, strict=True)
                   if factor is None]  # fmt: skip
        sums = iter(layout_sums(layout, keys, varying, size, meter) if varying else ())
        return [next(sums) if factor is None else self._times(factor, term) for factor in factors]

    def _times(self, factor: int, term: Term) -> Array:
        """The sums of a weight that is the same at all keys: so many times the counts."""
        if factor == 0:
            return np.zeros(1, np.int64)
        counts = self._term_counts[term]
        return counts if factor == 1 else factor * counts

    def _position_weights(self) -> Array:
        return np.arange(self._space.batch.size, dtype=np.float64)
