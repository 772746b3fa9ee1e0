"""`x if condition else …`: leaves that are right somewhere, and the conditions that say where."""

from __future__ import annotations

import numpy as np

from rasp.insight.finding.atom_codes import Array
from rasp.insight.finding.example_grid import pack
from rasp.insight.finding.expression_bank import BankPart, Recipe
from rasp.insight.finding.search_banks import SearchBanks


class ChoiceSearch:
    """The search for a list of conditions: leaves that are right somewhere, and where."""

    def __init__(self, made: SearchBanks, leaves: Array, right: Array, conditions: Array,
                 held: Array) -> None:  # fmt: skip
        self.made = made
        self.leaves, self.conditions = leaves, conditions
        self.wrong, self.held = ~right, held
        self.leaf_sizes = made.sops.costs[leaves].astype(int)
        self.sizes = made.sops.costs[conditions].astype(int)

    def cover(self, rows: Array, depth: int) -> list[Recipe]:
        """Recipes that are right on these rows: at most `depth` choices, the smallest first."""
        wrong = self.wrong[:, rows]
        whole = np.flatnonzero(~wrong.any(axis=1))
        if len(whole):
            best = whole[np.argsort(self.leaf_sizes[whole], kind="stable")[:2]]
            return [self._leaf(int(leaf)) for leaf in best]
        if depth == 0:
            return []
        # (condition, leaf): how often the leaf is wrong where the condition holds
        faults = self.held[:, rows].astype(np.float32) @ wrong.T.astype(np.float32)
        fine = np.stack([faults == 0, faults == wrong.sum(axis=1)])  # where it holds; where not
        if depth == 1:
            return self._last(fine)
        found: list[Recipe] = []
        for condition, leaf, no in self._rules(fine, rows, depth):
            rest = rows & (self.held[condition] == no)
            for other in self.cover(rest, depth - 1)[:2]:
                found.append(self._choice(condition, leaf, no, other))
        return sorted(found, key=lambda one: one.size)[:6]

    def _leaf(self, leaf: int) -> Recipe:
        number = int(self.leaves[leaf])
        recipe = self.made.sops.recipe(number)
        return Recipe("{}", (BankPart(False, number),), recipe.size, recipe.heads)

    def _last(self, fine: Array) -> list[Recipe]:
        """One condition that settles all: some leaf is right where it holds, another elsewhere."""
        settles = np.flatnonzero(fine[0].any(axis=1) & fine[1].any(axis=1))
        sizes = np.where(fine[:, settles], self.leaf_sizes, 10_000)
        leaves = sizes.argmin(axis=2)
        total = sizes.min(axis=2).sum(axis=0) + self.sizes[settles]
        return [
            self._choice(
                int(settles[one]), int(leaves[0, one]), False, self._leaf(int(leaves[1, one]))
            )
            for one in np.argsort(total, kind="stable")[:12].tolist()
        ]

    def _rules(self, fine: Array, rows: Array, depth: int) -> list[tuple[int, int, bool]]:
        """Conditions where one leaf is right: those that settle most for their size."""
        settled = self.held[:, rows].sum(axis=1)
        total = int(rows.sum())
        gains = np.stack([settled, total - settled]).astype(float)
        gains[(gains == 0) | (gains == total)] = -1
        leaves = np.where(fine, self.leaf_sizes, 10_000).argmin(axis=2)
        gains = np.where(fine.any(axis=2), gains / (self.sizes + 3), -1)
        order = np.argsort(-gains, axis=None, kind="stable")[: {2: 14, 3: 5}[depth]]
        rules = [divmod(int(one), len(self.conditions)) for one in order if gains.flat[one] > 0]
        return [(condition, int(leaves[no, condition]), bool(no)) for no, condition in rules]

    def _choice(self, condition: int, leaf: int, no: bool, rest: Recipe) -> Recipe:
        """Write one choice; `and`, `or` where what is chosen is true or false."""
        asked = BankPart(False, int(self.conditions[condition]))
        then = BankPart(False, int(self.leaves[leaf]))
        sops = self.made.sops
        constant = sops.recipe(then.number).text
        heads = rest.heads.union(*(sops.recipe(part.number).heads for part in (asked, then)))
        size = int(self.sizes[condition]) + rest.size + no
        test, opposite = ("(not {})", "{}") if no else ("{}", "(not {})")
        if constant == "True":
            return Recipe(f"({test} or {rest.text})", (asked, *rest.parts), size + 1, heads)
        if constant == "False":
            return Recipe(f"({opposite} and {rest.text})", (asked, *rest.parts), size + 1, heads)
        size += int(self.leaf_sizes[leaf]) + 1
        if no:
            text, parts = f"({rest.text} if {{}} else {{}})", (*rest.parts, asked, then)
        else:
            text, parts = f"({{}} if {{}} else {rest.text})", (then, asked, *rest.parts)
        return Recipe(text, parts, size, heads)


def distinct(numbers: Array, rows: Array, most: int, by_cover: bool = False) -> tuple[Array, Array]:
    """Drop rows that hold nothing or what a smaller one holds, and keep the best."""
    useful = np.flatnonzero(rows.any(axis=1))
    if not len(useful):
        return numbers[:0], rows[:0]
    words = pack(rows[useful])
    marks = words.view(f"V{words.shape[1] * 8}").ravel()
    chosen = useful[np.sort(np.unique(marks, return_index=True)[1])]
    if by_cover and len(chosen) > most:
        order = np.argsort(-rows[chosen].sum(axis=1), kind="stable")
        chosen = chosen[np.sort(np.union1d(order[: most // 2], np.arange(most // 2)))]
    return numbers[chosen[:most]], rows[chosen[:most]]
