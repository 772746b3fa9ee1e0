"""What an s-op holds: a table over variables, a weighted sum, or one of several other s-ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import is_
from typing import Protocol

import numpy as np

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.graph import Aggregate, Const, Elementwise, Node, SOp, apply_operator
from rasp.models.compiler.analysis.formulas import Formula
from rasp.models.compiler.analysis.linear import Linear
from rasp.models.compiler.analysis.task import Task
from rasp.models.compiler.analysis.variables import CountVariable, HeadOutput, Variable, distinct
from rasp.models.compiler.compile_refusals import Refusal


@dataclass(frozen=True, eq=False)
class Choice:
    """`a if c else (b if d else a)` as leaves (a, b), and an s-op that says which of them it is."""

    which: SOp
    leaves: tuple[SOp, ...]

    def gate(self, place: int) -> SOp:
        """Whether it is that leaf."""
        return Elementwise("==", (self.which, Const(place)))


@dataclass(frozen=True, eq=False)
class View:
    """An s-op as a function: `outcomes` runs over the states of the inputs, the last fastest."""

    inputs: tuple[Variable, ...]
    outcomes: Sequence[Atom | None]


@dataclass(frozen=True, eq=False)
class Values(View):
    """What an s-op holds."""

    layer: int
    kinds: frozenset[type]
    linear: Linear | None = None
    choice: Choice | None = None
    """Where an s-op is one of several others: its inputs are itself, as later layers see it."""
    is_wide: bool = False
    """Whether there are too many outcomes for a table: nothing but a read-out can use it."""

    @cached_property
    def atoms(self) -> list[Atom]:
        return distinct(self.outcomes)

    @property
    def counts_conditions(self) -> bool:
        """Whether it depends on how many conditions hold, which only later work can tell apart."""
        return any(isinstance(variable, CountVariable) for variable in self.inputs)

    @property
    def is_inexact(self) -> bool:
        return any(variable.is_inexact for variable in self.inputs)


@dataclass(frozen=True, eq=False)
class Joint:
    """Several s-ops over the same inputs: one row of atoms for each joint state."""

    layer: int
    inputs: tuple[Variable, ...]
    rows: list[tuple[Atom | None, ...]]


class AggregateRules(Protocol):
    """What is to be known of aggregates, which the next chapter finds out."""

    def of(self, node: Aggregate) -> Values:
        """What an aggregate holds."""

    @property
    def products(self) -> Mapping[Node, Linear]:
        """The sums that products of an aggregate and its width are."""

    def never_picks(self, formula: Formula) -> np.ndarray:
        """(index,): whether a query there picks nothing, whatever the input is."""

    def ranges(self, weights: Mapping[HeadOutput, Fraction]) -> list[list[Fraction]]:
        """What the outputs of each head can add to a weighted sum."""


class HeldValues:
    """What each s-op holds, worked out when it is first asked for."""

    def __init__(
        self, task: Task, aggregates: AggregateRules, work_out: Callable[[SOp], Values]
    ) -> None:
        self.task, self.aggregates, self._work_out = task, aggregates, work_out
        self.by_node: dict[Node, Values] = {}
        """Of those that were asked for."""
        self.failures: dict[Node, str] = {}
        """S-ops with operands for which the program itself fails, and how."""

    def of(self, node: SOp) -> Values:
        """Return the values of an s-op; raises `Refusal` where they cannot be listed."""
        if node not in self.by_node:
            self.task.refusals.check(node)
            try:
                self.by_node[node] = self._work_out(node)
            except Refusal as refusal:
                raise self.task.refusals.add(node, refusal) from None
        return self.by_node[node]

    def outcome(self, node: SOp, op: str, row: tuple[Atom | None, ...]) -> Atom | None:
        """What an operator makes of its operands; None where the program would fail.

        Whole floats are tried as ints as well, where operands may be either.
        """
        if None in row:
            return None
        try:
            return apply_operator(op, row)  # type: ignore[arg-type]
        except RaspError as error:
            self.failures.setdefault(node, error.message)
        ints = tuple(int(atom) if isinstance(atom, Fraction) and atom.denominator == 1
                     and isinstance(operand, SOp) and int in self.of(operand).kinds else atom
                     for atom, operand in zip(row, node.needs, strict=False))  # fmt: skip
        return None if all(map(is_, ints, row)) else self.outcome(node, op, ints)
