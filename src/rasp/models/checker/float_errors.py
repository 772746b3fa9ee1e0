"""How far off a forward pass can be, operation by operation.

In a sum of n products in float32, in whatever order, each term is rounded n times at most: once as
a product, and n - 1 times as it is added to others. So the sum is off by at most n units of 2^-24
of the sum of all sizes; what is below 2^-126 may become 0. (A bias is a term like any other.) All
bounds here are computed in float64, whose own error is 2^-29 of that: `SLACK` has room for it.

A power of e in a softmax is charged by the size of the scores: fused attention on a GPU multiplies
scores by log2(e) in float32 before it subtracts the largest. On an H200, torch's was off by 9, 130
and 1,200 units of 2^-21 for scores of up to 40, 300 and 3,000.
"""

from __future__ import annotations

import numpy as np

from rasp.models.certificate.claims import Refused
from rasp.models.checker.relations import Array

UNIT = 2.0**-24
"""The largest relative error of one operation in float32."""
SLACK = 1.01
TINY, HUGE = 2.0**-126, 2.0**100
QUOTIENT = 2.0**-21
"""The relative error of a division."""
CUT = 60.0
"""Exponents beyond this are cut off: what they bound is useless anyway."""


def of_exp(score: float) -> float:
    """The relative error of exp for scores of up to such a size, and the division after it."""
    return 2.0**-21 * (5.0 + score / 2)


def exp(exponent: float) -> float:
    """A power of e, if it is not absurdly large."""
    return float(np.exp(min(exponent, CUT)))


def rounding(count: Array | float, size: Array | float) -> Array:
    """What a sum of so many products, of so much all together, can be off: see above."""
    if not (size <= HUGE).all() if isinstance(size, np.ndarray) else not size <= HUGE:
        raise Refused("a number is too large")
    return np.asarray(SLACK * UNIT * count * size + TINY * (count + 1))
