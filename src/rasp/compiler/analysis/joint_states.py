"""Several s-ops in, what they can hold together at one position out: a table of joint states.

Besides the size of such tables this knows what goes together in them: a BOS is at index 0
and only there, `indicator(x)` says no more than `x`, and outputs of one head move together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.program.reach import Row, joint_sums
from rasp.compiler.analysis.joint_tables import (
    LARGE,
    BaseVariables,
    View,
    common_inputs,
    grid_of,
    rows_of,
    states_of,
    taken_apart,
)
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.task import Task
from rasp.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    IndexVariable,
    NodeVariable,
    PlannedHead,
    TokenVariable,
    Variable,
    codes_of,
    distinct,
    is_binary,
    number,
)
from rasp.compiler.refusals import Refusal
from rasp.graph import Const, Elementwise, Node, SOp

MOST_STATES = 60_000
RENAMES = ("indicator", "bool", "not", "negate", "plus")
"""Operators that say as much as their operand, where they have as many outcomes."""


@dataclass(frozen=True, eq=False)
class Choice:
    """`a if c else (b if d else a)` as leaves (a, b), and an s-op that says which of them it is."""

    which: SOp
    leaves: tuple[SOp, ...]

    def gate(self, place: int) -> SOp:
        """Whether it is that leaf."""
        return Elementwise("==", (self.which, Const(place)))


@dataclass(frozen=True, eq=False)
class Values:
    """What an s-op holds: `outcomes` runs over the states of the inputs, the last one fastest."""

    layer: int
    inputs: tuple[Variable, ...]
    outcomes: Sequence[Atom | None]
    kinds: frozenset[type]
    linear: Linear | None = None
    reciprocal: Linear | None = None
    """For a value c/m, the linear function m/c."""
    choice: Choice | None = None
    """Where an s-op is one of several others: its inputs are itself, as later layers see it."""
    is_wide: bool = False
    """Whether there are too many outcomes for a table: nothing but a read-out can use it."""

    @property
    def atoms(self) -> list[Atom]:
        return distinct(self.outcomes)

    @property
    def is_noisy(self) -> bool:
        return any(variable.is_noisy for variable in self.inputs)


@dataclass(frozen=True, eq=False)
class Joint:
    """Several s-ops over the same inputs: one row of atoms for each joint state."""

    layer: int
    inputs: tuple[Variable, ...]
    rows: list[tuple[Atom | None, ...]]


class JointAnalysis(ABC):
    """What s-ops hold together; `values.ValueAnalysis` says what each of them holds."""

    token: TokenVariable
    index: IndexVariable
    _base: BaseVariables

    def __init__(self, task: Task) -> None:
        self.task, self.settings, self.measures = task, task.settings, task.measures
        self.promised: list[SOp] = []
        """Conditions that are true at every position of every input."""
        self.aliases: dict[Node, SOp] = {}
        """S-ops that are always the same as another one."""
        self._nodes: dict[Node, NodeVariable] = {}
        self._rows: dict[tuple[HeadOutput, ...], set[Row] | None] = {}

    @abstractmethod
    def of(self, node: SOp) -> Values:
        """Return the values of an s-op; raises `Refusal` where they cannot be listed."""

    @abstractmethod
    def applied(self, node: SOp, op: str, row: tuple[Atom | None, ...]) -> Atom | None:
        """Apply an operator; None where the program would fail."""

    def joint(
        self, nodes: Sequence[SOp], later: int | None = None, most: int | None = None
    ) -> Joint:
        """Evaluate several s-ops over their common inputs, for a head to read.

        `later` says how many layers after them a feed-forward does, which sees only their values
        if any.
        """
        most = MOST_STATES if most is None else most
        held = [self.of(node) for node in nodes]
        layer = max((values.layer for values in held), default=0) + (later or 0)
        if later == 0 and any(values.choice and values.layer == layer for values in held):
            raise Refusal("it depends on one of several s-ops", self.settings.way_out)
        views = self._views(nodes, held, layer, most)
        alone = self.measures.works_stepwise and later is None and len(nodes) == 1
        if alone and states_of(common_inputs(views)) > LARGE:
            views = self._views(nodes, held, layer + 1, most)
        views = taken_apart(views, self._base, most)
        for base in (self.token, self.index) if most == MOST_STATES else (self.token,):
            if states_of(common_inputs(views)) > most:
                views = [
                    self._coarser(node, values, view, base)
                    for node, values, view in zip(nodes, held, views, strict=True)
                ]
        inputs = common_inputs(views)
        size = states_of(inputs)
        if size > most:
            sizes = " × ".join(str(len(variable.states)) for variable in inputs)
            raise Refusal(
                f"it depends on {sizes} = {size} combinations of values, and the limit is {most}",
                self.settings.way_out,
            )
        grid = grid_of(inputs)
        return Joint(layer, inputs, self._reachable(inputs, grid, rows_of(views, inputs, grid)))

    def numbers_together(self, nodes: Sequence[SOp]) -> list[tuple[Fraction, ...]]:
        """What several s-ops hold at one position, as codes: each combination once."""
        codes = [codes_of(self.of(node).atoms) for node in nodes]
        rows = {
            tuple(code[atom] for code, atom in zip(codes, row, strict=True) if atom is not None)
            for row in self.joint(nodes).rows
            if None not in row
        }
        return sorted(rows)

    def _views(self, nodes: Sequence[SOp], held: list[Values], layer: int, most: int) -> list[View]:
        """What work in a layer sees of s-ops; if that is too much, of what these are made of."""
        views = [self.view(node, values, layer) for node, values in zip(nodes, held, strict=True)]
        if states_of(common_inputs(views)) <= most:
            return views
        choices = [[view] if values.choice or any(isinstance(one, CountVariable)
                                                  for one in values.inputs)
                   else [view, View(values.inputs, values.outcomes)]
                   for view, values in zip(views, held, strict=True)]  # fmt: skip
        return min((list(combination) for combination in product(*choices)),
                   key=lambda views: states_of(common_inputs(views)))  # fmt: skip

    def view(self, node: SOp, values: Values, layer: int) -> View:
        """What later work sees of an s-op: its inputs, or its value if an earlier layer made it."""
        if values.linear is not None or values.layer in (0, layer) or len(values.inputs) == 0:
            return View(values.inputs, values.outcomes)
        if isinstance(node, Elementwise) and node.op in RENAMES:
            (operand,) = node.operands
            inner = self.of(operand)
            if inner.layer == values.layer and len(inner.atoms) == len(values.atoms):
                seen = self.view(operand, inner, layer)
                return View(seen.inputs, [self.applied(node, node.op, (atom,))
                                          for atom in seen.outcomes])  # fmt: skip
        variable = self.node_variable(node, values)
        return View((variable,), [atom for atom, _ in variable.states])

    def _coarser(self, node: SOp, values: Values, view: View, base: Variable) -> View:
        """What a function of the token alone or the index alone says, instead of what it reads."""
        if view.inputs != (base,):
            return view
        if None in view.outcomes or len(values.atoms) == len(view.outcomes):
            return view
        variable = self.node_variable(node, values)
        return View((variable,), [atom for atom, _ in variable.states])

    def node_variable(self, node: SOp, values: Values, is_noisy: bool = False) -> NodeVariable:
        node = self.aliases.get(node, node)
        if node not in self._nodes:
            atoms = values.atoms
            codes = self.codes_of(atoms)
            states = tuple((atom, codes[atom]) for atom in atoms)
            is_noisy |= values.is_noisy or (
                self.measures.works_stepwise and not is_binary(codes.values())
            )
            self._nodes[node] = NodeVariable(values.layer + 1, states, is_noisy, node)
        return self._nodes[node]

    def codes_of(self, atoms: Sequence[Atom]) -> dict[Atom, Fraction]:
        """Numbers for atoms; where many steps pass one on, a mean stays the number that it is."""
        whole = is_binary(Fraction(atom) for atom in atoms if not isinstance(atom, str))
        return codes_of(atoms, averaged=self.measures.works_stepwise and not whole)

    def _reachable(
        self, inputs: tuple[Variable, ...], grid: np.ndarray, rows: list[tuple[Atom | None, ...]]
    ) -> list[tuple[Atom | None, ...]]:
        """Blank the states that no input has: a BOS is at index 0 and only there, the
        outputs of a head go together, and promises are kept.
        """
        fine = np.ones(len(rows), bool)
        for condition in self.promised:
            values = self.of(condition)
            if values.inputs and set(values.inputs) <= set(inputs):
                kept = rows_of([View(values.inputs, values.outcomes)], inputs, grid)
                fine &= np.array([outcome is True for (outcome,) in kept])
        if self.settings.bos is not None and {self.token, self.index} <= set(inputs):
            is_bos = grid[inputs.index(self.token)] == len(self.settings.vocabulary) - 1
            fine &= is_bos == (grid[inputs.index(self.index)] == 0)
        by_head: dict[PlannedHead, list[HeadOutput]] = {}
        for variable in inputs:
            if isinstance(variable, HeadOutput):
                by_head.setdefault(variable.head, []).append(variable)
        for outputs in by_head.values():
            if len(outputs) > 1:
                fine &= self._go_together(outputs, inputs, grid)
        if fine.all():
            return rows
        blank = (None,) * len(rows[0])
        return [row if is_fine else blank for row, is_fine in zip(rows, fine.tolist(), strict=True)]

    def _go_together(
        self, outputs: list[HeadOutput], inputs: tuple[Variable, ...], grid: np.ndarray
    ) -> np.ndarray:
        """(combination,): whether outputs of one head can be what they are there, together."""
        possible = self._together(tuple(outputs))
        if possible is None:
            return np.ones(grid.shape[1], bool)
        numbered = [{code: place for place, code in enumerate(dict.fromkeys(
            code for _, code in output.states))} for output in outputs]  # fmt: skip
        goes = np.zeros([len(places) for places in numbered], bool)
        for row in possible:
            if all(code in places for code, places in zip(row, numbered, strict=True)):
                goes[tuple(places[code] for code, places in zip(row, numbered, strict=True))] = True
        return np.asarray(goes[tuple(
            np.array([places[code] for _, code in output.states])[grid[inputs.index(output)]]
            for output, places in zip(outputs, numbered, strict=True)
        )])  # fmt: skip

    def _together(self, outputs: tuple[HeadOutput, ...]) -> set[Row] | None:
        """Every row of codes that outputs of one head can have; None where that is not known."""
        if outputs not in self._rows:
            self._rows[outputs] = self._find_together(outputs)
        return self._rows[outputs]

    def _find_together(self, outputs: tuple[HeadOutput, ...]) -> set[Row] | None:
        head = outputs[0].head
        plain = all(output.carrier is None and output.codes is None for output in outputs)
        if not plain or head.family is not None or head.mode == "share":
            return None
        try:
            joint = self.joint([output.values for output in outputs])
        except Refusal:
            return None
        rows = {tuple(map(number, row)) for row in joint.rows if None not in row}
        if head.mode == "sum" or not head.picks_one:
            sums = joint_sums(rows, self.settings.max_length, by_count=head.mode == "mean")
            if sums is None:
                return None
            rows = set(sums)
        if head.may_be_empty:
            rows.add(tuple(number(output.default) for output in outputs))
        return rows
