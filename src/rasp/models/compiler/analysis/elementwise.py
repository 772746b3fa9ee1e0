"""An elementwise s-op in, what it holds out.

It is a weighted sum, a table over the joint states of its operands, or where such a table would
be too large, a count of conditions, a choice that is made later, or it waits for the next layer;
or it is wide, so that only a read-out can use it.
"""

from __future__ import annotations

from fractions import Fraction

from rasp.language.graph import Const, Elementwise, Node, SOp, in_order
from rasp.models.certificate.program.tables import operands_of
from rasp.models.compiler.analysis.joint_states import MOST_STATES, JointStates
from rasp.models.compiler.analysis.joint_tables import common_inputs, states_of
from rasp.models.compiler.analysis.kinds import kinds_of
from rasp.models.compiler.analysis.values import Choice, Values
from rasp.models.compiler.analysis.variables import CountVariable, HeadOutput, distinct
from rasp.models.compiler.analysis.weighted_sums import WeightedSums, linear_of
from rasp.models.compiler.compile_refusals import Refusal

FEW = 1024
"""The largest table that is made at once where there can be another block."""
SEVERAL = 64
"""From more values on, a choice is made of them by gates, and not by a table."""


class Choices:
    """S-ops that are one of several others: these need not be looked at together.

    `a if c else b` is worked out in a layer after `c`, `a` and `b`, by gates: which of them it is,
    is known by then.
    """

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


class ElementwiseRules:
    """What operators make of what their operands hold."""

    def __init__(self, joints: JointStates, sums: WeightedSums) -> None:
        self.task, self._held, self._joints = joints.task, joints.held, joints
        self._sums, self._choices = sums, Choices(joints)

    def of(self, node: Elementwise) -> Values:
        operands = [self._held.of(operand) for operand in node.operands]
        linear = self._held.aggregates.products.get(node) or linear_of(node.op, operands)
        if linear is not None:
            kinds = kinds_of(node.op, [operand.kinds for operand in operands])
            return self._sums.values(linear, kinds)
        values = self._sums.comparison(node.op, operands)
        if values is None and self._is_rather_counted(operands):
            values = self._count_conditions(node)
        if values is not None:
            return values
        values = self._stepwise(node) if self.task.works_stepwise else None
        if values is not None:
            return values
        try:
            return self._table(node)
        except Refusal as refusal:
            values = (self._count_conditions(node) or self._distribute(node)
                      or self._wide(node, operands) or self._choices.of(node, refusal)
                      or self._later(node, refusal))  # fmt: skip
            if values is None:
                raise
            return values

    def _table(self, node: Elementwise, later: int = 0, most: int | None = None) -> Values:
        """A table over the joint states of the operands; see `JointStates.of`."""
        joint = self._joints.of(node.operands, later, most)
        rows = [self._held.outcome(node, node.op, row) for row in joint.rows]
        return self._sums.table(joint.layer, joint.inputs, rows)

    def _is_rather_counted(self, operands: list[Values]) -> bool:
        """Whether conditions are counted before a table of them is tried."""
        if any(operand.counts_conditions for operand in operands):
            return True
        variables = {variable for operand in operands for variable in operand.inputs}
        return self.task.is_careful and sum(variable.is_inexact for variable in variables) > 1

    def _stepwise(self, node: Elementwise) -> Values | None:
        """An s-op of few combinations at a time: at once, or in the next feed-forward.

        What can be many values is chosen as it is, by an s-op that says which one it is.
        """
        same = self._choices.only_branch(node)
        if same is not None:
            self._joints.aliases[node] = self._joints.aliases.get(same, same)
            return self._held.of(same)
        sizes = [len(self._held.of(operand).atoms) for operand in node.operands]
        if max(sizes, default=0) > SEVERAL:
            refusal = Refusal("it depends on one of several s-ops", self.task.settings.way_out)
            chosen = self._choices.of(node, refusal)
            if chosen is not None:
                return chosen
        try:
            return self._table(node, most=FEW)
        except Refusal as reason:
            return self._later(node, reason)

    def _later(self, node: Elementwise, refusal: Refusal) -> Values | None:
        """An s-op in the feed-forward of the next layer, of what its operands are by then."""
        try:
            values = self._table(node, later=1)
        except Refusal:
            return None
        return values if self.task.deadlines.allow(node, values.layer, refusal) else None

    def _count_conditions(self, node: Elementwise) -> Values | None:
        """An `and` or `or` of conditions as a count of them: each is worked out on its own."""
        if node.op not in ("and", "or"):
            return None
        nothing = Const(node.op == "and")  # `False or x` is x
        conditions = tuple(part for part in operands_of(node, node.op) if part != nothing)
        condition_values = [self._held.of(condition) for condition in conditions]
        if any(values.counts_conditions for values in condition_values):
            return None
        states = tuple(
            (count > 0 if node.op == "or" else count == len(conditions), Fraction(count))
            for count in range(len(conditions) + 1)
        )
        layer = max(values.layer for values in condition_values)
        variable = CountVariable(layer + 1, states, True, conditions)
        return Values((variable,), [atom for atom, _ in states], layer, frozenset({bool}))

    def _wide(self, node: Elementwise, operands: list[Values]) -> Values | None:
        """Something of very many answers that nothing but a read-out needs, made of sums."""
        inputs = common_inputs(operands)
        heads = {variable.head for variable in inputs if isinstance(variable, HeadOutput)}
        others = [variable for variable in inputs if not isinstance(variable, HeadOutput)]
        if others or len(heads) != 1 or not self._is_only_read_out(node):
            return None
        (head,) = heads
        if head.mode != "sum" or head.family is not None:
            return None
        return Values(inputs, (), head.layer, frozenset(), is_wide=True)

    def _is_only_read_out(self, node: SOp) -> bool:
        """Whether nothing but a read-out needs an s-op."""
        users = self.task.users.get(node, ())
        return (node in self.task.outputs or bool(users)) and all(
            isinstance(user, Elementwise) and self._is_only_read_out(user) for user in users
        )

    def _distribute(self, node: Elementwise) -> Values | None:
        """`x + (a if c else b)` as `x + a if c else x + b`, where those sums are linear."""
        chosen = self._as_choice(node)
        return None if chosen is None or chosen is node else self._held.of(chosen)

    def _as_choice(self, node: SOp) -> Elementwise | None:
        """A sum with a choice in it as a choice between sums."""
        if not isinstance(node, Elementwise) or node.op not in ("if", "+", "-"):
            return None
        if node.op == "if":
            fits = all(self._held.of(branch).linear is not None for branch in node.operands[1:])
            return node if fits else None
        for operand, other in (node.operands, node.operands[::-1]):
            choice = self._as_choice(operand)
            if choice is None or self._held.of(other).linear is None:
                continue
            condition, *branches = choice.operands
            sums = [Elementwise(node.op, (branch, other) if operand is node.operands[0]
                                else (other, branch)) for branch in branches]  # fmt: skip
            return Elementwise("if", (condition, *sums))
        return None
