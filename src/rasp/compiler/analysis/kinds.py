"""The kinds of atom that a number can be: an int, a float (held as a `Fraction`), or a bool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from rasp.atoms import Atom, show
from rasp.compiler.refusals import Refusal
from rasp.operators import giving

LARGEST_WHOLE = 1 << 53
"""Up to this, a float holds every whole number."""


def kinds_of(op: str, operands: Sequence[frozenset[type]]) -> frozenset[type]:
    """The kinds a number made by an operator can have."""
    for name, kind in (("float", Fraction), ("int", int), ("bool", bool)):
        if op in giving(name):
            return frozenset({kind})
    if any(operand == {Fraction} for operand in operands):
        return frozenset({Fraction})
    return frozenset({int, Fraction} if any(Fraction in operand for operand in operands) else {int})


def as_kinds(code: Fraction, kinds: frozenset[type]) -> list[Atom]:
    """A number as an atom of each kind it may have."""
    atoms: list[Atom] = []
    if int in kinds and code.denominator == 1:
        atoms.append(int(code))
    if bool in kinds and code in (0, 1):
        atoms.append(bool(code))
    if Fraction in kinds or not atoms:
        atoms.append(code)
    return atoms


def width_of_kind(atom: Atom) -> int:
    """Of equal atoms of different kinds, the widest kind is shown."""
    return [bool, int, Fraction, str].index(type(atom))


def atoms_by_code(atoms: Sequence[Atom], codes: Mapping[Atom, Fraction]) -> dict[Fraction, Atom]:
    """The atom that each code means: of equal numbers, the one of the widest kind."""
    atom_of = {codes[atom]: atom for atom in sorted(atoms, key=width_of_kind)}
    for atom in atoms:
        is_of_two_kinds = type(atom) is not type(atom_of[codes[atom]])
        if (
            is_of_two_kinds and not isinstance(atom, str) and abs(Fraction(atom)) > LARGEST_WHOLE
        ):  # no float holds it
            raise Refusal(
                f"it may be {show(atom)} as an int and as a float, which are not the same number",
                "work with smaller numbers",
            )
    return atom_of
