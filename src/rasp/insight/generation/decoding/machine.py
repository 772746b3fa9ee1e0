"""A plan in, everything that is learnt while it runs out: domains, tables and position matrices.

A machine outlives the inputs: what one input's tokens taught it, the next one's find there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from rasp.base.atoms import Atom, checked
from rasp.base.errors import RaspError
from rasp.base.limits import Clock, Limits
from rasp.insight.generation.decoding.domains import FAILED, Array, DomainComparison, GrowingDomain
from rasp.insight.generation.decoding.plan import NOWHERE, PLACE, DecodingPlan
from rasp.insight.generation.decoding.tables import DomainTable, Memo
from rasp.language.evaluator.fast.elementwise import on_varying
from rasp.language.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Select,
    SelectBest,
    Selector,
    SOp,
    Tokens,
    TokensAs,
    score_terms,
)


class MixedInside(Exception):
    """An operator inside another held strings and numbers: it must be looked at by itself."""

    def __init__(self, node: SOp) -> None:
        super().__init__()
        self.node = node


class Machine:
    """A program's plan, and what is known of its values so far."""

    def __init__(self, plan: DecodingPlan, limits: Limits) -> None:
        self.plan = plan
        self.limits = limits
        self.clock = Clock(limits)
        self.doubtful: set[SOp] = set()
        """The s-ops that failed somewhere, or have held strings and numbers."""
        self.domains: dict[SOp, GrowingDomain] = {
            node: GrowingDomain(partial(self._when_mixed, node))
            for node in [*plan.order, Tokens()]
            if isinstance(node, SOp)
        }
        self.tables: dict[SOp, DomainTable] = {
            node: self._table(node) for node in plan.leaves if node not in plan.inner
        }
        self.means = {
            node: Memo(partial(self._mean, node)) for node in plan.order
            if isinstance(node, Aggregate)
        }  # fmt: skip
        self.comparisons: dict[Selector, DomainComparison] = {}
        for node in plan.order:
            if isinstance(node, Select):
                keys, queries = self.domains[node.keys], self.domains[node.queries]
                self.comparisons[node] = DomainComparison(keys, queries, node.op)
            if isinstance(node, SelectBest):
                keys = self.domains[score_terms(node.scorer)[0].keys]
                self.comparisons[node] = DomainComparison(keys, keys, "<")
        self.capacity = 0
        self.places: dict[SOp, Array] = {
            node: np.array([[self.domains[node].code(node.value)]])
            for node in plan.order
            if isinstance(node, Const)
        }
        """What is the same for all inputs: (1, capacity), or of constants (1, 1)."""
        self.matrices: dict[frozenset[Selector], Array] = {}  # (capacity, capacity)
        self._carried: dict[SOp, Array] = {}

    @property
    def learnt(self) -> int:
        """How many values and results are remembered."""
        atoms = sum(len(domain.atoms) for domain in self.domains.values())
        return atoms + sum(table.learnt for table in self.tables.values())

    def codes_of(self, tokens: list[Atom]) -> list[int]:
        """Return the codes of an input's tokens."""
        return list(map(self.domains[Tokens()].code, tokens))

    def reserve(self, length: int) -> None:
        """Compute everything that depends on positions alone, for inputs up to a length."""
        if length <= self.capacity:
            return
        capacity = max(16, 1 << (length - 1).bit_length())
        for node in self.plan.positional:
            if isinstance(node, Indices):
                domain = self.domains[node]
                codes = [domain.code(position) for position in range(capacity)]
                self.places[node] = np.array([codes])
            else:
                operands = [self.places[operand] for operand in self.plan.leaves[node]]
                self.places[node] = self.tables[node].look_up(operands)
        self.matrices.clear()
        self.capacity = capacity

    def carried(self, node: Aggregate) -> Array:
        """For each code of an aggregate's values, the result's code where it is picked alone.

        The first is the default's: where nothing is picked, the codes picked add up to 0.
        """
        atoms, domain = self.domains[node.values].atoms, self.domains[node]
        carried = self._carried.get(node)
        if carried is None or len(carried) != len(atoms):
            codes = [domain.code(node.default), *(domain.code(atom) for atom in atoms[1:])]
            carried = self._carried[node] = np.array(codes)
        return carried

    @property
    def count_bits(self) -> int:
        """Bits that the number of picks of a query can have."""
        return max(2, self.capacity.bit_length())

    def mean_keys(self, totals: Array, counts: Array) -> Array:
        """Write a total and a count side by side into one number."""
        return (totals.astype(np.int64) << self.count_bits) | counts

    def _mean(self, node: Aggregate, key: int) -> int:
        """The code of a total (over the values' common denominator) divided by a count."""
        _, _, below = self.domains[node.values].numbers
        count = key & ((1 << self.count_bits) - 1)
        try:
            atom = checked(Fraction(key >> self.count_bits, below * count), self.limits)
        except RaspError:
            self.doubtful.add(node)
            return FAILED
        return self.domains[node].code(atom)

    def _when_mixed(self, node: SOp) -> None:
        """Doubt an s-op that may hold strings and numbers in one input: look at it by itself."""
        if PLACE not in self.plan.axes.get(node, NOWHERE):
            return
        if node in self.plan.inner:
            raise MixedInside(node)
        self.doubtful.add(node)

    def _table(self, node: SOp) -> DomainTable:
        """The table of an operator and its inner ones."""
        leaves = self.plan.leaves[node]
        domains = [self.domains[leaf] for leaf in leaves]
        *inner, function = [_function(part, self.limits) for part in self._parts(node)]

        def compute(codes: list[int]) -> int:
            if FAILED in codes or any(
                code >= len(domain.atoms) for code, domain in zip(codes, domains, strict=True)
            ):
                self.doubtful.add(node)
                return FAILED
            self.clock.check()
            atoms = (domain.atoms[code] for code, domain in zip(codes, domains, strict=True))
            values = dict(zip(leaves, atoms, strict=True))
            try:
                for part in inner:
                    values[part.node] = part.call(values)
                    self.domains[part.node].code(values[part.node])
                return self.domains[node].code(function.call(values))
            except RaspError:
                self.doubtful.add(node)
                return FAILED

        return DomainTable(domains, compute)

    def _parts(self, node: SOp) -> list[SOp]:
        """An operator after the inner ones that it is computed from."""
        parts: dict[SOp, None] = {}
        for operand in node.needs:
            if isinstance(operand, SOp) and operand in self.plan.inner:
                parts |= dict.fromkeys(self._parts(operand))
        return [*parts, node]


@dataclass(frozen=True)
class _Function:
    """An operator as a function of the s-ops that vary."""

    node: SOp
    operands: tuple[SOp, ...]
    function: Callable[..., Atom]

    def call(self, values: dict[SOp, Atom]) -> Atom:
        return self.function(*[values[operand] for operand in self.operands])


def _function(node: SOp, limits: Limits) -> _Function:
    if isinstance(node, TokensAs):
        return _Function(node, (Tokens(),), on_varying(node.kind, [None], limits))
    assert isinstance(node, Elementwise)
    constants = [part.value if isinstance(part, Const) else None for part in node.operands]
    operands = tuple(part for part in node.operands if not isinstance(part, Const))
    return _Function(node, operands, on_varying(node.op, constants, limits))
