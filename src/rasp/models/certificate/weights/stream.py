"""The residual stream: what every dimension holds, as a sum over its sources, and how wrong it is.

At each position the stream is a sum: the token's row, the index's row, each head's outputs times
a direction, and for each group of hidden units a row by the state it is in. `read` multiplies
matrices out over these sources, in float64, where products of two float32 are exact. It proves
of what a reading is a function by trying every combination: what else a dimension holds must
cancel, and what does not cancel counts as error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from rasp.models.certificate.program.tables import Array, Space, joined, occurring
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.arrays import check_cells
from rasp.models.certificate.weights.explaining import piece_of, touched_by
from rasp.models.certificate.weights.precision import FLOAT32, Precision
from rasp.models.certificate.weights.reading import Reading, UnitGroup, constant_part, located
from rasp.models.certificate.weights.rounding import (
    EXACT,
    SLACK,
    TINY,
    UNIT,
    check_size,
    grain_of,
    grains,
)
from rasp.models.certificate.weights.splitting import split_terms
from rasp.models.certificate.weights.stand_ins import with_counts, without_counts
from rasp.models.certificate.weights.terms import lost_of_rows, terms_of

MOST_SUMS = 4_000_000


def rounding_of_sums(ones: Array, others: Array) -> float:
    """How far off float32 is, at most, where it adds one of these to one of those: each sum is
    tried, unless there are too many.
    """
    ones, others = (np.array(sorted({*numbers.tolist()})) for numbers in (ones, others))
    if len(ones) * len(others) > MOST_SUMS:
        return float(UNIT * (np.abs(ones).max() + np.abs(others).max()) + TINY)
    both = ones[:, None] + others
    small = ones.astype(np.float32)[:, None] + others.astype(np.float32)
    lost = (both != 0) & (np.abs(both) < TINY)
    return float((np.abs(small.astype(np.float64) - both) + TINY * lost).max())


class Stream:
    """The sources of the residual stream, at every position but the sink's."""

    def __init__(
        self, values: ProvedValues, tokens: Array, positions: Array, precision: Precision = FLOAT32
    ) -> None:
        self.values, self.tokens, self.positions = values, tokens, positions
        self.precision = precision
        size = tokens.shape[1]
        self.constant = np.zeros(size)
        self.outputs: dict[int, Array] = {}
        self.groups: list[UnitGroup] = []
        self.error: Array = np.zeros(size)
        for dim in np.flatnonzero(tokens.any(axis=0) & positions.any(axis=0)).tolist():
            self.error[dim] = rounding_of_sums(tokens[:, dim], positions[:, dim])
        self.low: Array = tokens.min(axis=0) + positions.min(axis=0)
        self.high: Array = tokens.max(axis=0) + positions.max(axis=0)
        """Between what each dimension is, errors aside."""
        self.stray: Array = self.error
        """How far beyond that it may be."""
        self.grain = np.array([
            0.0 if wrong else grain_of(np.append(by_token, by_index))
            for wrong, by_token, by_index in zip(self.error, tokens.T, positions.T, strict=True)
        ])  # fmt: skip
        """A power of two of which a dimension holds exact multiples; 0 where there is none."""
        self.written: Array = (tokens.any(axis=0) | positions.any(axis=0)).astype(int)
        """How many heads and blocks have written to each dimension: it is stored and rounded each
        time, also where what should be 0 is added.
        """
        self.gradient = np.ones(size)
        """How much each dimension can change with the embedded input: the length of the gradient,
        at most, at any input of the statement."""

    # -- writing ----------------------------------------------------------------------------------

    @property
    def size(self) -> Array:
        """The largest size of each dimension."""
        return np.asarray(np.maximum(-self.low, self.high) + self.stray)

    def add(
        self, error: Array, up: Array, down: Array, ends: tuple[Array, Array], count: Array,
        grain: Array, alone: Array, times: Array | int = 1,
    ) -> None:  # fmt: skip
        """A block adds `count` numbers to each dimension, this far off, `times` of them in turn.

        All that is positive of them comes to `up` at most, all that is negative to `down`, so that
        no sum on the way is beyond these; their sum is between `ends`. Where something is `alone`
        in a dimension, its error knows of the rounding already.
        """
        touched = up + down > 0
        self.written = self.written + (touched | (error > 0)) * times
        held = self.size > 0
        both = np.where(held, np.minimum(self.grain, grain), grain)
        most = np.maximum(np.maximum(self.high, 0) + up, np.maximum(-self.low, 0) + down)
        exact = (both > 0) & (most <= EXACT * both)
        check_size(most + self.stray)
        sums = (most + self.stray) * np.maximum(count - ~held, 0)
        rounding = np.where(exact | alone & ~held, 0.0, SLACK * UNIT * sums + TINY * count)
        wrong = np.where(touched, error + rounding, 0.0)
        self.error, self.stray = self.error + wrong, self.stray + wrong
        fine = exact & (error == 0)
        self.grain = np.where(touched, np.where(fine, both, 0.0), self.grain)
        self.low, self.high = self.low + ends[0], self.high + ends[1]

    def check_size(self) -> None:
        """No dimension may be too large, whether anything reads it or not: 0 times infinity is
        no 0.
        """
        check_size(self.size)

    def disturb(self, moved: float) -> None:
        """Let every dimension move by so much."""
        self.error, self.stray = self.error + moved, self.stray + moved
        self.grain = np.zeros_like(self.grain)
        self.written = self.written + 1

    def rounded(self) -> Stream:
        """The stream as it is read, in its precision.

        Where a dimension has one source and was written once, its table is rounded, state by state,
        with all that it may be off. Elsewhere every source and every sum of them counts as rounded.
        """
        precision = self.precision
        if precision.is_float32:
            return self
        rounded = copy(self)
        sources, mass = np.zeros((2, len(self.error)))
        mass += self.stray
        for dims, table in self._sources():
            most = np.abs(table).max(axis=0, initial=0.0)
            sources[dims], mass[dims] = sources[dims] + (most > 0), mass[dims] + most
        for group in self.groups:
            sources[group.dims] += ~group.table.any(axis=0) & group.error.any(axis=0)
        often = np.maximum(sources, self.written) + 2
        rounded.error = self.error + SLACK * precision.unit * often * (mass + self.error)
        nothing, alone = (sources == 0) & (self.written <= 2), (sources == 1) & (self.written <= 1)
        rounded.error[nothing] = self.error[nothing] * (1 + 2 * precision.unit)
        rounded.grain, rounded.stray = np.zeros(len(mass)), self.stray + rounded.error
        rounded.groups = []
        for name in ("tokens", "positions"):
            table = getattr(self, name).copy()
            dims = table.any(axis=0) & alone
            table[:, dims], off = precision.ends(table[:, dims], self.error[dims])
            setattr(rounded, name, table)
            rounded.error[dims] = off.max(axis=0)
        for group in self.groups:
            dims, lone = group.dims, alone[group.dims] & group.table.any(axis=0)
            table, off = precision.ends(group.table, group.error + self.error[dims])
            rounded.groups.append(replace(group, table=np.where(lone, table, group.table),
                                       error=np.where(lone, off, group.error)))  # fmt: skip
            rounded.error[dims[lone]] = 0.0
        return rounded

    def length(self) -> float:
        """The root of the sum of squares of all dimensions, at most.

        The stream is a sum of sources, so its squared length is the sum of their products: each is
        at most the largest over all states of the two, and 0 for those that share no dimension.
        """
        square, before = 0.0, np.zeros(len(self.error))
        for dims, table in self._sources():
            most = np.abs(table).max(axis=0, initial=0.0)
            square += float((table**2).sum(axis=1).max(initial=0.0) + 2 * most @ before[dims])
            before[dims] += most
        wrong = np.linalg.norm(self.error) + sum(
            np.linalg.norm(group.error.max(axis=0, initial=0.0)) for group in self.groups
        )
        return float(np.sqrt(square) + wrong)

    def _sources(self) -> Iterator[tuple[Array, Array]]:
        """Everything that the stream is a sum of: the dimensions, and (state, dimension)."""
        everywhere = np.arange(len(self.error))
        yield from ((everywhere, table)
                    for table in (self.tokens, self.positions, self.constant[None]))  # fmt: skip
        for variable, direction in self.outputs.items():
            yield everywhere, np.outer(self.floats(variable), direction)
        yield from ((group.dims, group.table) for group in self.groups)

    # -- reading ----------------------------------------------------------------------------------

    def within(self, space: Space) -> Stream:
        """The stream where its variables are as in a space, with smaller tables: every input's
        states are there, so what is not there no input has.
        """
        narrow, groups = copy(self), []
        for group in self.groups:
            if group.space.size > space.size and {*group.space.variables} <= {*space.variables}:
                places = located(self.values, group.space, space)
                kept = occurring(places[places >= 0])
                used, points = np.unique(group.points[kept], return_inverse=True)
                inner = Space(group.space.variables, group.space.grid[:, kept])
                group = UnitGroup(inner, points, group.dims, group.table[used], group.error[used])
            groups.append(group)
        narrow.groups = groups
        return narrow

    def read(self, rows: Array, variables: Sequence[int]) -> Reading:
        """Multiply rows (reading, dimension) out; they must be functions of these variables."""
        wanted = without_counts(self.values, variables)
        self._check_cells(rows)
        base, terms = terms_of(self, rows, wanted)
        for parts in (base, *(term.parts for term in terms)):
            check_size(*map(np.abs, parts.four))
        terms = split_terms(self.values, terms, wanted)
        pieces = []
        for names, members in joined(
            (touched_by(self.values, term, wanted), term) for term in terms
        ):
            if names:
                cluster = tuple(variable for variable in wanted if variable in names)
                pieces.append(piece_of(self.values, cluster, members))
            else:
                base = base.plus(constant_part(members[0].parts))
        used = rows != 0
        grain = self.grain_of(rows)
        powers = (~used | (np.frexp(np.abs(rows))[0] == 0.5)).all(axis=1)
        most, count = np.abs(rows) @ self.size, (used & (self.size > 0)).sum(axis=1)
        check_size(most)
        reading = Reading(base, pieces, grain, powers, most, count)
        return with_counts(self.values, reading, variables)

    def _check_cells(self, rows: Array) -> None:
        """There must be room for what each source adds to all rows."""
        used = np.asarray(rows.any(axis=0))
        sizes = [group.space.size for group in self.groups if used[group.dims].any()]
        check_cells(len(rows), max(len(self.tokens), len(self.positions), *sizes))

    def grain_of(self, rows: Array) -> Array:
        """(reading,): a power of two of which all that rows read are multiples; 0 where there is
        none.
        """
        units = np.where(rows != 0, grains(rows) * self.grain, np.inf)
        return np.asarray(units.min(axis=1, initial=2.0**20))

    def largest(self, rows: Array) -> tuple[Array, Array]:
        """(reading,): the least and the largest that rows can be, whatever the position."""
        self._check_cells(rows)
        error = np.abs(rows) @ self.error + lost_of_rows(self, rows)
        low, high = -error, error
        for dims, table in self._sources():
            read = table @ rows[:, dims].T
            low, high = low + read.min(axis=0), high + read.max(axis=0)
        for group in self.groups:
            off = (group.error @ np.abs(rows[:, group.dims]).T).max(axis=0, initial=0.0)
            low, high = low - off, high + off
        return low, high

    def floats(self, variable: int) -> Array:
        """(state,): the numbers that stand for an output."""
        return self.values.domain(variable).floats
