"""The residual stream as slots: dimensions that one part of the model writes, by rows of states.

The rule `read`: a row of weights reads a number from each slot, so what it reads is a sum over
slots, known in every row of a relation over all their variables. Each dimension is written once,
and nothing but 0 is added to it before or after: so nothing is rounded in the stream itself.

With noise, every dimension is moved after the embedding and after each block, by up to so much of
the root mean square of the stream there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.certificate.weights.precision import FLOAT32, Precision
from rasp.models.checker.float_errors import HUGE, rounding
from rasp.models.checker.program_facts import ProgramFacts
from rasp.models.checker.relations import Array, Name, Relation, TooMuch


@dataclass(frozen=True, eq=False)
class Slot:
    """Some dimensions: in each row of a relation, what they hold, and how far off that can be."""

    dims: Array
    space: Relation
    value: Array  # (row, dimension)
    off: Array  # (row, dimension)

    def extremes(self, rows: Array) -> tuple[Array, Array]:
        """(reading,): the least and the most that rows of weights read here."""
        inner = rows[:, self.dims].T
        value, off = self.value @ inner, self.off @ np.abs(inner)
        return (value - off).min(axis=0), (value + off).max(axis=0)


@dataclass(frozen=True, eq=False)
class Numbers:
    """What rows of weights read, in each row of a relation."""

    space: Relation
    value: Array  # (row, reading)
    off: Array
    """What the stream is off moves it by so much."""
    rounded: Array
    """And float32 rounds it by so much, each time that it is computed."""
    size: Array
    """The sum of the sizes of all that is added up."""
    there: Array
    """(row,): whether it is a row of all that is known of the slots; else no input has it."""

    @property
    def wrong(self) -> Array:
        return np.asarray(self.off + self.rounded)

    def where(self, kept: Array) -> Numbers:
        """Some of the rows."""
        if kept.all():
            return self
        return Numbers(self.space.where(kept), self.value[kept], self.off[kept],
                       self.rounded[kept], self.size[kept], self.there[kept])  # fmt: skip


class SlotStream:
    """What every dimension holds, as far as it is written."""

    def __init__(
        self, facts: ProgramFacts, size: int, noise: float = 0.0, precision: Precision = FLOAT32
    ) -> None:
        self.facts, self.size, self.noise, self.precision = facts, size, noise, precision
        self.slots: list[Slot] = []
        self.moved = 0.0
        """How far noise may have moved a dimension."""
        self.slope = np.ones(size)
        """(dimension,): its gradient with respect to the embedded input, at most."""
        self.written = np.zeros(size, bool)
        self._projected: dict[tuple[int, int], tuple[object, tuple[Array, Array, Array]]] = {}

    def add(self, dims: Array, space: Relation, value: Array, off: Array, slope: Array) -> None:
        """Write dimensions. No other part has written them."""
        if not (np.abs(value) + off <= HUGE).all():
            raise Refused("a number is too large")
        if self.written[dims].any():
            raise Refused("a dimension is written twice")
        self.written[dims] = True
        self.slope[dims] += slope
        if len(dims):
            held, wrong = self.precision.ends(value, off + self.moved)
            self.slots.append(Slot(dims, space, held, wrong))

    def disturb(self) -> float:
        """Move everything by the noise; return how long the stream is, at most, before that."""
        squares = [((np.abs(slot.value) + slot.off) ** 2).sum(axis=1).max() for slot in self.slots]
        length = np.sqrt(sum(squares) + self.moved**2 * int((~self.written).sum()))
        more = self.noise * length / np.sqrt(self.size)
        if more:
            self.moved += more
            self.slots = [replace(slot, off=slot.off + more) for slot in self.slots]
            self._projected.clear()
        return float(length)

    def touched(self, rows: Array) -> list[Slot]:
        """The slots that rows of weights read."""
        return [slot for slot in self.slots if rows[:, slot.dims].any()]

    def names(self, rows: Array) -> set[Name]:
        """The variables by which what is read varies."""
        return {name for slot in self.touched(rows) for name in slot.space.names}

    def read(self, rows: Array, bias: Array, over: Relation | Iterable[Name]) -> Numbers:
        """Rows of weights (reading, dimension) in each row of a relation.

        What its variables do not decide of a slot counts as off.
        """
        space = over if isinstance(over, Relation) else self.facts.space(over)
        if len(space) * max(1, len(rows)) > 10 * self.facts.budget.rows:
            raise TooMuch("rows", f"{len(rows)} numbers would be read in {len(space):,} rows")
        value = np.tile(bias.astype(float), (len(space), 1))
        off, size = np.zeros_like(value), np.abs(value)
        used, there = np.zeros(self.size, bool), np.ones(len(space), bool)
        for slot in self.touched(rows):
            inner, mine = rows[:, slot.dims].T, rows[:, slot.dims].any(axis=1)
            used[slot.dims] = True
            held, wrong, places = self._over(slot, space)
            there &= places >= 0
            inner, weights = inner[:, mine], np.abs(inner[:, mine])
            value[:, mine] += (held @ inner)[places]
            off[:, mine] += (wrong @ weights)[places]
            size[:, mine] += ((np.abs(held) + wrong) @ weights)[places]
        beside = np.abs(rows[:, ~used]).sum(axis=1) * self.moved  # nothing is there but noise
        count = (rows != 0).sum(axis=1) + (bias != 0)
        off, size = off + beside, size + beside
        return Numbers(space, value, off, rounding(count, size), size, there)

    def _over(self, slot: Slot, space: Relation) -> tuple[Array, Array, Array]:
        """(row, dimension): what a slot holds, and how far off that is; and in each row of a
        relation, which of these rows it is: -1 where no input is there."""
        key = id(slot), id(space)
        if key not in self._projected:
            if {*slot.space.names} <= {*space.names}:
                found = slot.value, slot.off, self.facts.places(space, slot.space)
            else:
                value, off, there = self.projected(slot.space, slot.value, slot.off, space)
                found = value, off, np.where(there, np.arange(len(space)), -1)
            self._projected[key] = (slot, space), found
        return self._projected[key][1]

    def projected(
        self, inner: Relation, value: Array, off: Array, space: Relation
    ) -> tuple[Array, Array, Array]:
        """Numbers by the rows of one relation as numbers by those of another: between the least and
        the most of all rows that both are part of."""
        wide = self.facts.space({*inner.names, *space.names})
        at, onto = self.facts.places(wide, inner), self.facts.places(wide, space)
        fine = np.flatnonzero((at >= 0) & (onto >= 0))
        fine = fine[np.argsort(onto[fine], kind="stable")]
        low, high = np.zeros((2, len(space), value.shape[1]))
        there = np.zeros(len(space), bool)
        if len(fine):
            states, first = np.unique(onto[fine], return_index=True)
            low[states] = np.minimum.reduceat((value - off)[at[fine]], first)
            high[states] = np.maximum.reduceat((value + off)[at[fine]], first)
            there[states] = True
        return (low + high) / 2, (high - low) / 2, there

    def extremes(self, rows: Array, bias: Array) -> tuple[Array, Array]:
        """(reading,): the least and the most that rows of weights read, anywhere."""
        outside = ~self.written
        beside = np.abs(rows[:, outside]).sum(axis=1) * self.moved
        low, high = bias - beside, bias + beside
        for slot in self.touched(rows):
            least, most = slot.extremes(rows)
            low, high = low + least, high + most
        return low, high

    def largest(self, rows: Array, bias: Array) -> Array:
        """(reading,): the largest size that rows of weights read, its rounding included."""
        low, high = self.extremes(rows, bias)
        most = np.maximum(np.abs(low), np.abs(high))
        return np.asarray(most + rounding((rows != 0).sum(axis=1) + 1, self.mass(rows, bias)))

    def mass(self, rows: Array, bias: Array) -> Array:
        """(reading,): the sum of the sizes of all that rows of weights add up, at most."""
        return np.asarray(np.abs(bias) + np.abs(rows) @ self.most)

    @property
    def most(self) -> Array:
        """(dimension,): the largest size that it can have."""
        found = np.full(self.size, self.moved)
        for slot in self.slots:
            found[slot.dims] = (np.abs(slot.value) + slot.off).max(axis=0, initial=0.0)
        return found

    def steepness(self, rows: Array) -> Array:
        """(reading,): the gradient of what rows of weights read with respect to the embedded input,
        at most. Dimensions that nothing is added to are at right angles."""
        plain = self.slope == 1.0
        others = np.abs(rows[:, ~plain]) @ self.slope[~plain]
        return np.asarray(np.linalg.norm(rows[:, plain], axis=1) + others)
