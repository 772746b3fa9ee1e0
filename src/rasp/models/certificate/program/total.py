"""A program in; whether it has a value on every input, as far as tables can tell, out.

Conservative: where this says yes, no operator, comparison or mean of the program can fail on any
input, since none of its operands is ever of a kind or value for which it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from rasp.language.graph import (
    Aggregate,
    Elementwise,
    Node,
    Score,
    Select,
    SOp,
    Tokens,
    TokensAs,
    in_order,
)
from rasp.language.operators import never_failing_on
from rasp.models.certificate.claims import Refused
from rasp.models.certificate.program.aggregates import split_best
from rasp.models.certificate.program.tables import combined
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.program.well_founded import is_well_founded

MOST_BITS = 4096
"""Of a number that no operator refuses to make; the limit is a few times as far."""


def has_always_a_value(values: ProvedValues, outputs: Sequence[Node]) -> bool:
    """Whether no node of a program can fail.

    Tables list the states of inputs on which the program has a value: where `1 / x + 1` has none,
    nobody looks at `1 / x`. But every node comes after all that it is told by (`well_founded`). On
    an input on which some node has no value, look at the first one of these: all that it is told by
    has one, so that its own table lists that input's states, and says that it fails. With a promise
    that holds where all nodes come after it, since it is true on the inputs in question.
    """
    try:
        where = values.inputs.where
        is_sure = where is None or is_well_founded(values, outputs, first=where)
        return is_sure and all(_is_total(values, node) for node in in_order(outputs))
    except Refused:
        return False


def _is_total(values: ProvedValues, node: Node) -> bool:
    match node:
        case Select(keys, queries, op):
            sorts = _sorts(values, keys) | _sorts(values, queries)
            return op in ("==", "!=") or len(sorts) == 1
        case Score(keys, queries):
            return _sorts(values, keys) | _sorts(values, queries) == {False}
        case Aggregate():
            return _mean_is_total(values, node)
        case Tokens() | TokensAs():
            return None not in values.table(node)[1].listed() and len(_sorts(values, node)) == 1
        case Elementwise():
            return _operator_is_total(values, node)
    return True


def _operator_is_total(values: ProvedValues, node: Elementwise) -> bool:
    """The operator has a value for whatever its operands are together, and of one kind.

    It is applied to the operands here: a table of the node itself says what it is where it has a
    value, and nothing of where it has none.
    """
    if len(_sorts(values, node)) != 1:
        return False
    if node.op in never_failing_on("any"):
        return True
    if node.op in never_failing_on("numbers") and all(
        _sorts(values, operand) == {False} for operand in node.operands
    ):
        return _bits(values, *node.operands) < MOST_BITS
    space = values.space(values.over(node))
    if any(values.stand_in(operand) for operand in node.operands):
        return None not in values.column(node, space).listed()
    columns = [values.column(operand, space) for operand in node.operands]
    return None not in combined(node.op, columns, True, of_any_kind=True).listed()


def _mean_is_total(values: ProvedValues, node: Aggregate) -> bool:
    """Numbers have a mean; anything else must be picked alone, and fit the default."""
    atoms = values.picks.atoms(node.values, None)
    selector, _ = split_best(node)
    meaning = values.claims.aggregates.get(node)
    never_empty = values.picks.never_empty([selector])
    if not never_empty and {isinstance(node.default, str)} != {isinstance(a, str) for a in atoms}:
        return False
    if all(isinstance(atom, (int, Fraction)) and not isinstance(atom, bool) for atom in atoms):
        return _mean_bits(values, node) < MOST_BITS
    if meaning is None or meaning.rule not in ("mean", "positive"):
        return False
    return values.picks.picks_one(values.head(meaning.outputs[0]))


def _bits(values: ProvedValues, *nodes: SOp) -> int:
    """At most as many bits as a sum, a difference or a product of some numbers has above or below
    its line, in lowest terms: those of all of them, and one. More than `MOST_BITS` are not counted.
    """
    bits = 1
    for node in nodes:
        if bits > MOST_BITS:
            break
        try:
            numbers = [Fraction(atom) for atom in values.picks.atoms(node, None)]
        except Refused:  # there is no table: it is made of sums, of which few numbers are listed
            if isinstance(node, Aggregate):
                bits += _mean_bits(values, node)
            else:
                operands = [needed for needed in node.needs if isinstance(needed, SOp)]
                bits += 64 + _bits(values, *operands)
        else:
            bits += max(map(_size, numbers), default=0)
    return bits


def _mean_bits(values: ProvedValues, node: Aggregate) -> int:
    """The same for a mean: of whole numbers of units, as many as a long input has positions."""
    numbers = [Fraction(atom) for atom in values.picks.atoms(node.values, None)]
    unit = 1
    for number in numbers:
        unit = lcm(unit, number.denominator)
        if unit.bit_length() > MOST_BITS:
            break
    return 64 + unit.bit_length() + max(map(_size, numbers), default=0)


def _size(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _sorts(values: ProvedValues, node: SOp) -> set[bool]:
    """Whether an s-op holds strings, numbers, or both."""
    try:
        return {isinstance(atom, str) for atom in values.picks.atoms(node, None)}
    except Refused:
        return {kind is str for kind in values.kinds(node)}
