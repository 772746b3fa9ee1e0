"""The kinds of atom that a number can be: an int, a float (held as a `Fraction`), or a bool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from rasp.base.atoms import Atom, show
from rasp.language.graph import OPERATORS
from rasp.models.certificate.program.kinds import SURE, joined_kinds
from rasp.models.compiler.compile_refusals import Refusal

WIDER = [bool, int, Fraction, str]
LARGEST_WHOLE = 1 << 53
"""Up to this, a float holds every whole number."""


def kinds_of(op: str, operands: Sequence[frozenset[type]]) -> frozenset[type]:
    """The kinds a number made by an operator can have."""
    gives = OPERATORS[op].gives
    return frozenset({SURE[gives]}) if gives in SURE else joined_kinds(operands)


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


def atoms_by_code(atoms: Sequence[Atom], codes: Mapping[Atom, Fraction]) -> dict[Fraction, Atom]:
    """The atom that each code means: of equal numbers, the one of the widest kind."""
    by_width = sorted(atoms, key=lambda atom: WIDER.index(type(atom)))
    atom_of = {codes[atom]: atom for atom in by_width}
    for atom in atoms:
        is_of_two_kinds = type(atom) is not type(atom_of[codes[atom]])
        if is_of_two_kinds and abs(Fraction(atom)) > LARGEST_WHOLE:  # no float holds it
            raise Refusal(
                f"it may be {show(atom)} as an int and as a float, which are not the same number",
                "work with smaller numbers",
            )
    return atom_of
