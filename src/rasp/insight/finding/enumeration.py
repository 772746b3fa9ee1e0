"""Expressions from the bottom up: layer by layer, cheap before dear, each computed once.

A round makes, for each layer, the selectors over what there is (`_compare`, then `and`, `or`, the
first and last picks), what they aggregate, and elementwise expressions over that. How many of
each is a matter of `Widths`: a wider round begins again and goes further.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rasp.insight.finding.aggregate_growth import AggregateGrowth
from rasp.insight.finding.atom_codes import BOOL, NUMBER, STRING, Array
from rasp.insight.finding.expression_bank import BankPart
from rasp.insight.finding.search_banks import CHUNK, every_pair


class Enumeration(AggregateGrowth):
    """All expressions of a round, and how they grow."""

    def grow_elementwise(self, level: int) -> None:
        """Make elementwise expressions of a layer, by cost, until there are enough candidates."""
        budget = self.sops.offered + self.widths.elementwise
        for cost in range(2, 14):
            for text, op, one, other in self._combinations(level, cost):
                if self.sops.offered > budget:
                    return
                self._apply(text, op, one, other, level, cost)

    def _combinations(
        self, level: int, cost: int
    ) -> Iterator[tuple[str, str, Array, Array | None]]:
        usable = self.sops.smallest(level, self.widths.operands, self.kinds >= 0)
        current = self.sops.smallest(level, self.widths.operands,
                                     (self.kinds >= 0) & (self.sops.levels == level))  # fmt: skip
        usable = np.union1d(usable, current)
        costs, levels, kinds = self.sops.costs, self.sops.levels, self.kinds
        by_cost = {at: usable[costs[usable] == at] for at in range(1, cost)}
        own = by_cost[cost - 1]
        own = own[(levels[own] == level) & (own >= self.literals)]
        for op, text, kind in UNARY:
            yield text, op, own[kinds[own] == kind], None
        for more in (1, 2, 3):
            for left in range(1, cost - more):
                one, other = every_pair(by_cost[left], by_cost[cost - more - left])
                fits = (np.maximum(levels[one], levels[other]) == level) & (
                    kinds[one] == kinds[other]
                )
                fits &= ~(self.is_literal(one) & self.is_literal(other)) & (one != other)
                one, other = one[fits], other[fits]
                for op, kind, commutes, dearness in BINARY:
                    held = (kinds[one] == kind) & (dearness == more)
                    if commutes:
                        held &= one < other
                    yield f"({{}} {op} {{}})", op, one[held], other[held]

    def _apply(
        self, text: str, op: str, one: Array, other: Array | None, level: int, cost: int
    ) -> None:
        rows, heads = self.sops.rows, self.sops.heads
        for start in range(0, len(one), CHUNK):
            sides = [side[start : start + CHUNK] for side in (one, other) if side is not None]
            self.offer(
                self.codes.apply(op, *(rows[side] for side in sides)), level, cost,
                np.max([heads[side] for side in sides], axis=0),
                lambda place, sides=sides: self.recipe(  # type: ignore[misc]
                    text, *(BankPart(False, int(side[place])) for side in sides))
            )  # fmt: skip


UNARY = (("not", "(not {})", BOOL), ("indicator", "indicator({})", BOOL),
         ("abs", "abs({})", NUMBER), ("floor", "floor({})", NUMBER),
         ("round", "round({})", NUMBER))  # fmt: skip
BINARY = (
    ("==", NUMBER, True, 1), ("==", STRING, True, 1), ("<", NUMBER, False, 1),
    ("+", NUMBER, True, 1),
    ("-", NUMBER, False, 1), ("and", BOOL, True, 1), ("or", BOOL, True, 1), ("+", STRING, False, 1),
    ("<", STRING, False, 2), ("%", NUMBER, False, 2), ("*", NUMBER, True, 2),
    ("!=", BOOL, True, 2), ("//", NUMBER, False, 3), ("/", NUMBER, False, 3),
)  # fmt: skip
"""Operators, what they work on, whether the sides can be swapped, and what they cost."""
