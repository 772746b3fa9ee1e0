"""Atoms in, columns out, and back: a column is a sequence (of a whole batch) as numpy arrays.

Each atom keeps its own kind. A number is an exact pair in lowest terms, in int64 while all of
a column's numbers fit and in Python's integers (dtype object) otherwise; a string is a place in
a sorted table, so that places compare as the strings do. An array of one element holds
for every position: a constant stays a constant, and whole numbers share one denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from sys import getsizeof
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rasp.base.atoms import Atom, to_python

Array: TypeAlias = npt.NDArray[Any]

BOOL, INT, FLOAT, STRING = range(4)
KINDS = {bool: BOOL, int: INT, Fraction: FLOAT, str: STRING}
LARGEST = 2**62
"""Numbers from here on are Python integers: the sum of two smaller ones still fits in int64."""

ONE = np.ones(1, np.int64)


@dataclass(frozen=True, eq=False)
class Column:
    """One atom for each position, or one for all of them."""

    kinds: Array  # uint8, (size,) or (1,)
    numerators: Array  # int64 or object, (size,) or (1,); a string's place in `strings`
    denominators: Array = field(default_factory=lambda: ONE)
    strings: tuple[str, ...] = ()  # sorted, each once

    @property
    def size(self) -> int:
        return max(len(self.kinds), len(self.numerators), len(self.denominators))

    @property
    def is_whole(self) -> bool:
        """True where no number has a fraction part."""
        return len(self.denominators) == 1 and self.denominators[0] == 1

    @property
    def is_big(self) -> bool:
        """True where numbers are held as Python's integers."""
        return self.numerators.dtype == object or self.denominators.dtype == object

    @property
    def has_strings(self) -> bool:
        return bool((self.kinds == STRING).any())

    @property
    def has_numbers(self) -> bool:
        return bool((self.kinds != STRING).any())

    def too_large(self, bits: int) -> Array | None:
        """Where numbers have more bits than this; None where none has."""
        if bits >= 63 and not self.is_big:
            return None
        wrong: Array = (np.abs(self.numerators) >= 1 << bits) | (self.denominators >= 1 << bits)
        wrong = wrong & (self.kinds != STRING)
        return wrong if wrong.any() else None

    def take(self, positions: Array) -> Column:
        """The atoms at some positions."""
        kinds, numerators, denominators = (
            part if len(part) == 1 else part[positions] for part in self.parts
        )
        return Column(kinds, numerators, denominators, self.strings)

    @property
    def nbytes(self) -> int:
        """Bytes of everything it holds."""
        size = sum(part.nbytes for part in self.parts) + sum(map(len, self.strings))
        if self.is_big:
            size += sum(sum(map(getsizeof, part.tolist())) for part in self.parts[1:])
        return size

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        return self.kinds, self.numerators, self.denominators

    def atoms(self, size: int, as_python: bool = False) -> list[Any]:
        """List the atoms, `size` of them where one is held for all; Python has its own floats."""
        kinds, numerators, denominators = (
            np.broadcast_to(part, size) if len(part) == 1 else part for part in self.parts
        )
        if len(self.kinds) == 1:
            kind = int(self.kinds[0])
            return _atoms_of_kind(kind, numerators, denominators, self.strings, as_python)
        result = np.empty(size, object)
        for kind in np.unique(kinds).tolist():
            where = np.flatnonzero(kinds == kind)
            parts = numerators[where], denominators[where]
            atoms = _atoms_of_kind(kind, *parts, self.strings, as_python)
            result[where] = _object_array(atoms)
        return list(result)


def constant(atom: Atom) -> Column:
    """A column with the same atom everywhere."""
    return from_atoms([atom])


def from_atoms(atoms: Sequence[Atom]) -> Column:
    """Make a column of atoms; a list of one holds for all positions.

    >>> from_atoms([1, 2, Fraction(1, 2)]).denominators.tolist()
    [1, 1, 2]
    """
    types = set(map(type, atoms))
    if types == {str}:
        return from_strings(atoms)
    if len(types) == 1:
        kinds = one_kind(KINDS[next(iter(types))])
    else:
        kinds = np.fromiter((KINDS[type(atom)] for atom in atoms), np.uint8, len(atoms))
    if types <= {int, bool}:
        return numbers(kinds, _integers(atoms))
    strings = from_strings([atom for atom in atoms if isinstance(atom, str)])
    places = iter(strings.numerators.tolist())
    tops = [next(places) if isinstance(atom, str) else atom.numerator for atom in atoms]
    bottoms = [1 if isinstance(atom, str) else atom.denominator for atom in atoms]
    return numbers(kinds, _integers(tops), _integers(bottoms), strings.strings)


def from_strings(atoms: Sequence[Any]) -> Column:
    """Make a column of strings."""
    table = tuple(sorted(set(atoms)))
    if table and all(len(text) == 1 for text in table):
        return from_text("".join(atoms))
    place = {text: at for at, text in enumerate(table)}
    places = np.fromiter(map(place.__getitem__, atoms), np.int64, len(atoms))
    return Column(one_kind(STRING), places, ONE, table)


def from_text(text: str) -> Column:
    """Make a column of a text's characters.

    >>> from_text("bab").numerators.tolist()
    [1, 0, 1]
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    table = tuple(sorted(set(text)))
    place_of = np.zeros(ord(table[-1]) + 1, np.int64)  # by code point
    place_of[[ord(character) for character in table]] = np.arange(len(table))
    return Column(one_kind(STRING), place_of[points], ONE, table)


def numbers(
    kinds: Array, numerators: Array, denominators: Array = ONE, strings: tuple[str, ...] = ()
) -> Column:
    """Make a column of pairs in lowest terms, as narrow as they allow."""
    if len(denominators) > 1 and denominators.max() == 1:
        denominators = ONE
    return Column(kinds, _held(numerators), _held(denominators), strings)


def one_kind(kind: int) -> Array:
    return np.full(1, kind, np.uint8)


def booleans(values: Array) -> Column:
    """Make a column of bools from an array of them."""
    return Column(one_kind(BOOL), values.astype(np.int64))


def merged_tables(columns: Sequence[Column]) -> tuple[tuple[str, ...], list[Array]]:
    """Join string tables; for each column, its numerators with strings renumbered to match."""
    tables = dict.fromkeys(column.strings for column in columns if column.strings)
    if len(tables) <= 1:
        return next(iter(tables), ()), [column.numerators for column in columns]
    table = tuple(sorted(set().union(*tables)))
    place = {text: at for at, text in enumerate(table)}
    renumbered = []
    for column in columns:
        if not column.strings or column.strings == table:
            renumbered.append(column.numerators)
            continue
        moved = np.fromiter(map(place.__getitem__, column.strings), np.int64, len(column.strings))
        is_string = column.kinds == STRING
        places = np.where(is_string, column.numerators, 0).astype(np.int64)
        renumbered.append(np.where(is_string, moved[places], column.numerators))
    return table, renumbered


def chosen(condition: Array, then: Column, otherwise: Column) -> Column:
    """At each position, the atom of one column or the other, with its own kind."""
    if len(condition) == 1:
        return then if condition[0] else otherwise
    table, (first, second) = merged_tables([then, otherwise])
    kinds = then.kinds
    if len(kinds) > 1 or len(otherwise.kinds) > 1 or kinds[0] != otherwise.kinds[0]:
        kinds = np.where(condition, then.kinds, otherwise.kinds)
    bottoms = then.denominators
    if not (then.is_whole and otherwise.is_whole):
        bottoms = np.where(condition, then.denominators, otherwise.denominators)
    return numbers(kinds, np.where(condition, first, second), bottoms, table)


def _atoms_of_kind(
    kind: int, numerators: Array, denominators: Array, strings: tuple[str, ...], as_python: bool
) -> list[Any]:
    if kind == STRING:
        places = numerators.astype(np.int64, copy=False)
        texts: list[Any] = _object_array(strings)[places].tolist()
        return texts
    if kind == BOOL:
        bools: list[bool] = numerators.astype(bool).tolist()
        return bools
    if kind == INT:
        return _ints(numerators)
    if as_python and _divides_exactly(numerators) and _divides_exactly(denominators):
        return list((numerators / denominators).tolist())
    make: Callable[[int, int], Fraction] = Fraction
    fractions = map(make, numerators.tolist(), denominators.tolist())
    return [to_python(fraction) for fraction in fractions] if as_python else list(fractions)


def _divides_exactly(values: Array) -> bool:
    """Whether a quotient of such numbers is the double nearest to the fraction."""
    return values.dtype != object and bool((np.abs(values) < 2**53).all())


def _ints(values: Array) -> list[int]:
    """Python's integers; where few different ones occur, one object for each is shared."""
    if values.dtype != object and len(values) > 1000:
        least, most = int(values.min()), int(values.max())
        if most - least < len(values) // 4:
            shared: list[int] = _object_array(range(least, most + 1))[values - least].tolist()
            return shared
    alone: list[int] = values.tolist()
    return alone


def _object_array(atoms: Sequence[Any]) -> Array:
    result = np.empty(len(atoms), object)
    result[:] = atoms
    return result


def _integers(values: Sequence[Any]) -> Array:
    """An int64 array, or one of Python's integers where some do not fit."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return _object_array([int(value) for value in values])


def _held(values: Array) -> Array:
    """Move numbers to Python's integers where they are large, and back where they fit again."""
    fits = values.max() < LARGEST and values.min() > -LARGEST
    if values.dtype == object:
        return values.astype(np.int64) if fits else values
    return values if fits else values.astype(object)
