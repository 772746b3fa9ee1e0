"""The numbers of a forward pass: float64, double-double, or as many digits as it takes.

Each kind says how far its operations are off, as multiples of a unit `u`; `enclosures` charges
them. Arrays of all three kinds answer to `+ - * /`, `[]`, `.shape` and `.reshape`. The functions
`exp`, `tanh` and `erf` are assumed to be off by at most 8 units in the last place: NumPy and the C
libraries promise 4 or fewer. `+ - * /` and `sqrt` in float64 are rounded as IEEE 754 says.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rasp.base.installing import missing

Array = npt.NDArray[Any]
Numbers = Any
"""An array of float64, a `TwoFloats`, or an array of mpmath's numbers."""
FUNCTION_ULPS = 8
SMALLEST = 2.0**-1000
"""More than what underflow can take from any number."""


class Digits(Protocol):
    """A kind of numbers: `u` bounds the relative error of one operation."""

    name: str
    u: float
    holds_low: bool
    """Whether a constant can be the sum of two float64."""

    def constant(self, high: Array, low: Array | None = None) -> Numbers:
        """The numbers `high + low`."""

    def near(self, x: Numbers) -> Array:
        """The nearest float64."""

    def product_error(self, terms: int) -> float:
        """What a product of rows x and columns w may be off by, over ‖x‖₂ ‖w‖₂."""

    def matmul(self, x: Numbers, y: Numbers) -> Numbers: ...
    def transposed(self, x: Numbers) -> Numbers:
        """The last two axes exchanged."""

    def sum(self, x: Numbers, axis: int) -> Numbers: ...
    def exp(self, x: Numbers) -> Numbers: ...
    def tanh(self, x: Numbers) -> Numbers: ...
    def erf(self, x: Numbers) -> Numbers: ...
    def sqrt(self, x: Numbers) -> Numbers: ...
    def where(self, chosen: Array, x: Numbers, y: float) -> Numbers: ...
    def stack(self, parts: list[Numbers]) -> Numbers:
        """Arrays one after the other along the first axis."""


def gamma(terms: int, u: float) -> float:
    """Bound the relative error of a sum of products in any order: n·u / (1 − n·u)."""
    return terms * u / (1 - terms * u)


class Float64:
    """IEEE double precision."""

    name = "float64"
    u = 2.0**-53
    holds_low = False

    def constant(self, high: Array, low: Array | None = None) -> Array:
        return np.asarray(high, np.float64)

    def near(self, x: Array) -> Array:
        return x

    def product_error(self, terms: int) -> float:
        return gamma(terms, self.u)

    def matmul(self, x: Array, y: Array) -> Array:
        return np.asarray(x @ y)

    def transposed(self, x: Array) -> Array:
        return x.swapaxes(-1, -2)

    def sum(self, x: Array, axis: int) -> Array:
        return np.asarray(x.sum(axis=axis))

    def exp(self, x: Array) -> Array:
        return np.asarray(np.exp(x))

    def tanh(self, x: Array) -> Array:
        return np.asarray(np.tanh(x))

    def erf(self, x: Array) -> Array:
        return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), np.float64)

    def sqrt(self, x: Array) -> Array:
        return np.asarray(np.sqrt(x))

    def where(self, chosen: Array, x: Array, y: float) -> Array:
        return np.where(chosen, x, y)

    def stack(self, parts: list[Array]) -> Array:
        return np.concatenate(parts)


class ManyDigits(Float64):
    """Arrays of mpmath's numbers with a given number of bits: slow, for single inputs."""

    holds_low = True

    def __init__(self, bits: int = 400) -> None:
        try:
            import mpmath
        except ImportError:
            needs = "a model that needs more digits than float64 has"
            raise missing("mpmath", "prove", needs) from None
        self.context = mpmath.MPContext()
        self.context.prec = bits
        self.name, self.u = f"{bits} bits", 2.0 ** (2 - bits)
        for function in ("exp", "tanh", "erf", "sqrt"):
            apply = np.frompyfunc(getattr(self.context, function), 1, 1)
            setattr(self, function, apply)

    @cached_property
    def _from_float(self) -> Any:
        return np.frompyfunc(self.context.mpf, 1, 1)

    def constant(self, high: Array, low: Array | None = None) -> Array:
        numbers = np.asarray(self._from_float(np.asarray(high, np.float64)), object)
        return numbers if low is None else numbers + self.constant(low)

    def near(self, x: Array) -> Array:
        return np.asarray(x, np.float64)

    def matmul(self, x: Array, y: Array) -> Array:
        return np.asarray(np.matmul(x, y), object)

    def where(self, chosen: Array, x: Array, y: float) -> Array:
        return np.where(chosen, x, self.context.mpf(y))
