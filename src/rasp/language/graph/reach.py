"""A selector in, how far it can look out: bounds on key position minus query position.

What looks at no later position never changes as an input grows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from rasp.language.graph.formulas import All, Comparison, Either
from rasp.language.graph.nodes import Indices, Select, Selector
from rasp.language.graph.normal import BestScore, Form, normal_form
from rasp.language.graph.sum_form import Sum, Terms, linear
from rasp.language.operators.comparisons import EQUAL, GREATER, LESS

Reach: TypeAlias = tuple[float, float]
"""The least and the greatest of key position minus query position."""
POSITION: Terms = frozenset([(Indices(), Fraction(1))])
EVERYWHERE: Reach = (-math.inf, math.inf)
NOWHERE: Reach = (math.inf, -math.inf)


def looks_back(selector: Selector) -> bool:
    """Tell whether a selector provably picks no key after its query.

    >>> from rasp.language.graph import Select, SelectorNot
    >>> looks_back(SelectorNot(Select(Indices(), Indices(), ">")))
    True
    """
    return reach(normal_form(selector))[1] <= 0


def reach(form: Form) -> Reach:
    """Return how far a selector looks, from its normal form.

    >>> from rasp.language.graph import Const, Elementwise, Select
    >>> before = Elementwise("-", (Indices(), Const(1)))
    >>> reach(normal_form(Select(Indices(), before, "==")))
    (-1, -1)
    """
    match form:
        case Comparison(BestScore(picks), _, outcomes):
            return reach(picks) if outcomes == EQUAL else EVERYWHERE
        case Comparison(tuple() as keys, tuple() as queries, outcomes):
            return _reach_of_comparison(keys, queries, outcomes)
        case All(parts):
            reaches = [reach(part) for part in parts]
            return max(low for low, _ in reaches), min(high for _, high in reaches)
        case Either(parts):
            reaches = [within for within in map(reach, parts) if within[0] <= within[1]]
            if not reaches:
                return NOWHERE
            return min(low for low, _ in reaches), max(high for _, high in reaches)
    return EVERYWHERE if form else NOWHERE


def _reach_of_comparison(keys: Sum, queries: Sum, outcomes: int) -> Reach:
    """A key's position against a query's plus a constant bounds key - query by the constant.

    Against a constant alone only the sure bounds are left, since no position is less than 0: a
    key of at most c is at most c after any query, a query of at most c at most c after any key.
    """
    (key_terms, _), (query_terms, apart) = keys, queries
    if key_terms == query_terms == POSITION:
        return _between(apart, outcomes)
    if key_terms == POSITION and not query_terms:
        return -math.inf, _between(apart, outcomes)[1]
    if query_terms == POSITION and not key_terms:
        return _between(apart, outcomes)[0], math.inf
    return EVERYWHERE


def _between(bound: Fraction, outcomes: int) -> Reach:
    """The whole numbers x that compare with a bound in one of the outcomes, x on the left."""
    low: float = -math.inf
    high: float = math.inf
    if not outcomes & LESS:
        low = math.ceil(bound) if outcomes & EQUAL else math.floor(bound) + 1
    if not outcomes & GREATER:
        high = math.floor(bound) if outcomes & EQUAL else math.ceil(bound) - 1
    return low, high


def index_distance(selector: Select) -> int | None:
    """Where keys and queries are both positions plus a constant: how far apart these are."""
    (keys, ours), (queries, theirs) = linear(selector.keys), linear(selector.queries)
    apart = theirs - ours
    if keys == queries == POSITION and apart.denominator == 1:
        return int(apart)
    return None
