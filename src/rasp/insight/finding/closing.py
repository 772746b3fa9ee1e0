"""From what is wanted, back: the last step of a program, found without making it first.

Each way to end a program turns what is wanted into a question that tables answer at once: which
s-op has exactly these values; of which s-op is it a function; which one would be missing from a
sum; which conditions choose between two that are each right somewhere; which selector picks, in
each row, only keys whose value is the one wanted there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.base.atoms import Atom
from rasp.insight.finding.atom_codes import BOOL, NUMBER, STRING, Array
from rasp.insight.finding.enumeration import CHUNK, Enumeration, first_of
from rasp.insight.finding.example_grid import Fingerprints, pack, unpack
from rasp.insight.finding.expression_bank import Part, Recipe, literal

LARGEST_TABLE = 40
MOST_LEAVES = 160
MOST_CONDITIONS = 1200
MOST_SELECTORS = 260
MOST_VALUES = 5
MOST_BOOLS = 12_000
MOST_COUNTING = 30
MOST_PLACES = 10_000
MOST_INVERTED = 10_000


@dataclass(frozen=True)
class Ending:
    """A program that gives what is wanted: its last expression, and its layers."""

    recipe: Recipe
    level: int


class Closing:
    """Finds the ends of programs, for one enumeration."""

    def __init__(self, made: Enumeration) -> None:
        self.made, self.codes, self.sops = made, made.codes, made.sops
        self.care = np.flatnonzero(made.grid.care)
        self.target = made.grid.target[self.care]
        self.kind = int(self.codes.kinds(self.target[:1])[0])
        self._looked_at = 0

    def endings(self, level: int) -> Iterator[Ending]:
        """Find the programs of a layer that end in an elementwise step."""
        for recipe, depth in [*self._direct(), *self._functions(level), *self._inverted(level),
                              *self._choices(level)]:  # fmt: skip
            yield Ending(recipe, depth)

    def _recipe(self, text: str, *parts: Part, extra: int = 1, heads: tuple[int, ...] = ()) -> Recipe:
        return self.made.recipe(text, *parts, extra=extra, heads=heads)

    def _direct(self) -> Iterator[tuple[Recipe, int]]:
        rows = self.sops.rows[self._looked_at :, self.care]
        first, self._looked_at = self._looked_at, len(self.sops)
        for number in (np.flatnonzero((rows == self.target).all(axis=1)) + first).tolist():
            yield self.sops.recipe(number), int(self.sops.levels[number])

    # ------------------------------------------------------------------ functions of one s-op

    def _functions(self, level: int) -> Iterator[tuple[Recipe, int]]:
        """S-ops that decide what is wanted: a table, a threshold or a line says how."""
        for number in self._deciding(level):
            row = self.sops.rows[number, self.care]
            keys, first, counts = np.unique(row, return_index=True, return_counts=True)
            table = {self.codes.atoms[key]: self.codes.atoms[value] for key, value
                     in zip(keys.tolist(), self.target[first].tolist(), strict=True)}  # fmt: skip
            if len(table) > 1:
                depth = int(self.sops.levels[number])
                is_plain = self.sops.costs[number] <= 3 or self.made.kinds[number] == STRING
                is_known = counts.min() >= (2 if is_plain else 4)
                most = LARGEST_TABLE if is_plain else 4
                for text, extra in _texts(table, most if is_known else 0):
                    yield self._recipe(text, Part(False, number), extra=extra), depth

    def _deciding(self, level: int) -> list[int]:
        numbers = np.flatnonzero((self.sops.levels <= level) & (self.made.kinds >= 0))
        found: list[int] = []
        size = len(self.codes.atoms)
        for start in range(0, len(numbers), CHUNK):
            chosen = numbers[start : start + CHUNK]
            rows = self.sops.rows[chosen][:, self.care].astype(np.intp)
            rows += np.arange(len(chosen))[:, None] * size
            says = np.zeros(len(chosen) * size, dtype=np.int16)
            says[rows] = self.target
            found += chosen[(says[rows] == self.target).all(axis=1)].tolist()
        return sorted(found, key=lambda one: int(self.sops.costs[one]))[:60]

    # ------------------------------------------------------------------ two operands

    def _inverted(self, level: int) -> Iterator[tuple[Recipe, int]]:
        """`x + y` and the like: what x leaves to be wanted is looked up among all s-ops."""
        numbers = self.sops.smallest(level, MOST_INVERTED, self.made.kinds == self.kind)
        if self.kind == BOOL or not len(numbers):
            return
        prints = Fingerprints(len(self.care))
        rows = np.ascontiguousarray(self.sops.rows[numbers][:, self.care])
        known: dict[bytes, int] = {}
        for number, mark in zip(numbers.tolist(), prints.of(rows), strict=True):
            known.setdefault(mark, number)
        target = np.broadcast_to(self.target, rows.shape)
        for text, op, is_turned in _INVERSES[self.kind]:
            for start in range(0, len(rows), CHUNK):
                sides = target[start : start + CHUNK], rows[start : start + CHUNK]
                left = self.codes.apply(op, *(sides[::-1] if is_turned else sides))
                whole = np.flatnonzero(left.min(axis=1) > 0)
                marks = prints.of(left[whole]) if len(whole) else []
                for place, mark in zip(whole.tolist(), marks, strict=True):
                    other = known.get(mark)
                    if other is not None:
                        number = int(numbers[start + place])
                        depth = int(max(self.sops.levels[[number, other]]))
                        yield self._recipe(text, Part(False, number), Part(False, other)), depth

    # ------------------------------------------------------------------ choices

    def _choices(self, level: int) -> Iterator[tuple[Recipe, int]]:
        """`x if condition else …`: a short list of conditions, each with what is right there."""
        numbers = self.sops.smallest(level, 40_000, self.made.kinds == self.kind)
        right = self.sops.rows[numbers][:, self.care] == self.target
        numbers, right = _distinct(numbers, right, MOST_LEAVES, by_cover=True)
        conditions = self.sops.smallest(level, 40_000, self.made.kinds == BOOL)
        held = self.sops.rows[conditions][:, self.care] == self.codes.true
        conditions, held = _distinct(conditions, held, MOST_CONDITIONS)
        if not len(conditions) or not len(numbers):
            return
        search = _Choosing(self, numbers, right, conditions, held)
        for depth in (1, 2, 3):
            found = search.cover(np.ones(len(self.care), dtype=bool), depth)
            for recipe in found:
                yield recipe, self._level_of(recipe)
            if found:
                return

    def _level_of(self, recipe: Recipe) -> int:
        return max((int(self.sops.levels[part.number]) for part in recipe.parts), default=0)

    # ------------------------------------------------------------------ the last head

    def moves(self, level: int) -> Iterator[Ending]:
        """Find the programs of a layer that end in a head: what it picks is what is wanted."""
        numbers = self.made.selectors.smallest(level, 40_000)
        bools = self.sops.smallest(level - 1, MOST_BOOLS, self.made.kinds == BOOL)
        bools = bools[~self.made.is_literal(bools)]
        shape = (-1, self.made.grid.planes, self.made.words)
        held = [pack((self.sops.rows[chunk] == self.codes.true)[:, self.made.grid.keys])
                for chunk in np.array_split(bools, 1 + len(bools) // CHUNK)]  # fmt: skip
        marked = np.concatenate(held).reshape(shape)
        for value in self._values(level):
            yield from self._placing(Part(False, value), level)
        if self.kind == NUMBER:
            yield from self._counting(bools, marked, level)
        for text, allowed, needed, single, parts, extra in self._questions(level):
            self.made.check_time()
            fits = _Fit(pack(allowed & self.made.grid.exists), pack(needed[None])[0], single)
            for selector, depth in (*self._picking(numbers, fits), *self._marking(bools, marked, fits)):
                yield self._headed(text, selector, depth, parts, extra)

    def _counting(self, bools: Array, marked: Array, level: int) -> Iterator[Ending]:
        """How many of the keys that a selector picks have a bool that is true."""
        made = self.made
        wanted = made.grid.target
        counts = np.array([atom if type(atom) is int and 0 <= atom < 64 else 64
                           for atom in self.codes.atoms])[wanted]  # fmt: skip
        bits = [pack(((counts >> bit) & 1 == 1)[None])[0] for bit in range(7)]
        free = pack(~made.grid.care[None])[0]
        bank = made.selectors
        own = bank.smallest(level, 2 * MOST_COUNTING, bank.levels == level)
        others = bank.smallest(level, MOST_COUNTING, bank.costs > 1)
        for simple in np.union1d(own, others).tolist():
            rows = marked & bank.rows[simple].reshape(1, made.grid.planes, made.words)
            for place in np.flatnonzero(_is_width(rows, bits, free))[:3].tolist():
                parts = Part(True, simple), Part(False, int(bools[place]))
                recipe = self._recipe("selector_width({} and select({}, True, ==))", *parts,
                                      extra=4, heads=(-1, -2))  # fmt: skip
                yield Ending(recipe, level)

    def _placing(self, value: Part, level: int) -> Iterator[Ending]:
        """An s-op that says from where each value comes, or where it goes."""
        grid = self.made.grid
        numbers = self.sops.smallest(level - 1, MOST_PLACES, self.made.kinds == NUMBER)
        places = np.array([atom if type(atom) is int and 0 <= atom < 99 else 99
                           for atom in self.codes.atoms])  # fmt: skip
        row = self.sops.rows[value.number]
        for start in range(0, len(numbers), CHUNK):
            chunk = numbers[start : start + CHUNK]
            place = places[self.sops.rows[chunk]]
            inside = place < grid.lengths
            at = np.where(inside, grid.starts + place, 0)
            taken = (row[at] == grid.target) | ~grid.care
            put = ((grid.target[at] == row) | ~grid.care[at]) & inside
            fill = np.zeros_like(inside)
            np.put_along_axis(fill, at, inside, axis=1)
            for rows, text in ((taken & inside, "aggregate(select(indices, {}, ==), {})"),
                               (put & (fill | ~grid.care), "aggregate(select({}, indices, ==), {})")):  # fmt: skip
                for number in chunk[rows.all(axis=1)].tolist()[:3]:
                    recipe = self._recipe(text, Part(False, int(number)), value, extra=2, heads=(-1,))
                    yield Ending(recipe, level)

    def _headed(self, text: str, selector: Recipe, depth: int, values: tuple[Part, ...], extra: int
                ) -> Ending:  # fmt: skip
        """Write a head: its selector goes into the first place of the text."""
        known = [self.sops.recipe(value.number) for value in values]
        recipe = Recipe(
            text.replace("{}", selector.text, 1), (*selector.parts, *values),
            extra + selector.size + sum(one.size for one in known),
            selector.heads.union({-1}, *(one.heads for one in known)),
        )  # fmt: skip
        return Ending(recipe, max([depth, *(int(self.sops.levels[one.number]) + 1
                                            for one in values)]))  # fmt: skip

    def _questions(self, level: int) -> Iterator[tuple[str, Array, Array, bool, tuple[Part, ...], int]]:
        """For each way to read a head: the keys that are right, and the rows that must pick."""
        grid = self.made.grid
        free = ~grid.care
        if self.kind == BOOL:
            for answer, text in ((self.codes.true, "has_focus({})"),
                                 (self.codes.false, "(not has_focus({}))")):  # fmt: skip
                wanted = grid.care & (grid.target == answer)
                if wanted.any() and not (wanted | free).all():
                    yield text, np.broadcast_to(wanted | free, grid.keys.shape), wanted, False, (), 1
        counts = np.bincount(self.target)
        defaults = [None, int(counts.argmax())]
        for value in self._values(level):
            right = (self.sops.rows[value][grid.keys] == grid.target) | free
            for default in defaults:
                if default is not None and not counts[default]:
                    continue
                needed = grid.care & (grid.target != (default or 0))
                usual = default is None or self.codes.atoms[default] == 0 and self.kind == NUMBER
                written = "" if usual else f", {literal(self.codes.atoms[default])}"
                yield (f"aggregate({{}}, {{}}{written})", right, needed, self.kind != NUMBER,
                       (Part(False, value),), 1 + bool(written))  # fmt: skip

    def _values(self, level: int) -> list[int]:
        """The simplest s-ops that a last head could move."""
        literal = self.made.is_literal(np.arange(len(self.sops)))
        return self.sops.smallest(level - 1, MOST_VALUES, (self.made.kinds == self.kind) & ~literal).tolist()

    def _picking(self, numbers: Array, fits: _Fit) -> Iterator[tuple[Recipe, int]]:
        """Selectors, and pairs of them, that pick right keys only, and pick where they must."""
        made = self.made
        bank = made.selectors
        words = bank.rows[numbers].reshape(-1, made.grid.planes, made.words)
        covers = fits.could(words)
        numbers, words = numbers[covers], words[covers]
        levels = bank.levels
        for text, place in fits.among(words, "{}", 6):
            one = Part(True, int(numbers[place]))
            yield self._recipe(text, one, extra=2 * ("best" in text)), int(levels[one.number])
        few, chosen = numbers[:MOST_SELECTORS], words[:MOST_SELECTORS]
        for place, number in enumerate(few.tolist()):
            both = chosen[place + 1 :] & chosen[place]
            for text, other in fits.among(both, "({} and {})", 3):
                mate = int(few[place + 1 + other])
                recipe = self._recipe(text, Part(True, number), Part(True, mate),
                                      extra=1 + 2 * ("best" in text))  # fmt: skip
                yield recipe, int(max(levels[[number, mate]]))

    def _marking(self, bools: Array, marked: Array, fits: _Fit) -> Iterator[tuple[Recipe, int]]:
        """Keys at which a bool is true, among all, or those on one side of the query."""
        made = self.made
        could = fits.could(marked)
        bools, marked = bools[could], marked[could]
        for simple in made.simple[:5]:
            where = made.selectors.rows[simple].reshape(1, made.grid.planes, made.words)
            base = "select({}, True, ==)"
            base = base if simple == made.simple[0] else f"({base} and {{}})"
            for text, place in fits.among(marked & where, base, 3):
                parts = (Part(False, int(bools[place])), Part(True, simple))[: base.count("{}")]
                yield (self._recipe(text, *parts, extra=2 + 2 * ("best" in text)),
                       int(self.sops.levels[bools[place]]) + 1)  # fmt: skip


@dataclass(frozen=True)
class _Fit:
    """What a selection must be: the keys it may pick, the rows that must, and whether once."""

    good: Array
    must: Array
    single: bool

    def could(self, words: Array) -> Array:
        """Which selections pick a right key in every row that must."""
        hit = np.bitwise_or.reduce(words & self.good, axis=1)
        return ((hit & self.must) == self.must).all(axis=1)

    def among(self, words: Array, text: str, most: int) -> Iterator[tuple[str, int]]:
        """Which selections fit as they are, or reduced to the first or last pick of each row."""
        order = range(words.shape[1])
        for wrapped, reduced in (("{}", words), ("select_best({}, score(indices, -1))", None),
                                 ("select_best({}, score(indices, 1))", None)):  # fmt: skip
            rows = words if reduced is not None else first_of(
                words, order if "-1" in wrapped else order[::-1])  # fmt: skip
            for place in np.flatnonzero(_right(rows, self.good, self.must, self.single))[:most]:
                yield wrapped.replace("{}", text), int(place)


def _is_width(rows: Array, bits: list[Array], free: Array) -> Array:
    """Which selections pick as many keys as wanted: counted in binary, 64 rows at a time."""
    digits = [np.zeros_like(rows[:, 0]) for _ in bits]
    for plane in range(rows.shape[1]):
        carry = rows[:, plane]
        for place in range((plane + 1).bit_length()):
            digits[place], carry = digits[place] ^ carry, digits[place] & carry
    wrong = np.zeros_like(digits[0])
    for digit, bit in zip(digits, bits, strict=True):
        wrong |= digit ^ bit
    return ~(wrong & ~free).any(axis=1)


def _right(rows: Array, good: Array, must: Array, single: bool) -> Array:
    """Which selections pick good keys only, pick in each row that must, and once if they have to."""
    fine = ~(rows & ~good).any(axis=(1, 2))
    kept = np.flatnonzero(fine)
    if not len(kept):
        return fine
    once = np.zeros_like(rows[kept][:, 0])
    twice = np.zeros_like(once)
    for plane in range(rows.shape[1]):
        twice |= once & rows[kept, plane]
        once |= rows[kept, plane]
    fine[kept] = ((once & must) == must).all(axis=1)
    if single:
        fine[kept] &= ~twice.any(axis=1)
    return fine


class _Choosing:
    """The search for a list of conditions: leaves that are right somewhere, and where to use them."""

    def __init__(self, closing: Closing, leaves: Array, right: Array, conditions: Array,
                 held: Array) -> None:  # fmt: skip
        self.closing = closing
        self.leaves, self.conditions = leaves, conditions
        self.wrong, self.held = ~right, held
        self.leaf_sizes = closing.sops.costs[leaves].astype(int)
        self.sizes = closing.sops.costs[conditions].astype(int)

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
        recipe = self.closing.sops.recipe(number)
        return Recipe("{}", (Part(False, number),), recipe.size, recipe.heads)

    def _last(self, fine: Array) -> list[Recipe]:
        """One condition that settles all: some leaf is right where it holds, another elsewhere."""
        settles = np.flatnonzero(fine[0].any(axis=1) & fine[1].any(axis=1))
        sizes = np.where(fine[:, settles], self.leaf_sizes, 10_000)
        leaves = sizes.argmin(axis=2)
        total = sizes.min(axis=2).sum(axis=0) + self.sizes[settles]
        return [
            self._choice(int(settles[one]), int(leaves[0, one]), False, self._leaf(int(leaves[1, one])))
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
        asked = Part(False, int(self.conditions[condition]))
        then = Part(False, int(self.leaves[leaf]))
        sops = self.closing.sops
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


_INVERSES: dict[int, tuple[tuple[str, str, bool], ...]] = {
    NUMBER: (("({} + {})", "-", False), ("({} - {})", "-", True), ("({} * {})", "/", False),
             ("({} / {})", "/", True)),
    STRING: (("({} + {})", "without prefix", False),),
}  # fmt: skip
"""How x and the unknown make what is wanted; what gives the unknown; whether x comes first there."""


def _distinct(numbers: Array, rows: Array, most: int, by_cover: bool = False) -> tuple[Array, Array]:
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


def _texts(table: dict[Atom, Atom], most: int) -> Iterator[tuple[str, int]]:
    """The ways to write a function of one s-op, and how large each is without the s-op."""
    values = list(dict.fromkeys(table.values()))
    if set(map(type, table)) == {bool} and len(table) == 2:
        yield from _answers("{}", 0, table[True], table[False])
        yield from _answers("(not {})", 1, table[False], table[True])
        return
    line = _line(table)
    if line is not None:
        yield line
    if len(values) == 2:
        yield from _two_answers(table, values, most)
    if len(table) <= most:
        rows = ", ".join(f"{literal(key)}: {literal(value)}" for key, value in table.items())
        yield "{{" + rows + "}}[{}]", 1 + 2 * len(table)


def _two_answers(table: dict[Atom, Atom], values: list[Atom], most: int) -> Iterator[tuple[str, int]]:
    """Membership in the shorter list, or a threshold, and what each side answers."""
    for yes in values:
        members = [key for key, value in table.items() if value == yes]
        others = [key for key in table if key not in members]
        no = next(value for value in values if value != yes)
        if len(members) <= most and (len(members) <= len(others) or yes is True):
            listed = ", ".join(map(literal, members))
            yield from _answers(f"({{}} in [{listed}])", 1 + len(members), yes, no)
        numeric = [key for key in table if not isinstance(key, (str, bool))]
        if len(numeric) == len(table) and max(others) < min(members):  # type: ignore[type-var]
            yield from _answers(f"({{}} >= {_between(max(others), min(members))})", 2, yes, no)  # type: ignore[type-var]
        elif len(numeric) == len(table) and min(others) > max(members):  # type: ignore[type-var]
            yield from _answers(f"({{}} < {_between(max(members), min(others))})", 2, yes, no)  # type: ignore[type-var]


def _between(low: Atom, high: Atom) -> str:
    """A threshold above `low`, at most `high`: a whole number in the middle, if there is one."""
    middle = Fraction(low) / 2 + Fraction(high) / 2
    whole = -(-middle.numerator // middle.denominator)
    return literal(whole if low < whole <= high else high)  # type: ignore[operator]


def _answers(test: str, size: int, yes: Atom, no: Atom) -> Iterator[tuple[str, int]]:
    if yes is True:
        yield test, size
    elif yes is not False:
        shown = [literal(atom) for atom in (yes, no)]
        yield f"({shown[0]} if {test} else {shown[1]})", size + 3


def _line(table: dict[Atom, Atom]) -> tuple[str, int] | None:
    """`a * x + b`, where that is what a table of at least three numbers says."""
    if len(table) < 3 or any(isinstance(atom, (str, bool)) for pair in table.items() for atom in pair):
        return None
    (x1, y1), (x2, y2), *_ = table.items()
    slope = Fraction(y2 - y1) / (x2 - x1)  # type: ignore[operator]
    start = y1 - slope * x1  # type: ignore[operator]
    if any(slope * key + start != value for key, value in table.items()):  # type: ignore[operator]
        return None
    factor = Fraction(slope)
    over = "" if factor.numerator == 1 else f"{factor.numerator} * "
    under = "" if factor.denominator == 1 else f" / {factor.denominator}"
    plus = "" if start == 0 else f" + {literal(_whole(Fraction(start)))}"
    return f"({over}{{}}{under}{plus})", 1 + 2 * bool(over) + 2 * bool(under) + bool(plus)


def _whole(number: Fraction) -> Atom:
    return number.numerator if number.denominator == 1 else number
