"""An operator and its operands' columns in, the result's column out, and where it failed.

Numbers go through `arithmetic`, all positions at once. Whatever is doubtful there, and every
operator that is not arithmetic (joining strings, `string`, dict look-ups), is applied to atoms,
once for each distinct combination that occurs, by the operator table itself: so results and
errors cannot differ from the plain evaluator's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.base.limits import DEFAULT_LIMITS
from rasp.base.meter import Meter, size_of
from rasp.language.evaluator.fast import arithmetic
from rasp.language.evaluator.fast.columns import (
    BOOL,
    INT,
    STRING,
    Array,
    Column,
    booleans,
    chosen,
    from_atoms,
    one_kind,
)
from rasp.language.evaluator.fast.conjunctions import Best
from rasp.language.graph import OPERATORS, Const, Elementwise, SOp, apply_operator
from rasp.language.operators import COMPARE, ORDERINGS

NUMERIC: dict[str, Callable[..., arithmetic.Result]] = {
    row.name: getattr(arithmetic, row.kernel) for row in OPERATORS.values() if row.kernel
}
ORDERED = {op: arithmetic.ordered(COMPARE[op]) for op in ORDERINGS}
FEW_MEMBERS = 16
LARGE = 1 << 20
"""Bytes of results from which memory is looked at after each of them."""


def elementwise(
    op: str, operands: Sequence[Column], meter: Meter | None = None
) -> tuple[Column, Array | None]:
    """Apply an operator at every position; the second part is True where it does not apply.

    >>> elementwise("+", [from_atoms([1, 2]), from_atoms([10])])[0].numerators.tolist()
    [11, 12]
    """
    meter = meter or Meter(DEFAULT_LIMITS)
    return _within_bits(*_applied(op, operands, meter), meter)


def _within_bits(column: Column, failed: Array | None, meter: Meter) -> tuple[Column, Array | None]:
    bits = meter.limits.number_bits
    if bits >= 63:  # what is larger went through the operator table, which checks it
        return column, failed
    return column, arithmetic.either(failed, column.too_large(bits))


def _applied(op: str, operands: Sequence[Column], meter: Meter) -> tuple[Column, Array | None]:
    if op in NUMERIC:
        return _numeric(NUMERIC[op], op, operands, meter)
    if op in ORDERED:
        if any(operand.is_big for operand in operands):
            return by_atoms(op, operands, meter)
        return _settle(op, operands, *ORDERED[op](*operands), meter)
    match op:
        case "==":
            return booleans(arithmetic.equal(*operands)), None
        case "!=":
            return booleans(~arithmetic.equal(*operands)), None
        case "and":
            return booleans(arithmetic.truth(operands[0]) & arithmetic.truth(operands[1])), None
        case "or":
            return booleans(arithmetic.truth(operands[0]) | arithmetic.truth(operands[1])), None
        case "not":
            return booleans(~arithmetic.truth(operands[0])), None
        case "bool":
            return booleans(arithmetic.truth(operands[0])), None
        case "indicator":
            return Column(one_kind(INT), arithmetic.truth(operands[0]).astype(np.int64)), None
        case "if":
            return chosen(arithmetic.truth(operands[0]), *operands[1:]), None
        case "in" if len(operands) <= FEW_MEMBERS:
            return booleans(_is_member(operands[0], operands[1:])), None
        case "at":
            return _at(operands[0], operands[1:], meter)
    return by_atoms(op, operands, meter)


class Application:
    """An operator with its constant operands in place: columns of the others in, a column out.

    A look-up among constants is made ready once: a program can have thousands of entries.
    """

    def __init__(self, node: Elementwise, constants: Mapping[SOp | Best, Column]) -> None:
        self.op = node.op
        self.varying = [operand for operand in node.operands if operand not in constants]
        self._columns = [constants.get(operand) for operand in node.operands]
        self._look_up: Callable[[Atom], Atom] | None = None
        first, *others = node.operands
        is_long = node.op == "lookup" or len(others) > FEW_MEMBERS
        if node.op in ("in", "lookup") and is_long and self.varying == [first]:
            atoms = [operand.value for operand in others if isinstance(operand, Const)]
            self._look_up = _look_up(node.op, atoms)

    def __call__(self, given: Sequence[Column], meter: Meter) -> tuple[Column, Array | None]:
        """Apply the operator at every position, as `elementwise` does."""
        if self._look_up is not None:
            return _within_bits(*_on_distinct(self._look_up, given, meter), meter)
        rest = iter(given)
        operands = [next(rest) if column is None else column for column in self._columns]
        return elementwise(self.op, operands, meter)


def by_atoms(op: str, operands: Sequence[Column], meter: Meter) -> tuple[Column, Array | None]:
    """Apply an operator to atoms, once for each distinct combination that occurs."""
    constants = [operand.atoms(1)[0] if operand.size == 1 else None for operand in operands]

    def function(*varying: Atom) -> Atom:
        rest = iter(varying)
        atoms = tuple(next(rest) if constant is None else constant for constant in constants)
        return apply_operator(op, atoms, meter.limits)

    return _on_distinct(function, [operand for operand in operands if operand.size > 1], meter)


def _on_distinct(
    function: Callable[..., Atom], operands: Sequence[Column], meter: Meter
) -> tuple[Column, Array | None]:
    first, inverse = distinct(operands)
    columns = [operand.take(first).atoms(len(first)) for operand in operands]
    results: list[Atom] = []
    failed = np.zeros(len(first), bool)
    size = 0
    for at, atoms in enumerate(meter.watched(zip(*columns, strict=True) if columns else [()], 64)):
        try:
            atom = function(*atoms)
        except RaspError:
            atom = 0
            failed[at] = True
        results.append(atom)
        size += size_of(atom)
        if size > LARGE:
            meter.afford(size)
    column = from_atoms(results).take(inverse)
    return column, failed[inverse] if failed.any() else None


def distinct(columns: Sequence[Column]) -> tuple[Array, Array]:
    """Number the distinct combinations of atoms: where each first occurs, and each position's."""
    parts = [part for column in columns for part in column.parts if len(part) > 1]
    if not parts:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    codes, size = np.zeros(len(parts[0]), np.int64), 1
    for part in parts:
        values, inverse = np.unique(part, return_inverse=True)
        codes = codes * len(values) + inverse
        size *= len(values)
        if size > 2**31:
            values, codes = np.unique(codes, return_inverse=True)
            size = len(values)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return first, inverse


def _look_up(op: str, constants: list[Any]) -> Callable[[Atom], Atom]:
    """A look-up of many constants as one dict: equal atoms have equal hashes, the first wins."""
    if op == "in":
        members = set(constants)
        return lambda item: item in members
    table = dict(zip(reversed(constants[::2]), reversed(constants[1::2]), strict=True))

    def look_up(key: Atom) -> Atom:
        return table[key] if key in table else apply_operator(op, (key,))

    return look_up


def _numeric(
    compute: Callable[..., arithmetic.Result], op: str, operands: Sequence[Column], meter: Meter
) -> tuple[Column, Array | None]:
    strings: arithmetic.Doubt = None
    for operand in operands:
        if operand.is_big or not operand.has_numbers:
            return by_atoms(op, operands, meter)
        if operand.has_strings:
            strings = arithmetic.either(strings, operand.kinds == STRING)
    column, doubt = compute(*operands)
    return _settle(op, operands, column, arithmetic.either(doubt, strings), meter)


def _settle(
    op: str, operands: Sequence[Column], column: Column, doubt: arithmetic.Doubt, meter: Meter
) -> tuple[Column, Array | None]:
    """Compute the doubtful positions again, from their atoms."""
    if doubt is None:
        return column, None
    size = max(operand.size for operand in operands)
    positions = np.flatnonzero(np.broadcast_to(doubt, size))
    if len(positions) == size:
        return by_atoms(op, operands, meter)
    again, failed = by_atoms(op, [operand.take(positions) for operand in operands], meter)
    place = np.zeros(size, np.int64)
    place[positions] = np.arange(len(positions))
    column = chosen(np.broadcast_to(doubt, size), again.take(place), column)
    if failed is None:
        return column, None
    everywhere = np.zeros(size, bool)
    everywhere[positions] = failed
    return column, everywhere


def _is_member(item: Column, members: Sequence[Column]) -> Array:
    is_member = np.zeros(1, bool)
    for member in members:
        is_member = is_member | arithmetic.equal(item, member)
    return is_member


def _at(index: Column, items: Sequence[Column], meter: Meter) -> tuple[Column, Array | None]:
    """List look-up, negative from the end."""
    if index.is_big or index.has_strings:
        return by_atoms("at", [index, *items], meter)
    usable = (index.kinds == INT) | (index.kinds == BOOL)
    place = np.where(index.numerators < 0, index.numerators + len(items), index.numerators)
    usable = usable & (place >= 0) & (place < len(items))
    failed = None if usable.all() else ~usable
    place = np.where(usable, place, 0)
    if items and all(item.size == 1 for item in items):
        table = from_atoms([item.atoms(1)[0] for item in items])
        return table.take(place), failed
    result = items[0] if items else from_atoms([0])
    for at, item in enumerate(items):
        result = chosen(place == at, item, result)
    return result, failed
