"""Outputs of heads in; the numbers that they, and weighted sums of them, can be, out.

Outputs of one head move together, so it is the weighted sum of their values that is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache, reduce

from rasp.models.certificate.program.reach import means, pair_sums, subset_sums, sums
from rasp.models.compiler.analysis.formulas import Formula
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.analysis.variables import (
    HeadOutput,
    PlannedHead,
    default_of,
    mixture,
    number,
)
from rasp.models.compiler.analysis.weighted_sums import list_numbers
from rasp.models.compiler.heads.pick_counts import PickCounts


class HeadRanges:
    """What numbers heads can make."""

    def __init__(self, picks: PickCounts) -> None:
        self.picks, self.values, self.settings = picks, picks.values, picks.settings
        self._means = cache(means)

    def means_of(self, atoms: Iterable[Fraction]) -> list[Fraction]:
        """Every mean of some of these numbers, as many as an input has positions at most."""
        return list_numbers(
            "the mean of its values",
            "average smaller whole numbers, use a smaller `max_length`, or let the selector pick "
            "one key",
            lambda: self._means(frozenset(atoms), self.settings.max_length),
        )

    def sums_of(self, values: list[Values], formula: Formula) -> list[Fraction]:
        """Every sum over the picked keys, of which each adds one of the values given."""
        return list_numbers(
            "the sum of its values",
            "add up smaller whole numbers, or use a smaller `max_length`",
            lambda: self._sums_of(values, formula),
        )

    def _sums_of(self, values: list[Values], formula: Formula) -> list[Fraction]:
        """The same, as long as that may take."""
        by_index = [sent.outcomes for sent in values if sent.inputs == (self.values.index,)]
        are_alike = len(by_index) == len(values) and len(set(map(tuple, by_index))) == 1
        if are_alike and None not in by_index[0]:
            return subset_sums([number(atom) for atom in by_index[0]])
        codes = [Fraction(atom) for sent in values for atom in sent.atoms]
        return sums(codes, self.settings.max_length, int(self.picks.is_never_empty(formula)))

    def of(self, weights: Mapping[HeadOutput, Fraction]) -> list[list[Fraction]]:
        """For each head (or the heads that share a selector), what it can add to a weighted sum."""
        families: dict[object, dict[PlannedHead, dict[HeadOutput, Fraction]]] = {}
        for output, weight in weights.items():
            head = output.head
            family = (head.layer, head.family) if head.family is not None else head
            families.setdefault(family, {}).setdefault(head, {})[output] = weight
        return [self._range_of_heads(by_head) for by_head in families.values()]

    def _range_of_heads(
        self, weights: dict[PlannedHead, dict[HeadOutput, Fraction]]
    ) -> list[Fraction]:
        """The range of a weighted sum of outputs; heads that split a selector share its keys."""
        head, weight_of = next(iter(weights.items()))
        is_one = len(weights) == len(weight_of) == 1
        if is_one or any(output.codes is not None for output in weight_of):
            terms = ({weight * code for code in output.codes_of_states}
                     for output, weight in weight_of.items())  # fmt: skip
            return reduce(pair_sums, terms, [Fraction(0)])
        mixed = [self.values.of(mixture(by_output)) for by_output in weights.values()]
        if head.mode == "sum":
            return self.sums_of(mixed, head.formula if head.family is None else head.family)
        numbers = set(self.means_of(Fraction(atom) for atom in mixed[0].atoms))
        if head.may_be_empty:
            numbers.add(default_of(weight_of))
        return sorted(numbers)
