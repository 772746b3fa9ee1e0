"""An s-op in; whether it is a rank, out: a number that no two positions of an input have.

It is one if it is a multiple of how many keys a head picks, up to a constant, by a selector that is
a strict order of the positions (see `orders`): each key that is picked adds the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rasp.language.graph import Indices, Selector, SOp
from rasp.models.certificate.program.cases import HOLDS, comparisons, holds
from rasp.models.certificate.program.orders import is_strict_order
from rasp.models.certificate.program.together import rows_held

if TYPE_CHECKING:
    from rasp.models.certificate.program.values import ProvedValues


def is_rank(values: ProvedValues, keys: SOp) -> bool:
    """Whether an s-op is a weighted sum of what one head puts out, all of it a count of keys."""
    linear = values.linear(keys)
    weights = None if linear is None else linear.output_weights()
    if not weights:
        return False
    heads = [values.head(place) for place in weights]
    head = heads[0]
    if head.mode != "sum" or head.family or any(other is not head for other in heads):
        return False
    outputs = [values.output(place) for place in weights]
    if any(output.carrier is not None for output in outputs):
        return False
    sent = {sum(weight * number for weight, number in zip(weights.values(), row, strict=True))
            for row in rows_held(values, [output.values for output in outputs])}  # fmt: skip
    is_count = len(sent) == 1 and sent != {0}
    return is_count and _is_order(values, head.selectors)


def _is_order(values: ProvedValues, selectors: Sequence[Selector]) -> bool:
    """Whether selectors, joined by `and`, are a strict order of the positions."""
    nodes = comparisons(selectors)
    sides = list(dict.fromkeys(node.keys for node in nodes))
    mixed = (len({isinstance(atom, str) for atom in values.picks.atoms(side, None)}) > 1
             for side in sides)  # fmt: skip
    if any(node.keys is not node.queries for node in nodes) or any(mixed):
        return False

    def fits(case: tuple[int, ...]) -> bool:
        outcome = dict(zip(sides, case, strict=True))
        return all(holds(node, lambda one: bool(outcome[one.keys] & HOLDS[one.op]))
                   for node in selectors)  # fmt: skip

    return is_strict_order(fits, [isinstance(side, Indices) for side in sides])
