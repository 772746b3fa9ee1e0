"""The functions of single numbers, with the slope and the rounding that `enclosures` charges."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rasp.models.proving.digits import Digits, Numbers

GELU_SLOPE = 1.13
"""Both forms of GELU: the slope is largest at √2 (1.1290 for erf's form, and less than 1.1297)."""
SQRT_TWO_OVER_PI = 0.7978845608028654
"""As every library writes it: the float64 nearest to the root of 2/π, and 0.044715 beside it."""


def _relu(x: Numbers, digits: Digits) -> Numbers:
    return digits.where(digits.near(x) > 0, x, 0.0)


def _gelu(x: Numbers, digits: Digits) -> Numbers:
    root = digits.sqrt(digits.constant(np.array(2.0)))
    return x * (digits.erf(x / root) + 1.0) * 0.5


def _gelu_tanh(x: Numbers, digits: Digits) -> Numbers:
    inner = (x + x * x * x * 0.044715) * SQRT_TWO_OVER_PI
    return x * (digits.tanh(inner) + 1.0) * 0.5


FUNCTIONS: dict[str, Callable[[Numbers, Digits], Numbers]] = {
    "relu": _relu,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "tanh": lambda x, digits: digits.tanh(x),
}
SLOPES = {
    "relu": (1.0, 0),
    "gelu": (GELU_SLOPE, 24),
    "gelu_tanh": (GELU_SLOPE, 24),
    "tanh": (1.0, 8),
}
"""The largest slope, and units by which a number x may be computed wrongly: of |x| + 1.

GELU's factor 1 + erf is at most 2 and off by 8 u, and by what 3 u of erf's argument z change:
z·erf'(z) < 1/2. In tanh's form, 8 u of the argument change t·(1 − tanh²t) < 1/2 times as much.
"""
