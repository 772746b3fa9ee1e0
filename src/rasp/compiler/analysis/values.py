"""A graph in; for every s-op, what it can hold and what that depends on, out.

Values are followed *jointly*: an s-op is a table over the states of its inputs (the token, the
index, what heads put out, weighted sums of these), so that `x - x` is known to be 0. Where a table
would be too large, an s-op is a count of conditions, a choice that is made later, or waits for the
next layer. A table entry is None where the program itself would fail, or which no input can reach.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from fractions import Fraction

from rasp.atoms import Atom
from rasp.compiler.analysis.joint_states import MOST_STATES, Choice, JointAnalysis, Values
from rasp.compiler.analysis.joint_tables import BaseVariables, states_of
from rasp.compiler.analysis.kinds import kinds_of
from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.task import Task
from rasp.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    IndexVariable,
    TokenVariable,
    Variable,
    distinct,
)
from rasp.compiler.analysis.weighted_sums import WeightedSums, linear_of
from rasp.compiler.refusals import Refusal
from rasp.errors import RaspError
from rasp.graph import (
    Const,
    Elementwise,
    Indices,
    Node,
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
    in_order,
)

FEW = 1024
"""The largest table that is made at once where there can be another block."""
SEVERAL = 64
"""From more values on, a choice is made of them by gates, and not by a table."""


class ValueAnalysis(JointAnalysis):
    """Values of s-ops by elementwise rules; `heads.HeadAnalysis` adds what attention makes."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.refusals, settings = task.refusals, task.settings
        self.token = TokenVariable(
            0,
            tuple((atom, Fraction(place)) for place, atom in enumerate(settings.vocabulary)),
            False,
        )
        self.index = IndexVariable(
            0, tuple((place, Fraction(place)) for place in range(settings.max_length)), False
        )
        self._base = BaseVariables(self.token, self.index, settings)
        self.sums = WeightedSums(task, self._base, self._ranges_of_heads)
        self.failures: dict[Node, str] = {}
        self.held: dict[Node, Values] = {}
        """What each s-op holds, of those that were asked for."""
        self._numbers: set[Node] = set()
        """Helpers that say which of several s-ops another one is."""

    def of(self, node: SOp) -> Values:
        """Return the values of an s-op; raises `Refusal` where they cannot be listed."""
        if node not in self.held:
            self.refusals.check(node)
            try:
                self.held[node] = self._values(node)
            except Refusal as refusal:
                raise self.refusals.add(node, refusal) from None
        return self.held[node]

    def _values(self, node: SOp) -> Values:
        match node:
            case Tokens():
                return self.sums.table(0, (self.token,), list(self.settings.vocabulary))
            case TokensAs(kind):
                read = [self.applied(node, kind, (atom,)) for atom in self.settings.vocabulary]
                return self.sums.table(0, (self.token,), read)
            case Indices():
                return self.sums.table(0, (self.index,), list(range(self.settings.max_length)))
            case Const(value):
                return self.sums.table(0, (), [value])
            case Elementwise():
                return self._elementwise(node)
        return self._attention(node)

    @abstractmethod
    def _attention(self, node: SOp) -> Values:
        """The values of an aggregate."""

    def _elementwise(self, node: Elementwise) -> Values:
        operands = [self.of(operand) for operand in node.operands]
        linear = self._linear(node, operands)
        if linear is not None:
            kinds = kinds_of(node.op, [operand.kinds for operand in operands])
            return self.sums.values(linear, kinds)
        compared = self.sums.comparison(node.op, operands)
        if compared is not None:
            return compared
        variables = {variable for operand in operands for variable in operand.inputs}
        are_several = sum(variable.is_noisy for variable in variables) > 1
        if any(isinstance(variable, CountVariable) for variable in variables) or (
            self.measures.counts_conditions and are_several
        ):
            counted = self._counted(node)
            if counted is not None:
                return counted
        if self.measures.works_stepwise:
            return self._stepwise(node)
        try:
            joint = self.joint(list(node.operands), later=0)
        except Refusal as refusal:
            waits = self.settings.extra_feed_forwards > 0
            values = self._afterwards(node, refusal) if waits else None
            values = values or self._counted(node) or self._distributed(node)
            values = values or self._wide(node, operands) or self._afterwards(node, refusal)
            if values is None:
                raise refusal
            return values
        outcomes = [self.applied(node, node.op, row) for row in joint.rows]
        return self.sums.table(joint.layer, joint.inputs, outcomes)

    def _stepwise(self, node: Elementwise) -> Values:
        """An s-op of few combinations at a time: at once, or in the next feed-forward.

        What can be many values is chosen as it is, by an s-op that says which one it is.
        """
        same = self._only_branch(node)
        if same is not None:
            self.aliases[node] = self.aliases.get(same, same)
            return self.of(same)
        operands, refusal = list(node.operands), Refusal("", "")
        if node.op == "if" and any(len(self.of(each).atoms) > SEVERAL for each in operands):
            chosen = self._chosen(node, refusal)
            if chosen is not None:
                return chosen
        try:
            joint = self.joint(operands, later=0, most=FEW)
        except Refusal as reason:
            found = self._later(node, reason)
            if found is not None:
                return found
            try:
                joint = self.joint(operands, later=0)
            except Refusal:
                found = self._distributed(node)
                if found is None:
                    raise
                return found
        outcomes = [self.applied(node, node.op, row) for row in joint.rows]
        return self.sums.table(joint.layer, joint.inputs, outcomes)

    def _only_branch(self, node: Elementwise) -> SOp | None:
        """What a choice always is, whatever its condition may be."""
        if node.op != "if":
            return None
        condition, one, other = node.operands
        values = self.of(condition)
        if len(values.atoms) == 1:
            return one if values.atoms[0] else other
        return one if self.of(one) is self.of(other) else None

    def _afterwards(self, node: Elementwise, refusal: Refusal) -> Values | None:
        """An s-op of what others have made of the input before."""
        chosen = self._chosen(node, refusal) if node.op == "if" else None
        return chosen or self._later(node, refusal)

    def _chosen(self, node: Elementwise, refusal: Refusal) -> Values | None:
        """One of several s-ops, where it is known before which one: they need not be looked at
        together.
        """
        leaves: dict[SOp, int] = {}
        numbered = self._numbered_leaves(node, leaves)
        if node in self._numbers or all(isinstance(leaf, Const) for leaf in leaves):
            return None
        choice = Choice(numbered, tuple(leaves))
        gates = [choice.gate(place) for place in range(len(leaves))]
        self.task.deadlines.adopt(node, in_order([numbered, *gates]))
        try:
            for helper in in_order([numbered]):
                if isinstance(helper, SOp) and helper is not node:
                    self.of(helper)
            held = [self.of(leaf) for leaf in leaves]
            layers = [values.layer + self._waits(values) for values in held]
            layer = max(1 + self.of(numbered).layer, *layers)
            sizes = [states_of(self.view(leaf, values, layer).inputs)
                     for leaf, values in zip(leaves, held, strict=True)]  # fmt: skip
        except Refusal:
            return None
        if 2 * max(sizes) > MOST_STATES or any(values.is_wide for values in held):
            return None
        if not self.task.deadlines.allow(node, layer, refusal):
            return None
        atoms = distinct(atom for values in held for atom in values.atoms)
        one_of_them = Values(layer, (), atoms, frozenset(map(type, atoms)))
        noisy = any(values.is_noisy for values in held)
        variable = self.node_variable(node, replace(one_of_them, inputs=(self.token,)), noisy)
        return replace(one_of_them, inputs=(variable,), choice=choice)

    def _waits(self, values: Values) -> bool:
        """Whether a choice sees of a leaf what an earlier block has made of it."""
        if not self.measures.works_stepwise:
            return values.choice is not None
        return values.linear is None and values.layer > 0

    def _numbered_leaves(self, node: SOp, leaves: dict[SOp, int]) -> SOp:
        """A choice with the numbers of its leaves in place of these."""
        numbered: dict[SOp, SOp] = {}
        for part in in_order([node]):
            if not isinstance(part, Elementwise) or part.op != "if":
                continue
            values = self.held.get(part)
            if values is None or values.choice is not None:
                condition, *branches = part.operands
                inner = [
                    numbered[branch]
                    if branch in numbered
                    else Const(leaves.setdefault(branch, len(leaves)))
                    for branch in branches
                ]
                numbered[part] = Elementwise("if", (condition, *inner))
                self._numbers.add(numbered[part])
        return numbered[node]

    def _later(self, node: Elementwise, refusal: Refusal) -> Values | None:
        """An s-op in the feed-forward of the next layer, of what its operands are by then."""
        try:
            joint = self.joint(list(node.operands), later=1)
        except Refusal:
            return None
        if not self.task.deadlines.allow(node, joint.layer, refusal):
            return None
        outcomes = [self.applied(node, node.op, row) for row in joint.rows]
        return self.sums.table(joint.layer, joint.inputs, outcomes)

    def _counted(self, node: Elementwise) -> Values | None:
        """An `and` or `or` of conditions as a count of them: each is worked out on its own."""
        if node.op not in ("and", "or"):
            return None
        different = dict.fromkeys(self._conditions(node, node.op))
        different.pop(Const(node.op == "and"), None)  # `False or x` is x
        conditions = tuple(different)
        held = [self.of(condition) for condition in conditions]
        if any(isinstance(one, CountVariable) for values in held for one in values.inputs):
            return None
        states = tuple(
            (count > 0 if node.op == "or" else count == len(conditions), Fraction(count))
            for count in range(len(conditions) + 1)
        )
        layer = max(values.layer for values in held)
        variable = CountVariable(layer + 1, states, True, conditions)
        return Values(layer, (variable,), [atom for atom, _ in states], frozenset({bool}))

    def _wide(self, node: Elementwise, operands: list[Values]) -> Values | None:
        """Something of very many answers that nothing but a read-out needs, made of sums."""
        inputs = tuple(dict.fromkeys(one for operand in operands for one in operand.inputs))
        outputs = [one for one in inputs if isinstance(one, HeadOutput)]
        fits = len(outputs) == len(inputs) and len({output.head for output in outputs}) == 1
        if not fits or outputs[0].head.mode != "sum":
            return None
        if outputs[0].head.family is not None or not self._is_only_read_out(node):
            return None
        return Values(outputs[0].layer, inputs, (), frozenset(), is_wide=True)

    def _is_only_read_out(self, node: SOp) -> bool:
        """Whether nothing but a read-out needs an s-op."""
        users = self.task.users.get(node, ())
        return (node in self.task.outputs or bool(users)) and all(
            isinstance(user, Elementwise) and self._is_only_read_out(user) for user in users
        )

    def _distributed(self, node: Elementwise) -> Values | None:
        """`x + (a if c else b)` as `x + a if c else x + b`, where those sums are linear."""
        chosen = self._as_choice(node)
        return None if chosen is None or chosen is node else self.of(chosen)

    def _as_choice(self, node: SOp) -> Elementwise | None:
        """A sum with a choice in it as a choice between sums."""
        if not isinstance(node, Elementwise) or node.op not in ("if", "+", "-"):
            return None
        if node.op == "if":
            fits = all(self.of(branch).linear is not None for branch in node.operands[1:])
            return node if fits else None
        for place, other in ((0, node.operands[1]), (1, node.operands[0])):
            choice = self._as_choice(node.operands[place])
            if choice is None or self.of(other).linear is None:
                continue
            condition, *branches = choice.operands
            pairs = [(one, other) if place == 0 else (other, one) for one in branches]
            return Elementwise("if", (condition, *(Elementwise(node.op, pair) for pair in pairs)))
        return None

    def _conditions(self, node: SOp, op: str) -> tuple[SOp, ...]:
        if not isinstance(node, Elementwise) or node.op != op:
            return (node,)
        return tuple(one for part in node.operands for one in self._conditions(part, op))

    def applied(self, node: SOp, op: str, row: tuple[Atom | None, ...]) -> Atom | None:
        if None in row:
            return None
        try:
            return apply_operator(op, row)  # type: ignore[arg-type]
        except RaspError as error:
            self.failures.setdefault(node, error.message)
        ints = self._as_ints(node, row)
        return None if ints is None else self.applied(node, op, ints)

    def _as_ints(self, node: SOp, row: tuple[Atom | None, ...]) -> tuple[Atom | None, ...] | None:
        """The same with whole floats as ints, where operands may be either; None where not."""
        ints = [int(atom) if isinstance(atom, Fraction) and atom.denominator == 1
                and isinstance(operand, SOp) and int in self.of(operand).kinds else None
                for atom, operand in zip(row, node.needs, strict=False)]  # fmt: skip
        if all(number is None for number in ints):
            return None
        return tuple(atom if number is None else number
                     for atom, number in zip(row, ints, strict=True))  # fmt: skip

    def _linear(self, node: Elementwise, operands: list[Values]) -> Linear | None:
        """An s-op as a weighted sum; None where it is none."""
        return linear_of(node.op, operands)

    def variables_of(self, linear: Linear) -> list[Variable]:
        """The inputs of a weighted sum."""
        return self.sums.variables_of(linear)

    @abstractmethod
    def _ranges_of_heads(self, linear: Linear, skip: list[HeadOutput]) -> list[list[Fraction]]:
        """What the outputs of each head can add to a weighted sum."""
