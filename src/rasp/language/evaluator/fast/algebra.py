"""A selector in, a signed sum of conjunctions of comparisons out.

Counts and sums are linear in the selection, so `and` is a product, `not` is 1 - a and `or` is
a + (1 - a) b; what is left are conjunctions, which need no matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeAlias

from rasp.language.evaluator.fast.conjunctions import (
    ALWAYS,
    Conjunction,
    Pair,
    TooManyTerms,
    best_conditions,
    comparison,
    meet,
)
from rasp.language.graph import SelectBest, Selector, SOp
from rasp.language.graph.formulas import fold
from rasp.language.operators.comparisons import ANY, DIFFERENT, EQUAL, GREATER, LESS, WITH_OUTCOMES

MOST_TERMS = 64
MOST_WORK = 50_000  # pairs of conjunctions multiplied for one plan
SignedSum: TypeAlias = dict[Conjunction, int]


def signed_sum(selector: Selector) -> SignedSum:
    """Write a selector as a sum of conjunctions with whole coefficients.

    >>> from rasp.language.graph import Indices, Select, SelectorNot
    >>> earlier = Select(Indices(), Indices(), "<")
    >>> [(dict(term), sign) for term, sign in signed_sum(SelectorNot(earlier)).items()]
    [({Pair(keys=Indices(), queries=Indices()): 6}, 1)]
    """
    return _merged(_without_different(fold([selector], _Sums())[selector]))


def cover(selector: Selector) -> list[Conjunction]:
    """List conjunctions that together pick exactly what the selector picks; they may overlap.

    A highest score cannot be added and subtracted as counts can, but it can be taken over a
    union.
    """
    split: list[Conjunction] = []
    for conjunction in fold([selector], _Covers())[selector]:
        split += _split_different(conjunction)
    return list(dict.fromkeys(split))


class _Work:
    """Counts the pairs of conjunctions that are looked at, so that a plan is made soon or never."""

    done = 0

    def count(self, left: Collection[object], right: Collection[object]) -> None:
        self.done += len(left) * len(right)
        if self.done > MOST_WORK:
            raise TooManyTerms


class _Sums(_Work):
    """The algebra of signed sums: `and` is a product, `or` is a + (1 - a) b."""

    def compare(self, keys: SOp, queries: SOp, outcomes: int) -> SignedSum:
        return dict.fromkeys(comparison(Pair(keys, queries), outcomes), 1)

    def both(self, left: SignedSum, right: SignedSum) -> SignedSum:
        self.count(left, right)
        return _product(left, right)

    def either(self, left: SignedSum, right: SignedSum) -> SignedSum:
        self.count(left, right)
        return _plus(left, _product(_complement(left), right))

    def best(
        self, node: SelectBest, wanted: bool, picks: SignedSum, others: SignedSum
    ) -> SignedSum:
        zero, best = (dict.fromkeys(condition, 1) for condition in best_conditions(node))
        kept = _product(picks, _plus(zero, _product(_complement(zero), best)))
        return kept if wanted else _complement(kept)


class _Covers(_Work):
    """The algebra of unions of conjunctions."""

    def compare(self, keys: SOp, queries: SOp, outcomes: int) -> list[Conjunction]:
        return comparison(Pair(keys, queries), outcomes)

    def both(self, left: list[Conjunction], right: list[Conjunction]) -> list[Conjunction]:
        self.count(left, right)
        return _all_pairs(left, right)

    def either(self, left: list[Conjunction], right: list[Conjunction]) -> list[Conjunction]:
        return _union(left, right)

    def best(
        self, node: SelectBest, wanted: bool, picks: list[Conjunction], others: list[Conjunction]
    ) -> list[Conjunction]:
        zero, best = best_conditions(node)
        if wanted:
            return _all_pairs(picks, _union(zero, best))
        return _union(others, _all_pairs(_opposites(zero), _opposites(best)))


def _opposites(single: list[Conjunction]) -> list[Conjunction]:
    """What a list of at most one comparison leaves."""
    if not single:
        return [ALWAYS]
    return [leaf for pair, outcomes in single[0] for leaf in comparison(pair, ANY - outcomes)]


def _plus(left: SignedSum, right: SignedSum, times: int = 1) -> SignedSum:
    total = dict(left)
    for conjunction, coefficient in right.items():
        total[conjunction] = total.get(conjunction, 0) + times * coefficient
    return {conjunction: value for conjunction, value in total.items() if value}


def _product(left: SignedSum, right: SignedSum) -> SignedSum:
    total: SignedSum = {}
    for first, first_times in left.items():
        for second, second_times in right.items():
            both = meet(first, second)
            if both is not None:
                total[both] = total.get(both, 0) + first_times * second_times
        if len(total) > MOST_TERMS * 4:
            raise TooManyTerms
    return {conjunction: value for conjunction, value in total.items() if value}


def _complement(value: SignedSum) -> SignedSum:
    """1 - value; of one comparison, the opposite comparison."""
    if len(value) == 1:
        [(conjunction, coefficient)] = value.items()
        if coefficient == 1 and len(conjunction) == 1:
            [(pair, outcomes)] = conjunction
            return dict.fromkeys(comparison(pair, ANY - outcomes), 1)
    return _plus({ALWAYS: 1}, value, -1)


def _without_different(value: SignedSum) -> SignedSum:
    """Replace each `!=` between keys and queries by 1 minus `==`."""
    total: SignedSum = {}
    stack = list(value.items())
    while stack:
        conjunction, coefficient = stack.pop()
        different = next((pair for pair, outcomes in conjunction
                          if outcomes == DIFFERENT and not pair.is_filter), None)  # fmt: skip
        if different is None:
            total[conjunction] = total.get(conjunction, 0) + coefficient
            continue
        rest = conjunction - {(different, DIFFERENT)}
        stack += [(rest, coefficient), (rest | {(different, EQUAL)}, -coefficient)]
        if len(stack) + len(total) > MOST_TERMS * 4:
            raise TooManyTerms
    return {conjunction: times for conjunction, times in total.items() if times}


def _merged(value: SignedSum) -> SignedSum:
    """Join terms that differ in one pair only: `<` and `==` become `<=`, 1 minus `<` is `>=`."""
    if sum(map(abs, value.values())) > MOST_TERMS:
        raise TooManyTerms
    joined = next(_joinable(value), None)
    return value if joined is None else _merged(joined)


def _joinable(value: SignedSum) -> Iterator[SignedSum]:
    """The sum with two of its terms joined, for each way to do so; filters first."""
    for filters_first in (True, False):
        every = [(term, pair, outcomes) for term in value for pair, outcomes in term
                 if pair.is_filter == filters_first]  # fmt: skip
        for term, pair, outcomes in every:
            times = value[term]
            rest = term - {(pair, outcomes)}
            others = [(rest, -times, ANY - outcomes)]
            others += [(rest | {(pair, other)}, times, outcomes | other)
                       for other in WITH_OUTCOMES if not other & outcomes]  # fmt: skip
            for other, wanted, joined in others:
                if value.get(other) != wanted or (joined == DIFFERENT and not pair.is_filter):
                    continue
                left = {kept: value[kept] for kept in value if kept not in (term, other)}
                union = rest if joined == ANY else rest | {(pair, joined)}
                yield _plus(left, {union: wanted})


def _all_pairs(left: list[Conjunction], right: list[Conjunction]) -> list[Conjunction]:
    met = (meet(first, second) for first in left for second in right)
    return _union([both for both in met if both is not None], [])


def _union(left: list[Conjunction], right: Iterable[Conjunction]) -> list[Conjunction]:
    joined = list(dict.fromkeys([*left, *right]))
    if ALWAYS in joined:
        return [ALWAYS]
    if len(joined) > MOST_TERMS:
        raise TooManyTerms
    return joined


def _split_different(conjunction: Conjunction) -> list[Conjunction]:
    """A union of conjunctions without `!=` between keys and queries: less, or greater."""
    if 2 ** sum(outcomes == DIFFERENT for _, outcomes in conjunction) > MOST_TERMS:
        raise TooManyTerms
    for pair, outcomes in conjunction:
        if outcomes == DIFFERENT and not pair.is_filter:
            rest = conjunction - {(pair, DIFFERENT)}
            return [split for side in (LESS, GREATER)
                    for split in _split_different(rest | {(pair, side)})]  # fmt: skip
    return [conjunction]
