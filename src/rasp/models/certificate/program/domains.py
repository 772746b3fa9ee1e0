"""A variable in; its states out: all that it can be, and the numbers that stand for that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import SOp
from rasp.models.certificate.claims import (
    INDEX,
    TOKEN,
    ClaimedCount,
    ClaimedNode,
    ClaimedSum,
    Refused,
)
from rasp.models.certificate.program.outputs import states_of_output
from rasp.models.certificate.program.sums import numbers_of_sum
from rasp.models.certificate.program.tables import Array, AtomColumn, ExactSum, typed

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues


@dataclass(frozen=True, eq=False)
class Domain:
    """The states of a variable: an atom each, and the number that stands for it."""

    atoms: list[Atom]
    numbers: list[Fraction] | None
    kinds: frozenset[type] = frozenset()
    """As in a column; then no two atoms are equal."""

    @property
    def size(self) -> int:
        return len(self.atoms)

    @property
    def exact(self) -> list[Fraction]:
        """The numbers, which an output, a sum or a count has."""
        if self.numbers is None:
            raise Refused("a variable is not a number")
        return self.numbers

    @cached_property
    def floats(self) -> Array:
        """(state,): the numbers, as near as floats come."""
        return np.array([float(number) for number in self.exact])

    @cached_property
    def unit(self) -> float:
        """A power of two of which the numbers are whole multiples; 0 where there is none."""
        return binary_unit(self.exact)


def binary_unit(numbers: Iterable[Fraction]) -> float:
    """A power of two of which numbers are whole multiples; 0 where there is none.

    >>> binary_unit([Fraction(3), Fraction(1, 4)]), binary_unit([Fraction(1, 3)])
    (0.25, 0.0)
    """
    parts = {number.denominator for number in numbers}
    if any(part & (part - 1) for part in parts) or max(parts, default=1) > 2**1000:
        return 0.0
    return 1 / max(parts, default=1)


def find_domain(values: ProvedValues, variable: int) -> Domain:
    """Everything a variable can be."""
    if variable == TOKEN:
        return Domain(list(values.inputs.vocabulary), None)
    if variable == INDEX:
        return Domain(list(range(values.inputs.max_length)), None)
    if variable < 0:
        raise Refused("there is no such variable")
    match values.claims.variables[variable]:
        case ClaimedNode(node):
            return domain_of(values.table(node)[1])
        case ClaimedCount(conditions):
            _check_conditions(values, conditions)
            counts = range(len(conditions) + 1)
            return Domain([*counts], [*map(Fraction, counts)])
        case ClaimedSum(constant, parts):
            numbers = numbers_of_sum(values, ExactSum(constant, parts))
            return Domain([*numbers], numbers)
    states = states_of_output(values, variable)
    unique = list(dict.fromkeys((typed(atom), code) for atom, code in states))
    return Domain([atom for (_, atom), _ in unique], [code for _, code in unique])  # type: ignore[misc]


def _check_conditions(values: ProvedValues, conditions: Sequence[SOp]) -> None:
    """What is counted is bools: `and` and `or` take every other atom for one, too."""
    for condition in conditions:
        atoms = values.table(condition)[1].listed()
        if not all(atom is None or isinstance(atom, bool) for atom in atoms):
            raise Refused("what is counted is not a condition")


def domain_of(column: AtomColumn) -> Domain:
    """The states of an s-op that holds the atoms of a column."""
    atoms = [atom for atom in column.listed() if atom is not None]
    if not column.kinds:
        return Domain(atoms, None)
    distinct = {(isinstance(atom, str), atom): atom for atom in atoms}
    return Domain([*distinct.values()], None, column.kinds | set(map(type, atoms)))


def states_of_atoms(column: AtomColumn, domain: Domain) -> list[int]:
    """(atom,): the state in which an s-op has it; -1 where there is none. Equal numbers of
    different kinds are different states, unless the domain does not tell them apart.
    """
    alike: dict[tuple[bool, Atom | None], list[int]] = {}
    for state, listed in enumerate(domain.atoms):
        alike.setdefault((isinstance(listed, str), listed), []).append(state)
    states = []
    for atom in column.atoms:
        equal = alike.get((isinstance(atom, str), atom), [])
        mine = [state for state in equal if typed(domain.atoms[state]) == typed(atom)]
        if len(equal) == 1 and domain.kinds:
            mine = equal
        elif equal and (not mine or (column.kinds and len(equal) > 1)):
            raise Refused("an int is told from an equal float, which are one number to a model")
        states.append(mine[0] if mine else -1)
    return states
