"""Which selectors pick one key at most, or keys that all hold the same value.

No two keys are picked by one query where keys are compared by `==` with something that is different
at each position: a function of the index alone with no value twice, or a rank (how many keys a
strict order of all positions picks). The best key is one where scores are one
product and differ for different positions, and a promise may say that there is one. Several keys
hold one value where the selector compares that value by `==`, or keys that tie have the same.
"""

from __future__ import annotations

from rasp.certificate.program.orders import is_strict_order
from rasp.compiler.analysis.formulas import Formula, comparisons, keys_and_queries
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.variables import HeadOutput, mixture, summed_over
from rasp.compiler.heads.promised_picks import PromisedPicks
from rasp.graph import Indices, Score, Scorer, SOp
from rasp.graph.formulas import Comparison, conjuncts, rewritten


class UniquePicks:
    """What is unique about the keys that selectors pick."""

    def __init__(self, promises: PromisedPicks) -> None:
        self.values, self.promises = promises.values, promises

    def at_most_one(self, formula: Formula, best: Scorer | None) -> bool:
        """Whether no query can pick two keys."""
        return (
            self.values.settings.max_length == 1
            or (best is not None and self._tells_apart(best, Indices()))
            or any(map(self._is_injective, _compared_by_equality(formula)))
            or self.promises.of(formula)[1] <= 1
        )

    def one_value(self, values: SOp, formula: Formula, best: Scorer | None) -> bool:
        """Whether all keys that a query picks hold the same value, however many they are."""
        return values in _compared_by_equality(formula) or (
            best is not None and self._tells_apart(best, values)
        )

    def _tells_apart(self, best: Scorer, values: SOp) -> bool:
        """Whether keys that tie, for some query, surely hold the same value: they are scored by one
        product, which no query makes 0.
        """
        match best:
            case Score(keys, queries):
                is_decided = keys is values or (
                    isinstance(values, Indices) and self._is_injective(keys)
                )
                return is_decided and all(self.values.of(queries).outcomes)
        return False

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
