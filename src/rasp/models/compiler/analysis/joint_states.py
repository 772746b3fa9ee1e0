"""Several s-ops in, what they can hold together at one position out: a table of joint states.

Where such a table is too large, it runs over less: what earlier layers made of the inputs, what
sums are made of, or only what matters of the token and the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rasp.base.atoms import Atom
from rasp.language.graph import Elementwise, Node, SOp
from rasp.models.compiler.analysis.joint_tables import (
    LARGE,
    BaseVariables,
    common_inputs,
    grid_of,
    over_parts_of_sums,
    rows_of,
    states_of,
)
from rasp.models.compiler.analysis.possible_states import PossibleStates
from rasp.models.compiler.analysis.values import HeldValues, Joint, View
from rasp.models.compiler.analysis.variables import NodeVariable, codes_of, is_binary
from rasp.models.compiler.compile_refusals import Refusal

MOST_STATES = 60_000
"""The largest table over joint states: the program is run on each of them."""
RENAMES = ("indicator", "bool", "not", "negate", "plus")
"""Operators that say as much as their operand, where they have as many outcomes."""


class JointStates:
    """What s-ops hold together, given what each of them holds."""

    def __init__(self, held: HeldValues, base: BaseVariables) -> None:
        self.task, self.settings, self.base, self.held = held.task, base.settings, base, held
        self.possible = PossibleStates(held, base, self.of)
        self.aliases: dict[Node, SOp] = {}
        """S-ops that are always the same as another one."""
        self._nodes: dict[Node, NodeVariable] = {}

    def of(self, nodes: Sequence[SOp], later: int | None = None, most: int | None = None) -> Joint:
        """Evaluate several s-ops over their common inputs, in at most so many states.

        Without `later`, it is a head that reads them. Else a feed-forward does: of the layer of the
        last of them (0), which works on its inputs, or of the next one (1), which sees its value.
        """
        most = MOST_STATES if most is None else most
        node_values = [self.held.of(node) for node in nodes]
        layer = max((values.layer for values in node_values), default=0) + (later or 0)
        if later == 0 and any(values.choice and values.layer == layer for values in node_values):
            raise Refusal("it depends on one of several s-ops", self.settings.way_out)
        views: Sequence[View] = [self.view(node, layer) for node in nodes]
        alone = self.task.works_stepwise and later is None and len(nodes) == 1
        if alone and states_of(common_inputs(views)) > LARGE:
            views = [self.view(node, layer + 1) for node in nodes]
        views = self._coarser(nodes, over_parts_of_sums(views, self.base, most), most)
        return Joint(layer, common_inputs(views), self._rows(views, most))

    def _rows(self, views: Sequence[View], most: int) -> list[tuple[Atom | None, ...]]:
        """What views hold in each combination of states; nothing where that cannot occur."""
        inputs = common_inputs(views)
        size = states_of(inputs)
        if size > most:
            sizes = " × ".join(str(len(variable.states)) for variable in inputs)
            raise Refusal(
                f"it depends on {sizes} = {size} combinations of values, and the limit is {most}",
                self.settings.way_out,
            )
        grid = grid_of(inputs)
        rows, possible = rows_of(views, grid), self.possible.of(grid)
        if possible.all():
            return rows
        blank = (None,) * len(views)
        return [row if can_be else blank
                for row, can_be in zip(rows, possible.tolist(), strict=True)]  # fmt: skip

    def numbers(self, nodes: Sequence[SOp]) -> list[tuple[Fraction, ...]]:
        """What several s-ops hold at one position, as codes: each combination once."""
        codes = [codes_of(self.held.of(node).atoms) for node in nodes]
        rows = {
            tuple(code[atom] for code, atom in zip(codes, row, strict=True) if atom is not None)
            for row in self.of(nodes).rows
            if None not in row
        }
        return sorted(rows)

    def view(self, node: SOp, layer: int) -> View:
        """What work in a layer sees of an s-op: its inputs, or its value if an earlier layer made
        it.
        """
        values = self.held.of(node)
        if values.linear is not None or values.layer in (0, layer) or len(values.inputs) == 0:
            return values
        if isinstance(node, Elementwise) and node.op in RENAMES:
            (operand,) = node.operands
            inner = self.held.of(operand)
            if inner.layer == values.layer and len(inner.atoms) == len(values.atoms):
                seen = self.view(operand, layer)
                return View(seen.inputs, [self.held.outcome(node, node.op, (atom,))
                                          for atom in seen.outcomes])  # fmt: skip
        return self._as_variable(node)

    def _coarser(self, nodes: Sequence[SOp], views: Sequence[View], most: int) -> Sequence[View]:
        """What functions of the token alone or the index alone say, instead of what they read."""
        bases = (self.base.token, self.base.index) if most == MOST_STATES else (self.base.token,)
        for base in bases:
            if states_of(common_inputs(views)) > most:
                views = [self._as_variable(node)
                         if view.inputs == (base,) and self._says_less(node, view) else view
                         for node, view in zip(nodes, views, strict=True)]  # fmt: skip
        return views

    def _says_less(self, node: SOp, view: View) -> bool:
        """Whether an s-op holds fewer atoms than what it is a function of."""
        return None not in view.outcomes and len(self.held.of(node).atoms) < len(view.outcomes)

    def _as_variable(self, node: SOp) -> View:
        variable = self.node_variable(node)
        return View((variable,), [atom for atom, _ in variable.states])

    def node_variable(self, node: SOp) -> NodeVariable:
        """The value of an s-op, as later layers see it."""
        node = self.aliases.get(node, node)
        if node not in self._nodes:
            values = self.held.of(node)
            self.add_variable(node, values.layer, values.atoms, values.is_inexact)
        return self._nodes[node]

    def add_variable(
        self, node: SOp, layer: int, atoms: Sequence[Atom], is_inexact: bool
    ) -> NodeVariable:
        """Let later layers see an s-op that a layer makes."""
        codes = self.codes_of(atoms)
        states = tuple((atom, codes[atom]) for atom in atoms)
        is_inexact |= self.task.works_stepwise and not is_binary(codes.values())
        self._nodes[node] = NodeVariable(layer + 1, states, is_inexact, node)
        return self._nodes[node]

    def codes_of(self, atoms: Sequence[Atom]) -> dict[Atom, Fraction]:
        """Numbers for atoms; where many steps pass one on, a mean stays the number that it is."""
        is_exact = is_binary(Fraction(atom) for atom in atoms if not isinstance(atom, str))
        return codes_of(atoms, averaged=self.task.works_stepwise and not is_exact)
