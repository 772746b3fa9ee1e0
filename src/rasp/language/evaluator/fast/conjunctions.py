"""Comparisons in, conjunctions of them out: what holds at once, or is a contradiction.

A comparison of two s-ops is a set of outcomes, a bit each for less, equal and greater: then `and`
of two comparisons of the same pair is the intersection, an empty set is a contradiction, and the
full set is not a condition at all. `select_best` is one more equality, with the best score of the
query's row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rasp.base.atoms import Atom
from rasp.language.graph import Const, Score, Scorer, SelectBest, Selector, SOp
from rasp.language.operators.comparisons import ANY, EQUAL, GREATER, LESS

MOST_COMPARISONS = 24


@dataclass(frozen=True)
class Best:
    """For each query, what its best picks have: it takes the place of an s-op.

    Of a single product, that is their score key; of a sum of products, their score.
    """

    selector: Selector
    scorer: Scorer


@dataclass(frozen=True)
class Pair:
    """What is compared: the keys of one s-op with the queries of another."""

    keys: SOp
    queries: SOp | Best

    @property
    def is_filter(self) -> bool:
        """True where only the key, or only the query, decides."""
        return isinstance(self.keys, Const) or isinstance(self.queries, Const)


Conjunction: TypeAlias = frozenset[tuple[Pair, int]]  # each pair once, with its outcomes
Filters: TypeAlias = Conjunction
"""Comparisons with constants."""

ALWAYS: Conjunction = frozenset()


class TooManyTerms(Exception):
    """The sum is longer than it is worth: the rows are cheaper one block at a time."""

    reason = "its comparisons multiply out to too many conjunctions"


class NoOrderOfKeys(TooManyTerms):
    """A sum of scores is compared, and no order of the keys is right for every query."""

    reason = "the best of a sum of scores has no shortcut"


def comparison(pair: Pair, outcomes: int) -> list[Conjunction]:
    """One comparison as a conjunction; of two constants, it is decided here."""
    if isinstance(pair.keys, Const) and isinstance(pair.queries, Const):
        outcomes = ANY * bool(outcomes & outcome(pair.keys.value, pair.queries.value))
    if outcomes == ANY:
        return [ALWAYS]
    return [frozenset({(pair, outcomes)})] if outcomes else []


def outcome(left: Atom, right: Atom) -> int:
    """Compare two atoms; a number comes before a string, which is all that `!=` needs to know."""
    if isinstance(left, str) != isinstance(right, str):
        return GREATER if isinstance(left, str) else LESS
    if left == right:
        return EQUAL
    return LESS if left < right else GREATER  # type: ignore[operator]


def meet(left: Conjunction, right: Conjunction) -> Conjunction | None:
    """Both at once; None where they contradict each other."""
    if not left or not right:
        return left or right
    outcomes = dict(left)
    for pair, allowed in right:
        outcomes[pair] = outcomes.get(pair, ANY) & allowed
        if not outcomes[pair]:
            return None
    if len(outcomes) > MOST_COMPARISONS:
        raise TooManyTerms
    return _settled(outcomes)


def _settled(outcomes: dict[Pair, int]) -> Conjunction | None:
    """Once an s-op is known to equal a constant, its other constant comparisons are decided."""
    keys = {pair.keys: pair for pair, allowed in outcomes.items()
            if isinstance(pair.queries, Const) and allowed == EQUAL}  # fmt: skip
    queries = {pair.queries: pair for pair, allowed in outcomes.items()
               if isinstance(pair.keys, Const) and allowed == EQUAL}  # fmt: skip
    if not keys and not queries:
        return frozenset(outcomes.items())
    left: dict[Pair, int] = {}
    for pair, allowed in outcomes.items():
        equality = keys.get(pair.keys) or queries.get(pair.queries)
        if equality is None or equality == pair or not pair.is_filter:
            left[pair] = allowed
        elif not allowed & _known_outcome(equality, pair):
            return None
    return frozenset(left.items())


def _known_outcome(equality: Pair, pair: Pair) -> int:
    """How `pair` turns out where `known`, an equality with a constant, holds."""
    if isinstance(pair.queries, Const) and isinstance(equality.queries, Const):
        return outcome(equality.queries.value, pair.queries.value)
    assert isinstance(pair.keys, Const) and isinstance(equality.keys, Const)
    return outcome(pair.keys.value, equality.keys.value)


def best_conditions(node: SelectBest) -> tuple[list[Conjunction], list[Conjunction]]:
    """The two ways to be a best pick: the query's score is zero (all tie), or the key is best.

    A score is `keys[j] * queries[i]`, so the best key is the largest one where the query is
    positive and the smallest where it is negative: one value per query, whatever the scorer.
    """
    scorer = node.scorer
    if not isinstance(scorer, Score):
        raise NoOrderOfKeys
    best = Best(node.selector, scorer)
    zero = comparison(Pair(Const(0), scorer.queries), EQUAL)
    return zero, comparison(Pair(scorer.keys, best), EQUAL)
