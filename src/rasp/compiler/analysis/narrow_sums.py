"""A weighted sum in, one out that says as much, with smaller large steps.

The paper's most-freq sorts by `freq - 20000 * is_duplicate`. Frequencies stay below 20, so there is
nothing between the two kinds of numbers; but what reads the sum has its small steps blurred by the
rounding of the large ones. `freq - 21 * is_duplicate` has the same order, and a function of the one
is a function of the other: that is what work on such a sum reads. Cost: none, but for a dimension
where the sum itself is read as well.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import chain

from rasp.compiler.analysis.joint_tables import BaseVariables
from rasp.compiler.analysis.linear import ZERO, Linear, content

WIDE = 64
"""From so many times what the small steps come to on, a large step is made smaller."""


def narrowed(linear: Linear, base: BaseVariables) -> tuple[Linear, Callable[[Fraction], Fraction]]:
    """The narrower sum in whole units, and which number of it each number of the sum becomes.

    Where all large parts are multiples of a unit that is more than the small ones reach, a number
    is one multiple and one small rest: both are known from it, and so is the narrower number.
    """
    numbers = {part: base.terms(linear, part) for part in base.variables_of(linear)}
    factors = dict.fromkeys(numbers, Fraction(1))
    steps: list[tuple[Fraction, Fraction, Fraction]] = []
    parts = sorted(numbers, key=lambda part: content(numbers[part]))
    for place in range(1, len(parts)):
        small, large = ([numbers[part] for part in side] for side in (parts[:place], parts[place:]))
        reach = sum((max(added) - min(added) for added in small), ZERO)
        least, unit = reach + content(chain(*small)), content(chain(*large))
        if least and unit > WIDE * least:
            factor = least / unit
            steps.append((linear.constant + sum(map(min, small)), unit, factor - 1))
            for part in parts[place:]:
                numbers[part] = [number * factor for number in numbers[part]]
                factors[part] *= factor

    if not steps:
        return linear, lambda number: number
    whole = content(chain(*numbers.values()))

    def narrow(number: Fraction) -> Fraction:
        for lowest, unit, change in steps:
            number += (number - lowest) // unit * unit * change
        return number / whole

    weights = {coordinate: weight * factors[base.variable_of(coordinate)] / whole
               for coordinate, weight in linear.parts.items()}  # fmt: skip
    return Linear(linear.constant / whole, weights), narrow
