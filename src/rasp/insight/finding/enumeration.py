"""Expressions from the bottom up: layer by layer, cheap before dear, each computed once.

A round makes, for each layer, the selectors over what there is (`_compare`, then `and`, `or`, the
first and last picks), what they aggregate, and elementwise expressions over that. How many of
each is a matter of `Widths`: a wider round begins again and goes further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import ArrayLike

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.equivalence.answering import answers
from rasp.insight.finding.atom_codes import BOOL, NUMBER, STRING, Array
from rasp.insight.finding.building_blocks import Blocks
from rasp.insight.finding.example_grid import Fingerprints, Grid, pack, unpack
from rasp.insight.finding.expression_bank import Bank, Part, Recipe, literal

CHUNK = 512
PLANES_CHUNK = 128
"""Selections, or rows spread over their keys, that are computed at once."""


class OutOfTime(Exception):
    """The time is over."""


@dataclass(frozen=True)
class Widths:
    """How many expressions of each sort take part in making larger ones."""

    core: int = 40
    """S-ops of earlier layers that selectors compare."""
    paired: int = 14
    """Of these, those that are compared with one another, each with each."""
    combined: int = 100
    """Selectors that are combined with one another."""
    values: int = 60
    """S-ops that a simple selector aggregates; of bools, a hundred times as many."""
    aggregated: int = 1500
    """Selectors that aggregate the simplest values."""
    operands: int = 350
    """S-ops that become operands, at each layer."""
    elementwise: int = 60_000
    """Elementwise candidates, at each layer."""

    def scaled(self, factor: float) -> Widths:
        """The same for a wider or narrower round."""
        root = factor**0.5
        return Widths(
            int(self.core * root), int(self.paired * root), int(self.combined * root),
            int(self.values * root), int(self.aggregated * factor), int(self.operands * root),
            int(self.elementwise * factor),
        )  # fmt: skip


class Enumeration:
    """The banks of one round, and how they grow."""

    def __init__(self, grid: Grid, constants: Sequence[Atom], blanks: Sequence[Atom],
                 widths: Widths, deadline: float) -> None:  # fmt: skip
        self.grid, self.codes, self.widths = grid, grid.codes, widths
        self.deadline = deadline
        self.blanks = blanks
        self.sops = Bank(Fingerprints(grid.size), np.int16, grid.size)
        self.words = -(-grid.size // 64)
        cells = grid.planes * self.words
        self.selectors = Bank(Fingerprints(cells, step=1), np.uint64, cells)
        self._kinds = np.zeros(1024, dtype=np.int8)
        self._width_codes = np.array(
            [self.codes.code(count) for count in range(grid.planes + 1)], dtype=np.int16
        )
        self.literals = 0
        self.simple: list[int] = []
        """Selectors that may aggregate anything, such as all keys and those before."""
        self._start(constants)

    @property
    def candidates(self) -> int:
        """How many candidates were computed and looked up."""
        return self.sops.offered + self.selectors.offered

    @property
    def kinds(self) -> Array:
        """The class of each s-op's atoms; -1 for constants, and where bools and numbers mix."""
        return self._kinds[: len(self.sops)]

    def check_time(self) -> None:
        if process_time() > self.deadline:
            raise OutOfTime

    def _start(self, constants: Sequence[Atom]) -> None:
        grid = self.grid
        tokens = {atom for atoms in grid.inputs for atom in atoms}
        self._base(grid.tokens, "tokens")
        self._base(grid.indices, "indices")
        if all(isinstance(token, str) and token.isdecimal() and token.isascii() for token in tokens):
            self._base(self.codes.apply("int", grid.tokens), "tokens_int")
        self.first_literal = len(self.sops)
        for atom in constants:
            cost = 1 + (not isinstance(atom, str) and atom not in (0, 1, 2))
            self._base(np.full(grid.size, self.codes.code(atom)), literal(atom), cost)
        self.literals = len(self.sops)
        for name, members in _classes(tokens):
            held = [token in members for atoms in grid.inputs for token in atoms]
            self._base(np.where(held, self.codes.true, self.codes.false), name, 2)

    def add_blocks(self, blocks: Blocks) -> None:
        """Take the building blocks that a user gave: each is one word, in the layer it takes."""
        grid = self.grid
        for block in blocks.blocks:
            heads = frozenset(-2 - count for count in range(block.heads))
            said = answers([block.handle.node], grid.inputs)
            if any(isinstance(one, RaspError) for one in said):
                continue
            recipe = Recipe(block.text, heads=heads)
            if not block.is_selector:
                row = [self.codes.code(atom) for one in said for atom in one[0]]
                self._offer(np.array([row], dtype=np.int16), block.level, 1, block.heads,
                            lambda place, recipe=recipe: recipe)  # fmt: skip
                continue
            dense = np.zeros((1, *grid.keys.shape), dtype=bool)
            for column, row in enumerate(row for one in said for row in one[0]):
                dense[0, : len(row), column] = row
            self._offer_selectors(dense, block.level + 1, 1, block.heads, lambda place, recipe=recipe: recipe)

    def _base(self, row: Array, text: str, cost: int = 1) -> None:
        self._offer(row[None].astype(np.int16), 0, cost, 0, lambda place: Recipe(text, size=cost))

    def _offer(self, rows: Array, level: int, costs: ArrayLike, heads: ArrayLike,
               recipe: Callable[[int], Recipe]) -> list[int]:  # fmt: skip
        """Take s-ops that are defined everywhere; constants only while the literals come."""
        self.check_time()
        kept = rows.min(axis=1, initial=1) > 0
        if self.literals:
            kept &= (rows != rows[:, :1]).any(axis=1)
        if not kept.all():
            places = np.flatnonzero(kept)
            self.sops.offered += len(rows) - len(places)
            costs, heads = (np.broadcast_to(one, len(rows))[places] for one in (costs, heads))
            new = self.sops.offer(rows[places], level, costs, heads,
                                  lambda place: recipe(int(places[place])))  # fmt: skip
        else:
            new = self.sops.offer(rows, level, costs, heads, recipe)
        if new:
            if len(self.sops) > len(self._kinds):
                self._kinds = np.resize(self._kinds, 2 * len(self.sops))
            kinds = self.codes.kinds(self.sops.rows[new])
            uniform = kinds.max(axis=1) == kinds.min(axis=1)
            self._kinds[new] = np.where(uniform, kinds[:, 0], -1)
        return new

    def recipe(self, text: str, *parts: Part, heads: tuple[int, ...] = (), extra: int = 1) -> Recipe:
        """Write one expression with the parts of others."""
        known = [self.recipe_of(part) for part in parts]
        size = extra + sum(one.size for one in known)
        return Recipe(text, parts, size, frozenset(heads).union(*(one.heads for one in known)))

    def recipe_of(self, part: Part) -> Recipe:
        """Return how a part is written."""
        return (self.selectors if part.is_selector else self.sops).recipe(part.number)

    def is_literal(self, numbers: Array) -> Array:
        """Tell which s-ops are literals."""
        return (numbers >= self.first_literal) & (numbers < self.literals)

    # ------------------------------------------------------------------ selectors

    def grow_selectors(self, level: int) -> None:
        """Make the selectors of a layer: their keys and queries stand in the layers before."""
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
        return (rows == rows[:, first[group]]).all(axis=1)

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
            ("select(indices, 0, ==)", (other == 0) & (own >= 0)),
            ("select_best(select_all, score(indices, 1))", other == grid.lengths - 1),
        ]  # fmt: skip
        stack = np.stack([np.broadcast_to(rows, grid.keys.shape) for _, rows in places])
        self.simple = self._offer_selectors(stack & grid.exists, 1, 1, 0,
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
        self.simple += self._offer_selectors(stack, 2, 2, 1, lambda place: Recipe(
            f"select(indices, {places[place][0]}, ==)", (), 4, heads))  # fmt: skip

    def _offer_selectors(self, dense: Array, level: int, costs: ArrayLike, heads: ArrayLike,
                         recipe: Callable[[int], Recipe]) -> list[int]:  # fmt: skip
        words = pack(dense)
        return self.selectors.offer(words.reshape(len(words), -1), level, costs, heads, recipe)

    def _compare(self, keys: int, queries: Array, level: int) -> None:
        grid, key = self.grid, Part(False, keys)
        kind = int(self.kinds[keys])
        signs = ("==",) if kind == BOOL else ("==", "!=", "<", "<=", ">", ">=")
        left = self._ranks[self.sops.rows[keys]][grid.keys]
        costs = self.sops.costs[queries] * (queries != keys) + self.sops.costs[keys] + 1
        heads = np.maximum(self.sops.heads[queries], self.sops.heads[keys])
        for sign in signs if len(queries) else ():
            self.check_time()
            right = self._ranks[self.sops.rows[queries]][:, None]
            self._offer_selectors(
                _COMPARE[sign](left[None], right) & grid.exists, level, costs, heads,
                lambda place, sign=sign: self.recipe(  # type: ignore[misc]
                    f"select({{}}, {{}}, {sign})", key, Part(False, int(queries[place])))
            )  # fmt: skip

    def _combine(self, level: int) -> None:
        """`and`, `or`, the first and the last pick, of the cheapest selectors of this layer."""
        base = self.selectors.smallest(level, len(self.selectors), self.selectors.levels == level)
        some = self.selectors.smallest(level, self.widths.combined)
        self._join("and", *_pairs(base, np.array(self.simple[1:7])), level)
        self._join("and", *_pairs(base[: self.widths.combined], some), level)
        self._join("or", *_pairs(base[: self.widths.combined], some), level)
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
                join(bank.rows[one], bank.rows[other]), level, bank.costs[one] + bank.costs[other] + 1,
                np.maximum(bank.heads[one], bank.heads[other]),
                lambda place, one=one, other=other: self.recipe(  # type: ignore[misc]
                    f"({{}} {word} {{}})", Part(True, int(one[place])), Part(True, int(other[place])))
            )  # fmt: skip

    def _sort_order(self, keys: int, level: int) -> None:
        """Keys that come before the query's in sorted order, and those that come after."""
        grid = self.grid
        ranks = self._ranks[self.sops.rows[keys]]
        left, right = ranks[grid.keys], ranks[None]
        earlier = np.arange(grid.planes)[:, None] < grid.place
        held = [((left < right) | ((left == right) & earlier)) & grid.exists,
                ((left > right) | ((left == right) & earlier)) & grid.exists]  # fmt: skip
        part = Part(False, keys)
        texts = [f"(select({{}}, {{}}, {sign}) or select({{}}, {{}}, ==)"
                 " and select(indices, indices, <))" for sign in ("<", ">")]  # fmt: skip
        self._offer_selectors(
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
                        Part(True, int(numbers[place])))
                )  # fmt: skip

    # ------------------------------------------------------------------ aggregates

    def grow_aggregates(self, level: int) -> None:
        """Make what the selectors of a layer give: widths, whether they pick, and means."""
        self._best_of_all(level)
        chosen = self.selectors.smallest(level, self.widths.aggregated)
        usable = self.kinds >= 0
        usable[self.first_literal : self.literals] = False
        hot = self.sops.smallest(level - 1, 6, usable)
        for start in range(0, len(chosen), PLANES_CHUNK):
            numbers = chosen[start : start + PLANES_CHUNK]
            dense = self._dense(numbers)
            counts = dense.sum(axis=1, dtype=np.int16)
            own = np.flatnonzero(self.selectors.levels[numbers] == level)
            self._widths(numbers[own], counts[own], level)
            for value in hot.tolist():
                new = own if self.sops.levels[value] < level - 1 else np.arange(len(numbers))
                if len(new):
                    self._aggregate(numbers[new], dense[new], counts[new], np.array([value]), level)
        usable &= (self.sops.levels == level - 1)[: len(usable)]
        usable = np.pad(usable, (0, len(self.sops) - len(usable)))
        many = [self.sops.smallest(level - 1, most * self.widths.values, usable & (self.kinds == kind))
                for kind, most in ((BOOL, 100), (NUMBER, 25), (STRING, 10))]  # fmt: skip
        for number in self.simple:
            for values in many:
                self._everywhere(number, values[: len(values) // (1 + 3 * (number > self.upto))], level)

    def _dense(self, numbers: Array) -> Array:
        rows = self.selectors.rows[numbers].reshape(len(numbers), self.grid.planes, self.words)
        return unpack(np.ascontiguousarray(rows), self.grid.size)

    def _widths(self, numbers: Array, counts: Array, level: int) -> None:
        if not len(numbers):
            return
        some = np.where(counts > 0, self.codes.true, self.codes.false).astype(np.int16)
        costs, heads = self.selectors.costs[numbers] + 1, self.selectors.heads[numbers]

        def recipe(text: str, *own: int) -> Callable[[int], Recipe]:
            return lambda place: self.recipe(
                text, Part(True, int(numbers[place])),
                heads=tuple(3 * int(numbers[place]) + one for one in own))  # fmt: skip

        self._offer(some, level, costs, heads + 1, recipe("has_focus({})", 0))
        self._offer(self._width_codes[counts], level, costs, heads + 2,
                    recipe("selector_width({})", 1, 2))  # fmt: skip

    def _aggregate(self, numbers: Array, dense: Array, counts: Array, values: Array, level: int
                   ) -> None:  # fmt: skip
        """What selectors make of s-ops: several of one, or one of several."""
        rows = self.sops.rows[values]
        costs = self.selectors.costs[numbers] + self.sops.costs[values] + 1 + (counts > 1).any(axis=1)
        heads = np.maximum(self.selectors.heads[numbers], self.sops.heads[values]) + 1
        for default in self._defaults(int(self.kinds[values[0]]), bool((counts == 0).any())):
            written = f", {literal(default)}" if default != 0 or default is False else ""

            def recipe(place: int, written: str = written) -> Recipe:
                selector, value = (int(side[place % len(side)]) for side in (numbers, values))
                return self.recipe(f"aggregate({{}}, {{}}{written})", Part(True, selector),
                                   Part(False, value), heads=(3 * selector,),
                                   extra=1 + bool(written))  # fmt: skip

            self._offer(self._means(dense, counts, rows, default), level,
                        costs + bool(written), heads, recipe)  # fmt: skip

    def _defaults(self, kind: int, is_needed: bool) -> list[Atom]:
        if kind == NUMBER:
            more = [atom for atom in self.blanks if isinstance(atom, int) and atom != 0]
            return [0, *more[:1]] if is_needed else [0]
        if kind == BOOL:
            return [False]
        return [atom for atom in self.blanks if isinstance(atom, str)][:2] or [""]

    def _means(self, dense: Array, counts: Array, rows: Array, default: Atom) -> Array:
        """The values picked; 0 where bools or strings would be averaged."""
        keys = self.grid.keys
        taken = _picked_sums(dense, rows, keys)
        result = np.where(counts == 1, taken, 0).astype(np.int16)
        several = (counts > 1).any(axis=1)
        if several.any() and self.codes.kinds(rows[0, :1])[0] == NUMBER:
            scaled, common = self.codes.numerators(rows)
            sums = _picked_sums(dense, scaled.astype(np.int32), keys)
            for factor in np.unique(common[common > 0]).tolist():
                chosen = np.flatnonzero(np.broadcast_to((common == factor) & several, len(result)))
                picked = np.broadcast_to(counts, result.shape)[chosen]
                result[chosen] = self.codes.means(sums[chosen], picked, factor)
        return np.where(counts == 0, self.codes.code(default), result).astype(np.int16)

    def _everywhere(self, number: int, values: Array, level: int) -> None:
        """What one simple selector makes of many s-ops: means, sums, and whether one is true."""
        one = np.array([number])
        dense = self._dense(one)
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
                self._offer(rows, level, costs, self.sops.heads[values] + 1,
                            lambda place, text=text: self.recipe(  # type: ignore[misc]
                    text, Part(True, number), Part(False, int(values[place])),
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
            self._offer(rows, level, self.sops.costs[numbers] + 2, self.sops.heads[numbers] + 1,
                        lambda place, numbers=numbers: self.recipe(  # type: ignore[misc]
                f"({factor[number]} * aggregate({{}}, {{}}))", Part(True, number),
                Part(False, int(numbers[place])), heads=(3 * number,), extra=2))  # fmt: skip

    def _best_of_all(self, level: int) -> None:
        """The largest and the smallest value among all, and among those up to here."""
        if level == 1:
            ones = np.full((1, self.grid.size), self._width_codes[1])
            row = self.codes.apply("+", self.grid.indices[None], ones)
            heads = frozenset([3 * self.simple[0]])
            self._offer(row[:, self.grid.at_end], 1, 1, 1, lambda place: Recipe("length", heads=heads))
        usable = (self.kinds == NUMBER) & (self.sops.levels == level - 1)
        usable[self.first_literal : self.literals] = False
        values = self.sops.smallest(level - 1, self.widths.values // 2, usable)
        scaled, common = self.codes.numerators(self.sops.rows[values])
        for place in np.flatnonzero(common).tolist():
            for among in (self.simple[0], self.upto):
                self._best(among, int(values[place]), scaled[place], level)

    def _best(self, among: int, value: int, numbers: Array, level: int) -> None:
        dense = self._dense(np.array([among]))[0]
        cost, heads = self.sops.costs[value] + 2, self.sops.heads[value]
        for sign in (1, -1):
            scores = np.where(dense, sign * numbers[self.grid.keys], np.iinfo(np.int64).min)
            held = (dense & (scores == scores.max(axis=0)))[None]
            made = self._offer_selectors(held, level, cost, heads, lambda place, sign=sign: self.recipe(  # type: ignore[misc]
                f"select_best({{}}, score({{}}, {sign}))", Part(True, among), Part(False, value)))  # fmt: skip
            for number in made:
                self._aggregate(np.array([number]), held, held.sum(axis=1, dtype=np.int16),
                                np.array([value]), level)  # fmt: skip

    # ------------------------------------------------------------------ elementwise

    def grow_elementwise(self, level: int) -> None:
        """Make elementwise expressions of a layer, by cost, until there are enough candidates."""
        budget = self.sops.offered + self.widths.elementwise
        for cost in range(2, 14):
            for text, op, one, other in self._combinations(level, cost):
                if self.sops.offered > budget:
                    return
                self._apply(text, op, one, other, level, cost)

    def _combinations(self, level: int, cost: int) -> Iterator[tuple[str, str, Array, Array | None]]:
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
                one, other = _pairs(by_cost[left], by_cost[cost - more - left])
                fits = (np.maximum(levels[one], levels[other]) == level) & (kinds[one] == kinds[other])
                fits &= ~(self.is_literal(one) & self.is_literal(other)) & (one != other)
                one, other = one[fits], other[fits]
                for op, kind, commutes, dearness in BINARY:
                    held = (kinds[one] == kind) & (dearness == more)
                    if commutes:
                        held &= one < other
                    yield f"({{}} {op} {{}})", op, one[held], other[held]

    def _apply(self, text: str, op: str, one: Array, other: Array | None, level: int, cost: int) -> None:
        rows, heads = self.sops.rows, self.sops.heads
        for start in range(0, len(one), CHUNK):
            sides = [side[start : start + CHUNK] for side in (one, other) if side is not None]
            self._offer(
                self.codes.apply(op, *(rows[side] for side in sides)), level, cost,
                np.max([heads[side] for side in sides], axis=0),
                lambda place, sides=sides: self.recipe(  # type: ignore[misc]
                    text, *(Part(False, int(side[place])) for side in sides))
            )  # fmt: skip


_COMPARE = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
UNARY = (("not", "(not {})", BOOL), ("indicator", "indicator({})", BOOL),
         ("abs", "abs({})", NUMBER), ("floor", "floor({})", NUMBER), ("round", "round({})", NUMBER))  # fmt: skip
BINARY = (
    ("==", NUMBER, True, 1), ("==", STRING, True, 1), ("<", NUMBER, False, 1), ("+", NUMBER, True, 1),
    ("-", NUMBER, False, 1), ("and", BOOL, True, 1), ("or", BOOL, True, 1), ("+", STRING, False, 1),
    ("<", STRING, False, 2), ("%", NUMBER, False, 2), ("*", NUMBER, True, 2),
    ("!=", BOOL, True, 2), ("//", NUMBER, False, 3), ("/", NUMBER, False, 3),
)  # fmt: skip
"""Operators, what they work on, whether the sides can be swapped, and what they cost."""


def _picked_sums(dense: Array, rows: Array, keys: Array) -> Array:
    """The sums of what is picked: several selections of one row, or one selection of several."""
    sums = np.zeros((max(len(dense), len(rows)), rows.shape[1]), dtype=np.int32)
    for plane, places in enumerate(keys):
        sums += dense[:, plane] * rows[:, places]
    return sums


def _pairs(left: Array, right: Array) -> tuple[Array, Array]:
    """Every pair of one number and another."""
    return np.repeat(left, len(right)), np.tile(right, len(left))


def first_of(planes: Array, order: Sequence[int]) -> Array:
    """Keep in each row the pick whose plane comes first."""
    seen = np.zeros_like(planes[:, 0])
    kept = np.zeros_like(planes)
    for plane in order:
        kept[:, plane] = planes[:, plane] & ~seen
        seen |= planes[:, plane]
    return kept


def _classes(tokens: set[Atom]) -> list[tuple[str, set[str]]]:
    """Classes of characters that a program is likely to ask for, as it would write them."""
    words = {token for token in tokens if isinstance(token, str) and len(token) == 1}
    classes = []
    for members in (set("aeiou"), set("0123456789"), set("([{<"), set(")]}>")):
        found = sorted(words & members)
        if 1 < len(found) < len(tokens):
            listed = ", ".join(literal(token) for token in found)
            classes.append((f"(tokens in [{listed}])", set(found)))
    return classes
