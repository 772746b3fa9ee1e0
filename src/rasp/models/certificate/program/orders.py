"""Whether a selector puts the positions of every input in one order, so that ranks are different.

Let F pick keys by how a key compares with the query in some s-ops, each with itself: below, equal
or above. Of two positions, F then holds for one, or the other, or both, or neither, as these
outcomes say; the opposite outcomes are those of the two the other way round. F is a strict order
of all positions if of any two exactly one is picked by the other, and if i before j and j before k
make i before k. In such an order the position with r before it is the only one. So how many keys a
query picks is a different number at each position, and so is a multiple of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

BELOW, EQUAL, ABOVE = OUTCOMES = 1, 2, 4
OPPOSITE = {BELOW: ABOVE, EQUAL: EQUAL, ABOVE: BELOW}
MOST_SIDES = 4
Case = tuple[int, ...]
"""An outcome for each s-op."""


def is_strict_order(holds: Callable[[Case], bool], differs: Sequence[bool]) -> bool:
    """Whether a condition on outcomes, one for each s-op compared, is a strict order of positions.

    `differs` says of which s-ops no two positions hold the same.

    >>> is_strict_order(lambda case: case[0] == BELOW or case == (EQUAL, BELOW), [False, True])
    True
    >>> is_strict_order(lambda case: case[0] == BELOW, [False, True])
    False
    """
    if len(differs) > MOST_SIDES:
        return False
    cases = [case for case in product(OUTCOMES, repeat=len(differs)) if _is_possible(case, differs)]
    first = {case for case in cases if holds(case)}
    if any((case in first) == (_opposite(case) in first) for case in cases):
        return False
    return all(
        case in first
        for one, other in product(first, repeat=2)
        for case in product(*map(_through, one, other))
        if _is_possible(case, differs)
    )


def _is_possible(case: Case, differs: Sequence[bool]) -> bool:
    """Whether two different positions can compare so."""
    return not any(outcome == EQUAL and apart for outcome, apart in zip(case, differs, strict=True))


def _opposite(case: Case) -> Case:
    return tuple(OPPOSITE[outcome] for outcome in case)


def _through(one: int, other: int) -> Case:
    """How i can compare with k, where i compares with j as `one` says, and j with k as `other`."""
    if EQUAL in (one, other):
        return (other if one == EQUAL else one,)
    return (one,) if one == other else OUTCOMES
