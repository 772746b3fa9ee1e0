"""A plan and its weights in, what the checker is told about them out: names, never numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol

from rasp.certificate import claims as told
from rasp.certificate.claims import (
    Claims,
    Conjunct,
    GroupClaim,
    HeadClaim,
    Meaning,
    OutputVariable,
    ReaderClaim,
)
from rasp.compiler.analysis.formulas import (
    Formula,
    as_selector,
    comparisons,
    in_stable_order,
)
from rasp.compiler.analysis.linear import Coordinate, IndexIs, TokenIs
from rasp.compiler.analysis.variables import (
    CountVariable,
    HeadOutput,
    IndexVariable,
    NodeVariable,
    PlannedHead,
    SumVariable,
    TokenVariable,
    Variable,
    mixture,
)
from rasp.compiler.planning.heads import HeadAnalysis
from rasp.compiler.planning.width_shares import boost_of, weight_of
from rasp.compiler.refusals import Refusal
from rasp.compiler.settings import Settings
from rasp.graph import (
    Aggregate,
    Node,
    SOp,
    in_order,
    score_terms,
)
from rasp.graph.formulas import conjuncts


def block_name(time: int) -> str:
    """The block of a model after which something is there: 2 · layer, and 1 for its feed-forward.

    >>> block_name(0), block_name(2), block_name(3)
    ('embedding', 'layer1.attention', 'layer1.feed_forward')
    """
    layer, is_feed_forward = divmod(time, 2)
    if is_feed_forward:
        return f"layer{layer}.feed_forward"
    return f"layer{layer}.attention" if layer else "embedding"


class Planned(Protocol):
    """What claims need to know of a plan of either style."""

    @property
    def settings(self) -> Settings: ...
    @property
    def analysis(self) -> HeadAnalysis: ...
    @property
    def heads(self) -> Sequence[Sequence[Any]]: ...
    @property
    def outputs(self) -> Sequence[Any]: ...
    @property
    def uses_sink(self) -> bool: ...


class Claimant(ABC):
    """Numbers variables as they are met; each style of plan says what its own arrays do."""

    def __init__(self, plan: Planned) -> None:
        self.plan, self.analysis, self.values = plan, plan.analysis, plan.analysis.values
        self.numbers: dict[Variable, int] = {
            self.values.token: 0,
            self.values.index: 1,
        }
        self.nodes: dict[SOp, int] = {}
        self.variables: list[told.Variable] = [None, None]
        self.places = {
            head.head: (layer, number)
            for layer, heads in enumerate(plan.heads, 1)
            for number, head in enumerate(heads)
        }
        self.spare: list[PlannedHead] = []

    def claims(self) -> Claims:
        heads = tuple(tuple(self._head(head) for head in layer) for layer in self.plan.heads)
        for layer in self.plan.heads:
            for head in layer:
                self.all_numbers(head.head.outputs)
        groups = self._groups()
        outputs = tuple(self.inputs(output.node) for output in self.plan.outputs)
        aggregates = self._aggregates()
        over = self._over()
        spare = []
        for unread in self.spare:  # which grows: describing one may bring up another
            spare.append(self._claim(unread, (), ()))
        readers = tuple(self._readers())
        over |= self._over()
        return Claims(tuple(self.variables), over, aggregates, heads, groups, outputs, tuple(spare),
                      self._choices(), readers)  # fmt: skip

    # -- variables --------------------------------------------------------------------------------

    def number(self, variable: Variable) -> int:
        if variable not in self.numbers:
            made = self._variable(variable)
            if isinstance(made, told.NodeVariable):
                self.numbers[variable] = self._node_number(made.node)
            else:
                self.numbers[variable] = len(self.variables)
                self.variables.append(made)
        return self.numbers[variable]

    def _node_number(self, node: SOp) -> int:
        if node not in self.nodes:
            self.made_of(node)
            self.nodes[node] = len(self.variables)
            self.variables.append(told.NodeVariable(node))
        return self.nodes[node]

    def all_numbers(self, variables: Iterable[Variable]) -> tuple[int, ...]:
        return tuple(self.number(variable) for variable in variables)

    def inputs(self, node: SOp) -> tuple[int, ...]:
        return self.all_numbers(self.values.of(node).inputs)

    def made_of(self, node: SOp) -> tuple[int, ...]:
        """What an s-op is a function of; a choice, of which it is and of all that it can be."""
        values, same = self.values.of(node), self.values.joints.aliases.get(node)
        if same in self.nodes:
            return (self.nodes[same],)
        if values.choice is None:
            return self.all_numbers(values.inputs)
        which = values.choice.which
        found: list[Variable] = [self.values.joints.node_variable(which, self.values.of(which))]
        for leaf in values.choice.leaves:
            found += self.values.joints.view(leaf, self.values.of(leaf), values.layer).inputs
        return self.all_numbers(dict.fromkeys(found))

    def _all_inputs(self, nodes: Iterable[SOp]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number for node in nodes for number in self.inputs(node)))

    def _told(self, coordinate: Coordinate) -> tuple[str, int]:
        """A coordinate as claims write it."""
        match coordinate:
            case TokenIs(place):
                return "tok", place
            case IndexIs(place):
                return "idx", place
            case HeadOutput():
                return "out", self.number(coordinate)
        raise AssertionError(f"no sum is made of {type(coordinate).__name__}")

    def _variable(self, variable: Variable) -> told.Variable:
        match variable:
            case TokenVariable() | IndexVariable():
                return None
            case HeadOutput(head=head):
                if head not in self.places:  # nothing reads it, but some s-op depends on it
                    self.places[head] = (0, len(self.spare))
                    self.spare.append(head)
                return OutputVariable(*self.places[head], head.outputs.index(variable))
            case SumVariable(linear=linear):
                parts = {self._told(each): weight for each, weight in linear.parts.items()}
                return told.SumVariable(linear.constant, parts)
            case CountVariable(conditions=conditions):
                for condition in conditions:
                    self._node_number(condition)
                return told.CountVariable(conditions)
        assert isinstance(variable, NodeVariable)
        return told.NodeVariable(variable.node)

    def _over(self) -> dict[Node, tuple[int, ...]]:
        """What s-ops depend on: all that were ever looked at."""
        found: dict[Node, tuple[int, ...]] = {}
        for node, values in list(self.values.held.known.items()):
            known = self.nodes.keys() & {node, self.values.joints.aliases.get(node, node)}
            if isinstance(node, SOp) and (values.choice is None or known):
                found[node] = self.made_of(node)
        return found

    def _choices(self) -> dict[SOp, tuple[SOp, tuple[SOp, ...]]]:
        known = {node: self.values.of(node).choice for node in self.nodes}
        return {node: (choice.which, choice.leaves)
                for node, choice in known.items() if choice is not None}  # fmt: skip

    # -- heads ------------------------------------------------------------------------------------

    @abstractmethod
    def _head(self, plan: Any) -> HeadClaim:
        """What a head of the plan does."""

    @abstractmethod
    def _groups(self) -> tuple[tuple[GroupClaim, ...], ...]:
        """What the groups of hidden units of each feed-forward do."""

    @abstractmethod
    def _reader(self, node: SOp) -> ReaderClaim | None:
        """How to read a numeric s-op, where the stream happens to hold it."""

    def _readers(self) -> Iterator[ReaderClaim]:
        for node in in_order([output.node for output in self.plan.outputs]):
            if isinstance(node, SOp) and node in self.values.held.known:
                reader = self._reader(node)
                if reader is not None:
                    yield reader

    def _claim(
        self, head: PlannedHead, channels: tuple[dict[int, Fraction], ...],
        values: tuple[tuple[int, ...], ...],
    ) -> HeadClaim:  # fmt: skip
        best = head.best
        terms = [] if best is None else score_terms(best)
        formulas = (
            [head.formula] if head.mode == "share" else in_stable_order(conjuncts(head.formula))
        )
        length = self.plan.settings.max_length
        weight = weight_of(boost_of(length)) if head.mode == "share" else Fraction(0)
        family = () if head.family is None else tuple(
            place for other, place in self.places.items()
            if (other.layer, other.family) == (head.layer, head.family)
        )  # fmt: skip
        return HeadClaim(
            head.mode,
            tuple(self._conjunct(formula) for formula in formulas),
            tuple(self._output(output) for output in head.outputs),
            channels,
            values,
            best,
            self._all_inputs([term.queries for term in terms]),
            self._all_inputs([term.keys for term in terms]),
            self.analysis.facts.is_never_empty(head.formula),
            family,
            weight,
            head.outweighs,
        )

    def _conjunct(self, formula: Formula) -> Conjunct:
        found = comparisons(formula)
        keys = self._joint_inputs(dict.fromkeys(literal.keys for literal in found))
        queries = self._joint_inputs(dict.fromkeys(literal.queries for literal in found))
        return Conjunct(as_selector(formula), queries, keys)

    def _joint_inputs(self, nodes: Iterable[SOp]) -> tuple[int, ...]:
        return self.all_numbers(self.values.joints.of(list(nodes)).inputs)

    def _output(self, output: HeadOutput) -> told.HeadOutput:
        carrier = None if output.carrier is None else self.number(output.carrier)
        return told.HeadOutput(output.values, output.codes, output.default, carrier)

    def _moved(self, weights: dict[HeadOutput, Fraction]) -> tuple[int, ...]:
        """What a value is a function of, at the key."""
        if len(weights) > 1 and all(output.codes is None for output in weights):
            try:
                return self.inputs(mixture(weights))
            except Refusal:
                pass
        found: dict[int, None] = {}
        for output in weights:
            if output.carrier is not None:
                found[self.number(output.carrier)] = None
            else:
                found |= dict.fromkeys(self.inputs(output.values))
        return tuple(found)

    # -- aggregates -------------------------------------------------------------------------------

    def _aggregates(self) -> dict[Aggregate, Meaning]:
        found = {}
        nodes = [output.node for output in self.plan.outputs]
        where = self.plan.settings.where
        for node in in_order(nodes if where is None else [*nodes, where]):
            if isinstance(node, Aggregate) and node in self.values.held.known:
                meaning = self._meaning(node)
                if meaning is not None:
                    found[node] = meaning
        return found

    def _meaning(self, node: Aggregate) -> Meaning | None:
        analysis = self.analysis
        formula, _ = analysis.selectors.formula(node.selector)
        if formula is False:
            return Meaning("never", ())
        direct = [output for head in analysis.heads for output in head.outputs
                  if head.mode == "mean" and output.known_by is node]  # fmt: skip
        if direct:
            counted = direct[0].carrier is not None and not direct[0].head.picks_one
            return Meaning("positive" if counted else "mean", (self.number(direct[0]),))
        shares = analysis.widths.known.get(node)
        if shares is not None:
            outputs = tuple(map(self.number, shares.variable.linear.of(HeadOutput)))
            return Meaning("shares", outputs, Fraction(node is shares.always))
        shapes = analysis.sums.sum_shapes(analysis.task.siblings[node])
        if shapes is None:
            return None
        shape = shapes[node]
        outputs = tuple(self._sum_output(node, part, values) for part, values in shape.parts
                        if self.values.of(values).atoms != [0])  # fmt: skip
        return Meaning(shape.kind, outputs, shape.constant, shape.bos, Fraction(shape.bos_factor))

    def _sum_output(self, node: Aggregate, formula: Formula, values: SOp) -> int:
        layer = self.analysis.task.layer_of[node]
        for head in self.analysis.heads:
            if (head.layer, head.mode, head.formula) == (layer, "sum", formula):
                for output in head.outputs:
                    if output.values is values:
                        return self.number(output)
        raise AssertionError("a sum without a head")
