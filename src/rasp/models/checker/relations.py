"""Relations: finite sets of rows of states. Columns: an atom for each row.

A relation is *true of an input* if at every position its variables are, together, in one of its
rows. A column is true of it if, in that row, the s-op has that atom. The functions here keep truth:
fewer variables (`onto`), rows that two relations share (`join`), an operator applied to each row
(`combined`), and a column over fewer variables where these decide it (`function_of`).

Numbers of the program are Python's ints and Fractions; numpy only holds states (which atom of a
list), and rows of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate.claims import Refused

Array: TypeAlias = np.ndarray
Name: TypeAlias = int
"""A variable: a number of the claims, LENGTH, or, below that, an aggregate that no head gives."""
LENGTH: Name = -1
MOST_CODES = 2**62


@dataclass(frozen=True)
class CheckBudget:
    """How much the check of one model may take.

    >>> CheckBudget(pairs=1000).pairs
    1000
    """

    pairs: int = 60_000_000
    """Pairs of a query and a key that are compared for one head."""
    rows: int = 4_000_000
    """Rows of one relation."""
    sums: int = 50_000_000
    """Sums over keys that are added up for queries that get the same."""
    seconds: float = 600.0


DEFAULT_BUDGET = CheckBudget()


class TooMuch(Refused):
    """A budget of the check is used up: which one."""

    def __init__(self, budget: str, why: str) -> None:
        super().__init__(f"{why} (the budget `{budget}`)")
        self.budget = budget


@dataclass(frozen=True, eq=False)
class Relation:
    """At every position of every input in question, the variables are in one of the rows."""

    names: tuple[Name, ...]
    rows: Array  # (row, variable)

    def __len__(self) -> int:
        return len(self.rows)

    def states(self, name: Name) -> Array:
        """(row,): the states of one variable."""
        return np.asarray(self.rows[:, self.names.index(name)])

    def columns(self, names: Iterable[Name]) -> Array:
        """(row, variable): the states of some variables."""
        return np.asarray(self.rows[:, [self.names.index(name) for name in names]])

    def where(self, kept: Array) -> Relation:
        """Some of its rows. It is for the caller to say why no input is in the others."""
        return self if kept.all() else Relation(self.names, self.rows[kept])

    def onto(self, names: Sequence[Name]) -> Relation:
        """The same of fewer variables."""
        return Relation(tuple(names), distinct(self.columns(names)))

    def join(self, other: Relation, most: int) -> Relation:
        """Both: the rows over all variables that are a row of each."""
        shared = [name for name in self.names if name in other.names]
        more = [name for name in other.names if name not in shared]
        mine, theirs = codes_of(self.columns(shared), other.columns(shared))
        order = np.argsort(theirs, kind="stable")
        first, last = (np.searchsorted(theirs[order], mine, side) for side in ("left", "right"))
        count = last - first
        total = int(count.sum())
        if total > most:
            raise TooMuch("rows", f"a table would have {total:,} rows")
        left = np.repeat(np.arange(len(mine)), count)
        offset = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
        right = order[np.repeat(first, count) + offset]
        rows = np.hstack([self.rows[left], other.columns(more)[right]])
        return Relation((*self.names, *more), rows)

    def places(self, inner: Relation) -> Array:
        """(row,): which row of a relation of some of the variables each one is; -1 for none."""
        if inner is self:
            return np.arange(len(self))
        mine, theirs = codes_of(self.columns(inner.names), inner.rows)
        if not len(theirs):
            return np.full(len(mine), -1)
        order = np.argsort(theirs, kind="stable")
        at = np.minimum(np.searchsorted(theirs[order], mine), len(theirs) - 1)
        return np.where(theirs[order][at] == mine, order[at], -1)


def codes_of(*tables: Array) -> list[Array]:
    """For each table (row,): a number that is the same for equal rows, and for these alone."""
    ends = np.cumsum([len(table) for table in tables])[:-1]
    rows = np.vstack(tables)
    if not rows.shape[1]:
        return [np.zeros(len(table), np.int64) for table in tables]
    low = rows.min(axis=0, initial=0)
    sizes = [int(size) for size in rows.max(axis=0, initial=0) - low + 1]
    if prod(sizes) < MOST_CODES:
        steps = np.cumprod([1, *sizes[:-1]], dtype=np.int64)
        return np.split((rows - low) @ steps, ends)
    return np.split(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1), ends)


def row_ids(table: Array) -> tuple[Array, Array]:
    """(row,): a number for each different row; and the first row of each."""
    table = np.ascontiguousarray(table)
    if not table.shape[1]:
        return np.zeros(len(table), int), np.zeros(min(1, len(table)), int)
    kind = np.dtype((np.void, table.dtype.itemsize * table.shape[1]))
    _, first, which = np.unique(
        table.view(kind).reshape(-1), return_index=True, return_inverse=True
    )
    return which.reshape(-1), first


def distinct(rows: Array) -> Array:
    """The different rows of a table."""
    (codes,) = codes_of(rows)
    return np.asarray(rows[np.unique(codes, return_index=True)[1]])


def free(sizes: dict[Name, int], most: int) -> Relation:
    """Everything that variables of so many states can be together."""
    shape = [*sizes.values()]
    if prod(shape) > most:
        raise TooMuch("rows", f"a table would have {prod(shape):,} rows")
    return Relation(tuple(sizes), np.indices(shape).reshape(len(shape), prod(shape)).T)


def times(one: Array, other: Array) -> Array:
    """(row, variable): every row of one table with every row of another."""
    left = np.repeat(one, len(other), axis=0)
    return np.hstack([left, np.tile(other, (len(one), 1))])


# -- columns of atoms -----------------------------------------------------------------------------


def typed(atom: Atom | None) -> tuple[type, Atom | None]:
    """A key that tells 1 from True and from 1.0."""
    return type(atom), atom


def number_of(atom: Atom | None) -> tuple[bool, Atom | None]:
    """A key that 1, True and 1.0 share: to a model they are one number."""
    return isinstance(atom, str), atom


def same(one: Atom | None, other: Atom | None) -> bool:
    """Whether two atoms are one to a model."""
    return one is not None and other is not None and number_of(one) == number_of(other)


@dataclass(frozen=True, eq=False)
class ColumnOfAtoms:
    """An atom for each row of a relation; None where the program has no value, or no input is."""

    atoms: list[Atom | None]
    places: Array  # (row,)
    loose: bool = False
    """Whether a whole number may be of another kind: 1 may be 1.0 or True."""

    @property
    def there(self) -> Array:
        """(row,): whether there is an atom."""
        return np.asarray(np.array([atom is not None for atom in self.atoms], bool)[self.places])

    def listed(self) -> list[Atom]:
        """The atoms that occur."""
        atoms = (self.atoms[place] for place in np.unique(self.places).tolist())
        return [atom for atom in atoms if atom is not None]

    def at(self, places: Array) -> ColumnOfAtoms:
        """The atoms of other rows, by the rows that these are here; -1 for none."""
        if (places >= 0).all():
            return ColumnOfAtoms(self.atoms, self.places[places], self.loose)
        inside = np.where(places < 0, len(self.atoms), self.places[places])
        return ColumnOfAtoms([*self.atoms, None], inside, self.loose)


def column_of(values: Sequence[Atom | None], places: Array, loose: bool = False) -> ColumnOfAtoms:
    """A column from an atom for each place, where equal ones become one."""
    numbering: dict[tuple[type, Atom | None], int] = {}
    numbers = [numbering.setdefault(typed(value), len(numbering)) for value in values]
    return ColumnOfAtoms([atom for _, atom in numbering], np.array(numbers, int)[places], loose)


def combined(apply: Callable[..., Atom | None], columns: Sequence[ColumnOfAtoms]) -> ColumnOfAtoms:
    """A function of several columns, applied once to each combination of atoms that occurs.

    Of loose columns, it must give one number whatever the kinds are. Where it fails for some kinds,
    the program has a value only for the others.
    """
    codes, first = _joint([column.places for column in columns])
    rows = [tuple(column.atoms[column.places[at]] for column in columns) for at in first.tolist()]
    if not any(column.loose for column in columns):
        return column_of([apply(*row) for row in rows], codes)
    values, loose = [], False
    for row in rows:
        options = [kinds(atom) if column.loose else [atom]
                   for atom, column in zip(row, columns, strict=True)]  # fmt: skip
        tried = (apply(*ways) for ways in product(*options))
        results = [result for result in tried if result is not None] or [None]  # type: ignore[list-item]
        if len({*map(number_of, results)}) > 1:
            raise Refused("an int is told from an equal float, which are one number to a model")
        loose |= len({*map(type, results)}) > 1
        values.append(results[0])
    return column_of(values, codes, loose)


def kinds(atom: Atom | None) -> list[Atom | None]:
    """Every kind that a number can be of."""
    if atom is None or isinstance(atom, str) or Fraction(atom).denominator != 1:
        return [atom]
    return [int(atom), Fraction(atom), *([bool(atom)] if atom in (0, 1) else [])]


def _joint(places: Sequence[Array]) -> tuple[Array, Array]:
    """(row,): which combination of places it is; and the first row of each combination."""
    (codes,) = codes_of(np.stack(places, axis=1))
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return which.reshape(-1), first


def function_of(
    names: Sequence[Name], wide: Relation, column: ColumnOfAtoms
) -> tuple[Relation, ColumnOfAtoms] | None:
    """A column as one over fewer variables; None where they do not decide it.

    Rows without an atom say nothing: no input in question is there.
    """
    (codes,) = codes_of(wide.columns(names))
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    which, there = which.reshape(-1), column.there
    numbering: dict[object, int] = {}
    numbers = np.array([numbering.setdefault(number_of(atom), len(numbering))
                        for atom in column.atoms], int)[column.places]  # fmt: skip
    if not _decide(which, numbers, there, len(first)):
        return None
    loose = column.loose or not _decide(which, column.places, there, len(first))
    held = np.full(len(first), len(column.atoms))
    held[which[there]] = column.places[there]
    inner = Relation(tuple(names), wide.columns(names)[first])
    return inner, ColumnOfAtoms([*column.atoms, None], held, loose)


def _decide(which: Array, numbers: Array, there: Array, count: int) -> bool:
    """Whether rows of one group all have one number, where they have any."""
    low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(low, which[there], numbers[there])
    np.maximum.at(high, which[there], numbers[there])
    return bool((low >= high).all())


def groups(codes: Array) -> Iterator[Array]:
    """The places of each different number."""
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order])) + 1
    return iter(np.split(order, ends)) if len(codes) else iter(())


def numbered(rows: Sequence[tuple[Any, ...]]) -> tuple[list[tuple[Any, ...]], Array]:
    """The different rows, and which of them each row is."""
    numbering: dict[tuple[Any, ...], int] = {}
    which = [numbering.setdefault(row, len(numbering)) for row in rows]
    return [*numbering], np.array(which, int)
