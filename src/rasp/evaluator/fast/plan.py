"""A selector in, a plan out: how each query finds its keys without looking at all of them.

Each conjunction of the selector's signed sum gets a strategy by what is left of it once
comparisons with constants have filtered keys and queries: equalities join into one group
number, and every s-op whose keys are compared by order is one dimension of a range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

from rasp.evaluator.fast.algebra import (
    EQUAL,
    Best,
    Conjunction,
    Pair,
    TooManyTerms,
    cover,
    signed_sum,
)
from rasp.graph import Const, Selector, SOp

Queries: TypeAlias = SOp | Best

GROUPS, RANGES, DOMINANCE, BLOCKED = "groups", "sorted ranges", "dominance", "blocked"


@dataclass(frozen=True)
class Range:
    """Keys of one s-op compared by order, with the outcomes allowed against each query."""

    keys: SOp
    bounds: tuple[tuple[Queries, int], ...]


@dataclass(frozen=True)
class Term:
    """A conjunction, sorted out by what its comparisons look at."""

    conjunction: Conjunction
    coefficient: int
    key_filters: tuple[tuple[Pair, int], ...]
    query_filters: tuple[tuple[Pair, int], ...]
    equalities: tuple[Pair, ...]
    ranges: tuple[Range, ...]

    @property
    def strategy(self) -> str:
        return (GROUPS, RANGES, DOMINANCE, BLOCKED)[min(len(self.ranges), 3)]


@dataclass(frozen=True)
class Plan:
    """The terms of a selector, or the reason why its rows are made block by block."""

    terms: tuple[Term, ...]
    blocked: str | None = None
    grouping: tuple[Pair, ...] = ()
    """Equalities that every pick satisfies: a block needs only the keys of its own groups."""


_plans: WeakKeyDictionary[Selector, Plan] = WeakKeyDictionary()
_best_plans: WeakKeyDictionary[Selector, Plan] = WeakKeyDictionary()


def plan_sums(selector: Selector) -> Plan:
    """Plan the counting and summing of a selector's picks.

    >>> from rasp.graph import Select, Tokens
    >>> [term.strategy for term in plan_sums(Select(Tokens(), Tokens(), "==")).terms]
    ['groups']
    """
    plan = _plans.get(selector)
    if plan is None:
        plan = _plans[selector] = _sums_planned(selector)
    return plan


def plan_best(selector: Selector) -> Plan:
    """Plan the search for the highest score among a selector's picks."""
    plan = _best_plans.get(selector)
    if plan is None:
        plan = _best_plans[selector] = _best_planned(selector)
    return plan


def _sums_planned(selector: Selector) -> Plan:
    try:
        total = signed_sum(selector)
    except TooManyTerms:
        return Plan((), "its comparisons multiply out to too many conjunctions")
    terms = tuple(_term(conjunction, times) for conjunction, times in total.items())
    most = max((len(term.ranges) for term in terms), default=0)
    if most > 2:
        reason = f"a conjunction compares {most} different keys by order"
        return Plan(terms, reason, _shared_equalities(terms))
    return Plan(terms)


def _best_planned(selector: Selector) -> Plan:
    try:
        terms = tuple(_term(conjunction, 1) for conjunction in cover(selector))
    except TooManyTerms:
        return Plan((), "its comparisons multiply out to too many conjunctions")
    most = max((len(term.ranges) for term in terms), default=0)
    if most > 1:
        reason = f"a highest score under {most} orders has no shortcut"
        return Plan(terms, reason, _shared_equalities(terms))
    return Plan(terms)


def _term(conjunction: Conjunction, coefficient: int) -> Term:
    key_filters, query_filters, equalities = [], [], []
    bounds: dict[SOp, list[tuple[Queries, int]]] = {}
    for pair, outcomes in conjunction:
        if isinstance(pair.queries, Const):
            key_filters.append((pair, outcomes))
        elif isinstance(pair.keys, Const):
            query_filters.append((pair, outcomes))
        elif outcomes == EQUAL:
            equalities.append(pair)
        else:
            bounds.setdefault(pair.keys, []).append((pair.queries, outcomes))
    ranges = tuple(Range(keys, tuple(found)) for keys, found in bounds.items())
    return Term(conjunction, coefficient, tuple(key_filters), tuple(query_filters),
                tuple(equalities), ranges)  # fmt: skip


def _shared_equalities(terms: tuple[Term, ...]) -> tuple[Pair, ...]:
    shared = set(terms[0].equalities).intersection(*(term.equalities for term in terms[1:]))
    return tuple(pair for pair in terms[0].equalities if pair in shared)
