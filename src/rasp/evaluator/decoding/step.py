"""One step of a batch of inputs in, the codes of every s-op out, and which inputs are in doubt.

An array of codes is (inputs, positions), with 1 in place of either where nothing varies with it.
An s-op that is settled is computed at the newest position only. Wherever a value could not be
computed, the input is in doubt: it is left to the plain evaluator, which knows what to say.
"""

from __future__ import annotations

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
)

if TYPE_CHECKING:
    from rasp.evaluator.decoding.rows import Rows

LOWEST = np.iinfo(np.int64).min


class Step:
    """The values of one step."""

    def __init__(self, machine: Machine, rows: Rows) -> None:
        self.machine, self.plan, self.rows = machine, machine.plan, rows
        self.size = int(rows.lengths.max())
        self.last = rows.lengths - 1
        self.valid = np.arange(self.size) < rows.lengths[:, None]  # (inputs, positions)
        self.doubt = np.zeros(len(rows.lengths), bool)
        self._weight = self.valid.astype(np.float64)
        self._full: dict[SOp, Array] = {}
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
        if node in self.plan.positional:
            places = self.machine.places[node]
            if is_newest and places.shape[1] > 1:
                return places[0, self.last, None]
            return places[:, : self.size]
        if isinstance(node, Tokens):
            tokens = self.rows.codes
            return (
                tokens[self.rows.numbers, self.last, None] if is_newest else tokens[:, : self.size]
            )
        if is_newest and node in self.plan.growing:
            return self._newest[node]
        return self._full[node]

    def _compute(self, node: SOp) -> None:
        if node in self.plan.positional or isinstance(node, Tokens):
            self._note(node, self.codes(node))
            return
        grows = node in self.plan.growing
        is_newest = grows and not self.rows.is_new
        found = self._values(node, is_newest)
        if not grows:
            self._full[node] = found
        elif is_newest:
            kept = self.rows.kept[node]
            kept[self.rows.numbers, self.last] = found[:, 0]
            self._newest[node], self._full[node] = found, kept[:, : self.size]
        else:
            self._full[node] = self.rows.keep(node, found, self.size)
        self._note(node, found)

    def _values(self, node: SOp, is_newest: bool) -> Array:
        if isinstance(node, Aggregate):
            return self._aggregate(node, is_newest)
        leaves = self.plan.fused[node].leaves
        return self.machine.look_up(node, [self.codes(leaf, is_newest) for leaf in leaves])

    def _note(self, node: SOp, found: Array) -> None:
        """Doubt the inputs in which a value failed, or strings and numbers are mixed."""
        if node in self.machine.failing and found.min(initial=1) == FAILED:
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
        counts = self._count(node.selector, is_newest)
        if isinstance(node.values, Const):
            return self.machine.constant_results(node).take(np.minimum(counts, 2))
        values, carried = self.codes(node.values), self.machine.carried(node)
        picked = self._sums(node.selector, values, is_newest).astype(np.int64)
        if counts.max() <= 1:
            return carried.take(picked)
        several = counts > 1
        found = carried.take(np.where(several, 0, picked))
        return np.where(several, self._means(node, values, counts, is_newest), found)

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
                hits = self.machine.hits(node)
                if hits is None:
                    comparison = self.machine.comparisons[node]
                    return comparison.between(self.codes(keys), self.codes(queries, is_newest))
                if isinstance(queries, Const):
                    return hits[self.codes(keys)][:, None, :]
                return hits[self.codes(queries, is_newest)][:, :, None]
            case SelectorAnd(left, right):
                return self._dense(left, is_newest) & self._dense(right, is_newest)
            case SelectorOr(left, right):
                return self._dense(left, is_newest) | self._dense(right, is_newest)
            case SelectorNot(inner):
                return ~self._dense(inner, is_newest)
            case SelectBest(inner, Score(keys, queries)):
                picked = self._dense(inner, is_newest) & self.valid[:, None, :]
                return self._best(node, picked, self.codes(keys), self.codes(queries, is_newest))
        raise AssertionError(f"no plan for {type(node).__name__}")

    def _best(self, node: SelectBest, picked: Array, keys: Array, queries: Array) -> Array:
        """Keep the best of what is picked: the largest keys, or the smallest, or all of them."""
        assert isinstance(node.scorer, Score)
        ranks, _ = self.machine.orders[node].ranks()
        signs = np.array([
            0 if isinstance(atom, str) else (atom > 0) - (atom < 0)
            for atom in self.machine.domains[node.scorer.queries].atoms
        ])  # fmt: skip
        scores = ranks[keys][:, None, :] * signs[queries][:, :, None]
        best = np.where(picked, scores, LOWEST).max(axis=2, keepdims=True)
        kept: Array = picked & (scores == best)
        return kept


class _Places(Step):
    """Selections among positions alone, up to the machine's capacity."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.plan = machine, machine.plan
        self._cells = {}

    def codes(self, node: SOp, is_newest: bool = False) -> Array:
        if isinstance(node, Const):
            return self.machine.constants[node]
        return self.machine.places[node]
