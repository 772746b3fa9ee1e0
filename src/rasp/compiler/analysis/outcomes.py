"""An operator and what its operands hold in, what it makes of that out."""

from __future__ import annotations

from fractions import Fraction

from rasp.atoms import Atom
from rasp.compiler.analysis.values import HeldValues
from rasp.errors import RaspError
from rasp.graph import Node, SOp, apply_operator


class Outcomes:
    """Applies operators; remembers where the program itself would fail."""

    def __init__(self, held: HeldValues) -> None:
        self._held = held
        self.failures: dict[Node, str] = {}

    def of(self, node: SOp, op: str, row: tuple[Atom | None, ...]) -> Atom | None:
        """What an s-op is for a row of atoms; None where the program would fail."""
        if None in row:
            return None
        try:
            return apply_operator(op, row)  # type: ignore[arg-type]
        except RaspError as error:
            self.failures.setdefault(node, error.message)
        ints = self._as_ints(node, row)
        return None if ints is None else self.of(node, op, ints)

    def _as_ints(self, node: SOp, row: tuple[Atom | None, ...]) -> tuple[Atom | None, ...] | None:
        """The same with whole floats as ints, where operands may be either; None where not."""
        ints = [int(atom) if isinstance(atom, Fraction) and atom.denominator == 1
                and isinstance(operand, SOp) and int in self._held.of(operand).kinds else None
                for atom, operand in zip(row, node.needs, strict=False)]  # fmt: skip
        if all(number is None for number in ints):
            return None
        return tuple(atom if number is None else number
                     for atom, number in zip(row, ints, strict=True))  # fmt: skip
