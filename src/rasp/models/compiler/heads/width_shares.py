"""The two aggregates of a width in, the shares that two heads give to position 0 out.

Without a sink there is nothing to sum against, but a width asks two heads (paper, §3): one whose
selector always picks position 0, one that picks nothing else. Let position 0 weigh as much as c
matches. Where it is picked, the second head gives it c/(c + others) of its attention, and the
first one all of it, since there it outweighs even a match; where it is not, the first gives it
c/(c + others) and the second nothing. So the sum of both shares tells whether position 0 is
picked and how many others are, and with that the value of either aggregate. c is about the longest
input N, where neighbouring sums are furthest apart: 1/4N at least. Cost: 2 heads, each with one
dimension for each class of keys, and about 2N hidden units for what is made of the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, log
from typing import TypeAlias

from rasp.base.atoms import Atom
from rasp.language.graph import Aggregate
from rasp.language.graph.idioms import IS_FIRST
from rasp.models.certificate.claims import Meaning
from rasp.models.compiler.analysis.formulas import Formula
from rasp.models.compiler.analysis.linear import total
from rasp.models.compiler.analysis.values import Values
from rasp.models.compiler.analysis.variables import HeadOutput, PlannedHead, SumVariable, number
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.heads.pick_counts import PickCounts

ZERO, ONE = Fraction(0), Fraction(1)
Computed: TypeAlias = tuple[Meaning, Sequence[HeadOutput]]
"""How an aggregate follows from outputs of heads, and from which."""


class WidthShares:
    """Finds widths that need no sink, and adds their heads to those of a model."""

    def __init__(
        self, picks: PickCounts, heads: list[PlannedHead], meanings: dict[Aggregate, Computed]
    ) -> None:
        self.picks, self.selectors, self.values = picks, picks.selectors, picks.values
        self.task, self.settings = picks.values.task, picks.settings
        self.heads, self.meanings = heads, meanings
        self._values: dict[Aggregate, Values | None] = {}

    def of(self, node: Aggregate) -> Values | None:
        """The values of one of the two aggregates of a width; None where it is not one."""
        if self.settings.sink or self.settings.max_length == 1:
            return None
        if node not in self._values:
            self._find_shares(self.task.layer_of[node])
        return self._values[node]

    def _find_shares(self, layer: int) -> None:
        """Look for the two aggregates of each width among those of a layer."""
        by_role: dict[tuple[str, Formula], list[Aggregate]] = {}
        for node, at in self.task.layer_of.items():
            if at == layer:
                self._values[node] = None
                by_role.setdefault(self._role(node), []).append(node)
        for (role, formula), nodes in by_role.items():
            others = by_role.get(("alone", formula), [])
            if role == "always" and len(nodes) == len(others) == 1:
                self._make_shares(nodes[0], others[0], formula)

    def _role(self, node: Aggregate) -> tuple[str, Formula]:
        """What part of a width an aggregate can be, and the selector whose width it is."""
        nothing = ("", False)
        if len(self.task.siblings[node]) > 1:
            return nothing
        try:
            formula, best = self.selectors.formula(node)
            values = self.values.of(node.values)
        except Refusal:
            return nothing
        if best is not None or self.selectors.value_at_first_only(values) is None:
            return nothing
        first, others = self.selectors.at_key_0(formula), self.selectors.at_other_keys(formula)
        role, counted = ("always", others) if first is True else ("alone", first)
        if (role == "alone" and others is not False) or isinstance(counted, bool):
            return nothing
        return (role, counted) if self.picks.is_never_empty(counted) else nothing

    def _make_shares(self, always: Aggregate, alone: Aggregate, formula: Formula) -> None:
        """Plan the heads of a width, and find what its aggregates hold: one picks position 0 beside
        what the selector picks, the other one where the selector picks it, and nothing else.
        """
        length = self.settings.max_length
        weight = weight_of(boost_of(length))
        share = [weight / (weight + others) for others in range(length)]
        sums = {share[others]: (False, others) for others in range(1, length)}
        sums |= {1 + share[others]: (True, others) for others in range(length)}
        outputs = [self._share(always, formula, [*share[1:], ONE], outweighs=True),
                   self._share(alone, formula, [*share, ZERO], outweighs=False)]  # fmt: skip
        linear = total(output.linear for output in outputs)
        states = tuple((number, number) for number in sorted(sums))
        variable = SumVariable(outputs[0].layer, states, True, linear, linear)
        counts = [sums[number] for number, _ in states]
        first, lone = (self.selectors.value_at_first_only(self.values.of(node.values))
                       for node in (always, alone))  # fmt: skip
        assert first is not None
        outcomes: dict[Aggregate, list[Atom | None]] = {
            always: [share_of(first, others + 1) for _, others in counts],
            alone: [lone if is_picked else alone.default for is_picked, _ in counts],
        }
        for node, held in outcomes.items():
            self._values[node] = self.values.sums.table(variable.layer, (variable,), held)
            self.meanings[node] = Meaning("shares", (), Fraction(node is always)), outputs

    def _share(
        self, node: Aggregate, formula: Formula, shares: list[Fraction], outweighs: bool
    ) -> HeadOutput:
        """What a head of its own gives to position 0."""
        head = PlannedHead(self.task.layer_of[node], "share", formula, needs_uniform=True,
                           outweighs=outweighs, refusal=self.selectors.unseen(node))  # fmt: skip
        states = tuple((number, number) for number in sorted(shares))
        output = HeadOutput(head.layer, states, True, head, IS_FIRST, None, known_by=node)
        head.outputs.append(output)
        self.heads.append(head)
        return output


def share_of(first_value: Atom, count: int | Fraction) -> Atom:
    """The mean of so many values, of which one is not 0: where it is alone, of its own kind."""
    return first_value if count == 1 else number(first_value) / count


def boost_of(length: int) -> Fraction:
    """How far position 0 scores above a match: near the logarithm of the length, and exact.

    Then shares are furthest apart, at least a fourth of 1 / length. In the robust
    style, the sink of a sum scores as much above a match (`robust.numbers`).
    """
    return Fraction(round(16 * log(length)), 16)


def weight_of(boost: Fraction) -> Fraction:
    """How many matches position 0 weighs, far closer than float32 tells apart."""
    return Fraction(round(exp(boost) * 2**32), 2**32)
