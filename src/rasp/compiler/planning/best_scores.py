"""The scorer of a select_best in, products that make its scores in a head out: γ·k·q.

γ is as large as it takes for two different scores of one query to be 16 apart: what is not best
then weighs e^-16 of what is, at most. Keys that tie score the same, and share the weight. The
conditions of the selector outweigh all of this, so the scores must not spread so far that float32
rounds them. Cost: 1 dimension of the head for each product of the scorer.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.variables import PlannedHead, number
from rasp.compiler.planning.features import Features
from rasp.compiler.planning.scores import Conjunct
from rasp.compiler.refusals import Refusal
from rasp.graph import score_terms

STEP = 16
"""How far apart select_best puts the scores of keys."""
MOST_SPREAD = 1 << 18
"""The largest spread of the scores of select_best: float32 holds 64ths of such numbers."""
MOST_SCORES = 500_000
"""The most pairs of a query and a key whose scores are compared while compiling."""


def best_scores(features: Features, head: PlannedHead, time: int) -> Conjunct | None:
    """The scorer of a select_best as products; `spread` says how far its scores spread."""
    if head.best is None:
        return None
    terms, analysis = score_terms(head.best), features.analysis
    keys = [analysis.of(term.keys) for term in terms]
    queries = [analysis.of(term.queries) for term in terms]
    if any(str in side.kinds for side in (*keys, *queries)):
        raise Refusal("`score` multiplies numbers, not strings", "score by a number")
    sent = analysis.joints.numbers([term.keys for term in terms])
    asked = analysis.joints.numbers([term.queries for term in terms])
    gap, (lowest, highest) = gap_and_extent(asked, sent)
    gamma = Fraction(STEP) / gap if gap else Fraction(0)
    low, spread = gamma * lowest, gamma * (highest - lowest)
    if spread > MOST_SPREAD:
        raise Refusal(
            f"the scores of select_best spread over {float(spread / STEP):.0f} times their "
            "smallest difference, which is too much for float32",
            "score by smaller whole numbers",
        )
    products = [
        (features.of_values(query, lambda atom: gamma * number(atom), time),
         features.of_values(key, number, time))
        for key, query in zip(keys, queries, strict=True)
    ]  # fmt: skip
    return Conjunct(products, Linear(low), low, spread=spread)


def gap_and_extent(
    asked: list[tuple[Fraction, ...]], sent: list[tuple[Fraction, ...]]
) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The smallest difference of two scores of one query (0 if there is none); least and most."""
    if len(sent[0]) == 1:
        return _of_products([query for (query,) in asked], [key for (key,) in sent])
    if len(asked) * len(sent) > MOST_SCORES:
        raise Refusal(
            f"select_best scores {len(sent)} different keys for {len(asked)} different queries",
            "score by fewer different numbers, or use a smaller length or vocabulary",
        )
    gaps: list[Fraction] = []
    ends: list[Fraction] = []
    for query in asked:
        scores = sorted({sum((a * b for a, b in zip(query, key, strict=True)), Fraction(0))
                         for key in sent})  # fmt: skip
        gaps += [high - low for low, high in pairwise(scores)]
        ends += [scores[0], scores[-1]]
    return min(gaps, default=Fraction(0)), (min(ends), max(ends))


def _of_products(
    queries: list[Fraction], keys: list[Fraction]
) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The same where a score is one product: numbers in order tell it without all pairs."""
    gaps = [high - low for low, high in pairwise(keys)]
    sizes = [abs(query) for query in queries if query]
    corners = [key * query for key in (keys[0], keys[-1]) for query in (queries[0], queries[-1])]
    gap = min(gaps, default=Fraction(0)) * min(sizes, default=Fraction(0))
    return gap, (min(corners), max(corners))
