"""Whether no query can pick two keys, because no two positions hold the same key.

That is so of a *rank*: how many positions come before, in a strict order of all positions (see
`orders`). The position with r before it is the only one, so the number is different at each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rasp.language.graph import (
    Const,
    Indices,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
    selectors_in,
)
from rasp.language.operators import OUTCOMES
from rasp.models.certificate.program.orders import is_strict_order
from rasp.models.checker.aggregated import Given, together
from rasp.models.checker.lookups import Pick
from rasp.models.checker.relations import number_of

if TYPE_CHECKING:
    from rasp.models.checker.program_spaces import ProgramSpaces


def is_single(facts: ProgramSpaces, pick: Pick) -> bool:
    """Whether some condition of a pick asks for one rank."""
    return any(isinstance(node, Select) and node.op == "==" and _is_rank(facts, node.keys)
               for node in pick.selectors)  # fmt: skip


def _is_rank(facts: ProgramSpaces, keys: SOp) -> bool:
    """Whether an s-op is a function of outputs of one head that tells how many keys that picks,
    and these are an order. In a causal model a head does not see all positions.
    """
    names = facts.over(keys)
    heads = {facts.head_of(name) for name in names}
    if len(heads) != 1 or None in heads or facts.inputs.causal:
        return False
    givens = [(name, facts.given(name)) for name in names]
    count = Given(givens[0][1].pick, Const(1), None, True)
    if not _is_order(facts, count.pick):
        return False
    rows = together(facts, [(facts.leaf(count), count), *givens], (), False)
    inner, counts = rows.onto(names), dict[object, set[int]]()
    column = facts.column(keys, inner)
    for state, place in zip(rows.rows[:, 0].tolist(), rows.places(inner).tolist(), strict=True):
        atom = column.atoms[column.places[place]]
        counts.setdefault(number_of(atom), set()).add(state)
    return all(len(states) == 1 for states in counts.values())


def _is_order(facts: ProgramSpaces, pick: Pick) -> bool:
    """Whether a pick is a strict order of the positions: by how s-ops compare with themselves."""
    compared = pick.compared
    sides = list(dict.fromkeys(node.keys for node in compared))
    if pick.best is not None or any(node.keys is not node.queries for node in compared):
        return False
    for side in sides:
        atoms = facts.column(side, facts.space(facts.over(side))).listed()
        if len({isinstance(atom, str) for atom in atoms}) != 1:
            return False

    def fits(case: tuple[int, ...]) -> bool:
        outcome = dict(zip(sides, case, strict=True))
        return all(_holds(node, outcome) for node in pick.selectors)

    return is_strict_order(fits, [isinstance(side, Indices) for side in sides])


def _holds(selector: Selector, outcome: dict[SOp, int]) -> bool:
    """Whether a selector holds where its sides compare so."""
    truth: dict[Selector, bool] = {}
    for part in selectors_in(selector):
        match part:
            case Select(keys, _, op):
                truth[part] = bool(outcome[keys] & OUTCOMES[op])
            case SelectorNot(inner):
                truth[part] = not truth[inner]
            case SelectorAnd(left, right):
                truth[part] = truth[left] and truth[right]
            case SelectorOr(left, right):
                truth[part] = truth[left] or truth[right]
    return truth[selector]
