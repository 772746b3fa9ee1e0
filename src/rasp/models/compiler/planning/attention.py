"""A head in, what its queries, keys and values must read from the residual stream out.

The score of a key is what its selector's conjuncts make of it (`scores`), and a scorer
(`_best_scores`): for a query q, r(q) for every match and at least B less for any other key, where B
is `strength_of` and r the reference. Softmax makes weights of that, beside w matches:

- a mean: 1/w for each match, and e^-B of that or less for any other key. The sink scores r - B/2,
  so that it weighs e^-B/2 beside a match, and takes everything where there is none;
- a sum: r is subtracted, so that a match scores 0, and the sink scores κ = `SINK_SCORE`. A match
  weighs 1/(e^κ + w), which is e^-κ as near as float32 can tell, whatever w is (`MATCH_WEIGHT`);
- a share: position 0 scores more than a match, by `boost_of`; see `heads.width_shares`.

Keys send v - d for a value v and a default d, and the sink sends 0. So the head adds Σ p·v - d
where its attention p is on keys, and 0 where it is on the sink; readers add d to both, and get the
mean or the default. Outputs of one head that are only read in certain sums are moved as these sums.

Cost: the dimensions of its conjuncts, 1 for each product of its scorer, 1 for the sink's score, 1
to subtract r, and 1 for each independent sum that is moved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, floor, log

from rasp.language.graph.formulas import Comparison
from rasp.language.operators import ORDERINGS
from rasp.models.compiler.analysis.formulas import sides
from rasp.models.compiler.analysis.linear import Linear, total
from rasp.models.compiler.analysis.times import attention_time
from rasp.models.compiler.analysis.variables import (
    HeadOutput,
    PlannedHead,
    codes_of,
    default_of,
    mixture,
    number,
)
from rasp.models.compiler.heads.scorers import possible_scores, scored_by
from rasp.models.compiler.heads.width_shares import boost_of
from rasp.models.compiler.planning.dimensions import Layout
from rasp.models.compiler.planning.features import Features
from rasp.models.compiler.planning.scores import Conjunct, make_conjunct

SINK_SCORE = 22
"""In a sum, the sink's score; a match scores 0. It takes all but a few 10^-10ths of the weight.

A larger one would be exact to more digits than exp is; and attention kernels that work in powers
of two multiply scores by log2(e) first, which rounds what is then beyond 32 twice as coarsely.
"""
MATCH_WEIGHT = exp(-SINK_SCORE)
"""What one match weighs in a sum."""
BEST_STEP = 16
"""How far apart select_best puts the scores of keys."""
MOST_SPREAD = 1 << 18
"""The largest spread of the scores of select_best: float32 holds 64ths of such numbers."""
ONE = Linear(Fraction(1))


def strength_of(mode: str, length: int, inexact: bool) -> int:
    """How far below a match every other key must score; in a mean, the sink is half-way.

    Exact scores are multiples of 32, which float32 adds without rounding while they are below
    2^29. Scores made from inexact numbers err in proportion, so they get no more than needed.
    """
    if mode == "sum":
        return ceil(2 * log(length) + 8) if inexact else 96
    if inexact:
        return 2 * ceil(log(length) + 14)
    return 64


@dataclass(frozen=True, eq=False)
class HeadPlan:
    """What a head reads. A score is Σ query · key over `products`, plus the sink's."""

    head: PlannedHead
    basis: list[dict[HeadOutput, Fraction]]
    products: list[tuple[Linear, Linear]]
    sink: Linear
    """The sink's score, as a function of the query."""
    values: list[Linear]


def plan_head(
    features: Features, head: PlannedHead, basis: list[dict[HeadOutput, Fraction]]
) -> HeadPlan:
    """Plan one head, which moves these sums of its outputs."""
    head.check()
    time = attention_time(head.layer)
    best = _best_scores(features, head, time)
    scoring = Scoring(features, head, best.spread)
    scored = [*scoring.conjuncts(), best]
    products = [product for part in scored for product in part.products]
    products = _merge([*products, (ONE, scoring.boost())])
    reference = total(part.reference for part in scored)
    if head.mode == "sum" and (reference.parts or reference.constant):
        # Every match scores exactly 0 then, so that adding it to the sink's score rounds nothing.
        products.append((reference.times(-1), ONE))
    values = [_sent_value(features, weights, time) for weights in basis]
    return HeadPlan(head, basis, products, scoring.sink(scored), values)


@dataclass(frozen=True, eq=False)
class Scoring:
    """How far apart the scores of one head are, and what makes them so."""

    features: Features
    head: PlannedHead
    spread: Fraction
    """How far the scores of a select_best spread, which every condition outweighs."""

    @cached_property
    def strength(self) -> int:
        """How far below a match every other key scores."""
        values = self.features.values
        compared = [*sides(self.head.formula), *scored_by(self.head.best)]
        inexact = any(values.of(side).is_inexact for side in compared)
        return strength_of(self.head.mode, values.settings.max_length, inexact)

    def conjuncts(self) -> list[Conjunct]:
        """Realise the conjuncts; one order may score matches unevenly, the others outweigh it."""
        head, slack = self.head, self.spread
        realised: list[Conjunct] = []
        orders = [formula for formula in head.conjuncts
                  if isinstance(formula, Comparison) and formula.op in ORDERINGS]  # fmt: skip
        uneven = [] if head.needs_uniform or head.best is not None else orders[:1]
        for formula in sorted(head.conjuncts, key=lambda formula: formula not in uneven):
            strength = self.strength + 32 * ceil(slack / 32)  # scores stay multiples of 32
            uniform = formula not in uneven
            realised.append(make_conjunct(self.features, formula, head, strength, uniform))
            slack += realised[-1].spread
        return realised

    def boost(self) -> Linear:
        """What position 0 scores on top, so that it weighs as much as many matches."""
        if self.head.mode != "share":
            return Linear()
        boost = boost_of(self.features.values.settings.max_length)
        if self.head.outweighs:
            boost += self.strength
        at_first = self.features.values.of(self.head.outputs[0].values)
        time = attention_time(self.head.layer)
        return self.features.of_values(at_first, lambda atom: boost * number(atom), time)

    def sink(self, scored: list[Conjunct]) -> Linear:
        """Its score: above every match in a sum; in a mean, half-way to what must not match."""
        if self.head.mode == "sum":
            return Linear(Fraction(SINK_SCORE))
        if self.head.needs_sink:
            return total(conjunct.reference for conjunct in scored).plus(-self.strength // 2)
        lowest = sum(floor(conjunct.lowest) for conjunct in scored)
        return Linear(Fraction(lowest - self.strength))


def _merge(products: Iterable[tuple[Linear, Linear]]) -> list[tuple[Linear, Linear]]:
    """Join products whose query is constant, or whose key is the same."""
    constant = Linear()
    by_key: dict[object, tuple[Linear, Linear]] = {}
    for query, key in products:
        if query.is_constant:
            constant = constant + key.times(query.constant)
            continue
        if key.is_constant:
            query, key = query.times(key.constant), ONE
        query_so_far, _ = by_key.get(key.key, (Linear(), key))
        by_key[key.key] = (query_so_far + query, key)
    merged = [(query, key) for query, key in by_key.values() if query.parts or query.constant]
    if constant.parts or constant.constant:
        merged.append((ONE, constant))
    return merged


def _best_scores(features: Features, head: PlannedHead, time: int) -> Conjunct:
    """The scorer of a select_best as products γ·k·q; `spread` says how far its scores spread.

    γ is as large as it takes for two different scores of one query to be 16 apart: what is not best
    then weighs e^-16 of what is, at most. Keys that tie score the same, and share the weight. The
    conditions of the selector outweigh all of this, so the scores must not spread so far that
    float32 rounds them.
    """
    values = features.values
    scores = possible_scores(values, head.best, BEST_STEP, MOST_SPREAD)
    if scores is None:
        return Conjunct([])
    gamma = BEST_STEP / scores.gap
    products = [
        (features.of_values(values.of(term.queries), lambda atom: gamma * number(atom), time),
         features.of_values(values.of(term.keys), number, time))
        for term in scores.terms
    ]  # fmt: skip
    low, spread = gamma * scores.lowest, gamma * (scores.highest - scores.lowest)
    return Conjunct(products, Linear(low), low, spread=spread)


def basis_of(head: PlannedHead, wanted: Iterable[Linear]) -> list[dict[HeadOutput, Fraction]]:
    """Independent sums of the head's outputs, in whole numbers of them, for all that is wanted."""
    rows = ({output: linear.parts[output] for output in head.outputs if output in linear.parts}
            for linear in wanted)  # fmt: skip
    basis = Layout()
    for row in sorted(filter(None, rows), key=len):
        basis.add(total(output.linear.times(weight) for output, weight in row.items()))
    return [dimension.of(HeadOutput) for dimension in basis.dimensions]


def _sent_value(features: Features, weights: dict[HeadOutput, Fraction], time: int) -> Linear:
    """What keys send: the weighted sum of the outputs' values, each less its default."""
    if len(weights) > 1 and all(output.codes is None for output in weights):
        mixed = features.values.of(mixture(weights))
        result = features.of_values(mixed, number, time)
    else:
        result = Linear()
        for output, weight in weights.items():
            if output.carrier is not None:
                result = result + features.code(output.carrier, time).times(weight)
                continue
            values = features.values.of(output.values)
            codes = output.codes or codes_of(values.atoms)
            result = result + features.of_values(values, codes.__getitem__, time).times(weight)
    return result.plus(-default_of(weights))
