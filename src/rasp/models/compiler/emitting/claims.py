"""A plan of either style in, what the checker is told about its weights out.

Claims say of what each part of the arrays is a function; the checker finds out what it computes.
What each style says of its own hidden units and readers is where it writes its arrays: in `emitter`
and in `robust.arrays`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from rasp.language.graph import Aggregate, Node, SOp, in_order, score_terms
from rasp.models.certificate import Weights, claims
from rasp.models.compiler.analysis.formulas import Formula, as_selector, keys_and_queries
from rasp.models.compiler.analysis.linear import Coordinate, GroundIs
from rasp.models.compiler.analysis.times import EMBEDDING, sublayer_name
from rasp.models.compiler.analysis.value_analysis import ValueAnalysis
from rasp.models.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    NodeVariable,
    PlannedHead,
    SumVariable,
    Variable,
    mixture,
)
from rasp.models.compiler.emitting.rows import Row
from rasp.models.compiler.emitting.wiring import inner_parts
from rasp.models.compiler.heads.model_plan import HeadReads, ModelPlan
from rasp.models.compiler.heads.width_shares import boost_of, weight_of

Kind = TypeVar("Kind", bound=SOp)


class Claimant(ABC):
    """Says what all arrays do; each style says of its own what only it knows."""

    weighed: str
    """The mode of heads where a position weighs as much as many matches (see `width_shares`)."""

    def __init__(self, plan: ModelPlan, weights: Weights) -> None:
        self.plan, self.parts_of_model = plan, list(inner_parts(weights))
        self.analysis, self.values = plan.analysis, plan.analysis.values
        self.nodes: list[SOp] = [output.node for output in plan.outputs]
        self.names = Numbering(self.values, plan.heads)

    def all_claims(self) -> claims.Claims:
        """What the checker is told."""
        names, plan = self.names, self.plan
        heads = tuple(tuple(self._claim(head.head, head.basis) for head in layer)
                      for layer in plan.heads)  # fmt: skip
        names.all(output for layer in plan.heads for head in layer for output in head.head.outputs)
        groups = tuple(map(tuple, self.groups()))
        outputs = tuple(map(self._inputs, self.nodes))
        aggregates = self._aggregates()
        over = names.over()
        spare = []
        for unread in names.spare:  # which grows: describing one may bring up another
            spare.append(self._claim(unread, ()))
        readers = tuple(claims.ReaderClaim(node, self._last_writer(row), row.weights, row.constant)
                        for node in self._held(SOp, self.nodes)
                        if (row := self.row(node)).weights)  # fmt: skip
        over |= names.over()
        return claims.Claims(tuple(names.variables), over, aggregates, heads, groups, outputs,
                             tuple(spare), names.choices(), readers)  # fmt: skip

    @abstractmethod
    def groups(self) -> Iterable[Iterable[claims.GroupClaim]]:
        """What the groups of hidden units of each feed-forward do."""

    @abstractmethod
    def row(self, node: SOp) -> Row:
        """How to read a numeric s-op, where the stream happens to hold it; else an empty row."""

    def parts(self, variables: Iterable[Variable]) -> tuple[int, ...]:
        """The numbers of variables as the arrays read them."""
        return self.names.all(variables)

    def is_block(self, output: HeadOutput) -> bool:
        """Whether an output is moved as numbers that the arrays give it, not as its code."""
        return False

    def _inputs(self, node: SOp) -> tuple[int, ...]:
        """What is read where an s-op is."""
        return self.parts(self.values.of(node).inputs)

    def _held(self, kind: type[Kind], outputs: Sequence[Node]) -> Iterator[Kind]:
        """The s-ops of a kind that outputs need, as far as their values were asked for."""
        held = self.values.held.by_node
        return (node for node in in_order(outputs) if isinstance(node, kind) and node in held)

    def _last_writer(self, row: Row) -> str:
        """The block after which all dimensions that a row reads are written."""
        dims = list(row.weights)
        writers = (part.time for part in self.parts_of_model if part.written[dims].any())
        return sublayer_name(max(writers, default=EMBEDDING))

    # -- heads ------------------------------------------------------------------------------------

    def _claim(
        self, head: PlannedHead, basis: Sequence[Mapping[HeadOutput, Fraction]]
    ) -> claims.HeadClaim:  # fmt: skip
        best, names = head.best, self.names
        channels = tuple({head.outputs.index(output): weight for output, weight in moved.items()}
                         for moved in basis)  # fmt: skip
        values = tuple(self._moved(moved) for moved in basis)
        terms = [] if best is None else score_terms(best)
        family = () if head.family is None else tuple(
            place for other, place in names.places.items()
            if (other.layer, other.family) == (head.layer, head.family)
        )  # fmt: skip
        return claims.HeadClaim(
            head.mode,
            tuple(map(self._conjunct, head.conjuncts)),
            tuple(map(self._output, head.outputs)),
            channels,
            values,
            best,
            self._all_inputs(term.queries for term in terms),
            self._all_inputs(term.keys for term in terms),
            self.analysis.picks.is_never_empty(head.formula),
            family,
            weight_of(boost_of(self.plan.settings.max_length))
            if head.mode == self.weighed
            else Fraction(0),
            head.outweighs,
        )

    def _all_inputs(self, nodes: Iterable[SOp]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number for node in nodes for number in self._inputs(node)))

    def _conjunct(self, formula: Formula) -> claims.ConjunctClaim:
        keys, queries = (self.parts(self.values.joints.of(nodes).inputs)
                         for nodes in keys_and_queries(formula))  # fmt: skip
        return claims.ConjunctClaim(as_selector(formula), queries, keys)

    def _output(self, output: HeadOutput) -> claims.HeadOutputClaim:
        carrier = None if output.carrier is None else self.names.number(output.carrier)
        return claims.HeadOutputClaim(
            output.values, output.codes, output.default, carrier, self.is_block(output)
        )

    def _moved(self, weights: Mapping[HeadOutput, Fraction]) -> tuple[int, ...]:
        """What a value is a function of, at the key."""
        if len(weights) > 1 and all(output.codes is None for output in weights):
            return self._inputs(mixture(weights))
        numbers: list[int] = []
        for output in weights:
            if output.carrier is not None:
                numbers.append(self.names.number(output.carrier))
            else:
                numbers += self._inputs(output.values)
        return tuple(dict.fromkeys(numbers))

    # -- aggregates -------------------------------------------------------------------------------

    def _aggregates(self) -> dict[Aggregate, claims.Meaning]:
        where = self.plan.settings.where
        nodes = self._held(Aggregate, [*self.nodes, *([] if where is None else [where])])
        told = {node: self.analysis.meanings[node] for node in nodes
                if node in self.analysis.meanings}  # fmt: skip
        return {node: replace(meaning, outputs=self.names.all(outputs))
                for node, (meaning, outputs) in told.items()}  # fmt: skip


class Numbering:
    """The variables that claims name by numbers, and what s-ops are made of.

    A variable gets its number when something is first said of it, and what it is made of before it.
    """

    def __init__(self, values: ValueAnalysis, heads: Sequence[Sequence[HeadReads]]) -> None:
        self.values = values
        self.numbers: dict[Variable | SOp, int] = {
            values.token: claims.TOKEN, values.index: claims.INDEX,
        }  # fmt: skip
        """By variables; what an s-op is, goes by the s-op."""
        self.variables: list[claims.ClaimedVariable] = [None, None]
        self.places = {plan.head: (layer, number) for layer, own in enumerate(heads, 1)
                       for number, plan in enumerate(own)}  # fmt: skip
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
        return tuple(map(self.number, variables))

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
        number = self.number(self.values.joints.base.variable_of(coordinate))
        if isinstance(coordinate, GroundIs):
            return claims.SumPart(number, coordinate.place)
        return claims.SumPart(number)

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
