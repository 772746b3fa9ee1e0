"""A selector in, its normal form out: equal forms pick the same pairs, so they share a head.

A form is a formula (see `formulas`) over sums: `length - 1 - indices` and `length - indices - 1`
are one side of a comparison, which has its constant on the queries' side and some factor made 1.
Comparisons that are always or never true vanish. What `select_best` keeps is one more comparison:
the score of a key is, or is not, the best score of its query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.graph.formulas import Formula, compared, every, fold, some
from rasp.language.graph.nodes import Const, Elementwise, Scorer, SelectBest, Selector, SOp
from rasp.language.graph.sum_form import Sum, linear, scaled
from rasp.language.graph.walks import score_terms
from rasp.language.operators import apply_operator, giving
from rasp.language.operators.comparisons import DIFFERENT, EQUAL, GREATER, LESS, turned_outcomes

TRUTH_OPERATORS = giving("bool")


@dataclass(frozen=True)
class BestScore:
    """The score of a key, or the best score of a query, among what a selector picks."""

    picks: Form
    score: object


Form: TypeAlias = Formula[Sum | BestScore]


def normal_form(selector: Selector) -> Form:
    """Return a value that is equal for selectors that provably pick the same pairs.

    >>> from rasp.language.graph import Indices, Select, SelectorNot
    >>> before = Select(Indices(), Indices(), "<")
    >>> normal_form(SelectorNot(before)) == normal_form(Select(Indices(), Indices(), ">="))
    True
    """
    return normal_forms([selector])[selector]


def normal_forms(selectors: Iterable[Selector]) -> dict[Selector, Form]:
    """Map each selector to its normal form; parts that are shared are looked at once."""
    return fold(selectors, _Forms())


class _Forms:
    """The algebra of normal forms."""

    def compare(self, keys: SOp, queries: SOp, outcomes: int) -> Form:
        if isinstance(keys, Const) and isinstance(queries, Const):
            order = _order(keys.value, queries.value)
            if order is not None:
                return bool(order & outcomes)
        keys, queries, outcomes = _plain_truths(keys, queries, outcomes)
        return _compared_sums(linear(keys), linear(queries), outcomes)

    def both(self, left: Form, right: Form) -> Form:
        return every((left, right))

    def either(self, left: Form, right: Form) -> Form:
        return some((left, right))

    def best(self, node: SelectBest, wanted: bool, picks: Form, others: Form) -> Form:
        best = BestScore(picks, _scored(node.scorer))
        return compared(best, best, EQUAL if wanted else DIFFERENT)


def _scored(scorer: Scorer) -> object:
    """What a scorer ranks by: the order of the terms of a sum is forgotten."""
    terms = score_terms(scorer)
    if len(terms) == 1:
        return (terms[0].keys, _scale(terms[0].queries))
    return frozenset(Counter(terms).items())


def _scale(queries: SOp) -> object:
    """A constant factor changes no order but by its sign."""
    if isinstance(queries, Const) and not isinstance(queries.value, str) and queries.value > 0:
        return 1
    return queries


def _compared_sums(keys: Sum, queries: Sum, outcomes: int) -> Form:
    """Compare sums with the constant on the queries' side, and some factor made 1."""
    (key_terms, key_constant), (query_terms, query_constant) = keys, queries
    apart = query_constant - key_constant
    if not key_terms and not query_terms:
        order = LESS if apart > 0 else GREATER if apart < 0 else EQUAL
        return bool(order & outcomes)
    _, factor = min(key_terms or query_terms, key=lambda term: id(term[0]))  # always the same one
    if factor < 0:
        outcomes = turned_outcomes(outcomes)
    return compared(
        scaled((key_terms, Fraction(0)), 1 / factor),
        scaled((query_terms, apart), 1 / factor),
        outcomes,
    )


def _order(left: Atom, right: Atom) -> int | None:
    """How two atoms compare; None where they have no order."""
    try:
        return EQUAL if left == right else LESS if apply_operator("<", (left, right)) else GREATER
    except RaspError:
        return None


def _plain_truths(keys: SOp, queries: SOp, outcomes: int) -> tuple[SOp, SOp, int]:
    """Write every way to say "this truth holds" as `== True` on the truth without its `not`."""
    truth, constant = (keys, queries) if isinstance(queries, Const) else (queries, keys)
    is_equality = outcomes in (EQUAL, DIFFERENT)
    if not (is_equality and isinstance(constant, Const) and isinstance(constant.value, bool)):
        return keys, queries, outcomes
    if not _is_truth(truth):
        return keys, queries, outcomes
    holds = constant.value == (outcomes == EQUAL)
    while isinstance(truth, Elementwise) and truth.op in ("not", "bool"):
        holds = holds != (truth.op == "not")
        if not _is_truth(truth.operands[0]):
            truth = Elementwise("bool", truth.operands)
            break
        truth = truth.operands[0]
    if isinstance(queries, Const):
        return truth, Const(holds), EQUAL
    return Const(holds), truth, EQUAL


def _is_truth(node: SOp) -> bool:
    return isinstance(node, Elementwise) and node.op in TRUTH_OPERATORS
