"""A plan of either style in, what the checker is told about its weights out.

Claims say of what each part of the arrays is a function; the checker finds out what it computes.
What each style says of its own hidden units and readers is in `plan_claims` and `robust.claims`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from rasp.certificate import Weights
from rasp.certificate.claims import (
    Claims,
    ConjunctClaim,
    GroupClaim,
    HeadClaim,
    HeadOutputClaim,
    Meaning,
    ReaderClaim,
)
from rasp.compiler.analysis.formulas import Formula, as_selector, keys_and_queries
from rasp.compiler.analysis.variables import HeadOutput, PlannedHead, Variable, mixture
from rasp.compiler.emitting.numbering import Numbering
from rasp.compiler.emitting.rows import Row
from rasp.compiler.heads.model_plan import ModelPlan
from rasp.compiler.heads.width_shares import boost_of, weight_of
from rasp.graph import Aggregate, Node, SOp, in_order, score_terms

Kind = TypeVar("Kind", bound=SOp)


class Claimant(ABC):
    """Says what all arrays do; each style says of its own what only it knows."""

    weighed: str
    """The mode of heads where a position weighs as much as many matches (see `width_shares`)."""

    def __init__(self, plan: ModelPlan, weights: Weights) -> None:
        self.weights, self.plan, self.analysis, self.values = (
            weights,
            plan,
            plan.analysis,
            plan.analysis.values,
        )
        self.nodes: list[SOp] = [output.node for output in plan.outputs]
        heads = [[head.head for head in layer] for layer in plan.heads]
        self.names = Numbering(self.values, heads, self.parts_of)

    def claims(self) -> Claims:
        names, plan = self.names, self.plan
        heads = tuple(tuple(self._claim(head.head, head.basis) for head in layer)
                      for layer in plan.heads)  # fmt: skip
        names.all(output for layer in plan.heads for head in layer for output in head.head.outputs)
        groups = tuple(map(tuple, self.groups()))
        outputs = tuple(map(names.inputs, self.nodes))
        aggregates = self._aggregates()
        over = names.over()
        spare = []
        for unread in names.spare:  # which grows: describing one may bring up another
            spare.append(self._claim(unread, ()))
        readers = tuple(ReaderClaim(node, self._last_writer(row), row.weights, row.constant)
                        for node in self._held(SOp, self.nodes)
                        if (row := self.row(node)).weights)  # fmt: skip
        over |= names.over()
        return Claims(tuple(names.variables), over, aggregates, heads, groups, outputs,
                      tuple(spare), names.choices(), readers)  # fmt: skip

    @abstractmethod
    def groups(self) -> Iterable[Iterable[GroupClaim]]:
        """What the groups of hidden units of each feed-forward do."""

    @abstractmethod
    def row(self, node: SOp) -> Row:
        """How to read a numeric s-op, where the stream happens to hold it; else an empty row."""

    def parts_of(self, variables: Iterable[Variable]) -> Iterable[Variable]:
        """Variables as the arrays read them."""
        return variables

    def is_block(self, output: HeadOutput) -> bool:
        """Whether an output is moved as numbers that the arrays give it, not as its code."""
        return False

    def _held(self, kind: type[Kind], outputs: Sequence[Node]) -> Iterator[Kind]:
        """The s-ops of a kind that outputs need, as far as their values were asked for."""
        held = self.values.held.by_node
        return (node for node in in_order(outputs) if isinstance(node, kind) and node in held)

    def _last_writer(self, row: Row) -> str:
        """The block after which all dimensions that a row reads are written."""
        dims, after = list(row.weights), "embedding"
        for layer, feed_forward in enumerate(self.weights.feed_forwards):
            heads = self.weights.heads[layer - 1] if layer else []
            if any(head.out[dims].any() for head in heads):
                after = f"layer{layer}.attention"
            if feed_forward.out[dims].any():
                after = f"layer{layer}.feed_forward"
        return after

    # -- heads ------------------------------------------------------------------------------------

    def _claim(
        self, head: PlannedHead, basis: Sequence[Mapping[HeadOutput, Fraction]]
    ) -> HeadClaim:  # fmt: skip
        best, names = head.best, self.names
        channels = tuple({head.outputs.index(output): weight for output, weight in moved.items()}
                         for moved in basis)  # fmt: skip
        values = tuple(self._moved(moved) for moved in basis)
        terms = [] if best is None else score_terms(best)
        family = () if head.family is None else tuple(
            place for other, place in names.places.items()
            if (other.layer, other.family) == (head.layer, head.family)
        )  # fmt: skip
        return HeadClaim(
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
        return tuple(dict.fromkeys(number for node in nodes for number in self.names.inputs(node)))

    def _conjunct(self, formula: Formula) -> ConjunctClaim:
        keys, queries = (self.names.parts(self.values.joints.of(nodes).inputs)
                         for nodes in keys_and_queries(formula))  # fmt: skip
        return ConjunctClaim(as_selector(formula), queries, keys)

    def _output(self, output: HeadOutput) -> HeadOutputClaim:
        carrier = None if output.carrier is None else self.names.number(output.carrier)
        return HeadOutputClaim(
            output.values, output.codes, output.default, carrier, self.is_block(output)
        )

    def _moved(self, weights: Mapping[HeadOutput, Fraction]) -> tuple[int, ...]:
        """What a value is a function of, at the key."""
        if len(weights) > 1 and all(output.codes is None for output in weights):
            return self.names.inputs(mixture(weights))
        numbers: list[int] = []
        for output in weights:
            if output.carrier is not None:
                numbers.append(self.names.number(output.carrier))
            else:
                numbers += self.names.inputs(output.values)
        return tuple(dict.fromkeys(numbers))

    # -- aggregates -------------------------------------------------------------------------------

    def _aggregates(self) -> dict[Aggregate, Meaning]:
        where = self.plan.settings.where
        nodes = self._held(Aggregate, [*self.nodes, *([] if where is None else [where])])
        meanings = {node: self._meaning(node) for node in nodes}
        return {node: meaning for node, meaning in meanings.items() if meaning is not None}

    def _meaning(self, node: Aggregate) -> Meaning | None:
        if node not in self.analysis.meanings:
            return None
        meaning, outputs = self.analysis.meanings[node]
        return replace(meaning, outputs=tuple(map(self.names.number, outputs)))
