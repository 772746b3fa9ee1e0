"""What it takes to compute an aggregate by sums: the parts, and when they may be added up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rasp.atoms import Atom
from rasp.compiler.formulas import Formula, Literal, conjuncts
from rasp.graph import SOp

ORDERS = {
    "==": frozenset("="), "!=": frozenset("<>"), "<": frozenset("<"),
    "<=": frozenset("<="), ">": frozenset(">"), ">=": frozenset("=>"),
}  # fmt: skip


@dataclass(frozen=True)
class Sum:
    """`constant + Σ` over the parts of the sum of the values that the part's formula picks.

    kind "count": the aggregate is light / sum; "pick": light or 0; "product": the aggregate
    times its width, which is how the program uses it.
    """

    kind: str
    light: Atom | None
    constant: Fraction
    parts: tuple[tuple[Formula, SOp], ...]
    whole: Formula
    """The formula that the parts split."""


def disjoint(parts: list[Formula]) -> bool:
    """Whether no key can be picked by two of the parts, from comparisons that exclude each other."""
    for place, left in enumerate(parts):
        for right in parts[place + 1 :]:
            if not any(
                _exclude(one, other) for one in conjuncts(left) for other in conjuncts(right)
            ):
                return False
    return True


def _exclude(one: Formula, other: Formula) -> bool:
    return (
        isinstance(one, Literal)
        and isinstance(other, Literal)
        and (one.keys, one.queries) == (other.keys, other.queries)
        and not ORDERS[one.op] & ORDERS[other.op]
    )
