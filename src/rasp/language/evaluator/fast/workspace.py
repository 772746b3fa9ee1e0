"""A batch of inputs in, a place for its columns out.

A batch is one long sequence; the number of the input that a position belongs to is one more
equality in every selection, so inputs of different lengths cost nothing extra.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from rasp.base.atoms import Atom
from rasp.base.limits import DEFAULT_LIMITS
from rasp.base.meter import Meter
from rasp.language.evaluator.fast.arithmetic import equal
from rasp.language.evaluator.fast.coding import Codes, codes_of
from rasp.language.evaluator.fast.columns import Array, Column, constant, from_atoms, from_text
from rasp.language.evaluator.fast.conjunctions import Best, Filters
from rasp.language.evaluator.fast.elementwise import elementwise
from rasp.language.graph import Const, SOp
from rasp.language.operators.comparisons import DIFFERENT, EQUAL, WITH_OUTCOMES

CODING_BYTES = 32
"""Bytes of each position while atoms are numbered."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs one after the other."""

    inputs: Sequence[Sequence[Atom]]
    """Tokens each; a string is its characters."""

    def tokens(self) -> Column:
        """The tokens of all inputs."""
        if set(map(type, self.inputs)) == {str}:
            return from_text("".join(map(str, self.inputs)))
        return from_atoms(self.inputs[0] if len(self.inputs) == 1 else list(chain(*self.inputs)))

    @cached_property
    def starts(self) -> Array:
        """Where each input begins, and where the last one ends."""
        return np.cumsum([0, *map(len, self.inputs)])

    @cached_property
    def size(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def numbers(self) -> Array | None:
        """The number of each position's input; None where there is one input only."""
        if len(self.inputs) == 1:
            return None
        return np.repeat(np.arange(len(self.inputs)), np.diff(self.starts))

    @property
    def numbers_or_zero(self) -> Array:
        """The same, with one zero for one input."""
        return np.zeros(1, np.int64) if self.numbers is None else self.numbers

    @cached_property
    def indices(self) -> Array:
        """Each position counted from the start of its input."""
        if self.numbers is None:
            return np.arange(self.size)
        return np.arange(self.size) - self.starts[self.numbers]

    def number_at(self, position: int) -> int:
        """The number of the input that a position belongs to."""
        return 0 if self.numbers is None else int(self.numbers[position])


class Workspace:
    """The columns of a batch computed so far, and their codes."""

    def __init__(self, batch: Batch, meter: Meter | None = None) -> None:
        self.batch = batch
        self.meter = meter or Meter(DEFAULT_LIMITS)
        self.columns: dict[SOp | Best, Column] = {}
        self._sizes: dict[SOp | Best, int] = {}
        self._codes: dict[tuple[SOp | Best, ...], Codes] = {}
        self._filtered: dict[Filters, Array | None] = {}

    def column(self, node: SOp | Best) -> Column:
        """A column computed before, or that of a constant (a plan has some of its own)."""
        return constant(node.value) if isinstance(node, Const) else self.columns[node]

    def codes(self, *needed: SOp | Best) -> Codes:
        """Codes that compare as the columns do, one array for each of them."""
        once = tuple(dict.fromkeys(needed))
        codes = self._codes.get(once)
        if codes is None:
            self.meter.afford(CODING_BYTES * len(once) * self.batch.size)
            codes = self._codes[once] = codes_of([self.columns[node] for node in once])
        if len(once) == len(needed):
            return codes
        return Codes(tuple(codes.arrays[once.index(node)] for node in needed), codes.size)

    def passes(self, filters: Filters) -> Array:
        """Where all comparisons with constants hold: a bool per position, or one for all."""
        holds = np.ones(1, bool)
        for pair, outcomes in filters:
            operands = [self.column(pair.keys), self.column(pair.queries)]
            if outcomes in (EQUAL, DIFFERENT):
                holds = holds & (equal(*operands) == (outcomes == EQUAL))
            else:
                column, _ = elementwise(WITH_OUTCOMES[outcomes], operands, self.meter)
                holds = holds & (column.numerators != 0)
        return holds

    def filtered(self, filters: Filters) -> Array | None:
        """The positions that pass all filters; None where all do."""
        if filters not in self._filtered:
            holds = self.passes(filters)
            self._filtered[filters] = (
                None if holds.all() else np.flatnonzero(np.broadcast_to(holds, self.batch.size))
            )
        return self._filtered[filters]

    def keep(self, node: SOp | Best, column: Column) -> None:
        """Keep a column; its bytes count until it is forgotten."""
        self.columns[node] = column
        self._sizes[node] = column.nbytes
        self.meter.hold(self._sizes[node])

    def forget(self, node: SOp | Best) -> None:
        """Drop a column that nothing needs any more."""
        self.columns.pop(node, None)
        self.meter.release(self._sizes.pop(node, 0))
        for key in [key for key in self._codes if node in key]:
            del self._codes[key]
        for filters in [
            filters
            for filters in self._filtered
            if any(node in (pair.keys, pair.queries) for pair, _ in filters)
        ]:
            del self._filtered[filters]
