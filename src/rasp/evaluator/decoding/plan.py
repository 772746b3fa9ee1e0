"""A graph in, a plan out, made once for a whole generation: what is computed, in which order.

Elementwise operators that feed one another become one table (`Fused`). A selector becomes a signed
sum of products, whose factors depend on keys, on queries, on positions, or on all of them
(`Product`): only the last kind needs a cell for every pair of positions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import TypeAlias

from rasp.evaluator.decoding.causality import s_ops_of, settled_nodes
from rasp.evaluator.decoding.domains import NotPlanned
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    ScoreSum,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    TokensAs,
    in_order,
    selectors_in,
    users,
)
from rasp.operators import ORDERINGS

LONGEST = 4095
"""Tokens of an input; longer ones are left to the other evaluators."""
CELLS_PER_NODE = 20_000
"""Cells of a selection that take as long as the fast evaluator takes for a node."""
MOST_LEAVES = 4
MOST_PRODUCTS = 8
BATCH, PLACE = "batch", "place"
Axes: TypeAlias = frozenset[str]
NOWHERE: Axes = frozenset()


@dataclass(frozen=True)
class Fused:
    """Elementwise operators computed as one function of a few s-ops."""

    leaves: tuple[SOp, ...]
    members: tuple[SOp, ...]  # in order; the last one is the result


@dataclass(frozen=True)
class Product:
    """So many times the product of factors; each group may be empty."""

    times: int
    keys: frozenset[Selector]
    queries: frozenset[Selector]
    places: frozenset[Selector]
    pairs: frozenset[Selector]


class DecodingPlan:
    """What is known of a program before it has seen an input."""

    def __init__(self, output: SOp, separate: frozenset[SOp] = frozenset()) -> None:
        self.output = output
        self.separate = separate
        """Elementwise nodes that must not be fused into others."""
        self.order = in_order([output])
        for node in self.order:
            _check(node)
        self.settled = settled_nodes(self.order)
        self.axes: dict[Node, Axes] = {}
        for node in self.order:
            self.axes[node] = self._axes(node)
        self.fused = self._fuse()
        self._kinds: dict[Selector, str] = {}
        self.products = {
            node.selector: self._products(node.selector)
            for node in self.order
            if isinstance(node, Aggregate)
        }

    @cached_property
    def steps(self) -> list[Node]:
        """The nodes to visit, in the plain evaluator's order: s-ops, and what may not compare."""
        inner = {member for fused in self.fused.values() for member in fused.members[:-1]}
        return [
            node
            for node in self.order
            if (isinstance(node, SOp) and node not in inner and not isinstance(node, Const))
            or (isinstance(node, Select) and node.op in ORDERINGS)
            or isinstance(node, Score)
        ]

    @cached_property
    def longest(self) -> int:
        """How long inputs may be before cells of pairs cost more than evaluating from scratch."""
        selectors = [
            node.selector
            for node in self.order
            if isinstance(node, Aggregate) and node not in self.growing
        ]
        pairs = sum(bool(part.pairs) for each in set(selectors) for part in self.products[each])
        return isqrt(CELLS_PER_NODE * len(self.steps) // pairs) if pairs else LONGEST

    @cached_property
    def growing(self) -> set[SOp]:
        """The s-ops that have old values to keep, and need only their newest one."""
        return {
            node
            for node in self.settled
            if self.axes[node] == {BATCH, PLACE} and not isinstance(node, Tokens)
        }

    @cached_property
    def newest(self) -> set[SOp]:
        """The s-ops that differ from position to position and have a newest value."""
        return {node for node in (*self.settled, Tokens()) if PLACE in self.axes.get(node, {PLACE})}

    @cached_property
    def positional(self) -> set[SOp]:
        """The s-ops that depend on positions alone, or on nothing."""
        return {
            node for node in self.steps if isinstance(node, SOp) and BATCH not in self.axes[node]
        }

    def _axes(self, node: Node) -> Axes:
        """Say with what an s-op varies: from input to input, from position to position."""
        match node:
            case Const():
                return NOWHERE
            case Indices():
                return frozenset({PLACE})
            case Tokens() | TokensAs():
                return frozenset({BATCH, PLACE})
            case Elementwise(_, operands):
                return NOWHERE.union(*(self.axes[operand] for operand in operands))
            case Aggregate(selector):
                rows = self.queries_axes(selector) & {PLACE}
                return rows | {BATCH}  # at least the number of keys is the input's own
        return NOWHERE

    def queries_axes(self, selector: Selector) -> Axes:
        """Say with what the queries of a selector vary."""
        return NOWHERE.union(*(self.axes[query] for query in s_ops_of(selector)[1::2]))

    def keys_axes(self, selector: Selector) -> Axes:
        """Say with what the keys of a selector vary."""
        return NOWHERE.union(*(self.axes[key] for key in s_ops_of(selector)[::2]))

    def _fuse(self) -> dict[SOp, Fused]:
        found: dict[SOp, Fused] = {}
        used_by = users([self.output])
        for node in self.order:
            if isinstance(node, TokensAs):
                found[node] = Fused((Tokens(),), (node,))
            if isinstance(node, Elementwise):
                found[node] = self._fused(node, found, used_by)
        inner = {member for fused in found.values() for member in fused.members[:-1]}
        return {node: fused for node, fused in found.items() if node not in inner}

    def _fused(
        self, node: Elementwise, found: dict[SOp, Fused], used_by: dict[Node, list[Node]]
    ) -> Fused:
        varying = [operand for operand in dict.fromkeys(node.operands)
                   if not isinstance(operand, Const)]  # fmt: skip
        leaves = dict.fromkeys(varying)
        members: list[SOp] = []
        for operand in varying:
            if (
                operand not in found
                or len(used_by[operand]) > 1
                or operand in self.separate
                or isinstance(operand, TokensAs)
            ):
                continue
            inside = found[operand]
            together = {leaf: None for leaf in leaves if leaf is not operand}
            together |= dict.fromkeys(inside.leaves)
            is_alike = self.axes[operand] == self.axes[node]
            if len(together) <= MOST_LEAVES and (is_alike or len(together) < len(leaves)):
                leaves = together
                members += inside.members
        return Fused(tuple(leaves), (*dict.fromkeys(members), node))

    def _products(self, selector: Selector) -> list[Product]:
        sums: dict[Selector, dict[frozenset[Selector], int] | None] = {}
        for node in selectors_in(selector):
            sums[node] = self._sum(node, sums)
        total = sums[selector]
        if total is None:
            total = {frozenset({selector}): 1}
        return [self._sorted(factors, times) for factors, times in total.items()]

    def _sum(
        self, node: Selector, sums: dict[Selector, dict[frozenset[Selector], int] | None]
    ) -> dict[frozenset[Selector], int] | None:
        """Write a selector as a sum of products; None where that is too long."""
        alone = {frozenset({node}): 1}
        if isinstance(node, (Select, SelectBest)) or self._kind(node) != "pairs":
            return alone
        inner = [sums[part] for part in node.needs if isinstance(part, Selector)]
        if any(part is None for part in inner):
            return None
        first, *others = [part for part in inner if part is not None]
        if not isinstance(node, SelectorAnd) and any(
            self._kind(factor) == "pairs" for part in (first, *others) for term in part
            for factor in term
        ):  # fmt: skip
            return alone  # its cells are needed anyway: one matrix is cheaper than several
        if isinstance(node, SelectorNot):
            total = _plus({frozenset(): 1}, first, -1)
        else:
            both = _times(first, others[0])
            is_and = isinstance(node, SelectorAnd)
            total = both if is_and else _plus(_plus(first, others[0], 1), both, -1)
        return total if len(total) <= MOST_PRODUCTS else None

    def _kind(self, selector: Selector) -> str:
        """Say what a factor depends on."""
        if selector not in self._kinds:
            self._kinds[selector] = self._find_kind(selector)
        return self._kinds[selector]

    def _find_kind(self, selector: Selector) -> str:
        keys, queries = self.keys_axes(selector), self.queries_axes(selector)
        is_best = any(isinstance(node, SelectBest) for node in selectors_in(selector))
        if PLACE not in queries:
            return "keys"
        if PLACE not in keys and not is_best:
            return "queries"
        if BATCH not in keys | queries and not is_best:
            return "places"
        return "pairs"

    def _sorted(self, factors: Iterable[Selector], times: int) -> Product:
        groups: dict[str, list[Selector]] = {"keys": [], "queries": [], "places": [], "pairs": []}
        for factor in factors:
            groups[self._kind(factor)].append(factor)
        return Product(times, **{name: frozenset(group) for name, group in groups.items()})


def _check(node: Node) -> None:
    known = (Const, Indices, Tokens, TokensAs, Elementwise, Aggregate, Select, SelectBest, Score,
             ScoreSum, SelectorAnd, SelectorOr, SelectorNot)  # fmt: skip
    if not isinstance(node, known):
        raise NotPlanned


def _plus(
    left: dict[frozenset[Selector], int], right: dict[frozenset[Selector], int], times: int
) -> dict[frozenset[Selector], int]:
    total = dict(left)
    for factors, count in right.items():
        total[factors] = total.get(factors, 0) + times * count
    return {factors: count for factors, count in total.items() if count}


def _times(
    left: dict[frozenset[Selector], int], right: dict[frozenset[Selector], int]
) -> dict[frozenset[Selector], int]:
    total: dict[frozenset[Selector], int] = {}
    for first, first_count in left.items():
        for second, second_count in right.items():
            both = first | second
            total[both] = total.get(both, 0) + first_count * second_count
    return {factors: count for factors, count in total.items() if count}
