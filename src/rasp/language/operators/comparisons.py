"""The six comparisons: each is the set of orders in which it holds, a bit for each order.

What else is true of a comparison follows from its bits: `not` is the other orders, turning the
sides round swaps less and greater, `and` of two comparisons of one pair is the intersection.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

LESS, EQUAL, GREATER = 1, 2, 4
DIFFERENT, ANY = LESS | GREATER, LESS | EQUAL | GREATER

OUTCOMES = {
    "==": EQUAL, "!=": DIFFERENT,
    "<": LESS, "<=": LESS | EQUAL, ">": GREATER, ">=": GREATER | EQUAL,
}  # fmt: skip
PYTHON_NAMES = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

COMPARISONS = tuple(OUTCOMES)
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    op: getattr(operator, name) for op, name in PYTHON_NAMES.items()
}
"""Each comparison of two atoms of one kind, two arrays or two tensors."""
WITH_OUTCOMES = {outcomes: op for op, outcomes in OUTCOMES.items()}


def turned_outcomes(outcomes: int) -> int:
    """Swap less and greater.

    >>> turned_outcomes(LESS | EQUAL) == GREATER | EQUAL
    True
    """
    return outcomes & EQUAL | (outcomes & LESS) << 2 | (outcomes & GREATER) >> 2


OPPOSITE = {op: WITH_OUTCOMES[ANY ^ outcomes] for op, outcomes in OUTCOMES.items()}
"""What holds exactly where a comparison does not: `<` and `>=`."""
TURNED = {op: WITH_OUTCOMES[turned_outcomes(outcomes)] for op, outcomes in OUTCOMES.items()}
"""What says the same with the sides turned round: `<` and `>`."""
ORDERINGS = tuple(op for op in OUTCOMES if TURNED[op] != op)
"""Those that need an order: two numbers, or two strings."""
