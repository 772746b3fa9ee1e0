"""A graph in, a plan out, made once for a whole generation: what is computed, in which order.

A selector becomes a product of factors (`Product`), which depend on keys, on queries, on positions,
or on all of them: only the last kind needs a cell for every pair of positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import TypeAlias

from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SOp,
    Tokens,
    TokensAs,
    compared_in,
    in_order,
    selectors_in,
    users,
)
from rasp.language.graph.normal import normal_forms
from rasp.language.graph.reach import reach
from rasp.language.operators import ORDERINGS

LONGEST = 4095
"""Tokens of an input; longer ones are left to the other evaluators."""
MOST_LEAVES = 4
CELLS_PER_NODE = 10_000
"""Cells of a selection that take as long as the fast evaluator takes for a node."""
BATCH, PLACE = "batch", "place"
Axes: TypeAlias = frozenset[str]
NOWHERE: Axes = frozenset()


@dataclass(frozen=True)
class Product:
    """The factors of a selector, by what they depend on; each group may be empty."""

    keys: frozenset[Selector]
    queries: frozenset[Selector]
    places: frozenset[Selector]
    pairs: frozenset[Selector]


class DecodingPlan:
    """What is known of a program before it has seen an input."""

    def __init__(self, output: SOp, separate: frozenset[SOp] = frozenset()) -> None:
        self.output = output
        self.separate = separate
        """Operators that must not be computed as part of others."""
        self.order = in_order([output])
        self.settled = settled_nodes(self.order)
        self.axes: dict[Node, Axes] = {}
        for node in self.order:
            self.axes[node] = self._axes(node)
        self.inner: set[SOp] = set()
        """Operators that feed one other alone, and are computed as part of it."""
        self.leaves: dict[SOp, list[SOp]] = {}
        """For each operator, the s-ops from which it and its inner ones are computed."""
        self._fuse()
        self.products = {
            node.selector: self._product(node.selector)
            for node in self.order
            if isinstance(node, Aggregate)
        }

    @cached_property
    def computed(self) -> list[SOp]:
        """The s-ops to compute at every step: those that are the input's own, but for tokens."""
        return [
            node for node in self.order
            if isinstance(node, SOp) and BATCH in self.axes[node]
            and node not in self.inner and not isinstance(node, Tokens)
        ]  # fmt: skip

    @cached_property
    def checked(self) -> list[Node]:
        """The comparisons and scores whose atoms may not be comparable."""
        return [
            node for node in self.order
            if (isinstance(node, Select) and node.op in ORDERINGS) or isinstance(node, Score)
        ]  # fmt: skip

    @cached_property
    def longest(self) -> int:
        """How long inputs may be before cells of pairs cost more than evaluating from scratch."""
        selectors = {
            node.selector
            for node in self.order
            if isinstance(node, Aggregate) and node not in self.growing
        }
        pairs = sum(bool(self.products[selector].pairs) for selector in selectors)
        return isqrt(CELLS_PER_NODE * len(self.order) // pairs) if pairs else LONGEST

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
    def positional(self) -> list[SOp]:
        """The s-ops that depend on positions alone, or on nothing, in order."""
        return [
            node for node in self.order
            if isinstance(node, SOp) and BATCH not in self.axes[node]
            and node not in self.inner and not isinstance(node, Const)
        ]  # fmt: skip

    def _axes(self, node: Node) -> Axes:
        """Say with what an s-op varies: from input to input, from position to position."""
        match node:
            case Indices():
                return frozenset({PLACE})
            case Tokens() | TokensAs():
                return frozenset({BATCH, PLACE})
            case Elementwise(_, operands):
                return self._axes_of(operands)
            case Aggregate(selector):
                rows = self._axes_of(queries for _, queries in compared_in(selector)) & {PLACE}
                return rows | {BATCH}  # at least the number of keys is the input's own
        return NOWHERE

    def _axes_of(self, nodes: Iterable[SOp]) -> Axes:
        return NOWHERE.union(*(self.axes[node] for node in nodes))

    def _fuse(self) -> None:
        """Find operators that are computed together, as one function of a few s-ops."""
        used_by = users([self.output])
        for node in self.order:
            if isinstance(node, TokensAs):
                self.leaves[node] = [Tokens()]
            if not isinstance(node, Elementwise):
                continue
            leaves = [operand for operand in dict.fromkeys(node.operands)
                      if not isinstance(operand, Const)]  # fmt: skip
            for operand in list(leaves):
                if (
                    isinstance(operand, Elementwise)
                    and len(used_by[operand]) == 1
                    and operand not in self.separate
                    and self.axes[operand] == self.axes[node]
                ):
                    others = [leaf for leaf in leaves if leaf is not operand]
                    together = list(dict.fromkeys([*others, *self.leaves[operand]]))
                    if len(together) <= MOST_LEAVES:
                        leaves = together
                        self.inner.add(operand)
            self.leaves[node] = leaves

    def _product(self, selector: Selector) -> Product:
        groups: dict[str, list[Selector]] = {"keys": [], "queries": [], "places": [], "pairs": []}
        stack = [selector]
        while stack:
            factor = stack.pop()
            kind = self._kind(factor)
            if kind == "pairs" and isinstance(factor, SelectorAnd):
                stack += [factor.left, factor.right]
            else:
                groups[kind].append(factor)
        return Product(**{name: frozenset(group) for name, group in groups.items()})

    def _kind(self, selector: Selector) -> str:
        """Say what a factor depends on."""
        pairs = compared_in(selector)
        keys = self._axes_of(keys for keys, _ in pairs)
        queries = self._axes_of(queries for _, queries in pairs)
        is_best = any(isinstance(node, SelectBest) for node in selectors_in(selector))
        if PLACE not in queries:
            return "keys"
        if PLACE not in keys and not is_best:
            return "queries"
        if BATCH not in keys | queries and not is_best:
            return "places"
        return "pairs"


def settled_nodes(order: Sequence[Node]) -> set[SOp]:
    """Return the s-ops whose values at old positions stay as they are when an input grows.

    They are made from tokens and positions, position by position, and by selectors that look back.

    >>> earlier = Aggregate(Select(Indices(), Indices(), "<"), Indices())
    >>> everything = Aggregate(Select(Const(1), Const(1), "=="), Indices())
    >>> settled = settled_nodes([Indices(), Const(1), earlier, everything])
    >>> earlier in settled, everything in settled
    (True, False)
    """
    forms = normal_forms([node.selector for node in order if isinstance(node, Aggregate)])
    settled: set[SOp] = set()
    for node in order:
        if isinstance(node, Aggregate):
            looks_back = reach(forms[node.selector])[1] <= 0
            compared = {side for pair in compared_in(node.selector) for side in pair}
            if looks_back and settled.issuperset({node.values} | compared):
                settled.add(node)
        elif isinstance(node, SOp) and settled.issuperset(node.needs):
            settled.add(node)
    return settled
