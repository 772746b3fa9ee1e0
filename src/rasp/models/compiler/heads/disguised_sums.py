"""Aggregates that are sums in disguise, and what it takes to compute them as sums.

Softmax makes means; a sink of weight e^κ makes sums of them: e^κ·Σv/(e^κ + m) is Σv, as near as
float32 can tell (see `planning.attention.SINK_SCORE`; the robust style has a lighter sink, see
`robust.numbers`). Four shapes of program are sums, whatever
they are called in the source:

- `aggregate(s, x)` where `x` is c at index 0 and 0 elsewhere, and `s` always picks index 0: that
  is c/m for the number m of picks (the paper's selector_width);
- the same where `s` picks nothing but index 0: c or 0;
- `width * aggregate(s, x)` where `width` is known to be the number of picks;
- `aggregate(s, x) / aggregate(s, y)`, or a comparison of the two: what they are both divided
  by makes no difference.

Where a head must sum for one of these, its means that are only compared with a constant go along.
Sums are linear in the values, so a comparison that only looks at keys moves into the values,
and sums over the same selector share one head. Cost: 1 dimension for each sum, no hidden units.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    SelectBest,
    SOp,
    in_order,
)
from rasp.language.graph.formulas import Either, conjuncts, every
from rasp.language.graph.idioms import IS_FIRST
from rasp.language.operators import COMPARISONS
from rasp.models.certificate.claims import Meaning
from rasp.models.compiler.analysis.formulas import Formula, as_s_op, comparisons, in_stable_order
from rasp.models.compiler.analysis.variables import HeadOutput, mixture, summed_over
from rasp.models.compiler.compile_refusals import Refusal
from rasp.models.compiler.heads.pick_counts import PickCounts

ZERO, ONE = Fraction(0), Fraction(1)
NOT_FIRST = Elementwise("indicator", (Elementwise("!=", (Indices(), Const(0))),))


@dataclass(frozen=True)
class Sum:
    """Σ over the parts of the sum of the values that the part's formula picks."""

    meaning: Meaning
    """How the aggregate follows from it, as the checker is told. What a query adds by itself is 1
    where it picks the BOS, which a count leaves out.
    """
    formula: Formula
    """The formula that the parts split."""
    parts: tuple[tuple[Formula, SOp], ...]
    first_value: Atom | None = None
    """The c of a count or a pick: what the values hold at index 0, and only there."""


class SumShapes:
    """Finds the aggregates that are sums."""

    def __init__(self, picks: PickCounts) -> None:
        self.picks, self.selectors, self.values = picks, picks.selectors, picks.values
        self.task, self.settings = picks.values.task, picks.settings
        self._shapes: dict[Aggregate, Sum | None] = {}
        self.busy: set[Node] = set()
        """Aggregates whose values are being found: nothing may ask for them again."""

    def _shape(self, node: Aggregate) -> Sum | None:
        """Recognise an aggregate that is a sum in disguise."""
        if node not in self._shapes:
            self._shapes[node] = None  # until it is known: shapes may ask for each other
            self._shapes[node] = self._find_shape(node)
        return self._shapes[node]

    def sum_shapes(self, nodes: Sequence[Aggregate]) -> dict[Aggregate, Sum] | None:
        """The shapes of all aggregates of one head, if it can be a head of sums.

        Where some must be sums, those that are only compared with a constant go along.
        """
        shapes = {node: self._shape(node) for node in nodes}
        if any(shapes.values()):
            shapes = {node: shape or self._compared_shape(node) for node, shape in shapes.items()}
        sums = {node: shape for node, shape in shapes.items() if shape is not None}
        return sums if len(sums) == len(shapes) else None

    def _compared_shape(self, node: Aggregate) -> Sum | None:
        """An aggregate m that is only compared with c, as c plus the sum of what exceeds c."""
        formula, _ = self.selectors.formula(node)
        constants = {self._compared_with(user, node) for user in self.task.users[node]}
        if not self._has_numbers(node) or node in self.task.outputs or len(constants) != 1:
            return None
        (constant,) = constants
        is_zero = constant == 0 == node.default
        if constant is None or not (is_zero or self.picks.is_never_empty(formula)):
            return None
        excess = Elementwise("-", (node.values, Const(constant))) if constant else node.values
        return Sum(Meaning("ratio", (), Fraction(constant)), formula, self._parts(formula, excess))

    def _compared_with(self, user: Node, node: Aggregate) -> int | Fraction | None:
        """The number that a node compares an aggregate with."""
        if not isinstance(user, Elementwise) or user.op not in COMPARISONS:
            return None
        (other,) = [operand for operand in user.operands if operand is not node] or [node]
        if not isinstance(other, Const) or isinstance(other.value, (bool, str)):
            return None
        return other.value

    def _find_shape(self, node: Aggregate) -> Sum | None:
        if not self._has_numbers(node):
            return None
        formula, _ = self.selectors.formula(node)
        first_value = self.selectors.value_at_first_only(self.values.of(node.values))
        if self._is_always_set_against_others(node):
            return Sum(Meaning("ratio", ()), formula, self._parts(formula, node.values))
        shape = None if first_value is None else self._shape_at_first(node, formula, first_value)
        if shape is None and self._is_always_multiplied(node, formula):
            return Sum(Meaning("product", ()), formula, self._parts(formula, node.values))
        return shape

    def _shape_at_first(self, node: Aggregate, formula: Formula, first_value: Atom) -> Sum | None:
        """A count or a pick: an aggregate of values that are 0 but at index 0."""
        first, others = self.selectors.at_key_0(formula), self.selectors.at_other_keys(formula)
        if first is True and others is True:
            return Sum(Meaning("count", ()), formula, self._parts(formula, Const(1)), first_value)
        if first is True:
            bos = self._picks_bos(others)
            parts = self._parts(others, NOT_FIRST if bos is None else Const(1))
            meaning = Meaning("count", (), ONE, bos, ZERO if bos is None else -ONE)
            return Sum(meaning, others, parts, first_value)
        if others is False and node.default == 0 and first_value == 1:
            bos = self._picks_bos(first)
            parts = self._parts(first, IS_FIRST) if bos is None else ()
            meaning = Meaning("pick", (), ZERO, bos, ZERO if bos is None else ONE)
            return Sum(meaning, first, parts, first_value)
        return None

    def _picks_bos(self, formula: Formula) -> SOp | None:
        """1 where a query picks the BOS, else 0; None where that takes attention to know.

        Only for selectors that always pick something, so that no count falls below 0 without it.
        """
        if self.settings.bos is None or self.settings.max_length == 1:
            return None
        if isinstance(formula, bool) or not self.picks.is_never_empty(formula):
            return None
        at_bos = {part.keys: self._atom_at_bos(part.keys) for part in comparisons(formula)}
        atoms = {keys: atom for keys, atom in at_bos.items() if atom is not None}
        if len(atoms) < len(at_bos):
            return None
        is_picked = as_s_op(formula, lambda part: Elementwise(
            part.op, (Const(atoms[part.keys]), part.queries)))  # fmt: skip
        indicator = Elementwise("indicator", (is_picked,))
        with suppress(Refusal):
            values = self.values.of(indicator)
            if values.linear is not None and values.layer == 0:
                return indicator
        return None

    def _atom_at_bos(self, keys: SOp) -> Atom | None:
        """What the keys hold at the BOS, where the embedding alone decides it."""
        values = self.values.of(keys)
        if values.inputs == (self.values.token,):
            return values.outcomes[-1]
        return values.outcomes[0] if values.inputs in ((), (self.values.index,)) else None

    def _has_numbers(self, node: Aggregate) -> bool:
        """Whether there is a sum over what an aggregate picks."""
        if not self.settings.sink or isinstance(node.selector, SelectBest):
            return False
        formula, _ = self.selectors.formula(node)
        values = self.values.of(node.values)
        is_numeric = values.kinds <= {int, Fraction} and not values.counts_conditions
        return is_numeric and formula is not False

    def _parts(self, formula: Formula, values: SOp) -> tuple[tuple[Formula, SOp], ...]:
        """Split off what only looks at keys, and disjoint parts if heads may be split."""
        parts: list[tuple[Formula, SOp]] = []
        for part in self._split(formula):
            on_keys, others = self.selectors.split_by_side(conjuncts(part))
            sent = values
            for condition in in_stable_order(on_keys):
                sent = Elementwise("if", (self.selectors.at_the_key([condition]), sent, Const(0)))
            parts.append((every(others), sent))
        return tuple(parts)

    def _split(self, formula: Formula) -> list[Formula]:
        if self.settings.heads != "split" or not isinstance(formula, Either):
            return [formula]
        parts = in_stable_order(formula.parts)
        are_disjoint = all(every(pair) is False for pair in combinations(parts, 2))
        return parts if are_disjoint else [formula]

    def _is_always_multiplied(self, node: Aggregate, formula: Formula) -> bool:
        """Whether the program only ever uses the aggregate times its number of picks."""
        if node in self.task.outputs or not self.task.users[node]:
            return False
        return all(self._is_width_product(user, node, formula) for user in self.task.users[node])

    def _is_width_product(self, user: Node, node: Aggregate, formula: Formula) -> bool:
        if not isinstance(user, Elementwise) or user.op != "*":
            return False
        other = user.operands[1] if user.operands[0] is node else user.operands[0]
        if other is node:
            return False
        if formula is True:
            return self._is_length(other)
        if not self.busy.isdisjoint(in_order([other])):
            return False
        return self._is_width(other, formula) or self._is_width_by_index(other, formula)

    def _is_width(self, node: SOp, formula: Formula) -> bool:
        """Whether an s-op is known to be the number of keys that a selector picks."""
        linear = self.values.of(node).linear
        if linear is None or linear.constant or summed_over(linear) != formula:
            return False
        outputs = linear.of(HeadOutput)
        return set(outputs.values()) == {ONE} and self.values.of(mixture(outputs)).atoms == [1]

    def _is_width_by_index(self, node: SOp, formula: Formula) -> bool:
        """The same where both depend on the index alone, and no query picks a later key."""
        picks, values = self.selectors.picks_by_index(formula), self.values.of(node)
        if picks is None or np.triu(picks, 1).any() or values.inputs != (self.values.index,):
            return False
        return [*values.outcomes] == [int(width) for width in picks.sum(axis=1)]

    def _is_always_set_against_others(self, node: Aggregate) -> bool:
        """Whether the program only ever divides or compares the aggregate, and all that it is set
        against, with others of the same width: then all of them may be sums instead.
        """
        together = [node]
        for aggregate in together:  # which grows
            users = self.task.users[aggregate]
            if aggregate in self.task.outputs or aggregate.default != 0 or not users:
                return False
            for user in users:
                others = self._ratio(user, aggregate)
                if others is None:
                    return False
                together += others.difference(together)
        return True

    def _ratio(self, user: Node, node: Aggregate) -> set[Aggregate] | None:
        """The aggregates that a quotient or a comparison is made of, if their widths are equal."""
        if not isinstance(user, Elementwise) or user.op not in ("/", *COMPARISONS):
            return None
        aggregates = {operand for operand in user.operands if isinstance(operand, Aggregate)
                 and (operand.selector, self.task.layer_of[operand])
                 == (node.selector, self.task.layer_of[node])}  # fmt: skip
        return aggregates if set(user.operands) == aggregates else None

    def _is_length(self, node: SOp) -> bool:
        """Whether an s-op is c over c / length, perhaps rounded: the length."""
        while isinstance(node, Elementwise) and node.op in ("round", "int", "float", "plus"):
            node = node.operands[0]
        match node:
            case Elementwise("/", (Const(value), Aggregate() as below)):
                match self._shape(below):
                    case Sum(Meaning("count"), True, first_value=first_value):
                        return value == first_value
        return False
