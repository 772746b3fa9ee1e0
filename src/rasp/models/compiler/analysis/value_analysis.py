"""A graph in; for every s-op, what it can hold and what that depends on, out.

Values are followed *jointly*: an s-op is a table over the states of its inputs (the token, the
index, what heads put out, weighted sums of these), so that `x - x` is known to be 0. A table entry
is None where the program itself would fail, or which no input can reach.
"""

from __future__ import annotations

from rasp.language.graph import Aggregate, Const, Elementwise, Indices, SOp, Tokens, TokensAs
from rasp.models.compiler.analysis.elementwise import ElementwiseRules
from rasp.models.compiler.analysis.joint_states import JointStates
from rasp.models.compiler.analysis.joint_tables import BaseVariables
from rasp.models.compiler.analysis.task import Task
from rasp.models.compiler.analysis.values import AggregateRules, HeldValues, Values
from rasp.models.compiler.analysis.weighted_sums import WeightedSums


class ValueAnalysis:
    """What each s-op holds, and what several hold together."""

    def __init__(self, task: Task, aggregates: AggregateRules) -> None:
        self.task, self.settings = task, task.settings
        self.held = HeldValues(task, aggregates, self._work_out)
        self.of = self.held.of
        base = BaseVariables(task.settings)
        self.token, self.index, self.variables_of = base.token, base.index, base.variables_of
        self.joints, self.sums = JointStates(self.held, base), WeightedSums(self.held, base)
        self._elementwise = ElementwiseRules(self.joints, self.sums)

    def _work_out(self, node: SOp) -> Values:
        match node:
            case Tokens():
                return self.sums.table(0, (self.token,), list(self.settings.vocabulary))
            case TokensAs(kind):
                read = [self.held.outcome(node, kind, (atom,)) for atom in self.settings.vocabulary]
                return self.sums.table(0, (self.token,), read)
            case Indices():
                places = list(range(self.settings.max_length))
                return self.sums.table(0, (self.index,), places)
            case Const(value):
                return self.sums.table(0, (), [value])
            case Elementwise():
                return self._elementwise.of(node)
        assert isinstance(node, Aggregate)
        return self.held.aggregates.of(node)
