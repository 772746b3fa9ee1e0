"""Columns of atoms over the states of variables, and exact weighted sums: the checker's algebra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import TypeVar

import numpy as np

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.graph import Elementwise, SOp, apply_operator
from rasp.models.certificate.claims import INDEX, TOKEN, Inputs, Refused, SumPart

Array = np.ndarray
T = TypeVar("T")
MOST_COMBINATIONS = 2**62
MOST_VARIANTS = 256
"""How many ways an operator is applied to numbers that may each be of several kinds."""


@dataclass(frozen=True, eq=False)
class Space:
    """Combinations of states of some variables: every one that an input can have, or more."""

    variables: tuple[int, ...]
    grid: Array  # (variable, combination)

    @property
    def size(self) -> int:
        return int(self.grid.shape[1])

    def row(self, variable: int) -> Array:
        """(combination,): the states of one variable."""
        return np.asarray(self.grid[self.variables.index(variable)])


@dataclass(frozen=True, eq=False)
class AtomColumn:
    """An atom for each combination; None where the program has no value there."""

    atoms: list[Atom | None]
    places: Array  # (combination,)
    kinds: frozenset[type] = frozenset()
    """Kinds that a whole number may be of, where that is not certain: a mean is a float, and a lone
    pick is an int.
    """

    @property
    def there(self) -> Array:
        """(combination,): whether the program has a value there."""
        return np.asarray(np.array([atom is not None for atom in self.atoms], bool)[self.places])

    def in_order(self) -> list[Atom | None]:
        """The atom of each combination."""
        return [self.atoms[place] for place in self.places.tolist()]

    def listed(self) -> list[Atom | None]:
        """The atoms that are there at all."""
        return [self.atoms[place] for place in occurring(self.places).tolist()]


def occurring(places: Array) -> Array:
    """The different places among many, in order."""
    return np.flatnonzero(np.bincount(places))


def typed(atom: Atom | None) -> tuple[type, Atom | None]:
    """A key that tells 1 from True and from 1.0."""
    return type(atom), atom


def column_of(values: Sequence[Atom | None], places: Array) -> AtomColumn:
    """A column from one atom per place, with equal ones joined."""
    numbering: dict[tuple[type, Atom | None], int] = {}
    numbers = [numbering.setdefault(typed(value), len(numbering)) for value in values]
    return AtomColumn([atom for _, atom in numbering], np.array(numbers, int)[places])


def combined(
    op: str, columns: Sequence[AtomColumn], may_fail: bool, of_any_kind: bool = False
) -> AtomColumn:
    """Apply an operator to each combination of atoms that occurs, once.

    A number may be of several kinds; with `of_any_kind`, there is a value only if each has one.
    """
    code, rows = joint_places([(column.places, len(column.atoms)) for column in columns])
    variants = [[variants_of(atom, column.kinds) for atom in column.atoms] for column in columns]
    values: list[Atom | None] = []
    kinds: set[type] = set()
    for row in rows:
        choices = [options[place] for options, place in zip(variants, row, strict=True)]
        ways = prod(map(len, choices))
        if ways > MOST_VARIANTS:
            raise Refused("too many numbers are of uncertain kind at once")
        results = [value for atoms in product(*choices)
                 if (value := _applied(op, atoms, may_fail)) is not None]  # fmt: skip
        if len(results) > 1 and any(not same(value, results[0]) for value in results):
            raise Refused("an int is told from an equal float, which are one number to a model")
        if len({*map(type, results)}) > 1:
            kinds.update(map(type, results))
        is_whole = not of_any_kind or len(results) == ways
        values.append(results[0] if results and is_whole else None)
    joined = column_of(values, code)
    return AtomColumn(joined.atoms, joined.places, frozenset(kinds))


def variants_of(atom: Atom | None, kinds: frozenset[type]) -> list[Atom]:
    """What an atom may be, where a number may be of several kinds; nothing where there is none."""
    if atom is None:
        return []
    if not kinds or isinstance(atom, str) or Fraction(atom).denominator != 1:
        return [atom]
    by_kind: dict[type, Atom] = {type(atom): atom}
    by_kind |= {int: int(atom), Fraction: Fraction(atom)}
    if atom in (0, 1):
        by_kind[bool] = bool(atom)
    return [by_kind[kind] for kind in dict.fromkeys([type(atom), *kinds]) if kind in by_kind]


def _applied(op: str, atoms: tuple[Atom, ...], may_fail: bool) -> Atom | None:
    try:
        return apply_operator(op, atoms)
    except RaspError as error:
        if may_fail:
            return None
        raise Refused(f"a helper of the compiler fails: {error.message}") from None


def joint_places(columns: Sequence[tuple[Array, int]]) -> tuple[Array, list[tuple[int, ...]]]:
    """Number the rows that occur: the number for each combination, and the rows."""
    if not columns:
        return np.zeros(1, int), [()]
    sizes = [max(1, size) for _, size in columns]
    if prod(sizes) >= MOST_COMBINATIONS:
        raise Refused("too many combinations of values")
    code = np.zeros(len(columns[0][0]), int)
    for (places, _), size in zip(columns, sizes, strict=True):
        if not ((places >= 0) & (places < size)).all():
            raise Refused("a value that is none of those listed")
        code = code * size + places
    different, inverse = np.unique(code, return_inverse=True)
    rows = np.empty((len(different), len(sizes)), int)
    for column in range(len(sizes) - 1, -1, -1):
        different, rows[:, column] = np.divmod(different, sizes[column])
    return inverse.reshape(-1), [tuple(row) for row in rows.tolist()]


def joined(items: Iterable[tuple[set[int], T]]) -> list[tuple[set[int], list[T]]]:
    """Items that share a name, directly or through others: their names, and the items.

    >>> joined([({1}, "a"), ({2}, "b"), ({1, 3}, "c")])
    [({2}, ['b']), ({1, 3}, ['a', 'c'])]
    """
    groups: list[tuple[set[int], list[T]]] = []
    for names, item in items:
        mine = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        members = [member for _, members in mine for member in members]
        groups.append((names.union(*(group[0] for group in mine)), [*members, item]))
    return groups


def operands_of(node: SOp, op: str) -> list[SOp]:
    """What an s-op is a chain of, such as the conditions of an `and`; each once, however often
    a shared part comes in it.

    >>> from rasp.language.graph import Const
    >>> both = Elementwise("and", (Const(1), Const(2)))
    >>> operands_of(Elementwise("and", (both, both)), "and")
    [Const(1), Const(2)]
    """
    waiting, seen, operands = [node], {node}, []
    while waiting:
        part = waiting.pop()
        if isinstance(part, Elementwise) and part.op == op:
            more = [inner for inner in dict.fromkeys(part.operands[::-1]) if inner not in seen]
            waiting += more
            seen.update(more)
        else:
            operands.append(part)
    return operands


def same(one: Atom | None, other: Atom | None) -> bool:
    """Whether two atoms are equal as RASP compares them (1, True and 1.0 are)."""
    return isinstance(one, str) == isinstance(other, str) and one == other


def places_among(
    rows: Sequence[Array], listed: Sequence[Array] | Array, sizes: Sequence[int]
) -> Array:
    """(combination,): where the states in some rows are, together, among those listed; else -1.

    >>> places_among([np.array([0, 1]), np.array([2, 0])], np.array([[1], [0]]), [2, 3]).tolist()
    [-1, 0]
    """
    codes, wanted = (np.ravel_multi_index([*states], sizes) for states in (listed, rows))
    order = np.append(np.argsort(codes, kind="stable"), -1)
    in_order = np.append(codes, -1)[order]
    at = np.searchsorted(in_order[:-1], wanted)
    return np.where(in_order[at] == wanted, order[at], -1)


def rows_in_order(rows: Array) -> Array:
    """The different rows of a table, in order: as `np.unique` finds them, in a tenth of the time.

    >>> rows_in_order(np.array([[2, 1], [1, 3], [2, 1]])).tolist()
    [[1, 3], [2, 1]]
    """
    rows = rows[np.lexsort(rows.T[::-1])]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return np.asarray(rows[is_new])


def distinct_rows(table: Array) -> tuple[Array, Array]:
    """The different rows of a table of numbers, and which of them each row is.

    Rows are told apart by one number made of their bits, and compared afterwards: that is much
    faster than sorting them.

    >>> [part.tolist() for part in distinct_rows(np.array([[2.0, 1.0], [2.0, 1.0]]))]
    [[[2.0, 1.0]], [0, 0]]
    """
    bits = np.ascontiguousarray(table, float).view(np.uint64)
    factors = np.arange(1, 2 * bits.shape[1], 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (bits ^ (bits >> np.uint64(29))) * factors
    _, first, onto = np.unique(mixed.sum(axis=1), return_index=True, return_inverse=True)
    if (bits[first][onto] != bits).any():
        rows, onto = np.unique(table, axis=0, return_inverse=True)
        return rows, onto.reshape(-1)
    return table[first], onto.reshape(-1)


# -- weighted sums --------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactSum:
    """An exact weighted sum of whether the token is t, whether the index is i, and outputs."""

    constant: Fraction = Fraction(0)
    parts: Mapping[SumPart, Fraction] = field(default_factory=dict)

    @staticmethod
    def of(variable: int) -> ExactSum:
        """The number that a variable is."""
        return ExactSum(Fraction(0), {SumPart(variable): Fraction(1)})

    def output_weights(self) -> dict[int, Fraction] | None:
        """The weight of each output, if there is nothing else in it but a constant."""
        if not all(part.is_output for part in self.parts):
            return None
        return {part.variable: weight for part, weight in self.parts.items()}

    def plus(self, other: ExactSum, factor: Fraction = Fraction(1)) -> ExactSum:
        parts = dict(self.parts)
        for part, weight in other.parts.items():
            parts[part] = parts.get(part, Fraction(0)) + factor * weight
        kept = {part: weight for part, weight in parts.items() if weight}
        return ExactSum(self.constant + factor * other.constant, kept)

    def weights(self, variable: int, size: int) -> list[Fraction]:
        """What each state of the token, or of the index, adds."""
        return [self.parts.get(SumPart(variable, state), Fraction(0)) for state in range(size)]

    def times(self, factor: Fraction) -> ExactSum:
        return ExactSum().plus(self, factor)

    def line(self, other: ExactSum) -> tuple[Fraction, Fraction] | None:
        """The slope and the constant with which this is a multiple of another sum, if it is."""
        if self.parts.keys() != other.parts.keys() or not other.parts:
            return None
        first = next(iter(other.parts))
        slope = self.parts[first] / other.parts[first]
        if any(weight != slope * other.parts[part] for part, weight in self.parts.items()):
            return None
        return slope, self.constant - slope * other.constant


def of_ground(variable: int, table: Sequence[Fraction], inputs: Inputs) -> ExactSum:
    """A function of the token, or of the index, counted from its value at the base line. A BOS is
    the token at index 0, so that is how it is written.
    """
    base = table[base_line(inputs) if variable == INDEX else 0]
    parts = {SumPart(variable, state): value - base
             for state, value in enumerate(table) if value != base}  # fmt: skip
    bos = SumPart(TOKEN, len(table) - 1)
    if inputs.bos is not None and bos in parts:
        parts[SumPart(INDEX, 0)] = parts.pop(bos)
    return ExactSum(base, parts)


def base_line(inputs: Inputs) -> int:
    """The index from which functions of the index are counted: not 0, where that says "BOS"."""
    return 1 if inputs.bos is not None and inputs.max_length > 1 else 0
