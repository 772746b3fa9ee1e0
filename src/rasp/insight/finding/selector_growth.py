"""Selectors, layer by layer: comparisons, `and` and `or` of them, first and last picks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rasp.insight.finding.atom_codes import BOOL, Array
from rasp.insight.finding.expression_bank import BankPart, Recipe
from rasp.insight.finding.search_banks import CHUNK, SearchBanks, every_pair


class SelectorGrowth(SearchBanks):
    """Makes the selectors of a layer."""

    def grow_selectors(self, level: int) -> None:
        """Make the selectors of a layer: their keys and queries are from the layers before."""
        core = self._core(level)
        true = [number for number in range(self.first_literal, self.literals)
                if self.sops.rows[number, 0] == self.codes.true]  # fmt: skip
        core = np.concatenate([core, true])
        self._ranks = self.codes.ranks()
        if level == 1:
            self._select_places()
        if level == 2:
            self._select_mirrored()
        paired = set(core[: self.widths.paired].tolist()) | {*true, 0, 1}
        for keys in core.tolist():
            queries = [
                query for query in core.tolist()
                if max(self.sops.levels[[keys, query]]) == level - 1
                and self.kinds[keys] == self.kinds[query]
                and (query in paired or keys in paired or keys == query)
                and not (keys in true and query in true)
            ]  # fmt: skip
            self._compare(keys, np.array(queries, dtype=int), level)
        self._combine(level)

    def _core(self, level: int) -> Array:
        """The s-ops that selectors compare: mostly those that depend on tokens, new ones too."""
        usable = self.kinds >= 0
        usable[self.first_literal : self.literals] = False
        most = self.widths.core
        many = self.sops.smallest(level - 1, 40 * most, usable)
        read = ~self._is_positional(many)
        fresh = self.sops.levels[many] == level - 1
        chosen = [many[~read][: most // 4], many[read][:most], many[read & fresh][: most // 2]]
        core = np.unique(np.concatenate(chosen))
        return core[np.argsort(self.sops.costs[core], kind="stable")]

    def _is_positional(self, numbers: Array) -> Array:
        """Tell which s-ops depend on the place and the length alone."""
        grid = self.grid
        _, first, group = np.unique(grid.lengths * 1000 + grid.place, return_index=True,
                                    return_inverse=True)  # fmt: skip
        rows = self.sops.rows[numbers]
        alike: Array = (rows == rows[:, first[group]]).all(axis=1)
        return alike

    def _select_places(self) -> None:
        """The selectors that look at places alone, each counted as one word."""
        grid = self.grid
        own, other = grid.place[None], np.arange(grid.planes)[:, None]
        places = [
            ("select_all", grid.exists), ("select(indices, indices, <)", other < own),
            ("select(indices, indices, <=)", other <= own),
            ("select(indices, indices, >)", other > own),
            ("select(indices, indices, >=)", other >= own),
            ("select(indices, indices - 1, ==)", other == own - 1),
            ("select(indices, indices + 1, ==)", other == own + 1),
            ("select(indices, indices - 1, >=) and select(indices, indices + 1, <=)",
             abs(other - own) <= 1),
            ("select(indices, 0, ==)", (other == 0) & (own >= 0)),
            ("select_best(select_all, score(indices, 1))", other == grid.lengths - 1),
        ]  # fmt: skip
        stack = np.stack([np.broadcast_to(rows, grid.keys.shape) for _, rows in places])
        self.simple = self.offer_selectors(stack & grid.exists, 1, 1, 0,
                                            lambda place: Recipe(places[place][0]))  # fmt: skip
        self.before, self.upto = self.simple[1:3]

    def _select_mirrored(self) -> None:
        """Places counted from the end, and neighbours on a ring."""
        grid = self.grid
        own, other = grid.place[None], np.arange(grid.planes)[:, None]
        places = [("length - 1 - indices", grid.lengths - 1 - own),
                  ("(indices - 1) % length", (own - 1) % grid.lengths),
                  ("(indices + 1) % length", (own + 1) % grid.lengths)]  # fmt: skip
        stack = np.stack([(other == where) & grid.exists for _, where in places])
        heads = frozenset([3 * self.simple[0]])
        self.simple += self.offer_selectors(stack, 2, 2, 1, lambda place: Recipe(
            f"select(indices, {places[place][0]}, ==)", (), 4, heads))  # fmt: skip

    def _compare(self, keys: int, queries: Array, level: int) -> None:
        grid, key = self.grid, BankPart(False, keys)
        kind = int(self.kinds[keys])
        signs = ("==",) if kind == BOOL else ("==", "!=", "<", "<=", ">", ">=")
        left = self._ranks[self.sops.rows[keys]][grid.keys]
        costs = self.sops.costs[queries] * (queries != keys) + self.sops.costs[keys] + 1
        heads = np.maximum(self.sops.heads[queries], self.sops.heads[keys])
        for sign in signs if len(queries) else ():
            self.check_time()
            right = self._ranks[self.sops.rows[queries]][:, None]
            self.offer_selectors(
                _COMPARE[sign](left[None], right) & grid.exists, level, costs, heads,
                lambda place, sign=sign: self.recipe(  # type: ignore[misc]
                    f"select({{}}, {{}}, {sign})", key, BankPart(False, int(queries[place])))
            )  # fmt: skip

    def _combine(self, level: int) -> None:
        """`and`, `or`, the first and the last pick, of the cheapest selectors of this layer."""
        base = self.selectors.smallest(level, len(self.selectors), self.selectors.levels == level)
        some = self.selectors.smallest(level, self.widths.combined)
        self._join("and", *every_pair(base, np.array(self.simple[1:7])), level)
        self._join("and", *every_pair(base[: self.widths.combined], some), level)
        self._join("or", *every_pair(base[: self.widths.combined], some), level)
        usable = (self.kinds >= 0) & (self.sops.levels == level - 1)
        for keys in self.sops.smallest(level - 1, self.widths.core, usable).tolist():
            if not self.first_literal <= keys < self.literals:
                self._sort_order(keys, level)
        picked = self.selectors.smallest(level, 4 * self.widths.combined)
        self._ends(picked[self.selectors.levels[picked] == level], level)

    def _join(self, word: str, left: Array, right: Array, level: int) -> None:
        bank = self.selectors
        join = np.bitwise_and if word == "and" else np.bitwise_or
        for start in range(0, len(left), CHUNK):
            self.check_time()
            one, other = left[start : start + CHUNK], right[start : start + CHUNK]
            bank.offer(
                join(bank.rows[one], bank.rows[other]), level,
                bank.costs[one] + bank.costs[other] + 1,
                np.maximum(bank.heads[one], bank.heads[other]),
                lambda place, one=one, other=other: self.recipe(  # type: ignore[misc]
                    f"({{}} {word} {{}})", BankPart(True, int(one[place])),
                    BankPart(True, int(other[place])))
            )  # fmt: skip

    def _sort_order(self, keys: int, level: int) -> None:
        """Keys that come before the query's in sorted order, and those that come after."""
        grid = self.grid
        ranks = self._ranks[self.sops.rows[keys]]
        left, right = ranks[grid.keys], ranks[None]
        earlier = np.arange(grid.planes)[:, None] < grid.place
        held = [((left < right) | ((left == right) & earlier)) & grid.exists,
                ((left > right) | ((left == right) & earlier)) & grid.exists]  # fmt: skip
        part = BankPart(False, keys)
        texts = [f"(select({{}}, {{}}, {sign}) or select({{}}, {{}}, ==)"
                 " and select(indices, indices, <))" for sign in ("<", ">")]  # fmt: skip
        self.offer_selectors(
            np.stack(held), level, self.sops.costs[keys] + 2, self.sops.heads[keys],
            lambda place: Recipe(texts[place], (part,) * 4, 2 + self.recipe_of(part).size,
                                 self.recipe_of(part).heads)
        )  # fmt: skip

    def _ends(self, chosen: Array, level: int) -> None:
        """Of each selector, the first picks and the last picks alone."""
        bank = self.selectors
        for start in range(0, len(chosen), CHUNK):
            self.check_time()
            numbers = chosen[start : start + CHUNK]
            planes = bank.rows[numbers].reshape(len(numbers), self.grid.planes, self.words)
            order = range(self.grid.planes)
            for sign, planes_in_order in ((-1, order), (1, order[::-1])):
                bank.offer(
                    first_of(planes, planes_in_order).reshape(len(numbers), -1), level,
                    bank.costs[numbers] + 1, bank.heads[numbers],
                    lambda place, numbers=numbers, sign=sign: self.recipe(  # type: ignore[misc]
                        f"select_best({{}}, score(indices, {sign}))",
                        BankPart(True, int(numbers[place])))
                )  # fmt: skip


_COMPARE = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def first_of(planes: Array, order: Sequence[int]) -> Array:
    """Keep in each row the pick whose plane comes first."""
    seen = np.zeros_like(planes[:, 0])
    kept = np.zeros_like(planes)
    for plane in order:
        kept[:, plane] = planes[:, plane] & ~seen
        seen |= planes[:, plane]
    return kept
