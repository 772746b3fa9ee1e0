"""Variables of the analysis in, the numbers by which claims name them out.

A variable gets its number when something is first said of it, and what it is made of before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rasp.certificate import claims
from rasp.compiler.analysis.linear import Coordinate, GroundIs
from rasp.compiler.analysis.value_analysis import ValueAnalysis
from rasp.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    NodeVariable,
    PlannedHead,
    SumVariable,
    Variable,
)
from rasp.graph import Node, SOp


class Numbering:
    """The variables that claims name, and what s-ops are made of."""

    def __init__(
        self, values: ValueAnalysis, heads: Sequence[Sequence[PlannedHead]],
        parts_of: Callable[[Iterable[Variable]], Iterable[Variable]],
    ) -> None:  # fmt: skip
        self.values, self.parts_of = values, parts_of
        self.numbers: dict[Variable | SOp, int] = {
            values.token: claims.TOKEN, values.index: claims.INDEX,
        }  # fmt: skip
        """By variables; what an s-op is, goes by the s-op."""
        self.variables: list[claims.ClaimedVariable] = [None, None]
        self.places = {head: (layer, number) for layer, own in enumerate(heads, 1)
                       for number, head in enumerate(own)}  # fmt: skip
        self.spare: list[PlannedHead] = []
        """Heads that nothing reads, but some s-op depends on."""

    def number(self, variable: Variable | SOp) -> int:
        """The number of a variable, or of the one that is the value of an s-op."""
        named = variable.node if isinstance(variable, NodeVariable) else variable
        if named not in self.numbers:
            claimed = self._claimed(named)
            self.numbers[named] = len(self.variables)
            self.variables.append(claimed)
        return self.numbers[named]

    def all(self, variables: Iterable[Variable | SOp]) -> tuple[int, ...]:
        return tuple(self.number(variable) for variable in variables)

    def parts(self, variables: Iterable[Variable]) -> tuple[int, ...]:
        """Variables as the arrays read them."""
        return self.all(self.parts_of(variables))

    def inputs(self, node: SOp) -> tuple[int, ...]:
        """What is read where an s-op is."""
        return self.parts(self.values.of(node).inputs)

    def made_of(self, node: SOp) -> tuple[int, ...]:
        """What an s-op is a function of; a choice, of which it is and of all that it can be."""
        values, joints = self.values.of(node), self.values.joints
        same = joints.aliases.get(node)
        if same in self.numbers:
            return (self.numbers[same],)
        if values.choice is None:
            return self.all(values.inputs)
        which = values.choice.which
        parts: list[Variable] = [joints.node_variable(which)]
        for leaf in values.choice.leaves:
            parts += joints.view(leaf, values.layer).inputs
        return self.all(dict.fromkeys(parts))

    def _coordinate(self, coordinate: Coordinate) -> claims.SumPart:
        """A coordinate as claims write it."""
        match coordinate:
            case GroundIs(ground, place):
                return claims.SumPart(ground, place)
            case HeadOutput():
                return claims.SumPart(self.number(coordinate))
        raise AssertionError(f"no sum is made of {type(coordinate).__name__}")

    def _claimed(self, named: Variable | SOp) -> claims.ClaimedVariable:
        match named:
            case SOp():
                self.made_of(named)
                return claims.ClaimedNode(named)
            case HeadOutput(head=head):
                if head not in self.places:
                    self.places[head] = (0, len(self.spare))
                    self.spare.append(head)
                return claims.ClaimedOutput(*self.places[head], head.outputs.index(named))
            case SumVariable(linear=linear):
                parts = {self._coordinate(part): weight for part, weight in linear.parts.items()}
                return claims.ClaimedSum(linear.constant, parts)
            case CountVariable(conditions=conditions):
                self.all(conditions)
                return claims.ClaimedCount(conditions)
        raise AssertionError(f"no claim names {named}")

    def over(self) -> dict[Node, tuple[int, ...]]:
        """What s-ops depend on: all that were ever looked at."""
        aliases = self.values.joints.aliases
        return {node: self.made_of(node) for node, values in [*self.values.held.by_node.items()]
                if isinstance(node, SOp) and (values.choice is None or node in self.numbers
                                              or aliases.get(node) in self.numbers)}  # fmt: skip

    def choices(self) -> dict[SOp, tuple[SOp, tuple[SOp, ...]]]:
        return {node: (choice.which, choice.leaves) for node in self.numbers
                if isinstance(node, SOp) and (choice := self.values.of(node).choice)}  # fmt: skip
