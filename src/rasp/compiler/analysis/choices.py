"""A choice between s-ops in, what it holds out: its leaves need not be looked at together.

`a if c else b` is worked out in a layer after `c`, `a` and `b`, by gates: which of them it is, is
known by then.
"""

from __future__ import annotations

from rasp.compiler.analysis.joint_states import MOST_STATES, JointStates
from rasp.compiler.analysis.joint_tables import states_of
from rasp.compiler.analysis.values import Choice, Values
from rasp.compiler.analysis.variables import distinct
from rasp.compiler.refusals import Refusal
from rasp.graph import Const, Elementwise, Node, SOp, in_order


class Choices:
    """S-ops that are one of several others."""

    def __init__(self, joints: JointStates) -> None:
        self.task, self._held, self._joints = joints.task, joints.held, joints
        self._numbers: set[Node] = set()
        """Helpers that say which of several s-ops another one is."""

    def of(self, node: Elementwise, refusal: Refusal) -> Values | None:
        """One of several s-ops, where it is known before which one: they need not be looked at
        together.
        """
        if node.op != "if" or node in self._numbers:
            return None
        leaves: dict[SOp, int] = {}
        numbered = self._numbered_leaves(node, leaves)
        if all(isinstance(leaf, Const) for leaf in leaves):
            return None
        choice = Choice(numbered, tuple(leaves))
        gates = [choice.gate(place) for place in range(len(leaves))]
        self.task.deadlines.adopt(node, in_order([numbered, *gates]))
        try:
            for helper in in_order([numbered]):
                if isinstance(helper, SOp) and helper is not node:
                    self._held.of(helper)
            leaf_values = [self._held.of(leaf) for leaf in leaves]
            next_layer = 1 + self._held.of(choice.which).layer
            layer = max(next_layer, *(values.layer + self._waits(values) for values in leaf_values))
            if not self._fits(choice, leaf_values, layer):
                return None
        except Refusal:
            return None
        if not self.task.deadlines.allow(node, layer, refusal):
            return None
        atoms = distinct(atom for values in leaf_values for atom in values.atoms)
        is_inexact = any(values.is_inexact for values in leaf_values)
        variable = self._joints.add_variable(node, layer, atoms, is_inexact)
        return Values((variable,), atoms, layer, frozenset(map(type, atoms)), choice=choice)

    def _fits(self, choice: Choice, leaf_values: list[Values], layer: int) -> bool:
        """Whether each leaf together with its gate is a table of reasonable size."""
        sizes = [states_of(self._joints.view(leaf, layer).inputs) for leaf in choice.leaves]
        return 2 * max(sizes) <= MOST_STATES and not any(values.is_wide for values in leaf_values)

    def _waits(self, values: Values) -> bool:
        """Whether a choice sees of a leaf what an earlier block has made of it."""
        if not self.task.works_stepwise:
            return values.choice is not None
        return values.linear is None and values.layer > 0

    def _numbered_leaves(self, node: SOp, leaves: dict[SOp, int]) -> SOp:
        """A choice with the numbers of its leaves in place of these."""
        numbered: dict[SOp, SOp] = {}
        for part in in_order([node]):
            if not isinstance(part, Elementwise) or part.op != "if":
                continue
            values = self._held.by_node.get(part)
            if values is None or values.choice is not None:
                condition, *branches = part.operands
                inner = [numbered.get(branch) or Const(leaves.setdefault(branch, len(leaves)))
                         for branch in branches]  # fmt: skip
                numbered[part] = Elementwise("if", (condition, *inner))
                self._numbers.add(numbered[part])
        return numbered[node]

    def only_branch(self, node: Elementwise) -> SOp | None:
        """What a choice always is, whatever its condition may be."""
        if node.op != "if":
            return None
        condition, chosen, alternative = node.operands
        values = self._held.of(condition)
        if len(values.atoms) == 1:
            return chosen if values.atoms[0] else alternative
        return chosen if self._held.of(chosen) is self._held.of(alternative) else None
