"""Which selectors pick one key at most, or keys that all hold the same value.

No two keys are picked by one query where keys are compared by `==` with something that is different
at each position: a function of the index alone with no value twice, or a rank (how many keys a
strict order of all positions picks). The best key is one where scores of different positions
differ, and a promise may say that there is one. Several keys hold one value where the
selector compares that value by `==`, or keys that tie have the same.
"""

from __future__ import annotations

from fractions import Fraction

from rasp.certificate.program.orders import is_strict_order
from rasp.compiler.analysis.formulas import Formula, comparisons, keys_and_queries
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.variables import HeadOutput, mixture, summed_over
from rasp.compiler.heads.promised_picks import PromisedPicks
from rasp.compiler.heads.selectors import MOST_COMPARED
from rasp.graph import Indices, Score, Scorer, SOp, score_terms
from rasp.graph.formulas import Comparison, conjuncts, rewritten


class UniquePicks:
    """What is unique about the keys that selectors pick."""

    def __init__(self, promises: PromisedPicks) -> None:
        self.values, self.promises = promises.values, promises

    def at_most_one(self, formula: Formula, best: Scorer | None) -> bool:
        """Whether no query can pick two keys."""
        if self.values.settings.max_length == 1:
            return True
        if best is not None and self._tells_apart(best, Indices()):
            return True
        if any(map(self._is_injective, _compared_by_equality(formula))):
            return True
        return self.promises.of(formula)[1] <= 1

    def one_value(self, values: SOp, formula: Formula, best: Scorer | None) -> bool:
        """Whether all keys that a query picks hold the same value, however many they are."""
        if best is not None and self._tells_apart(best, values):
            return True
        return values in _compared_by_equality(formula)

    def _tells_apart(self, best: Scorer, values: SOp) -> bool:
        """Whether keys that tie, for some query, surely hold the same value."""
        match best:
            case Score(keys, queries) if keys is values:
                return all(self.values.of(queries).outcomes)
            case Score(keys, queries) if isinstance(values, Indices):
                return self._is_injective(keys) and all(self.values.of(queries).outcomes)
            case Score():
                return False
        terms = score_terms(best)
        asked = self.values.joints.numbers([term.queries for term in terms])
        sent = self.values.joints.numbers([*(term.keys for term in terms), values])
        if len(asked) * len(sent) > MOST_COMPARED:
            return False
        for query in asked:
            holders: dict[Fraction, Fraction] = {}
            for *sides, value in sent:
                score = sum((a * b for a, b in zip(sides, query, strict=True)), Fraction(0))
                if holders.setdefault(score, value) != value:
                    return False
        return True

    def _is_injective(self, keys: SOp) -> bool:
        """Whether no two positions hold the same: the index decides it, or it is a rank."""
        values = self.values.of(keys)
        if values.inputs != (self.values.index,):
            return values.linear is not None and self._is_rank(values.linear)
        return len({*values.outcomes} - {None}) == len(values.outcomes)

    def _is_rank(self, linear: Linear) -> bool:
        """Whether a number tells how many keys a strict order of all positions picks."""
        formula = summed_over(linear)
        if formula is None:
            return False
        sent = self.values.of(mixture(linear.of(HeadOutput))).atoms
        return len(sent) == 1 and bool(sent[0]) and self._is_order(formula)

    def _is_order(self, formula: Formula) -> bool:
        """Whether of any two positions one comes before the other by a formula, in one order."""
        sides, _ = keys_and_queries(formula)
        sorts = [{isinstance(atom, str) for atom in self.values.of(side).atoms} for side in sides]
        are_same = all(part.keys is part.queries for part in comparisons(formula))
        if not are_same or any(len(sort) > 1 for sort in sorts):
            return False

        def holds(case: tuple[int, ...]) -> bool:
            outcome = dict(zip(sides, case, strict=True))
            truth = rewritten(formula, lambda part: bool(outcome[part.keys] & part.outcomes))
            return truth is True

        return is_strict_order(holds, [isinstance(side, Indices) for side in sides])


def _compared_by_equality(formula: Formula) -> list[SOp]:
    """What keys hold that a query picks."""
    return [part.keys for part in conjuncts(formula)
            if isinstance(part, Comparison) and part.op == "=="]  # fmt: skip
