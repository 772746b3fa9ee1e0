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

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

from rasp.atoms import Atom
from rasp.compiler.analysis.formulas import Formula
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.values import Values
from rasp.compiler.analysis.variables import HeadOutput, PlannedHead, SumVariable, number
from rasp.compiler.heads.pick_counts import PickCounts
from rasp.compiler.refusals import Refusal
from rasp.graph import Aggregate
from rasp.graph.idioms import IS_FIRST

ONE = Fraction(1)


@dataclass(frozen=True, eq=False)
class Shares:
    """A width's aggregates, and what the sum of their heads' shares says."""

    always: Aggregate
    """Picks what the selector picks, and position 0."""
    alone: Aggregate
    """Picks position 0 where the selector picks it, and nothing else."""
    variable: SumVariable
    counts: tuple[tuple[bool, int], ...]
    """For each state of the sum: whether position 0 is picked, and how many others."""


class WidthShares:
    """Finds widths that need no sink, and adds their heads to those of a model."""

    def __init__(self, picks: PickCounts, heads: list[PlannedHead]) -> None:
        self.picks, self.selectors, self.values = picks, picks.selectors, picks.values
        self.task, self.settings, self.heads = picks.values.task, picks.settings, heads
        self.shares: dict[Aggregate, Shares | None] = {}

    def of(self, node: Aggregate) -> Values | None:
        """The values of one of the two aggregates of a width; None where it is not one."""
        if self.settings.sink or self.settings.max_length == 1:
            return None
        if node not in self.shares:
            self._find_shares(self.task.layer_of[node])
        shares = self.shares[node]
        if shares is None:
            return None
        first_value = self.selectors.value_at_first_only(self.values.of(node.values))
        assert first_value is not None
        if node is shares.alone:
            outcomes = [first_value if picked else node.default for picked, _ in shares.counts]
        else:
            outcomes = [share_of(first_value, others + 1) for _, others in shares.counts]
        return self.values.sums.table(shares.variable.layer, (shares.variable,), outcomes)

    def _find_shares(self, layer: int) -> None:
        """Look for the two aggregates of each width among those of a layer."""
        by_role: dict[tuple[str, Formula], list[Aggregate]] = {}
        for node, at in self.task.layer_of.items():
            if at == layer:
                self.shares[node] = None
                by_role.setdefault(self._role(node), []).append(node)
        for (role, formula), nodes in by_role.items():
            others = by_role.get(("alone", formula), [])
            if role == "always" and len(nodes) == len(others) == 1:
                shares = self._make_shares(nodes[0], others[0], formula)
                self.shares |= {nodes[0]: shares, others[0]: shares}

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

    def _make_shares(self, always: Aggregate, alone: Aggregate, formula: Formula) -> Shares:
        length = self.settings.max_length
        weight = weight_of(boost_of(length))
        share = [weight / (weight + others) for others in range(length)]
        sums = {share[others]: (False, others) for others in range(1, length)}
        sums |= {1 + share[others]: (True, others) for others in range(length)}
        linear = Linear()
        for node, alike in ((always, [*share[1:], ONE]), (alone, [*share, Fraction(0)])):
            head = PlannedHead(self.task.layer_of[node], "share", formula, None, False, True,
                        outweighs=node is always, refusal=self.selectors.unseen(node))  # fmt: skip
            states = tuple((total, total) for total in sorted(alike))
            output = HeadOutput(head.layer, states, True, head, IS_FIRST, None, known_by=node)
            head.outputs.append(output)
            self.heads.append(head)
            linear = linear + output.linear
        states = tuple((total, total) for total in sorted(sums))
        variable = SumVariable(self.task.layer_of[always], states, True, linear, linear)
        return Shares(always, alone, variable, tuple(sums[total] for total, _ in states))


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
