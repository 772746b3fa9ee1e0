"""The scorer of a `select_best` in; what it multiplies, and how far apart its scores are, out.

Heads multiply scores until two different ones of a query are a step apart, so that softmax leaves
next to nothing to what is not best. Each style has its own step, and how far they may spread then.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from rasp.language.graph import Score, Scorer, SOp, score_terms
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.compile_refusals import Refusal

MOST_SCORES = 500_000
"""The most pairs of a query and a key whose scores are compared while compiling."""
Numbers: TypeAlias = list[tuple[Fraction, ...]]


@dataclass(frozen=True, eq=False)
class PossibleScores:
    """What a scorer can be: a sum of products of what is asked and what keys send."""

    terms: tuple[Score, ...]
    asked: Numbers
    sent: Numbers
    gap: Fraction
    """The smallest difference of two scores of one query."""
    lowest: Fraction
    highest: Fraction


def possible_scores(
    values: ValueAnalysis, best: Scorer | None, step: int, most: int
) -> PossibleScores | None:
    """What a scorer can be, where it decides anything; a step apart, scores may spread so far."""
    if best is None:
        return None
    if any(str in values.of(side).kinds for side in scored_by(best)):
        raise Refusal("`score` multiplies numbers, not strings", "score by a number")
    terms = score_terms(best)
    asked = values.joints.numbers([term.queries for term in terms])
    sent = values.joints.numbers([term.keys for term in terms])
    gap, (lowest, highest) = gap_and_extent(asked, sent)
    if not gap:
        return None
    if step * (highest - lowest) > most * gap:
        otherwise = ', or use `style="compact"`' if values.settings.style == "robust" else ""
        raise Refusal(
            f"the scores of select_best spread over {float((highest - lowest) / gap):.0f} times "
            f"their smallest difference, and the limit is {most // step}",
            f"score by smaller whole numbers{otherwise}",
        )
    return PossibleScores(terms, asked, sent, gap, lowest, highest)


def scored_by(best: Scorer | None) -> list[SOp]:
    """The keys and queries that a scorer multiplies."""
    terms = score_terms(best) if best else ()
    return [side for term in terms for side in (term.keys, term.queries)]


def gap_and_extent(asked: Numbers, sent: Numbers) -> tuple[Fraction, tuple[Fraction, Fraction]]:
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
