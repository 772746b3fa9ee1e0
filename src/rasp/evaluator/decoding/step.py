"""One step of a batch of inputs in, the codes of every s-op out, and which inputs are in doubt.

An array of codes is (inputs, positions), with 1 in place of either where nothing varies with it.
An s-op that is settled is computed at the newest position only. Wherever a value could not be
computed, the input is in doubt: it is left to the plain evaluator, which knows what to say.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from rasp.evaluator.decoding.domains import EXACT, FAILED, Array
from rasp.evaluator.decoding.machine import Machine
from rasp.evaluator.decoding.plan import MOST_PRODUCTS, PLACE, Product
from rasp.evaluator.decoding.tables import KEY_BITS
from rasp.graph import (
    Aggregate,
    Const,
    Node,
    Score,
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    Tokens,
    score_terms,
)

if TYPE_CHECKING:
    from rasp.evaluator.decoding.rows import Rows

TOGETHER_BITS = 30
"""A count and a sum of codes below 2^30 are added as one number."""
LOWEST = -float(2**53)


class Step:
    """The values of one step."""

    def __init__(self, machine: Machine, rows: Rows) -> None:
        self.machine, self.plan, self.rows = machine, machine.plan, rows
        self.size = int(rows.lengths.max())
        self.last = rows.lengths - 1
        self.valid = np.arange(self.size) < rows.lengths[:, None]  # (inputs, positions)
        self.doubt = np.zeros(len(rows.lengths), bool)
        self._weight = self.valid.astype(np.float64)
        self._full: dict[SOp, Array] = {Tokens(): rows.codes[:, : self.size]}
        self._newest: dict[SOp, Array] = {}
        self._cells: dict[tuple[Selector, bool], Array] = {}
        self._weights: dict[frozenset[Selector], Array] = {}
        self._pairs: dict[tuple[Product, bool], Array] = {}
        self._counts: dict[tuple[Selector, bool], Array] = {}

    def run(self) -> None:
        """Compute every node."""
        for node in self.plan.steps:
            if isinstance(node, SOp):
                self._compute(node)
            else:
                self._check_kinds(node)

    def codes(self, node: SOp, is_newest: bool = False) -> Array:
        """The codes of an s-op: at every position, or at each input's newest one."""
        if isinstance(node, Const):
            return self.machine.constants[node]
        if not is_newest or node not in self.plan.newest:
            return self._full[node]
        found = self._newest.get(node)
        if found is None:  # of positions and tokens, the newest are read off
            found = self._full[node]
            rows = self.rows.numbers if len(found) > 1 else 0
            found = self._newest[node] = found[rows, self.last, None]
        return found

    def _compute(self, node: SOp) -> None:
        if node in self.plan.positional:
            found = self._full[node] = self.machine.places[node][:, : self.size]
        elif isinstance(node, Tokens):
            found = self._full[node]
        elif node in self.plan.growing:
            found = self._grow(node)
        else:
            found = self._full[node] = self._values(node, False)
        if node in self.machine.failing or self.machine.domains[node].is_mixed:
            self._doubt(node, found)

    def _grow(self, node: SOp) -> Array:
        """Compute a settled s-op where it is new: everywhere, or at the newest positions."""
        if self.rows.is_new:
            found = self._full[node] = self.rows.keep(node, self._values(node, False), self.size)
            return found
        found = self._newest[node] = self._values(node, True)
        kept = self.rows.kept[node]
        kept[self.rows.numbers, self.last] = found[:, 0]
        self._full[node] = kept[:, : self.size]
        return found

    def _values(self, node: SOp, is_newest: bool) -> Array:
        if isinstance(node, Aggregate):
            return self._aggregate(node, is_newest)
        leaves = self.plan.fused[node].leaves
        return self.machine.look_up(node, [self.codes(leaf, is_newest) for leaf in leaves])

    def _doubt(self, node: SOp, found: Array) -> None:
        """Doubt the inputs in which a value failed, or strings and numbers are mixed."""
        if found.min() == FAILED:
            failed = found == FAILED
            self.doubt |= (failed & self.valid if found.shape[1] > 1 else failed).any(axis=1)
        domain = self.machine.domains[node]
        if domain.is_mixed and PLACE in self.plan.axes[node]:
            strings = domain.strings[self.codes(node)]
            self.doubt |= (strings & self.valid).any(1) & (~strings & self.valid).any(1)

    def _check_kinds(self, node: Node) -> None:
        """Doubt the inputs whose first atoms cannot be compared, or cannot be multiplied."""
        if isinstance(node, Select):
            keys, queries = (
                self._starts_with_string(node.keys),
                self._starts_with_string(node.queries),
            )
            self.doubt |= keys != queries
        elif isinstance(node, Score):
            self.doubt |= self._starts_with_string(node.keys)
            self.doubt |= self._starts_with_string(node.queries)

    def _starts_with_string(self, node: SOp) -> Array:
        domain = self.machine.domains[node]
        if not domain.has_strings:
            return np.zeros(1, bool)
        return domain.strings[self.codes(node)[:, 0]]

    def _aggregate(self, node: Aggregate, is_newest: bool) -> Array:
        if isinstance(node.values, Const):
            counts = self._count(node.selector, is_newest)
            return self.machine.constant_results(node).take(np.minimum(counts, 2))
        values, carried = self.codes(node.values), self.machine.carried(node)
        counts, picked = self._counts_and_codes(node.selector, values, len(carried), is_newest)
        if counts.max() <= 1:
            return carried.take(picked)
        several = counts > 1
        found = carried.take(np.where(several, 0, picked))
        return np.where(several, self._means(node, values, counts, is_newest), found)

    def _counts_and_codes(
        self, selector: Selector, values: Array, codes: int, is_newest: bool
    ) -> tuple[Array, Array]:
        """How many keys each query picks, and the sum of their codes: the code, where it is one."""
        if codes * self.size * MOST_PRODUCTS < 1 << TOGETHER_BITS:
            both = self._sums(selector, values + (1 << TOGETHER_BITS), is_newest).astype(np.int64)
            return both >> TOGETHER_BITS, both & ((1 << TOGETHER_BITS) - 1)
        sums = self._sums(selector, values, is_newest).astype(np.int64)
        return self._count(selector, is_newest), sums

    def _means(self, node: Aggregate, values: Array, counts: Array, is_newest: bool) -> Array:
        """The code of the mean of what each query picks; 0 where one is not exact, or has none."""
        machine = self.machine
        numbers, without_mean, below = machine.domains[node.values].numbers
        largest, count_bits = float(np.abs(numbers).max()), machine.count_bits
        if not below or largest * self.size * MOST_PRODUCTS >= EXACT >> count_bits:
            machine.failing.add(node)
            return np.zeros(1, np.int64)
        memo = machine.means[node]
        memo.is_about((below, count_bits))
        totals = self._sums(node.selector, numbers[values], is_newest)
        keys = np.where(counts > 1, machine.mean_keys(totals, counts), 1)
        is_positive = float(numbers.min()) >= 0
        bits = int(largest * self.size).bit_length() + count_bits if is_positive else KEY_BITS
        found = memo.look_up(keys, bits)
        if without_mean.any():
            machine.failing.add(node)
            wrong = self._sums(node.selector, without_mean[values], is_newest)
            found = np.where(wrong > 0, FAILED, found)
        return found

    def _count(self, selector: Selector, is_newest: bool) -> Array:
        key = (selector, is_newest)
        if key not in self._counts:
            self._counts[key] = self._sums(selector, None, is_newest).astype(np.int64)
        return self._counts[key]

    def _sums(self, selector: Selector, weights: Array | None, is_newest: bool) -> Array:
        """For each query, the sum of the weights (None: 1 each) of the keys that it picks."""
        total: Array | None = None
        for product in self.plan.products[selector]:
            found = self._product_sums(product, weights, is_newest)
            if product.times != 1:
                found = found * product.times
            total = found if total is None else total + found
        return np.zeros((len(self.last), 1)) if total is None else total

    def _product_sums(self, product: Product, weights: Array | None, is_newest: bool) -> Array:
        found: Array
        weight = self._key_weights(product.keys)
        if weights is not None:
            weight = weight * weights
        if product.pairs:
            found = np.matmul(self._pair_cells(product, is_newest), weight[:, :, None])[:, :, 0]
        elif product.places:
            matrix = self._matrix(product.places)
            if is_newest:
                found = (weight * matrix[self.last, : self.size]).sum(1, keepdims=True)
            else:
                found = weight @ matrix[: self.size, : self.size].T
        else:
            found = weight.sum(1, keepdims=True)
        for factor in product.queries:
            found = found * self._dense(factor, is_newest)[:, :, 0]
        return found

    def _key_weights(self, factors: frozenset[Selector]) -> Array:
        """1 for the keys that pass all factors, 0 for others and where no key is."""
        found = self._weights.get(factors)
        if found is None:
            found = self._weight
            for factor in factors:
                found = found * self._dense(factor, False)[:, 0, :]
            self._weights[factors] = found
        return found

    def _pair_cells(self, product: Product, is_newest: bool) -> Array:
        key = (product, is_newest)
        if key not in self._pairs:
            cells = np.ones((1, 1, 1), bool)
            for factor in product.pairs | product.places:
                cells = cells & self._dense(factor, is_newest)
            shape = (len(self.last), 1 if is_newest else self.size, self.size)
            self._pairs[key] = np.broadcast_to(cells, shape).astype(np.float64)
        return self._pairs[key]

    def _matrix(self, factors: frozenset[Selector]) -> Array:
        """The pairs of positions that pass all factors, the same for all inputs."""
        matrices = self.machine.matrices
        if factors not in matrices:
            whole = _Places(self.machine)
            cells = np.ones((1, 1, 1), bool)
            for factor in factors:
                cells = cells & whole._dense(factor, False)
            size = self.machine.capacity
            matrices[factors] = np.broadcast_to(cells, (1, size, size))[0].astype(np.float64)
        return matrices[factors]

    def _dense(self, node: Selector, is_newest: bool) -> Array:
        """A selection as bools. (inputs, queries, keys), 1 where nothing varies"""
        key = (node, is_newest)
        if key not in self._cells:
            self._cells[key] = self._cells_of(node, is_newest)
        return self._cells[key]

    def _cells_of(self, node: Selector, is_newest: bool) -> Array:
        match node:
            case Select(keys, queries):
                if isinstance(queries, Const):
                    return self.machine.hits[node].array()[self.codes(keys)][:, None, :]
                if isinstance(keys, Const):
                    hits = self.machine.hits[node].array()
                    return hits[self.codes(queries, is_newest)][:, :, None]
                comparison = self.machine.comparisons[node]
                return comparison.between(self.codes(keys), self.codes(queries, is_newest))
            case SelectorAnd(left, right):
                return self._dense(left, is_newest) & self._dense(right, is_newest)
            case SelectorOr(left, right):
                return self._dense(left, is_newest) | self._dense(right, is_newest)
            case SelectorNot(inner):
                return ~self._dense(inner, is_newest)
            case SelectBest(inner):
                picked = self._dense(inner, is_newest) & self.valid[:, None, :]
                scores = self._scores(node, is_newest)
                best = np.where(picked, scores, LOWEST).max(axis=2, keepdims=True)
                kept: Array = picked & (scores == best)
                return kept
        raise AssertionError(f"no plan for {type(node).__name__}")

    def _scores(self, node: SelectBest, is_newest: bool) -> Array:
        """Numbers that order each query's keys as their scores do. (inputs, queries, keys)"""
        terms = score_terms(node.scorer)
        if len(terms) == 1:  # the largest keys are best, or the smallest, or all alike
            ranks, _ = self.machine.comparisons[node].ranks()
            scored = terms[0].queries
            signs = self.machine.domains[scored].signs[self.codes(scored, is_newest)]
            return ranks[self.codes(terms[0].keys)][:, None, :] * signs[:, :, None]
        parts = [(self._numerators(term.keys, False), self._numerators(term.queries, is_newest))
                 for term in terms]  # fmt: skip
        belows = [key_below * query_below for (_, key_below), (_, query_below) in parts]
        whole = lcm(*belows)
        total, largest = np.zeros((1, 1, 1)), 0.0
        for ((keys, _), (queries, _)), below in zip(parts, belows, strict=True):
            times = whole // below if below else 1
            total = total + keys[:, None, :] * queries[:, :, None] * float(times)
            largest += float(np.abs(keys).max()) * float(np.abs(queries).max()) * times
        if not whole or largest >= EXACT:
            self.doubt[:] = True
        return total

    def _numerators(self, node: SOp, is_newest: bool) -> tuple[Array, int]:
        """An s-op's numbers over one denominator, which is 0 where they are not exact."""
        numbers, _, below = self.machine.domains[node].numbers
        codes = self.codes(node, is_newest)
        return (numbers[codes] if below else np.zeros(codes.shape)), below


class _Places(Step):
    """Selections among positions alone, up to the machine's capacity."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.plan = machine, machine.plan
        self._cells = {}

    def codes(self, node: SOp, is_newest: bool = False) -> Array:
        if isinstance(node, Const):
            return self.machine.constants[node]
        return self.machine.places[node]
