"""A selector's formula in, the parts of a head's attention score out, in penalty form.

The score of a key is the sum over the formula's conjuncts of something that is 0 where the
conjunct holds and at most -strength where it does not, up to a shift that is the same for all
keys of a query; the sink's score takes that shift (`reference`). A conjunct is a table over
what its keys and its queries can hold, and the shape of the table decides how it is made:

- equality-like (each query matches at most one class of keys): 2·cq·ck - ck², rank 2;
- an order, where weights need not be uniform: a multiple of cq - ck, rank 1 (a ranking, where
  no two keys score the same);
- anything else: one column per class of equal keys or of equal queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, lcm

import numpy as np

from rasp.compiler.analysis.comparison_tables import classes
from rasp.compiler.analysis.formulas import Formula
from rasp.compiler.analysis.joint_states import Values
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.tables import numbered
from rasp.compiler.planning.features import Features
from rasp.compiler.planning.truth_tables import (
    Side,
    both_are_indices,
    positions,
    sides_of,
    truth_of,
)
from rasp.compiler.refusals import Refusal
from rasp.graph.formulas import Comparison

MOST_COLUMNS = 1500
MOST_CELLS = 1_000_000
LARGEST_CODE = 1500
MANY_CLASSES = 100
"""From this many on, classes compared with care are numbered in digits: columns would be huge."""
ZERO, ONE = Fraction(0), Fraction(1)
SIGNS = {"<": 1, "<=": 1, ">": -1, ">=": -1}


@dataclass(frozen=True, eq=False)
class Conjunct:
    """One conjunct as attention sees it, with the tables that a certificate checks.

    The score is Σ over products of query · key; `reference` is what a match scores.
    """

    text: str
    shape: str
    products: list[tuple[Linear, Linear]]
    reference: Linear
    truth: np.ndarray  # (query, key)
    query_values: np.ndarray  # (query, product)
    key_values: np.ndarray  # (key, product)
    references: np.ndarray  # (query,)
    spread: Fraction = Fraction(0)
    """How far above the reference a match may score (orders only)."""


@dataclass(frozen=True)
class Request:
    """What a head needs of a conjunct."""

    time: int
    strength: int
    uniform: bool
    needs_reference: bool
    care: int = 0
    """1 where the squares of codes are too noisy or large: a column per class, or digits; 2 where
    columns are to be exact wherever they are 0."""
    level: bool = False
    """Whether all keys that do not match must score the same."""


def make_conjunct(
    features: Features, formula: Formula, text: str, request: Request, causal: bool = False
) -> Conjunct | None:
    """Realise one conjunct; None where it is always true."""
    keys, queries = sides_of(features, formula)
    truth = truth_of(formula, keys, queries)
    masked = causal and both_are_indices(features, keys, queries)
    if masked:
        truth = truth | (positions(keys)[None, :] > positions(queries)[:, None])
    if truth.all():
        return None
    maker = _Maker(features, keys, queries, truth, text, request)
    if (truth == truth[:1]).all():
        return maker.of_keys_only()
    if (truth == truth[:, :1]).all():
        return maker.of_queries_only()
    if request.level:
        return maker.of_columns()
    if isinstance(formula, Comparison) and not request.care and not masked:
        key_values = features.analysis.of(formula.keys)
        query_values = features.analysis.of(formula.queries)
        if formula.op == "==":
            found = maker.of_equal_numbers(key_values, query_values)
            if found is not None:
                return found
        if formula.op in SIGNS and not request.uniform:
            found = maker.of_order(key_values, query_values, formula.op)
            if found is not None:
                return found
    if _is_block_diagonal(truth):
        if not request.care:
            return maker.of_classes()
        if maker.is_noisy:
            return maker.of_members() if request.care == 1 else maker.of_two_orders()
        if len(classes(truth)[0]) > MANY_CLASSES:
            return maker.of_classes(digits=2)
    if request.care and maker.is_noisy and _is_chain(truth):
        return maker.of_thresholds()
    return maker.of_columns()


def _is_block_diagonal(truth: np.ndarray) -> bool:
    """Whether queries that share a key match exactly the same keys."""
    rows, _ = classes(truth)
    return bool((rows.sum(axis=0) <= 1).all())


def _is_chain(truth: np.ndarray) -> bool:
    """Whether of two queries one always matches all that the other one matches."""
    rows, _ = classes(truth)
    rows = rows[np.argsort(rows.sum(axis=1))]
    return bool((rows[:-1] <= rows[1:]).all())


class _Maker:
    """The ways to realise one conjunct."""

    def __init__(
        self, features: Features, keys: Side, queries: Side, truth: np.ndarray, text: str,
        request: Request,
    ) -> None:  # fmt: skip
        self.features, self.keys, self.queries = features, keys, queries
        self.truth, self.text, self.request = truth, text, request

    @property
    def is_noisy(self) -> bool:
        sides = (self.keys, self.queries)
        return any(variable.is_noisy for side in sides for variable in side.joint.inputs)

    def of_keys_only(self) -> Conjunct:
        table = [Fraction(int(each)) - 1 for each in self.truth[0]]
        key = self.keys.feature(self.features, table, self.request.time)
        strength = Fraction(self.request.strength)
        return self._finished(
            "keys only", [([strength] * len(self.queries.rows), table, Linear(strength), key)]
        )

    def of_queries_only(self) -> Conjunct:
        raised = [Fraction(0 if each else self.request.strength) for each in self.truth[:, 0]]
        reference = self.queries.feature(self.features, raised, self.request.time)
        return self._finished("queries only", [], raised, reference)

    def of_equal_numbers(self, keys: Values, queries: Values) -> Conjunct | None:
        """Numbers that are linear already are their own codes, shifted to lie around 0."""
        if keys.linear is None or queries.linear is None:
            return None
        numbers = [Fraction(row[0]) for side in (self.keys, self.queries) for row in side.rows]
        unit = _unit(numbers)
        middle = Fraction(round((min(numbers) + max(numbers)) / 2 / unit)) * unit
        if max(abs(number - middle) for number in numbers) / unit > LARGEST_CODE:
            return None
        key_codes = [(Fraction(row[0]) - middle) / unit for row in self.keys.rows]
        query_codes = [(Fraction(row[0]) - middle) / unit for row in self.queries.rows]
        key = keys.linear.plus(-middle).times(1 / unit)
        query = queries.linear.plus(-middle).times(1 / unit)
        return self._of_codes("equal numbers", key_codes, query_codes, key, query)

    def _of_codes(
        self, shape: str, key_codes: list[Fraction], query_codes: list[Fraction],
        key: Linear, query: Linear,
    ) -> Conjunct:  # fmt: skip
        beta, time = Fraction(self.request.strength), self.request.time
        squares = [code * code for code in key_codes]
        references = [beta * code * code for code in query_codes]
        products = [
            ([2 * beta * code for code in query_codes], key_codes, query.times(2 * beta), key),
            ([-beta] * len(query_codes), squares, Linear(-beta),
             self.keys.feature(self.features, squares, time)),
        ]  # fmt: skip
        reference = Linear()
        if self.request.needs_reference:
            squares = [code * code for code in query_codes]
            reference = self.queries.feature(self.features, squares, time).times(beta)
        return self._finished(shape, products, references, reference)

    def of_order(self, keys: Values, queries: Values, op: str) -> Conjunct | None:
        """`gamma · (cq - ck - ½)` with a sign: any positive score will do for a match."""
        if keys.linear is None or queries.linear is None:
            return None
        numbers = [Fraction(row[0]) for side in (self.keys, self.queries) for row in side.rows]
        unit = _unit(numbers)
        span = (max(numbers) - min(numbers)) / unit
        if span > LARGEST_CODE:
            return None
        gamma = Fraction(self.request.strength) * SIGNS[op] / unit
        shift = unit * SIGNS[op] if op in ("<", ">") else Fraction(0)
        key_codes = [Fraction(row[0]) for row in self.keys.rows]
        query_codes = [Fraction(row[0]) for row in self.queries.rows]
        products = [([-gamma] * len(query_codes), key_codes, Linear(-gamma), keys.linear)]
        references = [-gamma * (code - shift) for code in query_codes]
        reference = queries.linear.plus(-shift).times(-gamma)
        spread = Fraction(self.request.strength) * span
        is_ranking = keys.inputs == (self.features.analysis.index,) and len(key_codes) == len(
            keys.outcomes
        )  # matches score at least `strength` apart, so that the best one gets all the weight
        shape = "ranking" if is_ranking else "order"
        return self._finished(shape, products, references, reference, spread)

    def of_classes(self, digits: int = 1) -> Conjunct:
        """Number the classes that match; the others match nothing whatever their number.

        Several digits make small numbers of many classes.
        """
        rows, inverse = classes(self.truth)
        blocks = sorted((row for row in rows if row.any()), key=np.argmax)  # in the keys' order
        base = ceil(len(blocks) ** (1 / digits))
        numbers = {row.tobytes(): n for n, row in enumerate(blocks)}
        by_query = [numbers.get(row.tobytes()) for row in rows[inverse]]
        by_key = [next((n for n, row in enumerate(blocks) if row[key]), None)
                  for key in range(len(self.keys.rows))]  # fmt: skip
        return self._of_lifted(
            [_digit(by_key, base, place) for place in range(digits)], _lifts(by_key),
            [_digit(by_query, base, place) for place in range(digits)], _lifts(by_query),
        )  # fmt: skip

    def _of_lifted(
        self, key_codes: list[list[Fraction]], key_lift: list[Fraction],
        query_codes: list[list[Fraction]], query_lift: list[Fraction],
    ) -> Conjunct:  # fmt: skip
        beta, time = Fraction(self.request.strength), self.request.time
        squares, references = _squares(key_codes, key_lift), _squares(query_codes, query_lift)
        products = [
            ([2 * beta * code for code in queries], keys,
             self.queries.feature(self.features, queries, time).times(2 * beta),
             self.keys.feature(self.features, keys, time))
            for queries, keys in zip(query_codes, key_codes, strict=True)
        ]  # fmt: skip
        products.append(([-beta] * len(references), squares, Linear(-beta),
                         self.keys.feature(self.features, squares, time)))  # fmt: skip
        reference = Linear()
        if self.request.needs_reference:
            reference = self.queries.feature(self.features, references, time).times(beta)
        return self._finished("classes", products, [beta * each for each in references], reference)

    def of_members(self) -> Conjunct:
        """For each class that matches, whether the key is in it times whether the query is.

        The product of the two classes that they are in is the only one that is not about 0, so
        that what the steps of the others are off is multiplied by next to nothing.
        """
        rows, inverse = classes(self.truth)
        blocks = [row for row in rows if row.any()]
        self._check_columns(len(blocks))
        strength, products = Fraction(self.request.strength), []
        for number, row in enumerate(blocks):
            key = _chosen(row, ONE, ZERO)
            query = _chosen((rows == row).all(axis=1)[inverse], strength, ZERO)
            products.append((query, key, self._member(self.queries, query, number),
                             self._member(self.keys, key, number)))  # fmt: skip
        references = [strength] * len(self.queries.rows)
        return self._finished("members", products, references, Linear(strength))

    def of_thresholds(self) -> Conjunct:
        return self._finished("thresholds", self._thresholds(self.truth))

    def of_two_orders(self) -> Conjunct:
        """Number the classes that match; equal is what is neither below nor above."""
        rows, inverse = classes(self.truth)
        blocks = sorted((row for row in rows if row.any()), key=np.argmax)
        numbers = {row.tobytes(): n for n, row in enumerate(blocks)}
        queries = np.array([numbers.get(row.tobytes(), -1) for row in rows[inverse]])[:, None]
        keys = np.array([next((n for n, row in enumerate(blocks) if row[key]), len(blocks))
                         for key in range(len(self.keys.rows))])  # fmt: skip
        products = self._thresholds(keys <= queries) + self._thresholds(keys >= queries)
        return self._finished("two orders", products)

    def _thresholds(
        self, truth: np.ndarray
    ) -> list[tuple[list[Fraction], list[Fraction], Linear, Linear]]:
        """For each threshold, whether the key is beyond it times whether the query forbids that.

        Of a pair that matches, one of the two is 0 at each threshold; and being a step, it is
        exactly 0 wherever its hidden units are off.
        """
        rows, inverse = classes(truth)
        order = np.argsort(rows.sum(axis=1))
        self._check_columns(len(rows))
        products = []
        for place, number in enumerate(order):
            key = _chosen(~rows[number], ONE, ZERO)
            if not rows[number].all():
                forbidding = np.isin(inverse, order[: place + 1])
                query = _chosen(forbidding, Fraction(-self.request.strength), ZERO)
                products.append((query, key, self._step(self.queries, query),
                                 self._step(self.keys, key)))  # fmt: skip
        return products

    def _member(self, side: Side, table: list[Fraction], number: int) -> Linear:
        """Whether a side is in a class; of several inputs, each class reads a sum of its own."""
        user = "members" if len(side.joint.inputs) == 1 else f"member {number}"
        return side.rounded(self.features, table, self.request.time, alone=user)

    def _step(self, side: Side, table: list[Fraction]) -> Linear:
        """A step, together with others that are 0 on the same side."""
        user = "zero first" if table[0] == 0 else "zero last"
        return side.rounded(self.features, table, self.request.time, alone=user)

    def _check_columns(self, columns: int) -> None:
        cells = columns * (len(self.keys.joint.rows) + len(self.queries.joint.rows))
        if columns > MOST_COLUMNS or cells > MOST_CELLS:
            raise Refusal(
                f"a selector tells {columns} classes of values apart, which takes as many "
                f"dimensions, over {cells // columns} combinations of values",
                'use a smaller vocabulary or length, or `heads="split"`',
            )

    def of_columns(self) -> Conjunct:
        """One product per class of keys or of queries, whichever are fewer."""
        by_key, key_class = classes(self.truth.T)  # (class of keys, query)
        by_query, query_class = classes(self.truth)  # (class of queries, key)
        self._check_columns(min(len(by_key), len(by_query)))
        products = []
        if len(by_key) <= len(by_query):
            for place, row in enumerate(by_key):
                if not row.all():
                    member = _chosen(key_class == place, ONE, ZERO)
                    penalty = self._penalties(row)
                    products.append((penalty, member, None, None))
        else:
            for place, row in enumerate(by_query):
                if not row.all():
                    member = _chosen(query_class == place, ONE, ZERO)
                    penalty = self._penalties(row)
                    products.append((member, penalty, None, None))
        made = [
            (query, key, self._column(self.queries, query), self._column(self.keys, key))
            for query, key, _, _ in products
        ]
        return self._finished("columns", made)

    def _column(self, side: Side, table: list[Fraction]) -> Linear:
        time = self.request.time
        if self.request.care < 2:
            return side.feature(self.features, table, time)
        user = f"{self.text} ({'keys' if side is self.keys else 'queries'})"
        return side.rounded(self.features, table, time, alone=user)

    def _penalties(self, truth: np.ndarray) -> list[Fraction]:
        return _chosen(truth, ZERO, Fraction(-self.request.strength))

    def _finished(
        self, shape: str,
        products: list[tuple[list[Fraction], list[Fraction], Linear, Linear]],
        references: list[Fraction] | None = None,
        reference: Linear | None = None,
        spread: Fraction = Fraction(0),
    ) -> Conjunct:  # fmt: skip
        count = len(self.queries.rows)
        return Conjunct(
            self.text,
            shape,
            [(query, key) for _, _, query, key in products],
            reference or Linear(),
            self.truth,
            _array([query for query, _, _, _ in products], count),
            _array([key for _, key, _, _ in products], len(self.keys.rows)),
            np.array([float(each) for each in references or [Fraction(0)] * count]),
            spread,
        )


def _digit(numbers: list[int | None], base: int, place: int) -> list[Fraction]:
    """One digit of each number, around 0; 0 where there is no number."""
    return [ZERO if number is None else Fraction(number // base**place % base - base // 2)
            for number in numbers]  # fmt: skip


def _lifts(numbers: list[int | None]) -> list[Fraction]:
    """What keeps those without a number apart from all others."""
    return [ONE if number is None else ZERO for number in numbers]


def _squares(digits: list[list[Fraction]], lifts: list[Fraction]) -> list[Fraction]:
    return [sum((code * code for code in codes), lift)
            for lift, *codes in zip(lifts, *digits, strict=True)]  # fmt: skip


def _chosen(truth: np.ndarray, yes: Fraction, no: Fraction) -> list[Fraction]:
    """One of two numbers for each; all entries are these two objects, which is quick to see."""
    return [yes if each else no for each in truth.tolist()]


def _array(columns: list[list[Fraction]], rows: int) -> np.ndarray:
    if not columns:
        return np.zeros((rows, 0))
    made = []
    for column in columns:
        known, places = numbered(column)
        made.append(np.array([0.0 if each is None else float(each) for each in known])[places])
    return np.array(made).T


def _unit(numbers: list[Fraction]) -> Fraction:
    """The largest unit of which all differences are whole multiples; there is at least one."""
    base = numbers[0]
    differences = {number - base for number in numbers} - {Fraction(0)}
    denominator = lcm(*(each.denominator for each in differences))
    return Fraction(gcd(*(int(each * denominator) for each in differences)), denominator)
