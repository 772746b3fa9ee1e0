"""A graph in; for every s-op, what it can hold and what that depends on, out.

Values are followed *jointly*: an s-op is a table over the states of its inputs (the token, the
index, what heads put out, weighted sums of these), so that `x - x` is known to be 0. Numeric
s-ops that are weighted sums of inputs are kept as such (`linear`), and cost no feed-forward.
A table entry is None where the program itself would fail, or which no input can reach.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rasp.atoms import Atom
from rasp.compiler.analysis.joint_states import MOST_STATES, Choice, JointAnalysis, Values
from rasp.compiler.analysis.joint_tables import BaseVariables, states_of
from rasp.compiler.analysis.kinds import as_kinds, kinds_of
from rasp.compiler.analysis.linear import (
    Linear,
    index_values,
    of_index,
    of_token,
    token_values,
    weighted,
)
from rasp.compiler.analysis.linear_ranges import embedding_range, range_with_length
from rasp.compiler.analysis.subset_sums import TooMany, sums_of_pairs
from rasp.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    IndexVariable,
    NodeVariable,
    SumVariable,
    TokenVariable,
    Variable,
    distinct,
    line_through,
)
from rasp.compiler.refusals import Refusal, Refusals
from rasp.compiler.settings import Settings
from rasp.errors import RaspError
from rasp.graph import (
    COMPARISONS,
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

FEW = 64
"""The largest table of a choice that is made at once where there can be another block."""
KEEPS_NUMBER = ("round", "floor", "int", "abs", "float", "indicator", "bool", "plus")


class ValueAnalysis(JointAnalysis):
    """Values of s-ops by elementwise rules; `heads.HeadAnalysis` adds what attention makes."""

    def __init__(self, settings: Settings, refusals: Refusals) -> None:
        super().__init__()
        self.settings = settings
        self.refusals = refusals
        self.token = TokenVariable(
            0,
            tuple((atom, Fraction(place)) for place, atom in enumerate(settings.vocabulary)),
            False,
        )
        self.index = IndexVariable(
            0, tuple((place, Fraction(place)) for place in range(settings.max_length)), False
        )
        self._base = BaseVariables(self.token, self.index, settings)
        self.counts_first = False
        """Whether noisy conditions are rather counted than looked up in one table."""
        self.chooses_first = False
        """Whether large choices are made in a block of their own, though one table would do."""
        self.avoids_counts = False
        """Whether conditions rather wait for the next layer than being counted."""
        self.has_counts = False
        """Whether any condition is counted."""
        self.failures: dict[Node, str] = {}
        self._known: dict[Node, Values] = {}
        self._sums: dict[object, SumVariable] = {}
        self._numbers: set[Node] = set()
        """Helpers that say which of several s-ops another one is."""
        self._ranges: dict[object, list[Fraction]] = {}

    def of(self, node: SOp) -> Values:
        """Return the values of an s-op; raises `Refusal` where they cannot be listed."""
        if node not in self._known:
            self.refusals.check(node)
            try:
                self._known[node] = self._values(node)
            except Refusal as refusal:
                raise self.refusals.add(node, refusal) from None
        return self._known[node]

    def _values(self, node: SOp) -> Values:
        match node:
            case Tokens():
                return self._finished(0, (self.token,), list(self.settings.vocabulary))
            case TokensAs(kind):
                read = [self.applied(node, kind, (atom,)) for atom in self.settings.vocabulary]
                return self._finished(0, (self.token,), read)
            case Indices():
                return self._finished(0, (self.index,), list(range(self.settings.max_length)))
            case Const(value):
                return self._finished(0, (), [value])
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
            return self.from_linear(
                linear, kinds_of(node.op, [operand.kinds for operand in operands])
            )
        compared = self._comparison(node.op, operands)
        if compared is not None:
            return compared
        inputs = {each for values in operands for each in values.inputs}
        noisy = sum(each.is_noisy for each in inputs)
        if any(isinstance(each, CountVariable) for each in inputs) or (
            self.counts_first and noisy > 1
        ):
            counted = self._counted(node)
            if counted is not None:
                return counted
        try:
            joint = self.joint(list(node.operands), later=0)
        except Refusal as refusal:
            found = self._afterwards(node, refusal) if self.avoids_counts else None
            found = found or self._counted(node) or self._distributed(node)
            found = found or self._wide(node, operands) or self._afterwards(node, refusal)
            if found is None:
                raise refusal
            return found
        if self.chooses_first and node.op == "if" and len(joint.rows) > FEW:
            chosen = self._chosen(node, Refusal("", ""))
            if chosen is not None:
                return chosen
        outcomes = [self.applied(node, node.op, row) for row in joint.rows]
        return self._finished(joint.layer, joint.inputs, outcomes)

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
        self._adopt(node, in_order([numbered, *gates]))
        try:
            for each in in_order([numbered]):
                if isinstance(each, SOp) and each is not node:
                    self.of(each)
            known = [self.of(leaf) for leaf in leaves]
            layers = [each.layer + (each.choice is not None) for each in known]
            layer = max(1 + self.of(numbered).layer, *layers)
            sizes = [states_of(self.view(leaf, each, layer).inputs)
                     for leaf, each in zip(leaves, known, strict=True)]  # fmt: skip
        except Refusal:
            return None
        if 2 * max(sizes) > MOST_STATES or any(each.is_wide for each in known):
            return None
        if not self._is_in_time(node, layer, refusal):
            return None
        atoms = distinct(atom for each in known for atom in each.atoms)
        found = Values(layer, (), atoms, frozenset(map(type, atoms)))
        noisy = any(each.is_noisy for each in known)
        variable = self.node_variable(node, replace(found, inputs=(self.token,)), noisy)
        return replace(found, inputs=(variable,), choice=choice)

    def _numbered_leaves(self, node: SOp, leaves: dict[SOp, int]) -> SOp:
        """A choice with the numbers of its leaves in place of these."""
        numbered: dict[SOp, SOp] = {}
        for each in in_order([node]):
            known = self._known.get(each)
            if not isinstance(each, Elementwise) or each.op != "if":
                continue
            if known is None or known.choice is not None:
                condition, *branches = each.operands
                inner = [
                    numbered[branch]
                    if branch in numbered
                    else Const(leaves.setdefault(branch, len(leaves)))
                    for branch in branches
                ]
                numbered[each] = Elementwise("if", (condition, *inner))
                self._numbers.add(numbered[each])
        return numbered[node]

    @abstractmethod
    def _adopt(self, node: SOp, helpers: Sequence[Node]) -> None:
        """Note that helpers must be there before an s-op is."""

    def _later(self, node: Elementwise, refusal: Refusal) -> Values | None:
        """An s-op in the feed-forward of the next layer, of what its operands are by then."""
        try:
            joint = self.joint(list(node.operands), later=1)
        except Refusal:
            return None
        if not self._is_in_time(node, joint.layer, refusal):
            return None
        outcomes = [self.applied(node, node.op, row) for row in joint.rows]
        return self._finished(joint.layer, joint.inputs, outcomes)

    @abstractmethod
    def _is_in_time(self, node: SOp, layer: int, refusal: Refusal) -> bool:
        """Whether nothing reads an s-op before it can be computed; or a block is asked for."""

    def _counted(self, node: Elementwise) -> Values | None:
        """An `and` or `or` of conditions as a count of them: each is worked out on its own."""
        if node.op not in ("and", "or"):
            return None
        every = dict.fromkeys(self._conditions(node, node.op))
        every.pop(Const(node.op == "and"), None)  # `False or x` is x
        conditions = tuple(every)
        found = [self.of(condition) for condition in conditions]
        if any(isinstance(each, CountVariable) for values in found for each in values.inputs):
            return None
        count = len(conditions)
        states = tuple(
            (each > 0 if node.op == "or" else each == count, Fraction(each))
            for each in range(count + 1)
        )
        layer = max(values.layer for values in found)
        variable = CountVariable(layer + 1, states, True, conditions)
        self.has_counts = True
        return Values(layer, (variable,), [atom for atom, _ in states], frozenset({bool}))

    def _wide(self, node: Elementwise, operands: list[Values]) -> Values | None:
        """Something of very many answers that nothing but a read-out needs, made of sums."""
        inputs = tuple(dict.fromkeys(each for values in operands for each in values.inputs))
        outputs = [each for each in inputs if isinstance(each, HeadOutput)]
        fits = len(outputs) == len(inputs) and len({each.head for each in outputs}) == 1
        if not fits or outputs[0].head.mode != "sum":
            return None
        if outputs[0].head.family is not None or not self._is_only_read_out(node):
            return None
        return Values(outputs[0].layer, inputs, (), frozenset(), is_wide=True)

    @abstractmethod
    def _is_only_read_out(self, node: SOp) -> bool:
        """Whether nothing but a read-out needs an s-op."""

    def _distributed(self, node: Elementwise) -> Values | None:
        """`x + (a if c else b)` as `x + a if c else x + b`, where those sums are linear."""
        chosen = self._as_choice(node)
        return None if chosen is None or chosen is node else self.of(chosen)

    def _as_choice(self, node: SOp) -> Elementwise | None:
        """A sum with a choice in it as a choice between sums."""
        if not isinstance(node, Elementwise) or node.op not in ("if", "+", "-"):
            return None
        if node.op == "if":
            fits = all(self.of(each).linear is not None for each in node.operands[1:])
            return node if fits else None
        for place, other in ((0, node.operands[1]), (1, node.operands[0])):
            choice = self._as_choice(node.operands[place])
            if choice is None or self.of(other).linear is None:
                continue
            condition, *branches = choice.operands
            pairs = [(each, other) if place == 0 else (other, each) for each in branches]
            return Elementwise("if", (condition, *(Elementwise(node.op, pair) for pair in pairs)))
        return None

    def _conditions(self, node: SOp, op: str) -> tuple[SOp, ...]:
        if not isinstance(node, Elementwise) or node.op != op:
            return (node,)
        return tuple(each for part in node.operands for each in self._conditions(part, op))

    def applied(self, node: SOp, op: str, row: tuple[Atom | None, ...]) -> Atom | None:
        if None in row:
            return None
        try:
            return apply_operator(op, row)  # type: ignore[arg-type]
        except RaspError as error:
            self.failures.setdefault(node, error.message)
            return None

    def _comparison(self, op: str, operands: list[Values]) -> Values | None:
        """Compare weighted sums by the sign of their difference: one input instead of many."""
        if op not in COMPARISONS:
            return None
        lines = [operand.linear for operand in operands if operand.linear is not None]
        if len(lines) < 2:
            lines = self._codes_alike(operands) if op in ("==", "!=") else []
        if len(lines) < 2:
            return None
        difference = self.from_linear(lines[0] - lines[1], frozenset({Fraction}))
        outcomes = [None if atom is None else bool(apply_operator(op, (atom, 0)))
                    for atom in difference.outcomes]  # fmt: skip
        return self._finished(difference.layer, difference.inputs, outcomes)

    def _codes_alike(self, operands: list[Values]) -> list[Linear]:
        """Codes of two s-ops, the same for equal strings: what heads have moved, or the token."""
        known: dict[Atom, Fraction] = {}
        for operand in operands:
            output = operand.inputs[0] if len(operand.inputs) == 1 else None
            if isinstance(output, HeadOutput) and output.carrier is None:
                if list(operand.outcomes) != [atom for atom, _ in output.states]:
                    return []
                for atom, code in output.states:
                    if known.setdefault(atom, code) != code:
                        return []
            elif operand.inputs != (self.token,) or None in operand.outcomes:
                return []
        for atom in (atom for operand in operands for atom in operand.atoms):
            known.setdefault(atom, 1 + max(known.values(), default=Fraction(0)))
        if len(set(known.values())) < len(known):
            return []
        lines = []
        for operand in operands:
            (variable,) = operand.inputs
            if isinstance(variable, HeadOutput):
                lines.append(weighted({variable: Fraction(1)}))
            else:
                codes = [known[atom] for atom in operand.outcomes if atom is not None]
                lines.append(of_token(codes, self.settings))
        return lines

    def _linear(self, node: Elementwise, operands: list[Values]) -> Linear | None:
        """Recognise weighted sums; None where the s-op is none."""
        lines = [operand.linear for operand in operands]
        op = node.op
        if op == "/" and operands[1].reciprocal is not None:
            if lines[0] is not None and lines[0].is_constant:
                return operands[1].reciprocal.times(lines[0].constant)
            return None
        if any(line is None for line in lines):
            return None
        known = [line for line in lines if line is not None]
        match op:
            case "+":
                return known[0] + known[1]
            case "-":
                return known[0] - known[1]
            case "negate":
                return known[0].times(-1)
            case "*" if known[0].is_constant:
                return known[1].times(known[0].constant)
            case "*" if known[1].is_constant:
                return known[0].times(known[1].constant)
            case "/" if known[1].is_constant and known[1].constant:
                return known[0].times(1 / known[1].constant)
        if op in KEEPS_NUMBER and all(
            atom is None or apply_operator(op, (atom,)) == atom for atom in operands[0].outcomes
        ):
            return known[0]
        return None

    def from_linear(self, linear: Linear, kinds: frozenset[type]) -> Values:
        """The values of a weighted sum: a table over its one input, or over their sum."""
        variables = self.variables_of(linear)
        if not variables:
            return Values(0, (), as_kinds(linear.constant, kinds)[-1:], kinds, linear)
        if len(variables) == 1 and not isinstance(variables[0], NodeVariable):
            return self._of_one(linear, variables[0], kinds)
        key = (linear.key, kinds)
        if key not in self._sums:
            states = tuple(
                (atom, code) for code in self.range_of(linear) for atom in as_kinds(code, kinds)
            )
            layer = max(variable.layer for variable in variables)
            noisy = any(variable.is_noisy for variable in variables)
            self._sums[key] = SumVariable(layer, states, noisy, linear)
        variable = self._sums[key]
        atoms = [atom for atom, _ in variable.states]
        return Values(variable.layer, (variable,), atoms, kinds, linear)

    def _of_one(self, linear: Linear, variable: Variable, kinds: frozenset[type]) -> Values:
        if isinstance(variable, TokenVariable):
            codes = [linear.constant + each for each in token_values(linear, self.settings)]
        elif isinstance(variable, IndexVariable):
            codes = [linear.constant + each for each in index_values(linear, self.settings)]
        else:
            assert isinstance(variable, HeadOutput)
            weight = linear.parts[variable]
            codes = [linear.constant + weight * code for _, code in variable.states]
        atoms = [
            code if isinstance(atom, Fraction) and Fraction in kinds else as_kinds(code, kinds)[0]
            for code, (atom, _) in zip(codes, variable.states, strict=True)
        ]
        return Values(variable.layer, (variable,), atoms, kinds, linear)

    def variables_of(self, linear: Linear) -> list[Variable]:
        """The inputs of a weighted sum."""
        return self._base.variables_of(linear)

    def range_of(self, linear: Linear) -> list[Fraction]:
        """Every number that a weighted sum can be."""
        key = linear.key
        if key not in self._ranges:
            self._ranges[key] = self._range_of(linear)
        return self._ranges[key]

    def _range_of(self, linear: Linear) -> list[Fraction]:
        linear, lengths = _with_one_length(linear)
        try:
            reach = embedding_range(linear, self.settings)
            if lengths:
                reach = range_with_length(linear, lengths[0], self.settings)
            for values in self._ranges_of_heads(linear, skip=lengths):
                reach = sums_of_pairs(reach, values)
        except TooMany as error:
            raise Refusal(
                f"a sum of values has {error.size} or more combinations",
                "use a smaller vocabulary or length",
            ) from None
        if len(reach) > MOST_STATES:
            raise Refusal(
                f"it can be one of {len(reach)} numbers, and the limit is {MOST_STATES}",
                "use a smaller vocabulary or length, or round on the way",
            )
        return reach

    @abstractmethod
    def _ranges_of_heads(self, linear: Linear, skip: list[HeadOutput]) -> list[list[Fraction]]:
        """What the outputs of each head can add to a weighted sum."""

    def _finished(
        self, layer: int, inputs: tuple[Variable, ...], outcomes: Sequence[Atom | None]
    ) -> Values:
        """Wrap a table up; recognise it where it happens to be a weighted sum of its input."""
        atoms = distinct(outcomes)
        kinds = frozenset(type(atom) for atom in atoms)
        linear = None
        if atoms and str not in kinds:
            if len({Fraction(atom) for atom in atoms}) == 1:
                linear = Linear(Fraction(atoms[0]))
            elif len(inputs) == 1:
                linear = self._fitted(inputs, outcomes)
        return Values(layer, inputs, outcomes, kinds, linear)

    def _fitted(
        self, inputs: tuple[Variable, ...], outcomes: Sequence[Atom | None]
    ) -> Linear | None:
        numbers = [None if atom is None else Fraction(atom) for atom in outcomes]
        known = [number for number in numbers if number is not None]
        filled = [known[0] if number is None else number for number in numbers]
        match inputs[0]:
            case TokenVariable():
                return of_token(filled, self.settings)
            case IndexVariable():
                return of_index(filled, self.settings)
            case HeadOutput() | SumVariable():
                return line_through(inputs[0], numbers)
        return None


def _with_one_length(linear: Linear) -> tuple[Linear, list[HeadOutput]]:
    """The same sum with all outputs that are the input's length as one of them, and that one."""
    lengths = [output for output in linear.of(HeadOutput) if output.is_length]
    weight = sum((linear.parts[each] for each in lengths), Fraction(0))
    parts = {each: part for each, part in linear.parts.items() if each not in lengths}
    if not weight:
        return Linear(linear.constant, parts), []
    return Linear(linear.constant, {**parts, lengths[0]: weight}), lengths[:1]
