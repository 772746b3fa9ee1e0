"""Whether no query can pick two keys, because no two positions hold the same key.

That is so of a *rank*: how many positions come before, in a strict order of all positions (see
`orders`). The position with r before it is the only one, so the number is different at each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rasp.certificate.program.orders import is_strict_order
from rasp.checker.lookups import Pick
from rasp.graph import Indices, Select, Selector, SelectorAnd, SelectorNot, SelectorOr, SOp
from rasp.operators import OUTCOMES

if TYPE_CHECKING:
    from rasp.checker.program_facts import ProgramFacts


def is_single(facts: ProgramFacts, pick: Pick) -> bool:
    """Whether some condition of a pick asks for one rank."""
    return any(isinstance(node, Select) and node.op == "==" and _is_rank(facts, node.keys)
               for node in pick.selectors)  # fmt: skip


def _is_rank(facts: ProgramFacts, keys: SOp) -> bool:
    """Whether an s-op is a function of a rank that has no value twice.

    In a causal model a head does not see all positions, so that its counts are no ranks.
    """
    names = facts.over(keys)
    if len(names) != 1 or facts.head_of(names[0]) is None or facts.inputs.causal:
        return False
    given, space = facts.given(names[0]), facts.space(names)
    added = facts.column(given.values, facts.space(facts.over(given.values))).listed()
    if not given.is_sum or len({*added}) != 1 or isinstance(added[0], str) or not added[0]:
        return False
    atoms = [column.atoms[place] for column in [facts.column(keys, space)]
             for place in column.places.tolist()]  # fmt: skip
    return None not in atoms and len({*atoms}) == len(atoms) and _is_order(facts, given.pick)


def _is_order(facts: ProgramFacts, pick: Pick) -> bool:
    """Whether a pick is a strict order of the positions: by how s-ops compare with themselves."""
    compared = pick.compared
    sides = list(dict.fromkeys(node.keys for node in compared))
    if pick.best is not None or any(node.keys is not node.queries for node in compared):
        return False
    for side in sides:
        atoms = facts.column(side, facts.space(facts.over(side))).listed()
        if len({isinstance(atom, str) for atom in atoms}) != 1:
            return False

    def holds(node: Selector, outcome: dict[SOp, int]) -> bool:
        match node:
            case Select(keys, _, op):
                return bool(outcome[keys] & OUTCOMES[op])
            case SelectorNot(inner):
                return not holds(inner, outcome)
            case SelectorAnd(left, right):
                return holds(left, outcome) and holds(right, outcome)
            case SelectorOr(left, right):
                return holds(left, outcome) or holds(right, outcome)
        return False

    def fits(case: tuple[int, ...]) -> bool:
        outcome = dict(zip(sides, case, strict=True))
        return all(holds(node, outcome) for node in pick.selectors)

    return is_strict_order(fits, [isinstance(side, Indices) for side in sides])
