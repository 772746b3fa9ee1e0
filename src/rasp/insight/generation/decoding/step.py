"""One step of a batch of inputs in, the codes of every s-op out, and which inputs are in doubt.

An array of codes is (inputs, positions), with 1 in place of either where nothing varies with it.
An s-op that is settled is computed at the newest position only. Wherever a value could not be
computed, the input is in doubt: it is left to the plain evaluator, which knows what to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rasp.insight.generation.decoding.domains import EXACT, FAILED, Array
from rasp.insight.generation.decoding.machine import Machine
from rasp.insight.generation.decoding.plan import PLACE
from rasp.insight.generation.decoding.selections import StepSelections
from rasp.language.graph import Aggregate, Node, Score, Select, SOp, Tokens

if TYPE_CHECKING:
    from rasp.insight.generation.decoding.rows import Rows


class DecodingStep:
    """The values of one step."""

    def __init__(self, machine: Machine, rows: Rows) -> None:
        self.machine, self.plan, self.rows = machine, machine.plan, rows
        self.selections = StepSelections(machine, rows.lengths, self.codes)
        self.size, self.last = self.selections.size, self.selections.last
        self.valid, self.doubt = self.selections.valid, self.selections.doubt
        self._full: dict[SOp, Array] = {Tokens(): rows.codes[:, : self.size]}
        self._newest: dict[SOp, Array] = {}

    def run(self) -> None:
        """Compute every node."""
        for node in self.plan.computed:
            if node in self.plan.growing:
                self._grow(node)
            else:
                self._full[node] = self._values(node, False)
        for node in self.machine.doubtful:
            self._doubt(node)
        for check in self.plan.checked:
            self._check_kinds(check)

    def codes(self, node: SOp, is_newest: bool = False) -> Array:
        """The codes of an s-op: at every position, or at each input's newest one."""
        if is_newest and node in self.plan.newest:
            if node not in self._newest:  # of positions and tokens, the newest are read off
                whole = self.codes(node)
                rows = self.rows.numbers if len(whole) > 1 else 0
                self._newest[node] = whole[rows, self.last, None]
            return self._newest[node]
        if node not in self._full:  # the same for all inputs
            self._full[node] = self.machine.places[node][:, : self.size]
        return self._full[node]

    def _grow(self, node: SOp) -> None:
        """Compute a settled s-op where it is new: everywhere, or at the newest positions."""
        if self.rows.is_new:
            self._full[node] = self.rows.keep(node, self._values(node, False), self.size)
            return
        newest = self._newest[node] = self._values(node, True)
        kept = self.rows.kept[node]
        kept[self.rows.numbers, self.last] = newest[:, 0]
        self._full[node] = kept[:, : self.size]

    def _values(self, node: SOp, is_newest: bool) -> Array:
        leaves = self.plan.leaves.get(node)
        if leaves is None:
            assert isinstance(node, Aggregate)
            return self._aggregate(node, is_newest)
        codes = [self.codes(leaf, is_newest) for leaf in leaves]
        return self.machine.tables[node].look_up(codes)

    def _doubt(self, node: SOp) -> None:
        """Doubt the inputs in which a value failed, or strings and numbers are mixed."""
        codes = self.codes(node)
        failed = codes == FAILED
        self.doubt |= (failed & self.valid if codes.shape[1] > 1 else failed).any(axis=1)
        domain = self.machine.domains[node]
        if domain.is_mixed and PLACE in self.plan.axes[node]:
            strings = domain.strings[codes]
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
        values, carried = self.codes(node.values), self.machine.carried(node)
        counts = self.selections.count(node.selector, is_newest)
        picked = self.selections.sums(node.selector, values, is_newest).astype(np.int64)
        if counts.max() <= 1:  # the sum of the codes picked is the code
            return carried.take(picked)
        several = counts > 1
        lone = carried.take(np.where(several, 0, picked))
        return np.where(several, self._means(node, values, counts, is_newest), lone)

    def _means(self, node: Aggregate, values: Array, counts: Array, is_newest: bool) -> Array:
        """The code of the mean of what each query picks; 0 where one is not exact, or has none."""
        machine = self.machine
        numbers, without_mean, below = machine.domains[node.values].numbers
        largest, count_bits = float(np.abs(numbers).max()), machine.count_bits
        if not below or largest * self.size >= EXACT >> count_bits:
            machine.doubtful.add(node)
            return np.zeros(1, np.int64)
        memo = machine.means[node]
        memo.is_about((below, count_bits))
        totals = self.selections.sums(node.selector, numbers[values], is_newest)
        keys = np.where(counts > 1, machine.mean_keys(totals, counts), 1)
        means = memo.look_up(keys)
        if without_mean.any():
            machine.doubtful.add(node)
            wrong = self.selections.sums(node.selector, without_mean[values], is_newest)
            means = np.where(wrong > 0, FAILED, means)
        return means
