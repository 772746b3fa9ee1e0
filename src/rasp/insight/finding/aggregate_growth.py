"""What selectors make of s-ops: means, picks, sums, widths, and whether anything is picked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rasp.base.atoms import Atom
from rasp.insight.finding.atom_codes import BOOL, NUMBER, STRING, Array
from rasp.insight.finding.expression_bank import BankPart, Recipe, literal
from rasp.insight.finding.search_banks import PLANES_CHUNK
from rasp.insight.finding.selector_growth import SelectorGrowth

MOST_LEADING = 6


class AggregateGrowth(SelectorGrowth):
    """Makes the aggregates of a layer."""

    def grow_aggregates(self, level: int) -> None:
        """Make what the selectors of a layer give: widths, whether they pick, and means."""
        self._best_of_all(level)
        if level == 1:
            self._leads()
        chosen = self.selectors.smallest(level, self.widths.aggregated)
        usable = self.kinds >= 0
        usable[self.first_literal : self.literals] = False
        hot = self.sops.smallest(level - 1, 6, usable)
        for start in range(0, len(chosen), PLANES_CHUNK):
            numbers = chosen[start : start + PLANES_CHUNK]
            dense = self.dense(numbers)
            counts = dense.sum(axis=1, dtype=np.int16)
            own = np.flatnonzero(self.selectors.levels[numbers] == level)
            self._widths(numbers[own], counts[own], level)
            for value in hot.tolist():
                new = own if self.sops.levels[value] < level - 1 else np.arange(len(numbers))
                if len(new):
                    self._aggregate(numbers[new], dense[new], counts[new], np.array([value]), level)
        usable &= (self.sops.levels == level - 1)[: len(usable)]
        usable = np.pad(usable, (0, len(self.sops) - len(usable)))
        many = [self.sops.smallest(level - 1, most * self.widths.values,
                                   usable & (self.kinds == kind))
                for kind, most in ((BOOL, 100), (NUMBER, 25), (STRING, 10))]  # fmt: skip
        for number in self.simple:
            for values in many:
                self._everywhere(
                    number, values[: len(values) // (1 + 3 * (number > self.upto))], level
                )

    def _widths(self, numbers: Array, counts: Array, level: int) -> None:
        if not len(numbers):
            return
        some = np.where(counts > 0, self.codes.true, self.codes.false).astype(np.int16)
        costs, heads = self.selectors.costs[numbers] + 1, self.selectors.heads[numbers]

        def recipe(text: str, *own: int) -> Callable[[int], Recipe]:
            return lambda place: self.recipe(
                text, BankPart(True, int(numbers[place])),
                heads=tuple(3 * int(numbers[place]) + one for one in own))  # fmt: skip

        self.offer(some, level, costs, heads + 1, recipe("has_focus({})", 0))
        self.offer(self._width_codes[counts], level, costs, heads + 2,
                    recipe("selector_width({})", 1, 2))  # fmt: skip

    def _aggregate(self, numbers: Array, dense: Array, counts: Array, values: Array, level: int
                   ) -> None:  # fmt: skip
        """What selectors make of s-ops: several of one, or one of several."""
        rows = self.sops.rows[values]
        costs = (
            self.selectors.costs[numbers] + self.sops.costs[values] + 1 + (counts > 1).any(axis=1)
        )
        heads = np.maximum(self.selectors.heads[numbers], self.sops.heads[values]) + 1
        for default in self._defaults(int(self.kinds[values[0]]), bool((counts == 0).any())):
            written = f", {literal(default)}" if default != 0 or default is False else ""

            def recipe(place: int, written: str = written) -> Recipe:
                selector, value = (int(side[place % len(side)]) for side in (numbers, values))
                return self.recipe(f"aggregate({{}}, {{}}{written})", BankPart(True, selector),
                                   BankPart(False, value), heads=(3 * selector,),
                                   extra=1 + bool(written))  # fmt: skip

            self.offer(self._means(dense, counts, rows, default), level,
                        costs + bool(written), heads, recipe)  # fmt: skip

    def _defaults(self, kind: int, is_needed: bool) -> list[Atom]:
        if kind == NUMBER:
            more = [atom for atom in self.blanks if isinstance(atom, int) and atom != 0]
            return [0, *more[:1]] if is_needed else [0]
        if kind == BOOL:
            return [False]
        texts: list[Atom] = [atom for atom in self.blanks if isinstance(atom, str)]
        return texts[:2] or [""]

    def _means(self, dense: Array, counts: Array, rows: Array, default: Atom) -> Array:
        """The values picked; 0 where bools or strings would be averaged."""
        keys = self.grid.keys
        taken = picked_sums(dense, rows, keys)
        result = np.where(counts == 1, taken, 0).astype(np.int16)
        several = (counts > 1).any(axis=1)
        if several.any() and self.codes.kinds(rows[0, :1])[0] == NUMBER:
            scaled, common = self.codes.numerators(rows)
            sums = picked_sums(dense, scaled.astype(np.int32), keys)
            for factor in np.unique(common[common > 0]).tolist():
                chosen = np.flatnonzero(np.broadcast_to((common == factor) & several, len(result)))
                picked = np.broadcast_to(counts, result.shape)[chosen]
                result[chosen] = self.codes.means(sums[chosen], picked, factor)
        return np.where(counts == 0, self.codes.code(default), result).astype(np.int16)

    def _everywhere(self, number: int, values: Array, level: int) -> None:
        """What one simple selector makes of many s-ops: means, sums, and whether one is true."""
        one = np.array([number])
        dense = self.dense(one)
        counts = dense.sum(axis=1, dtype=np.int16)
        for kind in (BOOL, NUMBER, STRING):
            same = values[self.kinds[values] == kind]
            for start in range(0, len(same), PLANES_CHUNK):
                chunk = same[start : start + PLANES_CHUNK]
                if kind == BOOL:
                    self._over_bools(number, dense, chunk, level)
                if kind == NUMBER:
                    self._sums(number, dense, chunk, level)
                self._aggregate(one, dense, counts, chunk, level)

    def _over_bools(self, number: int, dense: Array, values: Array, level: int) -> None:
        """Whether any is true, any is false; and where a width costs nothing, how many are."""
        for truth, word in ((self.codes.true, "{1}"), (self.codes.false, "not {1}")):
            held = (self.sops.rows[values] == truth)[:, self.grid.keys] & dense
            total = held.sum(axis=1, dtype=np.int16)
            mean = f"aggregate({{0}}, indicator({word}))"
            some = np.where(total > 0, self.codes.true, self.codes.false).astype(np.int16)
            every = {f"({mean} > 0)": some}
            if number == self.simple[0]:
                every[f"round(length * {mean})"] = self._width_codes[total]
            if number == self.upto:
                every[f"num_prevs({word})"] = self._width_codes[total]
            costs = self.sops.costs[values] + 2 + (word != "{1}")
            for text, rows in every.items():
                self.offer(rows, level, costs, self.sops.heads[values] + 1,
                            lambda place, text=text: self.recipe(  # type: ignore[misc]
                    text, BankPart(True, number), BankPart(False, int(values[place])),
                    heads=(3 * number,), extra=2))  # fmt: skip

    def _sums(self, number: int, dense: Array, values: Array, level: int) -> None:
        """Sums where a selector's width costs no head of its own."""
        factor = {self.simple[0]: "length", self.upto: "(indices + 1)", self.before: "indices"}
        if number not in factor:
            return
        scaled, common = self.codes.numerators(self.sops.rows[values])
        sums = np.where(dense, scaled[:, self.grid.keys], 0).sum(axis=1)
        for one in np.unique(common[common > 0]).tolist():
            chosen = np.flatnonzero(common == one)
            numbers = values[chosen]
            rows = self.codes.means(sums[chosen], np.ones_like(sums[chosen]), one)
            self.offer(rows, level, self.sops.costs[numbers] + 2, self.sops.heads[numbers] + 1,
                        lambda place, numbers=numbers: self.recipe(  # type: ignore[misc]
                f"({factor[number]} * aggregate({{}}, {{}}))", BankPart(True, number),
                BankPart(False, int(numbers[place])), heads=(3 * number,), extra=2))  # fmt: skip

    def _best_of_all(self, level: int) -> None:
        """The largest and the smallest value among all, and among those up to here."""
        if level == 1:
            ones = np.full((1, self.grid.size), self._width_codes[1])
            row = self.codes.apply("+", self.grid.indices[None], ones)
            heads = frozenset([3 * self.simple[0]])
            self.offer(
                row[:, self.grid.at_end], 1, 1, 1, lambda place: Recipe("length", heads=heads)
            )
        usable = (self.kinds == NUMBER) & (self.sops.levels == level - 1)
        usable[self.first_literal : self.literals] = False
        values = self.sops.smallest(level - 1, self.widths.values // 2, usable)
        scaled, common = self.codes.numerators(self.sops.rows[values])
        for place in np.flatnonzero(common).tolist():
            for among in (self.simple[0], self.upto):
                self._best(among, int(values[place]), scaled[place], level)

    def _leads(self) -> None:
        """How many more of one token than of another there are: so far, and in all."""
        literals = range(self.first_literal, self.literals)
        tokens = [number for number in literals if self.kinds[number] == STRING][:MOST_LEADING]
        if len(tokens) < 2 or self.kinds[0] != STRING:
            return
        pairs = [(one, other) for one in range(len(tokens)) for other in range(len(tokens))
                 if one != other]  # fmt: skip
        held = self.sops.rows[0] == self.sops.rows[tokens, :1]
        for number, text, cost in (
            (self.upto, "(num_prevs(tokens == {}) - num_prevs(tokens == {}))", 3),
            (self.simple[0], "(count(tokens, {}) - count(tokens, {}))", 4),
        ):
            dense = self.dense(np.array([number]))
            counts = picked_sums(dense, held.astype(np.int16), self.grid.keys)
            lead = np.array([counts[one] - counts[other] for one, other in pairs])
            rows = self.codes.means(lead, np.ones_like(lead), 1)

            def recipe(place: int, text: str = text, number: int = number) -> Recipe:
                parts = [BankPart(False, tokens[one]) for one in pairs[place]]
                return self.recipe(text, *parts, heads=(3 * number,))

            self.offer(rows, 1, cost, 1, recipe)

    def _best(self, among: int, value: int, numbers: Array, level: int) -> None:
        dense = self.dense(np.array([among]))[0]
        cost, heads = self.sops.costs[value] + 2, self.sops.heads[value]
        for sign in (1, -1):
            scores = np.where(dense, sign * numbers[self.grid.keys], np.iinfo(np.int64).min)
            held = (dense & (scores == scores.max(axis=0)))[None]

            def recipe(place: int, sign: int = sign) -> Recipe:
                text = f"select_best({{}}, score({{}}, {sign}))"
                return self.recipe(text, BankPart(True, among), BankPart(False, value))

            made = self.offer_selectors(held, level, cost, heads, recipe)
            for number in made:
                self._aggregate(np.array([number]), held, held.sum(axis=1, dtype=np.int16),
                                np.array([value]), level)  # fmt: skip


def picked_sums(dense: Array, rows: Array, keys: Array) -> Array:
    """The sums of what is picked: several selections of one row, or one selection of several."""
    sums = np.zeros((max(len(dense), len(rows)), rows.shape[1]), dtype=np.int32)
    for plane, places in enumerate(keys):
        sums += dense[:, plane] * rows[:, places]
    return sums
