"""S-ops as exact weighted sums of tokens, indices and what heads put out.

Such a sum is a function of few numbers even where it is made of many, so that it needs no table
over all of them: the checker's algebra.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rasp.language.graph import Aggregate, Elementwise, SOp
from rasp.language.operators import leaves_alone
from rasp.models.certificate.claims import INDEX, TOKEN, Refused
from rasp.models.certificate.program.aggregates import is_width
from rasp.models.certificate.program.kinds import as_atom, loosened
from rasp.models.certificate.program.reach import unit_of
from rasp.models.certificate.program.tables import (
    Array,
    AtomColumn,
    ExactSum,
    Space,
    column_of,
    of_ground,
)

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues


# -- columns of sums ------------------------------------------------------------------------------


def linear_column(
    values: ProvedValues,
    linear: ExactSum,
    space: Space,
    kinds: frozenset[type] = frozenset({Fraction}),
) -> AtomColumn:
    """A weighted sum over some variables: a line in one of them, or all its parts are there."""
    linear = _settled(values, linear, space)
    for variable in space.variables:
        line = linear.line(values.linear_of(variable)) if values.is_number(variable) else None
        if line is not None:
            atoms = [as_atom(line[0] * number + line[1], kinds)
                     for number in values.numbers(variable)]  # fmt: skip
            return loosened(column_of(atoms, space.row(variable)), kinds)
    whole, unit = in_units(values, linear, space)
    different, places = np.unique(whole, return_inverse=True)
    totals = [as_atom(Fraction(int(number), unit), kinds) for number in different.tolist()]
    return loosened(column_of(totals, places.reshape(-1)), kinds)


def _settled(values: ProvedValues, linear: ExactSum, space: Space) -> ExactSum:
    """The same, with outputs that can be one number alone as a part of the constant."""
    constant, parts = linear.constant, dict(linear.parts)
    for part, weight in linear.parts.items():
        if part.is_output and part.variable not in space.variables:
            numbers = {*values.numbers(part.variable)}
            if len(numbers) == 1:
                constant += weight * numbers.pop()
                del parts[part]
    return ExactSum(constant, parts)


def in_units(values: ProvedValues, linear: ExactSum, space: Space) -> tuple[Array, int]:
    """(combination,): a weighted sum in whole units, and how many of them make 1."""
    tables: dict[int, list[Fraction]] = {}
    for part, weight in linear.parts.items():
        variable = part.variable
        if variable not in space.variables:
            raise Refused("a weighted sum is not a function of what is claimed")
        if part.state is None:
            tables[variable] = [weight * number for number in values.numbers(variable)]
        else:
            table = tables.setdefault(variable, [Fraction(0)] * values.domain(variable).size)
            table[part.state] = weight
    unit = unit_of([linear.constant, *(number for table in tables.values() for number in table)])
    whole = {variable: [int(number * unit) for number in table]
             for variable, table in tables.items()}  # fmt: skip
    constant = int(linear.constant * unit)
    most = abs(constant) + sum(max(map(abs, table)) for table in whole.values())
    total = np.full(space.size, constant, np.int64 if most < 2**62 else object)
    for variable, units in whole.items():
        total = total + np.array(units, total.dtype)[space.row(variable)]
    return total, unit


# -- s-ops as sums --------------------------------------------------------------------------------


def find_linear(values: ProvedValues, node: SOp) -> ExactSum | None:
    """An s-op as a weighted sum of tokens, indices and outputs, if it is one."""
    linear = None
    if isinstance(node, Elementwise):
        linear = _by_product(values, node) or _by_operator(values, node)
    elif isinstance(node, Aggregate):
        meaning = values.claims.aggregates.get(node)
        if meaning and meaning.rule == "mean" and _is_number(values, meaning.outputs[0]):
            return ExactSum.of(meaning.outputs[0])
    return linear if linear is not None else _fitted(values, node)


def _is_number(values: ProvedValues, variable: int) -> bool:
    """Whether what a head puts out is the number itself, and never a string: `x + y` of strings is
    not a weighted sum of them, and not `y + x`.
    """
    head, output = values.head(variable), values.output(variable)
    try:
        atoms = values.picks.atoms(output.values, None)
    except Refused:
        return False
    default = [] if head.never_empty else [output.default]
    return output.is_plain and not any(isinstance(atom, str) for atom in (*atoms, *default))


def _by_product(values: ProvedValues, node: Elementwise) -> ExactSum | None:
    """`width * mean` is the sum of what is picked, and `constant / share` how many keys share."""
    if node.op == "*":
        for mean, other in (node.operands, node.operands[::-1]):
            stand_in = values.stand_in(mean)
            if stand_in is not None and not stand_in.constant:  # a sum of the values, and no more
                assert isinstance(mean, Aggregate)
                if is_width(values, other, mean):
                    return stand_in
    if node.op == "/" and isinstance(node.operands[1], Aggregate):
        below, above = node.operands[1], values.linear(node.operands[0])
        meaning = values.claims.aggregates.get(below)
        if meaning and meaning.rule == "count" and above is not None and not above.parts:
            light = values.picks.atoms(below.values, True)[0]
            return values.whole(meaning).times(above.constant / Fraction(light))
    return None


def _by_operator(values: ProvedValues, node: Elementwise) -> ExactSum | None:
    lines = [None if values.stand_in(part) else values.linear(part) for part in node.operands]
    sums = [line for line in lines if line is not None]
    if len(sums) < len(node.operands) or not sums:
        return None
    match node.op:
        case "+":
            return sums[0].plus(sums[1])
        case "-":
            return sums[0].plus(sums[1], Fraction(-1))
        case "negate":
            return sums[0].times(Fraction(-1))
        case "*" if not sums[0].parts:
            return sums[1].times(sums[0].constant)
        case "*" if not sums[1].parts:
            return sums[0].times(sums[1].constant)
        case "/" if not sums[1].parts and sums[1].constant:
            return sums[0].times(1 / sums[1].constant)
    if len(sums) == 1 and _keeps(values, node.op, node.operands[0], sums[0]):
        return sums[0]
    return None


def _keeps(values: ProvedValues, op: str, operand: SOp, linear: ExactSum) -> bool:
    """Whether an operator changes no number that its operand can be."""
    try:
        space = values.space(values.over(operand))
        atoms = linear_column(values, linear, space).atoms
    except Refused:
        return False
    return leaves_alone(op, [atom for atom in atoms if atom is not None])


def _fitted(values: ProvedValues, node: SOp) -> ExactSum | None:
    """A function of one variable as a weighted sum, where it lies on a line."""
    try:
        space, column = values.table(node)
    except Refused:
        return None
    atoms = column.listed()
    if any(isinstance(atom, str) for atom in atoms):
        return None
    held = [Fraction(atom) for atom in atoms if atom is not None]
    if held and len(set(held)) == 1:
        return ExactSum(held[0])
    if len(space.variables) != 1 or not held:
        return None
    (variable,) = space.variables
    numbers = [None if atom is None else Fraction(atom) for atom in values.by_state(node, variable)]
    filled = [held[0] if number is None else number for number in numbers]
    if variable in (TOKEN, INDEX):
        return of_ground(variable, filled, values.inputs)
    if not values.is_number(variable):
        return None
    return _line([*zip(values.numbers(variable), numbers, strict=True)], values.linear_of(variable))


def _line(points: Sequence[tuple[Fraction, Fraction | None]], base: ExactSum) -> ExactSum | None:
    """A line through points, as a multiple of a sum that is their first coordinate."""
    by_code: dict[Fraction, Fraction] = {}
    for code, number in points:
        if number is not None and by_code.setdefault(code, number) != number:
            return None
    if len(by_code) < 2:
        return None
    (first, low), (second, high), *_ = by_code.items()
    slope = (high - low) / (second - first)
    if any(low + slope * (code - first) != number for code, number in by_code.items()):
        return None
    return base.times(slope).plus(ExactSum(low - slope * first))
