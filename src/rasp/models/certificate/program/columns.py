"""An s-op and a space in; the s-op's atom for each combination of states, out.

The meaning of an s-op is the operator table's, that of an aggregate is `Meaning`, whose rules
`aggregates` checks. An s-op of which the space does not have every operand may still be a function
of it: a count of conditions, a weighted sum, the sign of one, or what a sum decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import (
    COMPARISONS,
    Aggregate,
    Const,
    Elementwise,
    Indices,
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
)
from rasp.models.certificate.claims import INDEX, TOKEN, ClaimedCount, Meaning, Refused
from rasp.models.certificate.program.aggregates import check_ratio
from rasp.models.certificate.program.kinds import loosened
from rasp.models.certificate.program.linear import linear_column
from rasp.models.certificate.program.outputs import numbers_of_shares
from rasp.models.certificate.program.tables import (
    Array,
    AtomColumn,
    ExactSum,
    Space,
    column_of,
    combined,
    joint_places,
    operands_of,
    same,
    typed,
)

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues


def find_column(values: ProvedValues, node: SOp, space: Space) -> AtomColumn:
    """An s-op over some variables; refused where it is not certain to be a function of them."""
    if len({*space.variables}) < len(space.variables):
        raise Refused("a case of a choice leaves open what is read")
    variable = values.node_variables.get(node)
    if variable is not None and variable in space.variables:
        domain = values.domain(variable)
        return AtomColumn([*domain.atoms], space.row(variable), domain.kinds)
    match node:
        case Const(value):
            return AtomColumn([value], np.zeros(space.size, int))
        case Tokens() if TOKEN in space.variables:
            return column_of(values.inputs.vocabulary, space.row(TOKEN))
        case TokensAs(kind) if TOKEN in space.variables:
            column = column_of(values.inputs.vocabulary, space.row(TOKEN))
            return combined(kind, [column], node in values.program)
        case Indices() if INDEX in space.variables:
            return column_of(range(values.inputs.max_length), space.row(INDEX))
        case Aggregate() if node in values.claims.aggregates:
            return _aggregate(values, node, values.claims.aggregates[node], space)
        case Elementwise():
            return _elementwise(values, node, space)
    raise Refused("an s-op is not a function of what is claimed")


def _aggregate(values: ProvedValues, node: Aggregate, meaning: Meaning, space: Space) -> AtomColumn:
    match meaning.rule:
        case "never":
            return AtomColumn([node.default], np.zeros(space.size, int))
        case "mean":
            return _of_output(values, meaning.outputs[0], space)
        case "count" | "pick":
            whole = linear_column(values, values.whole(meaning), space)
            light = values.picks.atoms(node.values, True)[0]
            atoms: list[Atom | None] = []
            for number in map(Fraction, whole.atoms):  # type: ignore[arg-type]
                if meaning.rule == "pick":
                    atoms.append(light if number else node.default)
                elif number < 1:
                    atoms.append(None)
                else:
                    atoms.append(light if number == 1 else Fraction(light) / number)
            return column_of(atoms, whole.places)
        case "shares":
            return _from_shares(values, node, meaning, space)
    raise Refused("a sum is used where the program has a mean")


def _from_shares(
    values: ProvedValues, node: Aggregate, meaning: Meaning, space: Space
) -> AtomColumn:
    """A width's aggregate from whether position 0 is picked, and how many others are."""
    counts = numbers_of_shares(values, meaning.outputs)
    whole = linear_column(values, values.whole(meaning), space)
    (light,) = values.picks.atoms(node.values, True)
    atoms: list[Atom | None] = []
    for number in whole.atoms:
        picked, others = counts[Fraction(number)]  # type: ignore[arg-type]
        if meaning.constant:  # the aggregate that always picks position 0
            atoms.append(light if not others else Fraction(light) / (others + 1))
        else:
            atoms.append(light if picked else node.default)
    return column_of(atoms, whole.places)


def _of_output(values: ProvedValues, variable: int, space: Space) -> AtomColumn:
    atoms = values.domain(variable).atoms
    if variable not in space.variables and all(same(atom, atoms[0]) for atom in atoms):
        kinds = frozenset(map(type, atoms))  # one number, an int or a mean of several
        return loosened(column_of(atoms[-1:], np.zeros(space.size, int)), kinds)
    states = values.states_on(variable, space)
    return AtomColumn([*atoms, None], np.where(states < 0, len(atoms), states))


def _elementwise(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn:
    column = _positive(values, node, space) or _of_stand_ins(values, node, space)
    if column is not None:
        return column
    try:
        columns = [values.column(operand, space) for operand in node.operands]
        return combined(node.op, columns, node in values.program)
    except Refused:
        for rule in (_counted, _as_line, _by_sign, _either_way, _lifted):
            column = rule(values, node, space)
            if column is not None:
                return column
        raise


# -- sums in place of means -----------------------------------------------------------------------


def _of_stand_ins(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn | None:
    """`a / b` and `a < b` of means over one selector, from their sums; and `width * mean`."""
    sums = [values.stand_in(operand) for operand in node.operands]
    if not any(sums):
        return None
    if node.op == "*":
        return linear_column(values, values.linear_or_refuse(node), space, values.kinds(node))
    check_ratio(values, node)
    lines = [stand_in if stand_in is not None else values.linear_or_refuse(operand)
             for stand_in, operand in zip(sums, node.operands, strict=True)]  # fmt: skip
    if node.op == "/":
        columns = [linear_column(values, line, space) for line in lines]
        return combined("/", columns, node in values.program)
    return _compared(values, node.op, lines, space)


def _positive(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn | None:
    """Whether a mean of numbers from 0 on is 0, from that of counts that are 0 with them."""
    mean = node.operands[0] if node.operands else None
    meaning = values.claims.aggregates.get(mean) if isinstance(mean, Aggregate) else None
    if meaning is None or meaning.rule != "positive":
        return None
    other = node.operands[1] if node.op in ("==", "!=", ">", "<=") else None
    if not isinstance(other, Const) or isinstance(other.value, str) or other.value != 0:
        raise Refused("of a mean of counts is asked more than whether it is 0")
    held = _of_output(values, meaning.outputs[0], space)
    return combined(node.op, [held, values.column(other, space)], False)


# -- functions of fewer numbers than operands -----------------------------------------------------


def _counted(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn | None:
    """An `and` or an `or` of conditions from how many of them hold.

    `False or x` is x, and so is `True and x`: such a constant need not be counted.
    """
    if node.op not in ("and", "or"):
        return None
    operands = {*operands_of(node, node.op)} - {Const(node.op == "and")}
    for variable in space.variables:
        claimed = values.claims.variables[variable]
        if isinstance(claimed, ClaimedCount) and operands == {*claimed.conditions}:
            count = len(claimed.conditions)
            least = 1 if node.op == "or" else count
            return column_of([held >= least for held in range(count + 1)], space.row(variable))
    return None


def _as_line(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn | None:
    """A weighted sum of which the space has a multiple, or every part."""
    linear = values.linear(node)
    try:
        if linear is not None:
            return linear_column(values, linear, space, values.kinds(node))
    except Refused:
        pass
    return None


def _by_sign(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn | None:
    """A comparison of two weighted sums from their difference."""
    lines = [values.linear(operand) for operand in node.operands if node.op in COMPARISONS]
    if not lines or lines[0] is None or lines[1] is None:
        return None
    return _compared(values, node.op, [lines[0], lines[1]], space)


def _compared(
    values: ProvedValues, op: str, lines: Sequence[ExactSum], space: Space
) -> AtomColumn | None:
    try:
        column = linear_column(values, lines[0].plus(lines[1], Fraction(-1)), space)
    except Refused:
        return None
    return column_of([apply_operator(op, (atom, 0)) for atom in column.atoms], column.places)  # type: ignore[arg-type]


def _either_way(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn | None:
    """A choice whose condition is always the same, or makes no difference, from what it is then.

    Where the condition fails, the program has no value, and it does not matter what is said here.
    """
    if node.op != "if":
        return None
    condition, *branches = node.operands
    try:
        outcomes = {typed(atom) for atom in values.table(condition)[1].listed() if atom is not None}
        if len(outcomes) == 1:
            ((_, holds),) = outcomes
            return values.column(branches[0 if holds else 1], space)
        one, other = (values.column(branch, space) for branch in branches)
    except Refused:
        return None
    _, pairs = joint_places([(column.places, len(column.atoms)) for column in (one, other)])
    alike = [(one.atoms[left], other.atoms[right]) for left, right in pairs]
    if not all(same(left, right) for left, right in alike):
        return None
    kinds = {kind for pair in alike if len({*map(type, pair)}) > 1 for kind in map(type, pair)}
    return AtomColumn(one.atoms, one.places, one.kinds | other.kinds | kinds)


def _lifted(values: ProvedValues, node: Elementwise, space: Space) -> AtomColumn | None:
    """A function of a sum that is found over what the sum is made of, if the sum decides it."""
    grounds = values.grounds(space.variables)
    if grounds == set(space.variables):
        return None
    try:
        wide = values.space(sorted(grounds))
        column = values.column(node, wide)
        rows = [values.states_on(variable, wide) for variable in space.variables]
    except Refused:
        return None
    return _projected(values, column, rows, space)


def _projected(
    values: ProvedValues, column: AtomColumn, rows: Sequence[Array], space: Space
) -> AtomColumn | None:
    """A column over other combinations, of which each is in a state of this space.

    Where the program fails in some of those that are in one state, the others say what it
    answers there.
    """
    sizes = values.sizes(space.variables)
    fine = np.all([row >= 0 for row in rows], axis=0)
    places = np.ravel_multi_index([row[fine] for row in rows], sizes)
    _, pairs = joint_places([(places, int(np.prod(sizes))),
                             (column.places[fine], len(column.atoms))])  # fmt: skip
    by_place: dict[int, Atom] = {}
    kinds = set(column.kinds)
    for place, atom in pairs:
        value = column.atoms[atom]
        if value is None:
            continue
        if not same(by_place.setdefault(place, value), value):
            return None
        if type(by_place[place]) is not type(value):
            kinds |= {type(by_place[place]), type(value)}
    wanted = np.ravel_multi_index([*space.grid], sizes)
    projected = column_of([by_place.get(place) for place in wanted.tolist()], np.arange(space.size))
    return AtomColumn(projected.atoms, projected.places, frozenset(kinds))
