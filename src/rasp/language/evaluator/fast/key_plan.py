"""A selector in, a plan out: how each query finds its keys without looking at all of them.

Each conjunction of the selector's signed sum gets a strategy by what is left of it once
comparisons with constants have filtered keys and queries: equalities join into one group
number, and every s-op whose keys are compared by order is one dimension of a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

from rasp.language.evaluator.fast.algebra import cover, signed_sum
from rasp.language.evaluator.fast.conjunctions import Best, Conjunction, Filters, Pair, TooManyTerms
from rasp.language.graph import Const, Selector, SOp
from rasp.language.operators.comparisons import EQUAL

Queries: TypeAlias = SOp | Best


GROUPS, RANGES, DOMINANCE, BLOCKED = "groups", "sorted ranges", "dominance", "blocked"


@dataclass(frozen=True)
class Range:
    """Keys of one s-op compared by order, with the outcomes allowed against each query."""

    keys: SOp
    bounds: frozenset[tuple[Queries, int]]


@dataclass(frozen=True)
class Meeting:
    """Which keys and queries meet, whatever the key's own merits: a layout is made of it."""

    equalities: frozenset[Pair]
    ranges: frozenset[Range]
    query_filters: Filters

    @property
    def strategy(self) -> str:
        return (GROUPS, RANGES, DOMINANCE, BLOCKED)[min(len(self.ranges), 3)]


@dataclass(frozen=True)
class Term:
    """Conjunctions that differ in their key filters only: what each key counts for, and where.

    A key counts for the sum of the coefficients of the filters that it passes.
    """

    meeting: Meeting
    weights: tuple[tuple[Filters, int], ...]


@dataclass(frozen=True)
class SumPlan:
    """The terms of a selector, or the reason why its rows are made block by block."""

    terms: tuple[Term, ...]
    blocked: str | None = None
    grouping: frozenset[Pair] = frozenset()
    """Equalities that every pick satisfies: a block needs only the keys of its own groups."""


_plans: WeakKeyDictionary[Selector, SumPlan] = WeakKeyDictionary()
_best_plans: WeakKeyDictionary[Selector, SumPlan] = WeakKeyDictionary()


def plan_sums(selector: Selector) -> SumPlan:
    """Plan the counting and summing of a selector's picks.

    >>> from rasp.language.graph import Select, Tokens
    >>> [term.meeting.strategy for term in plan_sums(Select(Tokens(), Tokens(), "==")).terms]
    ['groups']
    """
    plan = _plans.get(selector)
    if plan is None:
        why = "a conjunction compares {} different keys by order"
        plan = _plans[selector] = _planned(lambda: signed_sum(selector).items(), why)
    return plan


def plan_best(selector: Selector) -> SumPlan:
    """Plan the search for the highest score among a selector's picks."""
    plan = _best_plans.get(selector)
    if plan is None:
        why = "a highest score under {} orders has no shortcut"
        plan = _best_plans[selector] = _planned(
            lambda: dict.fromkeys(cover(selector), 1).items(), why
        )
    return plan


def _planned(total: Callable[[], Iterable[tuple[Conjunction, int]]], why_blocked: str) -> SumPlan:
    try:
        terms = _terms(total())
    except TooManyTerms as error:
        return SumPlan((), error.reason)
    most = max((len(term.meeting.ranges) for term in terms), default=0)
    if most > 2:
        return SumPlan(terms, why_blocked.format(most), shared_equalities(terms))
    return SumPlan(terms)


def _terms(total: Iterable[tuple[Conjunction, int]]) -> tuple[Term, ...]:
    """Sort each conjunction's comparisons by what they look at; join what differs in keys only."""
    weights: dict[Meeting, list[tuple[Filters, int]]] = {}
    for conjunction, coefficient in total:
        meeting, key_filters = _meeting(conjunction)
        weights.setdefault(meeting, []).append((key_filters, coefficient))
    return tuple(Term(meeting, tuple(counted)) for meeting, counted in weights.items())


def _meeting(conjunction: Conjunction) -> tuple[Meeting, Filters]:
    key_filters: Filters = frozenset(
        (pair, outcomes) for pair, outcomes in conjunction if isinstance(pair.queries, Const)
    )
    query_filters: Filters = frozenset(
        (pair, outcomes) for pair, outcomes in conjunction if isinstance(pair.keys, Const)
    )
    equalities: list[Pair] = []
    bounds: dict[SOp, list[tuple[Queries, int]]] = {}
    for pair, outcomes in conjunction - key_filters - query_filters:
        if outcomes == EQUAL:
            equalities.append(pair)
        else:
            bounds.setdefault(pair.keys, []).append((pair.queries, outcomes))
    ranges = frozenset(Range(keys, frozenset(against)) for keys, against in bounds.items())
    return Meeting(frozenset(equalities), ranges, query_filters), key_filters


def shared_equalities(terms: tuple[Term, ...]) -> frozenset[Pair]:
    """Equalities that every term asks for."""
    every = [term.meeting.equalities for term in terms]
    return frozenset() if not every else every[0].intersection(*every[1:])
