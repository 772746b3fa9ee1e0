"""The two aggregates of a width in, the shares that two heads give to position 0 out.

Without a sink there is nothing to sum against, but a width asks two heads (paper, §3): one whose
selector always picks position 0, one that picks nothing else. Let position 0 weigh as much as c
matches. Where it is picked, the second head gives it c/(c + others) of its attention, and the
first one all of it, since there it outweighs even a match; where it is not, the first gives it
c/(c + others) and the second nothing. So the sum of both shares tells whether position 0 is
picked and how many others are, and with that the value of either aggregate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

from rasp.atoms import Atom
from rasp.compiler.analysis.formulas import Formula
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.selector_facts import SelectorFacts
from rasp.compiler.analysis.values import Values
from rasp.compiler.analysis.variables import HeadOutput, PlannedHead, SumVariable, number
from rasp.compiler.refusals import Refusal
from rasp.graph import Aggregate
from rasp.graph.formulas import rewritten
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

    def __init__(self, facts: SelectorFacts, heads: list[PlannedHead]) -> None:
        self.facts, self.selectors, self.values = facts, facts.selectors, facts.values
        self.task, self.settings, self.heads = facts.values.task, facts.settings, heads
        self.known: dict[Aggregate, Shares | None] = {}

    def of(self, node: Aggregate) -> Values | None:
        """The values of one of the two aggregates of a width; None where it is no such thing."""
        if self.settings.sink or self.settings.max_length == 1:
            return None
        if node not in self.known:
            self._find_shares(self.task.layer_of[node])
        found = self.known[node]
        if found is None:
            return None
        light = self.selectors.light(self.values.of(node.values))
        assert light is not None
        outcomes: list[Atom | None] = []
        for picked, others in found.counts:
            if node is found.alone:
                outcomes.append(light if picked else node.default)
            else:
                outcomes.append(light if others == 0 else number(light) / (others + 1))
        return self.values.sums.table(found.variable.layer, (found.variable,), outcomes)

    def _find_shares(self, layer: int) -> None:
        """Look for the two aggregates of each width among those of a layer."""
        kinds: dict[tuple[str, Formula], list[Aggregate]] = {}
        for node, at in self.task.layer_of.items():
            if at == layer:
                self.known[node] = None
                kinds.setdefault(self._kind(node), []).append(node)
        for (role, formula), nodes in kinds.items():
            others = kinds.get(("alone", formula), [])
            if role == "always" and len(nodes) == len(others) == 1:
                made = self._made(nodes[0], others[0], formula)
                self.known |= {nodes[0]: made, others[0]: made}

    def _kind(self, node: Aggregate) -> tuple[str, Formula]:
        """What part of a width an aggregate can be, and the selector whose width it is."""
        nothing = ("", False)
        if len(self.task.siblings[node]) > 1:
            return nothing
        try:
            formula, best = self.selectors.formula(node.selector)
            values = self.values.of(node.values)
        except Refusal:
            return nothing
        if best is not None or self.selectors.light(values) is None:
            return nothing
        first = rewritten(formula, lambda literal: self.selectors.at_index(literal, True))
        others = rewritten(formula, lambda literal: self.selectors.at_index(literal, False))
        role, whole = ("always", others) if first is True else ("alone", first)
        if (role == "alone" and others is not False) or isinstance(whole, bool):
            return nothing
        return (role, whole) if self.facts.is_never_empty(whole) else nothing

    def _made(self, always: Aggregate, alone: Aggregate, formula: Formula) -> Shares:
        length = self.settings.max_length
        weight = weight_of(boost_of(length))
        share = [weight / (weight + others) for others in range(length)]
        sums = {share[others]: (False, others) for others in range(1, length)}
        sums |= {1 + share[others]: (True, others) for others in range(length)}
        linear = Linear()
        for node, alike in ((always, [*share[1:], ONE]), (alone, [*share, Fraction(0)])):
            head = PlannedHead(self.task.layer_of[node], "share", formula, None, False, True,
                        self.task.refusals.text(node.selector), outweighs=node is always,
                        refusal=self.facts.unseen(node))  # fmt: skip
            states = tuple((each, each) for each in sorted(alike))
            output = HeadOutput(head.layer, states, True, head, IS_FIRST, None, known_by=node)
            head.outputs.append(output)
            self.heads.append(head)
            linear = linear + Linear(Fraction(0), {output: ONE})
        known = sorted(sums)
        variable = SumVariable(
            self.task.layer_of[always], tuple((each, each) for each in known), True, linear
        )
        return Shares(always, alone, variable, tuple(sums[each] for each in known))


def boost_of(length: int) -> Fraction:
    """How far position 0 scores above a match: near the logarithm of the length, and exact.

    Then shares are furthest apart, at least a fourth of 1 / length.
    """
    return Fraction(round(16 * log(length)), 16)


def weight_of(boost: Fraction) -> Fraction:
    """How many matches position 0 weighs, far closer than float32 tells apart."""
    return Fraction(round(exp(boost) * 2**32), 2**32)
