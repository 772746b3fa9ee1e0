"""The scorer of a select_best in, products that make its scores in a head out: γ·k·q.

γ is as large as it takes for two different scores of one query to be 16 apart: what is not best
then weighs e^-16 of what is, at most. Keys that tie score the same, and share the weight. The
conditions of the selector outweigh all of this, so the scores must not spread so far that float32
rounds them. Cost: 1 dimension of the head for each product of the scorer.
"""

from __future__ import annotations

from fractions import Fraction

from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.variables import PlannedHead, number
from rasp.compiler.heads.score_gaps import gap_and_extent
from rasp.compiler.planning.features import Features
from rasp.compiler.planning.scores import Conjunct
from rasp.compiler.refusals import Refusal
from rasp.graph import score_terms

STEP = 16
"""How far apart select_best puts the scores of keys."""
MOST_SPREAD = 1 << 18
"""The largest spread of the scores of select_best: float32 holds 64ths of such numbers."""


def best_scores(features: Features, head: PlannedHead, time: int) -> Conjunct | None:
    """The scorer of a select_best as products; `spread` says how far its scores spread."""
    if head.best is None:
        return None
    terms, values = score_terms(head.best), features.values
    keys = [values.of(term.keys) for term in terms]
    queries = [values.of(term.queries) for term in terms]
    if any(str in side.kinds for side in (*keys, *queries)):
        raise Refusal("`score` multiplies numbers, not strings", "score by a number")
    sent = values.joints.numbers([term.keys for term in terms])
    asked = values.joints.numbers([term.queries for term in terms])
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
