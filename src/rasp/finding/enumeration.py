"""Expressions from the bottom up: layer by layer, small before large, each computed once.

A round makes, for each layer, the selectors over what there is (`_select`, then `and`, `or`, the
first and last picks), what they aggregate, and elementwise expressions over that. How many of
each is a matter of `Widths`: a wider round begins again and goes further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from rasp.atoms import Atom
from rasp.finding.atom_codes import BOOL, NUMBER, STRING, Array, AtomCodes
from rasp.finding.example_grid import Fingerprints, Grid, pack, unpack
from rasp.finding.expression_bank import Bank, Part, Recipe, literal

CHUNK = 512


class OutOfTime(Exception):
    """The time is over, or somebody pressed Ctrl-C."""


@dataclass(frozen=True)
class Widths:
    """How many expressions of each sort take part in making larger ones."""

    core: int = 40
    """S-ops of earlier layers that selectors compare."""
    paired: int = 14
    """Of these, those that are compared with one another, each with each."""
    combined: int = 120
    """Selectors that are combined with one another."""
    values: int = 60
    """S-ops that a simple selector aggregates."""
    aggregated: int = 1500
    """Selectors that aggregate the simplest values."""
    operands: int = 400
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
        self.kinds = np.zeros(0, dtype=np.int8)
        self._width_codes = np.array(
            [self.codes.code(count) for count in range(grid.planes + 1)], dtype=np.int16
        )
        self.simple: list[int] = []
        """Selectors that may aggregate anything, such as all keys and those before."""
        self._start(constants)

    @property
    def candidates(self) -> int:
        """How many candidates were computed and looked up."""
        return self.sops.offered + self.selectors.offered

    def _start(self, constants: Sequence[Atom]) -> None:
        grid = self.grid
        self._offer(grid.tokens[None], 0, lambda place: Recipe("tokens"))
        self._offer(grid.indices[None], 0, lambda place: Recipe("indices"))
        tokens = {atom for atoms in grid.inputs for atom in atoms}
        if all(isinstance(token, str) and token.isdecimal() and token.isascii() for token in tokens):
            self._offer(self.codes.apply("int", grid.tokens)[None], 0,
                        lambda place: Recipe("tokens_int"))  # fmt: skip
        for atom in constants:
            row = np.full((1, grid.size), self.codes.code(atom), dtype=np.int16)
            self._offer(row, 0, lambda place, atom=atom: Recipe(literal(atom)))  # type: ignore[misc]
        for name, members in _classes(tokens):
            row = np.where([token in members for atoms in grid.inputs for token in atoms],
                           self.codes.true, self.codes.false).astype(np.int16)  # fmt: skip
            self._offer(row[None], 0, lambda place, name=name: Recipe(name, size=2))  # type: ignore[misc]

    def _offer(self, rows: Array, level: int, recipe: Callable[[int], Recipe]) -> list[int]:
        """Take s-ops that are defined everywhere and hold strings or numbers, not both."""
        if monotonic() > self.deadline:
            raise OutOfTime
        defined = rows.min(axis=1, initial=1) > 0
        if not defined.all():
            kept = np.flatnonzero(defined)
            new = self.sops.offer(rows[kept], level, lambda place: recipe(int(kept[place])))
            self.sops.offered += len(rows) - len(kept)
        else:
            new = self.sops.offer(rows, level, recipe)
        if new:
            kinds = self.codes.kinds(self.sops.rows[new])
            uniform = kinds.max(axis=1) == kinds.min(axis=1)
            self.kinds = np.append(self.kinds, np.where(uniform, kinds[:, 0], -1).astype(np.int8))
        return new

    def recipe(self, text: str, *parts: Part, heads: tuple[int, ...] = (), extra: int = 1) -> Recipe:
        """Write one expression with the parts of others."""
        known = [self._recipe_of(part) for part in parts]
        size = extra + sum(one.size for one in known)
        return Recipe(text, parts, size, frozenset(heads).union(*(one.heads for one in known)))

    def _recipe_of(self, part: Part) -> Recipe:
        bank = self.selectors if part.is_selector else self.sops
        return bank.recipes[part.number]

    # ------------------------------------------------------------------ selectors

    def grow_selectors(self, level: int) -> None:
        """Make the selectors of a layer: their keys and queries stand in the layers before."""
        core = self.sops.smallest(level - 1, self.widths.core, self.kinds >= 0)
        self._ranks = self.codes.ranks()
        first = len(self.selectors)
        if level == 1:
            self._select_places()
        paired = set(core[: self.widths.paired].tolist())
        positions = {0, 1}
        for keys in core.tolist():
            if keys in paired:
                queries = core
            else:
                queries = np.array([q for q in core.tolist() if q in paired or q == keys])
            new = [q for q in queries.tolist()
                   if max(self.sops.levels[[keys, q]]) == level - 1
                   and self.kinds[keys] == self.kinds[q]
                   and (q in paired or keys in paired or keys == q or {keys, q} & positions)]  # fmt: skip
            self._compare(keys, np.array(new, dtype=int), level)
        self._combine(first, level)

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
        ]  # fmt: skip
        stack = np.stack([np.broadcast_to(rows & grid.exists, grid.keys.shape)
                          for _, rows in places])  # fmt: skip
        self.simple = self._offer_selectors(stack, 1, lambda place: Recipe(places[place][0]))
        last = grid.exists & (other == grid.lengths - 1)
        self.simple += self._offer_selectors(
            last[None], 1, lambda place: Recipe("select_best(select_all, score(indices, 1))", size=2)
        )
        self.before, self.upto = self.simple[1:3]

    def _offer_selectors(self, dense: Array, level: int, recipe: Callable[[int], Recipe]) -> list[int]:
        words = pack(dense)
        return self.selectors.offer(words.reshape(len(words), -1), level, recipe)

    def _compare(self, keys: int, queries: Array, level: int) -> None:
        if not len(queries):
            return
        if monotonic() > self.deadline:
            raise OutOfTime
        grid = self.grid
        kind = int(self.kinds[keys])
        signs = ("==",) if kind == BOOL else ("==", "!=", "<", "<=", ">", ">=")
        left = self._ranks[self.sops.rows[keys]][grid.keys]
        right = self._ranks[self.sops.rows[queries]][:, None]
        key = Part(False, keys)
        for sign in signs:
            held = _COMPARE[sign](left[None], right) & grid.exists
            self._offer_selectors(
                held, level,
                lambda place, sign=sign: self.recipe(  # type: ignore[misc]
                    f"select({{}}, {{}}, {sign})", key, Part(False, int(queries[place])))
            )  # fmt: skip

    def _combine(self, first: int, level: int) -> None:
        """`and`, `or`, the first and the last pick, of the smallest selectors of this layer."""
        base = self.selectors.smallest(level, len(self.selectors))
        base = base[self.selectors.levels[base] == level]
        places = np.array(self.simple[1:7])
        self._join("and", *_pairs(base, places), level)
        self._join("and", *_pairs(base[: self.widths.combined],
                                  self.selectors.smallest(level, self.widths.combined)), level)  # fmt: skip
        self._join("or", *_pairs(base[: self.widths.combined],
                                 self.selectors.smallest(level, self.widths.combined)), level)  # fmt: skip
        for keys in self.sops.smallest(level - 1, 12, self.kinds >= 0).tolist():
            if self.sops.levels[keys] == level - 1:
                self._sort_order(keys, level)
        picked = self.selectors.smallest(level, 4 * self.widths.combined)
        self._ends(picked[self.selectors.levels[picked] == level], level)

    def _join(self, word: str, left: Array, right: Array, level: int) -> None:
        rows = self.selectors.rows
        join = np.bitwise_and if word == "and" else np.bitwise_or
        for start in range(0, len(left), CHUNK):
            if monotonic() > self.deadline:
                raise OutOfTime
            one, other = left[start : start + CHUNK], right[start : start + CHUNK]
            self.selectors.offer(
                join(rows[one], rows[other]), level,
                lambda place, one=one, other=other: self.recipe(  # type: ignore[misc]
                    f"({{}} {word} {{}})", Part(True, int(one[place])), Part(True, int(other[place])))
            )  # fmt: skip

    def _sort_order(self, keys: int, level: int) -> None:
        """Keys that come before the query's in sorted order, and those that come after."""
        grid = self.grid
        ranks = self._ranks[self.sops.rows[keys]]
        left, right = ranks[grid.keys], ranks[None]
        earlier = np.arange(grid.planes)[:, None] < grid.place
        for sign, held in (("<", left < right), (">", left > right)):
            order = (held | ((left == right) & earlier)) & grid.exists
            text = (f"(select({{}}, {{}}, {sign}) or select({{}}, {{}}, ==)"
                    " and select(indices, indices, <))")  # fmt: skip
            part = Part(False, keys)
            size = 2 + self.sops.recipes[keys].size
            self._offer_selectors(
                order[None], level,
                lambda place, text=text: Recipe(  # type: ignore[misc]
                    text, (part,) * 4, size, self.sops.recipes[keys].heads),
            )

    def _ends(self, chosen: Array, level: int) -> None:
        """Of each selector, the first picks and the last picks alone."""
        for start in range(0, len(chosen), CHUNK):
            numbers = chosen[start : start + CHUNK]
            planes = self.selectors.rows[numbers].reshape(len(numbers), self.grid.planes, self.words)
            for sign, order in ((-1, range(self.grid.planes)),
                                (1, range(self.grid.planes - 1, -1, -1))):  # fmt: skip
                self.selectors.offer(
                    _first_of(planes, order).reshape(len(numbers), -1), level,
                    lambda place, numbers=numbers, sign=sign: self.recipe(  # type: ignore[misc]
                        f"select_best({{}}, score(indices, {sign}))",
                        Part(True, int(numbers[place])), extra=2)
                )  # fmt: skip

    # ------------------------------------------------------------------ aggregates

    def grow_aggregates(self, level: int) -> None:
        """Make what the selectors of a layer give: widths, whether they pick, and means."""
        self._best_of_all(level)
        chosen = self.selectors.smallest(level, self.widths.aggregated)
        values = self.sops.smallest(level - 1, self.widths.values, self.kinds >= 0)
        hot = [int(one) for one in values if not self._is_constant(int(one))][:6]
        for start in range(0, len(chosen), CHUNK):
            numbers = chosen[start : start + CHUNK]
            dense = self._dense(numbers)
            counts = dense.sum(axis=1, dtype=np.int16)
            own = np.flatnonzero(self.selectors.levels[numbers] == level)
            self._widths(numbers[own], counts[own], level)
            for value in hot:
                new = own if self.sops.levels[value] < level - 1 else np.arange(len(numbers))
                self._aggregate(numbers[new], dense[new], counts[new], np.array([value]), level)
        many = self.sops.smallest(level - 1, 25 * self.widths.values, self.kinds >= 0)
        for number in self.simple:
            self._everywhere(number, many[self.sops.levels[many] == level - 1], level)

    def _dense(self, numbers: Array) -> Array:
        rows = self.selectors.rows[numbers].reshape(len(numbers), self.grid.planes, self.words)
        return unpack(np.ascontiguousarray(rows), self.grid.size)

    def _is_constant(self, number: int) -> bool:
        row = self.sops.rows[number]
        return bool((row == row[0]).all())

    def _widths(self, numbers: Array, counts: Array, level: int) -> None:
        some = np.where(counts > 0, self.codes.true, self.codes.false).astype(np.int16)

        def recipe(text: str, *heads: int) -> Callable[[int], Recipe]:
            return lambda place: self.recipe(
                text, Part(True, int(numbers[place])),
                heads=tuple(3 * int(numbers[place]) + one for one in heads))  # fmt: skip

        self._offer(some, level, recipe("has_focus({})", 0))
        self._offer(self._width_codes[counts], level, recipe("selector_width({})", 1, 2))

    def _aggregate(self, numbers: Array, dense: Array, counts: Array, values: Array, level: int
                   ) -> None:  # fmt: skip
        """What selectors make of s-ops: several of one, or one of several."""
        rows = self.sops.rows[values]
        for default in self._defaults(int(self.kinds[values[0]]), bool((counts == 0).any())):
            written = f", {literal(default)}" if default != 0 or default is False else ""

            def recipe(place: int, written: str = written) -> Recipe:
                selector, value = (int(side[place % len(side)]) for side in (numbers, values))
                return self.recipe(f"aggregate({{}}, {{}}{written})", Part(True, selector),
                                   Part(False, value), heads=(3 * selector,),
                                   extra=1 + bool(written))  # fmt: skip

            self._offer(self._means(dense, counts, rows, default), level, recipe)

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
        taken = np.where(dense, rows[:, keys], 0).sum(axis=1, dtype=np.int32)
        result = np.where(counts == 1, taken, 0).astype(np.int16)
        several = (counts > 1).any(axis=1)
        if several.any() and self.codes.kinds(rows[0, :1])[0] == NUMBER:
            scaled, common = self.codes.numerators(rows)
            sums = np.where(dense, scaled[:, keys], 0).sum(axis=1)
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
            for start in range(0, len(same), CHUNK):
                chunk = same[start : start + CHUNK]
                if kind == BOOL:
                    self._over_bools(number, dense, chunk, level)
                if kind == NUMBER:
                    self._sums(number, dense, chunk, level)
                self._aggregate(one, dense, counts, chunk, level)

    def _over_bools(self, number: int, dense: Array, values: Array, level: int) -> None:
        held = (self.sops.rows[values] == self.codes.true)[:, self.grid.keys] & dense
        total = held.sum(axis=1, dtype=np.int16)
        some = np.where(total > 0, self.codes.true, self.codes.false).astype(np.int16)
        every = {"{} > 0": some}
        if number == self.simple[0]:
            every["round(length * {})"] = self._width_codes[total]
        if number == self.upto:
            every["num_prevs"] = self._width_codes[total]
        for text, rows in every.items():
            written = "num_prevs({1})" if text == "num_prevs" else (
                "(" + text.replace("{}", "aggregate({0}, indicator({1}))") + ")")  # fmt: skip
            self._offer(rows, level, lambda place, written=written: self.recipe(  # type: ignore[misc]
                written, Part(True, number), Part(False, int(values[place])),
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
            rows = self.codes.means(sums[chosen], np.ones_like(sums[chosen]), one)
            self._offer(rows, level, lambda place, chosen=chosen: self.recipe(  # type: ignore[misc]
                f"({factor[number]} * aggregate({{}}, {{}}))", Part(True, number),
                Part(False, int(values[chosen[place]])), heads=(3 * number,), extra=2))  # fmt: skip

    def _best_of_all(self, level: int) -> None:
        """The largest and the smallest value among all, and among those up to here."""
        if level == 1:
            ones = np.full((1, self.grid.size), self._width_codes[1])
            row = self.codes.apply("+", self.grid.indices[None], ones)
            self._offer(row[:, self.grid.at_end], 1,
                        lambda place: Recipe("length", heads=frozenset([3 * self.simple[0]])))  # fmt: skip
        values = self.sops.smallest(level - 1, self.widths.values // 2, self.kinds == NUMBER)
        values = values[self.sops.levels[values] == level - 1]
        scaled, common = self.codes.numerators(self.sops.rows[values])
        for place in np.flatnonzero(common).tolist():
            if not self._is_constant(int(values[place])):
                for among in (self.simple[0], self.upto):
                    self._best(among, int(values[place]), scaled[place], level)

    def _best(self, among: int, value: int, numbers: Array, level: int) -> None:
        dense = self._dense(np.array([among]))[0]
        for sign in (1, -1):
            scores = np.where(dense, sign * numbers[self.grid.keys], np.iinfo(np.int64).min)
            held = (dense & (scores == scores.max(axis=0)))[None]
            made = self._offer_selectors(held, level, lambda place, sign=sign: self.recipe(  # type: ignore[misc]
                f"select_best({{}}, score({{}}, {sign}))", Part(True, among), Part(False, value)))  # fmt: skip
            for number in made:
                self._aggregate(np.array([number]), held, held.sum(axis=1, dtype=np.int16),
                                np.array([value]), level)  # fmt: skip

    # ------------------------------------------------------------------ elementwise

    def grow_elementwise(self, level: int) -> None:
        """Make elementwise expressions of a layer, by size, until there are enough candidates."""
        budget = self.sops.offered + self.widths.elementwise
        for size in range(2, 12):
            for text, op, one, other in self._combinations(level, size):
                if self.sops.offered > budget:
                    return
                self._apply(text, op, one, other, level)

    def _combinations(self, level: int, size: int) -> Iterator[tuple[str, str, Array, Array | None]]:
        usable = self.sops.smallest(level, self.widths.operands, self.kinds >= 0)
        current = self.sops.smallest(level, len(self.sops), self.kinds >= 0)
        current = current[self.sops.levels[current] == level][: self.widths.operands]
        usable = np.union1d(usable, current)
        sizes, levels, kinds = self.sops.sizes, self.sops.levels, self.kinds
        by_size = {at: usable[sizes[usable] == at] for at in range(1, size)}
        own = by_size[size - 1]
        own = own[levels[own] == level]
        for op, text, kind in UNARY:
            yield text, op, own[kinds[own] == kind], None
        for left in range(1, size - 1):
            one, other = _pairs(by_size[left], by_size[size - 1 - left])
            fits = (np.maximum(levels[one], levels[other]) == level) & (kinds[one] == kinds[other])
            one, other = one[fits], other[fits]
            for op, kind, commutes in BINARY:
                held = kinds[one] == kind
                if commutes:
                    held &= one < other
                yield f"({{}} {op} {{}})", op, one[held], other[held]

    def _apply(self, text: str, op: str, one: Array, other: Array | None, level: int) -> None:
        rows = self.sops.rows
        for start in range(0, len(one), CHUNK):
            left = one[start : start + CHUNK]
            right = None if other is None else other[start : start + CHUNK]
            operands = [rows[left]] if right is None else [rows[left], rows[right]]
            self._offer(
                self.codes.apply(op, *operands), level,
                lambda place, left=left, right=right: self.recipe(  # type: ignore[misc]
                    text, *(Part(False, int(side[place])) for side in (left, right)
                            if side is not None))
            )  # fmt: skip


_COMPARE = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
UNARY = (("not", "(not {})", BOOL), ("indicator", "indicator({})", BOOL),
         ("abs", "abs({})", NUMBER), ("floor", "floor({})", NUMBER), ("round", "round({})", NUMBER))  # fmt: skip
BINARY = (
    ("==", NUMBER, True), ("==", STRING, True), ("<", NUMBER, False), ("+", NUMBER, True),
    ("-", NUMBER, False), ("and", BOOL, True), ("or", BOOL, True), ("%", NUMBER, False),
    ("*", NUMBER, True), ("//", NUMBER, False), ("<", STRING, False), ("/", NUMBER, False),
    ("!=", BOOL, True), ("+", STRING, False),
)  # fmt: skip


def _pairs(left: Array, right: Array) -> tuple[Array, Array]:
    """Every pair of one number and another."""
    return np.repeat(left, len(right)), np.tile(right, len(left))


def _first_of(planes: Array, order: Sequence[int]) -> Array:
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
