"""Codes in, how many keys each query picks out, and the sums over them.

A selector is a product of factors (see `plan`); those that depend on keys alone are vectors, those
that depend on positions alone one matrix for all inputs, and only what is left has a cell for
every pair of positions of every input.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lcm

import numpy as np

from rasp.insight.generation.decoding.domains import EXACT, Array
from rasp.insight.generation.decoding.machine import Machine
from rasp.insight.generation.decoding.plan import Product
from rasp.language.graph import (
    Select,
    SelectBest,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    score_terms,
)

LOWEST = -float(2**53)


class StepSelections:
    """The selections of one step.

    `codes` says what the codes of an s-op are: at every position, or at each input's newest one.
    """

    def __init__(
        self, machine: Machine, lengths: Array, codes: Callable[[SOp, bool], Array]
    ) -> None:
        self.machine, self.codes = machine, codes
        self.size = int(lengths.max())
        self.last = lengths - 1
        self.valid = np.arange(self.size) < lengths[:, None]  # (inputs, positions)
        self.doubt = np.zeros(len(lengths), bool)
        self._weight = self.valid.astype(np.float64)
        self._cells: dict[tuple[Selector, bool], Array] = {}
        self._weights: dict[frozenset[Selector], Array] = {}
        self._pairs: dict[tuple[Product, bool], Array] = {}
        self._counts: dict[tuple[Selector, bool], Array] = {}

    def count(self, selector: Selector, is_newest: bool) -> Array:
        key = (selector, is_newest)
        if key not in self._counts:
            self._counts[key] = self.sums(selector, None, is_newest).astype(np.int64)
        return self._counts[key]

    def sums(self, selector: Selector, weights: Array | None, is_newest: bool) -> Array:
        """For each query, the sum of the weights (None: 1 each) of the keys that it picks."""
        product = self.machine.plan.products[selector]
        total: Array
        weight = self._key_weights(product.keys)
        if weights is not None:
            weight = weight * weights
        if product.pairs:
            total = np.matmul(self._pair_cells(product, is_newest), weight[:, :, None])[:, :, 0]
        elif product.places:
            matrix = self._matrix(product.places)
            if is_newest:
                total = (weight * matrix[self.last, : self.size]).sum(1, keepdims=True)
            else:
                total = weight @ matrix[: self.size, : self.size].T
        else:
            total = weight.sum(1, keepdims=True)
        for factor in product.queries:
            total = total * self._dense(factor, is_newest)[:, :, 0]
        return total

    def _key_weights(self, factors: frozenset[Selector]) -> Array:
        """1 for the keys that pass all factors, 0 for others and where no key is."""
        weights = self._weights.get(factors)
        if weights is None:
            weights = self._weight
            for factor in factors:
                weights = weights * self._dense(factor, False)[:, 0, :]
            self._weights[factors] = weights
        return weights

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
            capacity, places = self.machine.capacity, self.machine.places
            whole = StepSelections(self.machine, np.array([capacity]), lambda node, _: places[node])
            cells = np.ones((1, 1, 1), bool)
            for factor in factors:
                cells = cells & whole._dense(factor, False)
            matrices[factors] = np.broadcast_to(cells, (1, capacity, capacity))[0].astype(
                np.float64
            )
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
                comparison = self.machine.comparisons[node]
                return comparison.between(self.codes(keys, False), self.codes(queries, is_newest))
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
            return ranks[self.codes(terms[0].keys, False)][:, None, :] * signs[:, :, None]
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
