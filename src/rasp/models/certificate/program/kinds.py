"""S-ops in; the kinds of number that they can be, out: 1, 1.0 and True are one number to a model,
which says of its answer alone of what kind it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from rasp.base.atoms import Atom
from rasp.language.graph import OPERATORS, Aggregate, Const, Elementwise, SOp, Tokens, TokensAs
from rasp.language.operators import giving
from rasp.models.certificate.claims import Meaning, Refused
from rasp.models.certificate.program.tables import AtomColumn

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues

SURE: dict[str, type] = {"int": int, "float": Fraction, "bool": bool}
ARITHMETIC = ("+", "*", *giving("number"))
"""What is a float where an operand is one, and an int where all of them are ints or bools."""


def find_kinds(values: ProvedValues, node: SOp) -> frozenset[type]:
    """The kinds of number that an s-op can be, by its operator: these, or fewer."""
    match node:
        case Elementwise(op) if OPERATORS[op].gives in SURE:
            return frozenset({SURE[OPERATORS[op].gives]})
        case Elementwise("if", (_, yes, no)):
            return values.kinds(yes) | values.kinds(no)
        case Elementwise(op, operands) if op in ARITHMETIC:
            return joined_kinds(map(values.kinds, operands))
        case Elementwise():
            raise Refused("of what kind an s-op is, is not certain")
        case Tokens():
            return frozenset(map(type, values.inputs.vocabulary))
        case TokensAs(kind):
            return frozenset({SURE.get(kind, str)})
        case Const(value):
            return frozenset({type(value)})
        case Aggregate():
            return _of_aggregate(values, node, values.claims.aggregates.get(node))
    return frozenset({int})


def _of_aggregate(
    values: ProvedValues, node: Aggregate, meaning: Meaning | None
) -> frozenset[type]:
    match meaning:
        case Meaning("never"):
            return frozenset({type(node.default)})
        case Meaning("mean", outputs):
            return frozenset(map(type, values.domain(outputs[0]).atoms))
        case Meaning("pick"):
            return frozenset({type(values.picks.atoms(node.values, True)[0]), type(node.default)})
        case Meaning("count") if _counts_one(values, meaning):
            return frozenset({type(values.picks.atoms(node.values, True)[0])})
    return values.kinds(node.values) | {Fraction, type(node.default)}


def _counts_one(values: ProvedValues, meaning: Meaning) -> bool:
    """Whether nothing but index 0 is ever picked: a mean of one value is that value itself."""
    whole = values.whole(meaning)
    return whole.constant == 1 and all(
        part.is_output and set(values.numbers(part.variable)) == {0} for part in whole.parts
    )


def joined_kinds(operands: Iterable[frozenset[type]]) -> frozenset[type]:
    """What arithmetic makes of numbers of these kinds."""
    listed = list(operands)
    if {Fraction} in listed:
        return frozenset({Fraction})
    return frozenset(int if kind is bool else kind for kinds in listed for kind in kinds)


def loosened(column: AtomColumn, kinds: frozenset[type]) -> AtomColumn:
    return AtomColumn(column.atoms, column.places, kinds if len(kinds) > 1 else frozenset())


def as_atom(number: Fraction, kinds: frozenset[type]) -> Atom:
    if kinds <= {bool} and number in (0, 1):
        return bool(number)
    if kinds != {Fraction} and number.denominator == 1:
        return int(number)
    return number
