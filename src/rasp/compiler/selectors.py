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
from math import gcd, lcm

import numpy as np

from rasp.atoms import Atom
from rasp.compiler.comparisons import compared, sort_key
from rasp.compiler.features import Features
from rasp.compiler.formulas import All, Formula, Literal, literals
from rasp.compiler.linear import Linear
from rasp.compiler.refusals import Refusal
from rasp.compiler.tables import numbered
from rasp.compiler.together import Joint, Values

MOST_PAIRS = 60_000_000
MOST_COLUMNS = 1500
MOST_CELLS = 1_000_000
LARGEST_CODE = 1500
ZERO, ONE = Fraction(0), Fraction(1)
SIGNS = {"<": 1, "<=": 1, ">": -1, ">=": -1}


@dataclass(frozen=True, eq=False)
class Side:
    """The different values of the keys (or queries) of a conjunct, and where they come from."""

    joint: Joint
    rows: list[tuple[Atom, ...]]
    places: list[int | None]
    """For each joint state, the place of its row."""

    def feature(self, features: Features, table: list[Fraction], time: int) -> Linear:
        """The function with this value for each row."""
        joint = self.joint
        return features.resolve(joint.layer, joint.inputs, self._spread(table), time)

    def rounded(self, features: Features, table: list[Fraction], time: int) -> Linear:
        """The same without the noise of its inputs."""
        joint = self.joint
        return features.stepped(joint.layer, joint.inputs, self._spread(table), time)

    def _spread(self, table: list[Fraction]) -> list[Fraction | None]:
        return [None if place is None else table[place] for place in self.places]


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
    level: Fraction | None = None
    """What every other key scores, where that must be the same for all of them."""


@dataclass(frozen=True)
class Request:
    """What a head needs of a conjunct."""

    time: int
    strength: int
    uniform: bool
    needs_reference: bool
    care: int = 0
    """1 where codes are too noisy to be compared by squares: one column per class instead."""
    level: bool = False
    """Whether all keys that do not match must score the same."""


def sides_of(features: Features, formula: Formula) -> tuple[Side, Side]:
    """What the keys and the queries of a formula can hold."""
    analysis = features.analysis
    found = literals(formula)
    keys = _side(analysis.joint(list(dict.fromkeys(literal.keys for literal in found))))
    queries = _side(analysis.joint(list(dict.fromkeys(literal.queries for literal in found))))
    if len(keys.rows) * len(queries.rows) > MOST_PAIRS:
        raise Refusal(
            f"a selector compares {len(keys.rows)} values of its keys with {len(queries.rows)} "
            "of its queries, which is too many",
            'use a smaller vocabulary or length, or `heads="split"`',
        )
    return keys, queries


def _side(joint: Joint) -> Side:
    known: dict[tuple[Atom, ...], int] = {}
    places: list[int | None] = []
    for row in joint.rows:
        row_known = None if None in row else known.setdefault(row, len(known))  # type: ignore[arg-type]
        places.append(row_known)
    rows = list(known)
    if len(joint.rows) and rows and len(rows[0]) == 1:
        order = sorted(range(len(rows)), key=lambda place: sort_key(rows[place][0]))
        moved = {old: new for new, old in enumerate(order)}
        rows = [rows[old] for old in order]
        places = [None if place is None else moved[place] for place in places]
    return Side(joint, rows, places)


def truth_of(formula: Formula, keys: Side, queries: Side) -> np.ndarray:
    """The table of a formula, query by key."""
    found = literals(formula)
    key_nodes = list(dict.fromkeys(literal.keys for literal in found))
    query_nodes = list(dict.fromkeys(literal.queries for literal in found))

    def table(part: Formula) -> np.ndarray:
        if isinstance(part, Literal):
            columns = [row[key_nodes.index(part.keys)] for row in keys.rows]
            rows = [row[query_nodes.index(part.queries)] for row in queries.rows]
            return compared(columns, rows, part.op)
        assert not isinstance(part, bool)
        parts = [table(each) for each in part.parts]
        return np.asarray(np.all(parts, axis=0) if isinstance(part, All) else np.any(parts, axis=0))

    return table(formula)


def make_conjunct(
    features: Features, formula: Formula, text: str, request: Request, causal: bool = False
) -> Conjunct | None:
    """Realise one conjunct; None where it is always true."""
    keys, queries = sides_of(features, formula)
    truth = truth_of(formula, keys, queries)
    masked = causal and _both_are_indices(features, keys, queries)
    if masked:
        truth = truth | (_positions(keys)[None, :] > _positions(queries)[:, None])
    if truth.all():
        return None
    maker = _Maker(features, keys, queries, truth, text, request)
    if (truth == truth[:1]).all():
        return maker.of_keys_only()
    if (truth == truth[:, :1]).all():
        return maker.of_queries_only()
    if request.level:
        return maker.of_columns()
    if isinstance(formula, Literal) and not request.care and not masked:
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
    if not request.care and _is_block_diagonal(truth):
        return maker.of_classes()
    return maker.of_columns()


def _both_are_indices(features: Features, keys: Side, queries: Side) -> bool:
    """Whether each row of either side is a position of its own: `places` is then a permutation."""
    index = (features.analysis.index,)
    return (
        keys.joint.inputs == index
        and queries.joint.inputs == index
        and (len(keys.rows) == len(queries.rows) == len(keys.joint.rows))
    )


def _positions(side: Side) -> np.ndarray:
    """The position that each row stands for, where it is a position of its own."""
    return np.argsort(np.array(side.places, int))


def _is_block_diagonal(truth: np.ndarray) -> bool:
    """Whether queries that share a key match exactly the same keys."""
    rows = np.unique(truth, axis=0)
    return bool((rows.sum(axis=0) <= 1).all())


class _Maker:
    """The ways to realise one conjunct."""

    def __init__(
        self, features: Features, keys: Side, queries: Side, truth: np.ndarray, text: str,
        request: Request,
    ) -> None:  # fmt: skip
        self.features, self.keys, self.queries = features, keys, queries
        self.truth, self.text, self.request = truth, text, request

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
        time = self.request.time
        key = keys.linear.plus(-middle).times(1 / unit)
        query = queries.linear.plus(-middle).times(1 / unit)
        if keys.is_noisy:
            key = self.keys.rounded(self.features, key_codes, time)
        if queries.is_noisy:
            query = self.queries.rounded(self.features, query_codes, time)
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
             self.keys.rounded(self.features, squares, time)),
        ]  # fmt: skip
        reference = Linear()
        if self.request.needs_reference:
            squares = [code * code for code in query_codes]
            reference = self.queries.rounded(self.features, squares, time).times(beta)
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

    def of_classes(self) -> Conjunct:
        """Number the classes that match; the others match nothing whatever their number."""
        rows, inverse = np.unique(self.truth, axis=0, return_inverse=True)
        blocks = [row for row in rows if row.any()]
        middle = len(blocks) // 2
        key_codes, key_lift = [], []
        for key in range(len(self.keys.rows)):
            block = next((n for n, row in enumerate(blocks) if row[key]), None)
            key_codes.append(Fraction(0 if block is None else block - middle))
            key_lift.append(Fraction(0 if block is not None else 1))
        numbers = {row.tobytes(): n - middle for n, row in enumerate(blocks)}
        query_codes, query_lift = [], []
        for row in rows[inverse.reshape(-1)]:
            query_codes.append(Fraction(numbers.get(row.tobytes(), 0)))
            query_lift.append(Fraction(0 if row.any() else 1))
        return self._of_lifted(key_codes, key_lift, query_codes, query_lift)

    def _of_lifted(
        self, key_codes: list[Fraction], key_lift: list[Fraction],
        query_codes: list[Fraction], query_lift: list[Fraction],
    ) -> Conjunct:  # fmt: skip
        beta, time = Fraction(self.request.strength), self.request.time
        squares = [code * code + lift for code, lift in zip(key_codes, key_lift, strict=True)]
        references = [beta * (code * code + lift)
                      for code, lift in zip(query_codes, query_lift, strict=True)]  # fmt: skip
        key = self.keys.feature(self.features, key_codes, time)
        query = self.queries.feature(self.features, query_codes, time)
        products = [
            ([2 * beta * code for code in query_codes], key_codes, query.times(2 * beta), key),
            ([-beta] * len(query_codes), squares, Linear(-beta),
             self.keys.feature(self.features, squares, time)),
        ]  # fmt: skip
        reference = Linear()
        if self.request.needs_reference:
            squares = [each / beta for each in references]
            reference = self.queries.feature(self.features, squares, time).times(beta)
        return self._finished("classes", products, references, reference)

    def of_columns(self) -> Conjunct:
        """One product per class of keys or of queries, whichever are fewer."""
        by_key, key_class = np.unique(self.truth, axis=1, return_inverse=True)
        by_query, query_class = np.unique(self.truth, axis=0, return_inverse=True)
        columns = min(by_key.shape[1], by_query.shape[0])
        cells = columns * (len(self.keys.joint.rows) + len(self.queries.joint.rows))
        if columns > MOST_COLUMNS or cells > MOST_CELLS:
            raise Refusal(
                f"a selector tells {columns} classes of values apart, which takes as many "
                f"dimensions, over {cells // columns} combinations of values",
                'use a smaller vocabulary or length, or `heads="split"`',
            )
        products = []
        if by_key.shape[1] <= by_query.shape[0]:
            for place in range(by_key.shape[1]):
                if not by_key[:, place].all():
                    member = _chosen(key_class.reshape(-1) == place, ONE, ZERO)
                    penalty = self._penalties(by_key[:, place])
                    products.append((penalty, member, None, None))
        else:
            for place in range(by_query.shape[0]):
                if not by_query[place].all():
                    member = _chosen(query_class.reshape(-1) == place, ONE, ZERO)
                    penalty = self._penalties(by_query[place])
                    products.append((member, penalty, None, None))
        time = self.request.time
        read = Side.rounded if self.request.care else Side.feature
        made = [
            (query, key, read(self.queries, self.features, query, time),
             read(self.keys, self.features, key, time))
            for query, key, _, _ in products
        ]  # fmt: skip
        return self._finished("columns", made)

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
            Fraction(-self.request.strength) if self.request.level else None,
        )


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
    """The largest unit of which all differences are whole multiples."""
    base = numbers[0]
    differences = {number - base for number in numbers} - {Fraction(0)}
    if not differences:
        return Fraction(1)
    denominator = lcm(*(each.denominator for each in differences))
    return Fraction(gcd(*(int(each * denominator) for each in differences)), denominator)
