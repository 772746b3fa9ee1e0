"""Dimensions in, the large constants in which float32 rounds what heads add to them out.

What a head adds is off by a few parts in 2^21, since exp and division are. But a float32 between
2^23·g and 2^24·g is a multiple of g. So a dimension that holds C = 1.5·2^23·g from the start is
rounded to a multiple of g as a head adds to it, and whole numbers come out exact. The
feed-forward of that layer reads it with C in its biases, and then one hidden unit takes C away.
Cost: 1 hidden unit for each layer in which something is rounded.
"""

from __future__ import annotations

from fractions import Fraction

from rasp.compiler.analysis.linear import Linear
from rasp.compiler.analysis.rounding import ROOM, power_of_two_in, rough_error
from rasp.compiler.analysis.variables import HeadOutput, default_code

FINER, FINEST = 4, 1 << 20
"""How much finer than the numbers themselves the grid may be: feed-forwards look between them."""


def last_layer(dimension: Linear) -> int:
    """The layer of the last head that writes a dimension; 0 where none does, or rounding it would
    not make it exact.
    """
    outputs = dimension.of(HeadOutput)
    is_inexact = any(output.is_inexact for output in outputs)
    return 0 if is_inexact else max((output.layer for output in outputs), default=0)


def rounding_constant(dimension: Linear, length: int, fineness: int) -> float:
    """The constant C with which a dimension is rounded; 0 where it is not."""
    if not last_layer(dimension):
        return 0.0
    moved, unit, constant = Fraction(0), Fraction(1), Fraction(0)
    for coordinate, weight in dimension.parts.items():
        if isinstance(coordinate, HeadOutput):
            codes = {code for _, code in coordinate.states} | {default_code(coordinate)}
            moved += 2 * abs(weight) * max(map(abs, codes))
            unit = min([unit, *(power_of_two_in(weight * code) for code in codes if code)])
        else:
            constant += abs(weight)
            unit = min(unit, power_of_two_in(weight))
    # C is 2^22 steps of the grid from either end of its range: what is added takes half of that.
    grid = Fraction(1, 2**20)
    while (
        fineness * grid < unit
        or grid < ROOM * rough_error(moved, length)
        or constant + moved > grid * 2**21
    ):
        grid *= 2
    return float(grid * 3 * 2**22) if unit > 0 and grid <= unit else 0.0
