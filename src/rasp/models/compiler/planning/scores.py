"""A selector's formula in, the parts of a head's attention score out, in penalty form.

The score of a key is the sum over the formula's conjuncts of something that is 0 where the
conjunct holds and at most -strength where it does not, up to a shift that is the same for all
keys of a query; the sink's score takes that shift (`reference`). A conjunct is a table over
what its keys and its queries can hold, and the shape of the table decides how it is made, where B
is the strength and cq and ck are the codes of a query and of a key:

- equality-like (each query matches at most one class of keys): B(2·cq·ck - ck²), which is
  B·cq² less B(cq - ck)², so that a match scores the reference B·cq² and any other key B less.
  2 dimensions of the head; 3 where classes are so many that they are numbered in two digits;
- an order, where weights need not be uniform: B(cq - ck - shift) with codes that are whole units,
  and a shift of one unit for `<` and `>`. 1 dimension;
- anything else, and what one side alone decides: -B times whether a query of a class fails to
  match a key, summed over the classes of keys that no query tells apart, or over those of queries.
  1 dimension for each class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from rasp.language.graph import SOp
from rasp.language.graph.formulas import Comparison
from rasp.models.compiler.analysis.formulas import Formula
from rasp.models.compiler.analysis.linear import Linear, content
from rasp.models.compiler.analysis.times import attention_time
from rasp.models.compiler.analysis.variables import PlannedHead
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.heads.truth_tables import (
    Side,
    both_are_indices,
    classes,
    positions,
    sides_of,
    truth_of,
)
from rasp.models.compiler.planning.features import Features

MOST_COLUMNS = 1500
"""The most dimensions of a head that one conjunct may take."""
MOST_CELLS = 2_200_000
"""The most entries that the tables of all these dimensions may have."""
LARGEST_CODE = 1500
"""The largest number that is its own code: the square of a larger one is not an exact score."""
MANY_CLASSES = 200
"""From this many on, classes are numbered in two digits: squares of their numbers are large."""
ZERO, ONE, NOTHING = Fraction(0), Fraction(1), Linear()
SIGNS = {"<": 1, "<=": 1, ">": -1, ">=": -1}
Codes = list[Fraction]


@dataclass(frozen=True, eq=False)
class Conjunct:
    """One conjunct as attention sees it: the score is Σ over products of query · key."""

    products: list[tuple[Linear, Linear]]
    reference: Linear = NOTHING
    """What a match scores."""
    lowest: Fraction = ZERO
    """The least that a match scores."""
    spread: Fraction = ZERO
    """How far above the reference a match may score (orders only)."""


def make_conjunct(
    features: Features, formula: Formula, head: PlannedHead, strength: int, uniform: bool
) -> Conjunct:
    """Realise one conjunct of a head's selector: any match scores more than any other key, by
    `strength` at least, and if `uniform`, all matches score the same.
    """
    keys, queries = sides_of(features.values, formula)
    truth = truth_of(formula, keys, queries)
    masked = features.values.settings.causal and both_are_indices(features.values, keys, queries)
    if masked:
        truth = truth | (positions(keys)[None, :] > positions(queries)[:, None])
    maker = _Maker(features, keys, queries, truth, head, Fraction(strength))
    is_one_sided = (truth == truth[:1]).all() or (truth == truth[:, :1]).all()
    if is_one_sided or head.mode == "share":  # where all other keys must score the same
        return maker.of_columns()
    if isinstance(formula, Comparison) and not masked:
        conjunct = maker.of_numbers(formula, uniform)
        if conjunct is not None:
            return conjunct
    rows, _ = classes(truth)
    shares_keys = (rows.sum(axis=0) > 1).any()  # queries that do not match all the same keys
    return maker.of_columns() if shares_keys else maker.of_classes()


@dataclass(frozen=True, eq=False)
class _Maker:
    """The ways to realise one conjunct."""

    features: Features
    keys: Side
    queries: Side
    truth: np.ndarray  # (query, key)
    head: PlannedHead
    strength: Fraction

    def _feature(self, side: Side, table: Codes) -> Linear:
        """The function with these values for the rows of a side."""
        joint, over_states = side.joint, side.over_states(table)
        time = attention_time(self.head.layer)
        return self.features.resolve(joint.layer, joint.inputs, over_states, time)

    # -- numbers ----------------------------------------------------------------------------------

    def of_numbers(self, formula: Comparison[SOp], uniform: bool) -> Conjunct | None:
        """A comparison of numbers that are linear already, and not too many; else None."""
        values = self.features.values
        keys, queries = values.of(formula.keys).linear, values.of(formula.queries).linear
        is_equal, is_order = formula.op == "==", formula.op in SIGNS and not uniform
        if keys is None or queries is None or not (is_equal or is_order):
            return None
        sent, asked = (
            [Fraction(row[0]) for row in side.rows] for side in (self.keys, self.queries)
        )
        low, high = min(sent + asked), max(sent + asked)
        unit = content(number - low for number in sent + asked)
        middle = Fraction(round((low + high) / 2 / unit)) * unit if is_equal else low
        reach = max(high - middle, middle - low)
        if reach / unit > LARGEST_CODE:
            return None
        if is_order:
            return self._of_order(keys, queries, formula.op, unit, reach)
        # Numbers are their own codes, shifted to lie around 0.
        key, query = (side.plus(-middle).times(1 / unit) for side in (keys, queries))
        squares = ([((number - middle) / unit) ** 2 for number in side] for side in (sent, asked))
        return self._of_squares([(query, key)], *squares)

    def _of_order(
        self, keys: Linear, queries: Linear, op: str, unit: Fraction, span: Fraction
    ) -> Conjunct:
        """γ·(cq - ck - shift): 0 or more for a match, at most -strength for any other key."""
        gamma = self.strength * SIGNS[op] / unit
        shift = unit * SIGNS[op] if op in ("<", ">") else ZERO
        codes = [Fraction(row[0]) for row in self.queries.rows]
        return Conjunct(
            [(Linear(-gamma), keys)],
            queries.plus(-shift).times(-gamma),
            min(-gamma * (code - shift) for code in codes),
            self.strength * span / unit,
        )

    # -- classes ----------------------------------------------------------------------------------

    def of_classes(self) -> Conjunct:
        """Number the classes that match, in the keys' order; the others match nothing whatever
        their number. Several digits make small numbers of many classes.
        """
        rows, by_query = classes(self.truth)  # (class, key), (query,): its class
        by_key = np.where(rows.any(axis=0), rows.argmax(axis=0), -1)  # (key,): its class, if any
        first_key = rows.argmax(axis=1)
        blocks = sorted(np.flatnonzero(rows.any(axis=1)).tolist(), key=first_key.__getitem__)
        number = {row: place for place, row in enumerate(blocks)}
        count = 2 if len(rows) > MANY_CLASSES else 1
        base = ceil(len(blocks) ** (1 / count))
        (keys, key_squares), (queries, query_squares) = (
            _in_digits([number.get(row) for row in side.tolist()], base, count)
            for side in (by_key, by_query)
        )
        forms = [(self._feature(self.queries, query), self._feature(self.keys, key))
                 for query, key in zip(queries, keys, strict=True)]  # fmt: skip
        return self._of_squares(forms, key_squares, query_squares)

    def _of_squares(
        self, forms: list[tuple[Linear, Linear]], keys: Codes, queries: Codes
    ) -> Conjunct:
        """Σ 2·cq·ck - ck² over digits, of which `forms` are the query and the key, and the others
        the sums of their squares.
        """
        beta = self.strength
        products = [(query.times(2 * beta), key) for query, key in forms]
        products.append((Linear(-beta), self._feature(self.keys, keys)))
        needed = self.head.needs_sink
        reference = self._feature(self.queries, queries).times(beta) if needed else NOTHING
        return Conjunct(products, reference, beta * min(queries))

    # -- columns ----------------------------------------------------------------------------------

    def of_columns(self) -> Conjunct:
        """One product per class of keys or of queries, whichever are fewer."""
        by_key, key_class = classes(self.truth.T)  # (class of keys, query)
        by_query, query_class = classes(self.truth)  # (class of queries, key)
        self._check_columns(min(len(by_key), len(by_query)))
        of_keys = len(by_key) <= len(by_query)
        numbers, rows = (key_class, by_key) if of_keys else (query_class, by_query)
        products = []
        for place, row in enumerate(rows):
            if not row.all():
                members = _either(numbers == place, ONE, ZERO)
                penalties = _either(row, ZERO, -self.strength)
                query, key = (penalties, members) if of_keys else (members, penalties)
                products.append((self._feature(self.queries, query), self._feature(self.keys, key)))
        return Conjunct(products)

    def _check_columns(self, columns: int) -> None:
        cells = columns * (len(self.keys.joint.rows) + len(self.queries.joint.rows))
        if columns > MOST_COLUMNS or cells > MOST_CELLS:
            raise Refusal(
                f"a selector tells {columns} classes of values apart, which takes as many "
                f"dimensions, over {cells // columns} combinations of values",
                self.features.values.settings.smaller,
            )


def _in_digits(numbers: Sequence[int | None], base: int, count: int) -> tuple[list[Codes], Codes]:
    """Write numbers with digits around 0; also the sums of their squares.

    What has no number has the digits 0 and a square of 1, which keeps it below every match.
    """
    digits = [[ZERO if number is None else Fraction(number // base**place % base - base // 2)
               for number in numbers] for place in range(count)]  # fmt: skip
    squares = [ONE if number is None else sum((code * code for code in codes), ZERO)
               for number, *codes in zip(numbers, *digits, strict=True)]  # fmt: skip
    return digits, squares


def _either(truth: np.ndarray, yes: Fraction, no: Fraction) -> Codes:
    """One of two numbers for each; all entries are these two objects, which is quick to see."""
    return [yes if is_true else no for is_true in truth.tolist()]
