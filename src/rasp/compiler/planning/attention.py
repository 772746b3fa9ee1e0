"""A head in, what its queries, keys and values must read from the residual stream out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, floor, log

from rasp.compiler.analysis.formulas import Formula, comparisons, in_stable_order
from rasp.compiler.analysis.linear import Linear, content, total
from rasp.compiler.analysis.variables import (
    HeadOutput,
    PlannedHead,
    codes_of,
    default_code,
    mixture,
    number,
)
from rasp.compiler.planning.features import Features
from rasp.compiler.planning.heads import HeadAnalysis, scored_by
from rasp.compiler.planning.scores import Conjunct, Request, make_conjunct
from rasp.compiler.planning.width_shares import boost_of
from rasp.compiler.refusals import Refusal
from rasp.graph import score_terms
from rasp.graph.formulas import Comparison, conjuncts
from rasp.operators import ORDERINGS

STEP, WIDE_STEP = 16, 160
"""How far apart select_best puts the scores of keys; by the wide one, where there is room for
it, all but the best get no weight at all."""
MOST_WIDE = 1 << 16
"""The largest spread of scores in wide steps."""
SINK_WEIGHT = 22
"""In a sum, the sink's score: it takes all but a few 10^-10ths of the weight.

A larger one would be exact to more digits than exp is; and attention kernels that work in powers
of two multiply scores by log2(e) first, which rounds what is then beyond 32 twice as coarsely.
"""
SHARE = exp(-SINK_WEIGHT)
"""What one match weighs in a sum."""
MOST_SPREAD = 1 << 18
"""The largest spread of the scores of select_best, where they are STEP apart."""
MOST_SCORES = 500_000
"""The most pairs of a query and a key whose scores are compared while compiling."""
ONE = Linear(Fraction(1))
LARGEST_EXACT = 1 << 27
"""The largest scores that are surely exact: multiples of 32."""


def strength_of(mode: str, length: int, noisy: bool, quiet: bool = True) -> int:
    """How far below a match every other key must score; in a mean, the sink is half-way.

    Exact scores are multiples of 32 and, if that leaves them exact (`quiet`), so far apart that
    all but the wanted weights are 0 in float32 (104 is enough, and half as much again is left for
    noise). Scores made from noisy numbers err in proportion, so they get no more than is needed.
    """
    if mode == "sum":
        return ceil(2 * log(length) + 8) if noisy else 96
    if noisy:
        return 2 * ceil(log(length) + 14)
    return 320 if quiet else 64


@dataclass(frozen=True, eq=False)
class HeadPlan:
    """What a head reads. A score is Σ query · key over `products`, plus the sink's."""

    head: PlannedHead
    conjuncts: list[Conjunct]
    products: list[tuple[Linear, Linear]]
    sink: Linear
    """The sink's score, as a function of the query."""
    values: list[Linear]
    basis: list[dict[HeadOutput, Fraction]]
    """Each value is this weighted sum of the head's outputs."""


def plan_head(
    features: Features,
    analysis: HeadAnalysis,
    head: PlannedHead,
    wanted: Iterable[Linear],
) -> HeadPlan:
    """Plan one head; `wanted` says which sums of its outputs anything reads."""
    head.check()
    time = 2 * head.layer - 1
    needs_sink = head.mode == "sum" or head.may_be_empty
    step = STEP if is_noisy(analysis, head) else WIDE_STEP
    best, slack = _best(features, head, time, step)
    parts = _conjuncts(features, analysis, head, needs_sink, slack, True)
    quiet = sum(part.largest for part in parts) < LARGEST_EXACT
    if step > STEP and (slack > MOST_WIDE or not quiet):
        step = STEP
        best, slack = _best(features, head, time, step)
        parts = _conjuncts(features, analysis, head, needs_sink, slack, True)
        quiet = sum(part.largest for part in parts) < LARGEST_EXACT
    if not quiet:
        parts = _conjuncts(features, analysis, head, needs_sink, slack, False)
    every = [*parts, best] if best else parts
    boost = _boost(head, analysis, features, quiet)
    products = _merged([*(each for part in every for each in part.products), (ONE, boost)])
    if head.mode == "sum":
        products += _lowered(every)
    basis = _basis(head, wanted)
    values = [_value(features, each, time) for each in basis]
    sink = _sink(analysis, head, every, needs_sink, quiet)
    return HeadPlan(head, parts, products, sink, values, basis)


def _boost(head: PlannedHead, analysis: HeadAnalysis, features: Features, quiet: bool) -> Linear:
    """What position 0 scores on top, so that it weighs as much as many matches."""
    if head.mode != "share":
        return Linear()
    length = analysis.settings.max_length
    boost = boost_of(length)
    if head.outweighs:
        boost += strength_of(head.mode, length, is_noisy(analysis, head), quiet)
    light = analysis.of(head.outputs[0].values)
    return features.of_values(light, lambda atom: boost * number(atom), 2 * head.layer - 1)


def _conjuncts(
    features: Features, analysis: HeadAnalysis, head: PlannedHead, needs_sink: bool,
    slack: Fraction, quiet: bool,
) -> list[Conjunct]:  # fmt: skip
    """Realise the conjuncts; one order may score matches unevenly, and the others outweigh it."""
    settings, time = analysis.settings, 2 * head.layer - 1
    found: list[Conjunct] = []
    is_share = head.mode == "share"
    formulas = [head.formula] if is_share else in_stable_order(conjuncts(head.formula))
    noisy = is_noisy(analysis, head)
    uniform = head.needs_uniform or head.best is not None
    uniform |= bool(head.stand_ins)
    uneven = None if uniform else _order(formulas)
    for formula in sorted(formulas, key=lambda each: each is not uneven):
        strength = strength_of(head.mode, settings.max_length, noisy, quiet)
        strength += 32 * ceil(slack / 32)
        if formula in head.stand_ins:  # all of them together fall half as deep as others do
            strength //= 2 * len(head.stand_ins)
        request = Request(time, strength, formula is not uneven, needs_sink, is_share,
                          analysis.compares_by_class)  # fmt: skip
        conjunct = make_conjunct(features, formula, request, settings.causal)
        if conjunct is not None:
            found.append(conjunct)
            slack += conjunct.spread
    return found


def _is_computed(analysis: HeadAnalysis, formula: Formula) -> bool:
    """Whether a conjunct compares what heads have made."""
    nodes = {node for each in comparisons(formula) for node in (each.keys, each.queries)}
    return any(analysis.of(node).is_noisy for node in nodes)


def _order(formulas: list[Formula]) -> Formula | None:
    for formula in formulas:
        if isinstance(formula, Comparison) and formula.op in ORDERINGS:
            return formula
    return None


def _best(
    features: Features, head: PlannedHead, time: int, step: int
) -> tuple[Conjunct | None, Fraction]:
    """The scorer of a select_best as a product, and how far its scores spread."""
    if head.best is None:
        return None, Fraction(0)
    terms = score_terms(head.best)
    analysis = features.analysis
    keys, queries = ([analysis.of(term.keys) for term in terms],
                     [analysis.of(term.queries) for term in terms])  # fmt: skip
    if any(str in side.kinds for side in (*keys, *queries)):
        raise Refusal("`score` multiplies numbers, not strings", "score by a number")
    sent = analysis.numbers_together([term.keys for term in terms])
    asked = analysis.numbers_together([term.queries for term in terms])
    gap, (lowest, highest) = _gap_and_extent(asked, sent)
    gamma = Fraction(step) / gap if gap else Fraction(0)
    low, spread = gamma * lowest, gamma * (highest - lowest)
    if spread * STEP / step > MOST_SPREAD:
        raise Refusal(
            f"the scores of select_best spread over {float(spread / step):.0f} times their "
            "smallest difference, which is too much for float32",
            "score by smaller whole numbers",
        )
    products = [
        (features.of_values(query, lambda atom: gamma * number(atom), time),
         features.of_values(key, number, time))
        for key, query in zip(keys, queries, strict=True)
    ]  # fmt: skip
    pairs = len(asked) * len(sent)
    return Conjunct(pairs, products, Linear(low), low, spread=spread), spread


def _gap_and_extent(
    asked: list[tuple[Fraction, ...]], sent: list[tuple[Fraction, ...]]
) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The smallest difference of two scores of one query (0 if there is none); least and most."""
    if len(sent[0]) == 1:
        keys, queries = [key for (key,) in sent], [query for (query,) in asked]
        gaps = [high - low for low, high in pairwise(keys)]
        sizes = [abs(query) for query in queries if query]
        corners = [
            key * query for key in (keys[0], keys[-1]) for query in (queries[0], queries[-1])
        ]
        return min(gaps, default=Fraction(0)) * min(sizes, default=Fraction(0)), (
            min(corners), max(corners)
        )  # fmt: skip
    if len(asked) * len(sent) > MOST_SCORES:
        raise Refusal(
            f"select_best scores {len(sent)} different keys for {len(asked)} different queries",
            "score by fewer different numbers, or use a smaller length or vocabulary",
        )
    gap, extent = Fraction(0), (Fraction(0), Fraction(0))
    for place, query in enumerate(asked):
        scores = sorted({sum((a * b for a, b in zip(query, key, strict=True)), Fraction(0))
                         for key in sent})  # fmt: skip
        gaps = [high - low for low, high in pairwise(scores)]
        gap = min([*gaps, gap]) if gap and gaps else min(gaps, default=gap)
        ends = (scores[0], scores[-1])
        extent = ends if not place else (min(extent[0], ends[0]), max(extent[1], ends[1]))
    return gap, extent


def _merged(products: Iterable[tuple[Linear, Linear]]) -> list[tuple[Linear, Linear]]:
    """Join products whose query is constant, or whose key is the same."""
    constant = Linear()
    by_key: dict[object, tuple[Linear, Linear]] = {}
    for query, key in products:
        if query.is_constant:
            constant = constant + key.times(query.constant)
            continue
        if key.is_constant:
            by_key.setdefault("constant", (Linear(), ONE))
            known, _ = by_key["constant"]
            by_key["constant"] = (known + query.times(key.constant), ONE)
            continue
        known, _ = by_key.get(key.key, (Linear(), key))
        by_key[key.key] = (known + query, key)
    merged = [(query, key) for query, key in by_key.values() if query.parts or query.constant]
    if constant.parts or constant.constant:
        merged.append((ONE, constant))
    return merged


def _lowered(found: list[Conjunct]) -> list[tuple[Linear, Linear]]:
    """Let every match score exactly 0, so that adding it to the sink's score rounds nothing."""
    reference = total(conjunct.reference for conjunct in found)
    if not reference.parts and not reference.constant:
        return []
    return [(reference.times(-1), ONE)]


def is_noisy(analysis: HeadAnalysis, head: PlannedHead) -> bool:
    """Whether rounding can move what a head compares."""
    return _is_computed(analysis, head.formula) or any(
        analysis.of(node).is_noisy for node in scored_by(head.best)
    )


def _sink(
    analysis: HeadAnalysis, head: PlannedHead, found: list[Conjunct], needs_sink: bool, quiet: bool
) -> Linear:
    """The sink's score: above every match in a sum; in a mean, half-way to what must not match."""
    if head.mode == "sum":
        return Linear(Fraction(SINK_WEIGHT))
    noisy = is_noisy(analysis, head)
    strength = strength_of(head.mode, analysis.settings.max_length, noisy, quiet)
    if needs_sink:
        return total(conjunct.reference for conjunct in found).plus(-strength // 2)
    lowest = sum(floor(conjunct.lowest) for conjunct in found)
    return Linear(Fraction(lowest - strength))


def _basis(head: PlannedHead, wanted: Iterable[Linear]) -> list[dict[HeadOutput, Fraction]]:
    """Independent sums of the head's outputs, in whole numbers of them, for all that is wanted."""
    basis: list[dict[HeadOutput, Fraction]] = []
    reduced: list[tuple[HeadOutput, dict[HeadOutput, Fraction]]] = []
    rows = {}
    for linear in wanted:
        row = {output: linear.parts[output] for output in head.outputs
               if output in linear.parts}  # fmt: skip
        if row:
            rows[frozenset(row.items())] = row
    for row in sorted(rows.values(), key=len):
        rest = dict(row)
        for pivot, known in reduced:
            if pivot in rest:
                factor = rest[pivot]
                rest = {each: rest.get(each, Fraction(0)) - factor * known.get(each, Fraction(0))
                        for each in {*rest, *known}}  # fmt: skip
                rest = {each: weight for each, weight in rest.items() if weight}
        if rest:
            pivot = next(iter(rest))
            reduced.append((pivot, {each: w / rest[pivot] for each, w in rest.items()}))
            unit = content(row.values())
            basis.append({each: weight / unit for each, weight in row.items()})
    return basis


def _value(features: Features, weights: dict[HeadOutput, Fraction], time: int) -> Linear:
    """What keys send: the weighted sum of the outputs' values, each less its default."""
    if len(weights) > 1 and all(output.codes is None for output in weights):
        mixed = features.analysis.of(mixture(weights))
        result = features.of_values(mixed, number, time)
    else:
        result = Linear()
        for output, weight in weights.items():
            if output.carrier is not None:
                result = result + features.code(output.carrier, time).times(weight)
                continue
            values = features.analysis.of(output.values)
            codes = output.codes or codes_of(values.atoms)
            result = result + features.of_values(values, codes.__getitem__, time).times(weight)
    return result.plus(-default_shift(weights))


def default_shift(weights: dict[HeadOutput, Fraction]) -> Fraction:
    """The weighted sum of the outputs' defaults."""
    return sum((weight * default_code(output) for output, weight in weights.items()), Fraction(0))
