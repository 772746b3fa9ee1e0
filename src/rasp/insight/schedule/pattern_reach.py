"""A program and an attention pattern in, whether every selection provably stays inside it out.

Where it does, the pattern changes nothing, and no input needs to be tried.
"""

from __future__ import annotations

from collections.abc import Sequence

from rasp.insight.schedule.patterns import Pattern
from rasp.language.graph import Aggregate, Node, SelectBest, Selector, in_order
from rasp.language.graph.normal import normal_forms
from rasp.language.graph.reach import Reach, reach


def stays_within(pattern: Pattern, outputs: Sequence[Node]) -> bool:
    """Tell whether every selection provably keeps to the pairs that a pattern allows.

    False means that this simple argument does not decide it.
    """
    inside = (node for node in in_order(outputs) if isinstance(node, (Aggregate, SelectBest)))
    selectors = [node.selector for node in inside]
    selectors += [output for output in outputs if isinstance(output, Selector)]
    forms = normal_forms(selectors)
    return all(_is_allowed(pattern, reach(forms[selector])) for selector in selectors)


def _is_allowed(pattern: Pattern, reach: Reach) -> bool:
    low, high = reach
    if low > high:
        return True
    match pattern.shape, pattern.numbers:
        case "window" | "bigbird", (width, *_):
            return -width <= low and high <= width
        case "strided", (step,):
            return (-step < low and high < step) or (low == high and low % step == 0)
        case "block", _:
            return low == high == 0
    return high <= 0
