"""Numbers as unevaluated sums of two float64: about 32 digits, at the speed of arrays.

Sums and products are Dekker's and Knuth's, with every rounding error kept but the last; each
operation is off by less than 2⁻¹⁰⁰. A product of matrices follows Ozaki: both are cut into slices
of so few bits that float64 multiplies and adds these exactly.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from rasp.models.proving.digits import Array, ManyDigits

SPLIT = 2.0**27 + 1
SLICES = 5
LN2 = (0.6931471805599453, 2.3190468138462996e-17)
HALVINGS, TERMS = 9, 14
"""exp: how often x is halved, and the terms of its series: the next is below 2⁻¹⁵⁰."""
GRID, ERF_TERMS, ERF_ENDS = 16, 22, 9.0
"""erf: its series around multiples of 1/16; beyond ±9 it is ±1, but for 10⁻³⁶."""


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Knuth: the rounded sum, and exactly what rounding took."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Dekker: the rounded product, and exactly what rounding took."""
    total = a * b
    (ah, al), (bh, bl) = _halves(a), _halves(b)
    return total, ((ah * bh - total) + ah * bl + al * bh) + al * bl


def _halves(a: Array) -> tuple[Array, Array]:
    wide = SPLIT * a
    high = wide - (wide - a)
    return high, a - high


class TwoFloats:
    """An array of numbers `high + low`."""

    __slots__ = ("high", "low")
    __array_ufunc__ = None
    """NumPy leaves mixed operations to us."""

    def __init__(self, high: Array, low: Array) -> None:
        self.high, self.low = high, low

    @property
    def shape(self) -> tuple[int, ...]:
        return self.high.shape

    @property
    def ndim(self) -> int:
        return self.high.ndim

    def __getitem__(self, place: Any) -> TwoFloats:
        return TwoFloats(self.high[place], self.low[place])

    def reshape(self, *shape: int) -> TwoFloats:
        return TwoFloats(self.high.reshape(*shape), self.low.reshape(*shape))

    def __neg__(self) -> TwoFloats:
        return TwoFloats(-self.high, -self.low)

    def __add__(self, given: Any) -> TwoFloats:
        other = _pair(given)
        high, error = two_sum(self.high, other.high)
        low, rest = two_sum(self.low, other.low)
        high, error = _quick(high, error + low)
        return TwoFloats(*_quick(high, error + rest))

    def __sub__(self, other: Any) -> TwoFloats:
        return self + -_pair(other)

    def __mul__(self, given: Any) -> TwoFloats:
        other = _pair(given)
        high, error = two_product(self.high, other.high)
        return TwoFloats(*_quick(high, error + (self.high * other.low + self.low * other.high)))

    def __truediv__(self, given: Any) -> TwoFloats:
        other = _pair(given)
        first = self.high / other.high
        rest = self - other * first
        second = rest.high / other.high
        rest = rest - other * second
        quotient = TwoFloats(*_quick(first, second))
        return quotient + rest.high / other.high

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> TwoFloats:
        return (-self).__add__(other)


def _pair(x: Any) -> TwoFloats:
    if isinstance(x, TwoFloats):
        return x
    high = np.asarray(x, np.float64)
    return TwoFloats(high, np.zeros_like(high))


def _quick(a: Array, b: Array) -> tuple[Array, Array]:
    """Dekker: as `two_sum`, where |a| ≥ |b| or a = 0."""
    total = a + b
    return total, b - (total - a)


class DoubleDouble:
    """Pairs of float64."""

    name = "double-double"
    u = 2.0**-100
    holds_low = True

    def __init__(self) -> None:
        self._slices: dict[int, tuple[TwoFloats, list[Array]]] = {}

    def constant(self, high: Array, low: Array | None = None) -> TwoFloats:
        number = _pair(high)
        return number if low is None else number + _pair(low)

    def near(self, x: TwoFloats) -> Array:
        return x.high

    def product_error(self, terms: int) -> float:
        """Slices left out, and adding up.

        A number of a row is 2^e·x with 2^e at most twice the row's length and |x| ≤ 1. Slice t
        of it is at most 2^(e−(t−1)b), and five slices leave at most 2^(e−5b). Left out are 10
        products of slices (t + u ≥ 7), each at most 2^(e+f−5b), and two with what is left of a
        row. So a product of n terms is off by at most 4·12·n·2^(−5b), and by 15 additions.
        """
        return 4 * (SLICES**2 + 2) * terms * 2.0 ** (-SLICES * _bits(terms)) + 2.0**-95

    def matmul(self, x: TwoFloats, y: TwoFloats) -> TwoFloats:
        rows, columns = self._sliced(x, -1), self._sliced(y, -2)
        places = [place for place in product(range(SLICES), repeat=2) if sum(place) < SLICES]
        found: TwoFloats | None = None
        for row, column in sorted(places, key=sum, reverse=True):  # the smallest first
            exact = _pair(rows[row] @ columns[column])
            found = exact if found is None else found + exact
        assert found is not None
        return found

    def _sliced(self, x: TwoFloats, axis: int) -> list[Array]:
        """Slices of weights are kept: the same weights meet every input."""
        if x.ndim > 2:
            return _cut(x, axis)
        if id(x) not in self._slices:
            if axis == -1:
                return _cut(x, axis)
            self._slices[id(x)] = (x, _cut(x, axis))  # `x` is kept, so that its id stays its own
        return self._slices[id(x)][1]

    def transposed(self, x: TwoFloats) -> TwoFloats:
        return TwoFloats(x.high.swapaxes(-1, -2), x.low.swapaxes(-1, -2))

    def sum(self, x: TwoFloats, axis: int) -> TwoFloats:
        total = TwoFloats(np.moveaxis(x.high, axis, 0), np.moveaxis(x.low, axis, 0))
        while len(total.high) > 1:  # halves, so that roundings do not add up
            half = len(total.high) // 2
            added = total[:half] + total[half : 2 * half]
            total = _stacked([added, total[2 * half :]])
        return total[0]

    def exp(self, x: TwoFloats) -> TwoFloats:
        """e^x = 2^k · (e^(r/512))^512; below −700 it is 0."""
        vanishes = x.high < -700.0
        x = self.where(~vanishes, x, -700.0)
        count = np.rint(x.high / LN2[0])
        rest = (x - _ln2() * count) * 2.0**-HALVINGS
        term = total = rest
        for number in range(2, TERMS):
            term = term * rest / float(number)
            total = total + term
        for _ in range(HALVINGS):  # (1 + t)² = 1 + (2t + t²): small numbers stay exact
            total = total * 2.0 + total * total
        total = total + 1.0
        power = np.ldexp(1.0, count.astype(np.int64))
        power = np.where(vanishes, 0.0, power)
        return TwoFloats(total.high * power, total.low * power)

    def tanh(self, x: TwoFloats) -> TwoFloats:
        """1 − 2 / (e^2|x| + 1), with the sign of x: off by units in the last place of 1."""
        sign = np.where(x.high < 0, -1.0, 1.0)
        power = self.exp(self.where(np.abs(x.high) < 100, x * (sign * 2.0), 200.0))
        return (_pair(np.ones(x.shape)) - _pair(np.full(x.shape, 2.0)) / (power + 1.0)) * sign

    def erf(self, x: TwoFloats) -> TwoFloats:
        """Taylor's series around the nearest multiple of 1/16."""
        table = _erf_table()
        place = np.rint(np.clip(x.high, -ERF_ENDS, ERF_ENDS) * GRID).astype(np.int64)
        inside = np.abs(x.high) < ERF_ENDS
        step = self.where(inside, x - place / GRID, 0.0)
        row = np.abs(place)
        sign = np.where(place < 0, -1.0, 1.0)
        step = step * sign
        total = table[ERF_TERMS - 1][row]
        for number in range(ERF_TERMS - 2, -1, -1):
            total = total * step + table[number][row]
        return total * sign

    def sqrt(self, x: TwoFloats) -> TwoFloats:
        """A step of Newton's from float64's root, which doubles its digits."""
        root = np.sqrt(x.high)
        safe = np.where(root == 0, 1.0, root)
        rest = x - _pair(safe) * safe
        return TwoFloats(*_quick(safe, rest.high / (2 * safe))) * np.where(root == 0, 0.0, 1.0)

    def where(self, chosen: Array, x: TwoFloats, y: float) -> TwoFloats:
        return TwoFloats(np.where(chosen, x.high, y), np.where(chosen, x.low, 0.0))

    def stack(self, parts: list[TwoFloats]) -> TwoFloats:
        return _stacked(parts)


def _stacked(parts: list[TwoFloats]) -> TwoFloats:
    highs, lows = [part.high for part in parts], [part.low for part in parts]
    return TwoFloats(np.concatenate(highs), np.concatenate(lows))


def _bits(terms: int) -> int:
    """Bits of a slice: `terms` products of two add up below 2⁵³."""
    return (53 - math.ceil(math.log2(max(2, terms)))) // 2


def _cut(x: TwoFloats, axis: int) -> list[Array]:
    """Slices of so few bits each that products along an axis are exact."""
    bits = _bits(x.shape[axis])
    largest = np.abs(x.high).max(axis=axis, keepdims=True, initial=0.0)
    _, exponent = np.frexp(largest)  # largest < 2^exponent
    high, low, slices = x.high, x.low, []
    for number in range(1, SLICES + 1):
        grid = np.ldexp(1.0, np.maximum(exponent + 1 - number * bits, -1000))
        part = np.rint(high / grid) * grid
        high, low = two_sum(high - part, low)
        slices.append(part)
    return slices


@cache
def _ln2() -> TwoFloats:
    return TwoFloats(np.array(LN2[0]), np.array(LN2[1]))


@cache
def _erf_table() -> list[TwoFloats]:
    """The coefficients of erf's Taylor series around 0, 1/16, 2/16, …: one row for each power."""
    exact = ManyDigits(300)
    context = exact.context
    rows = [_erf_series(context, context.mpf(place) / GRID)
            for place in range(int(ERF_ENDS * GRID) + 1)]  # fmt: skip
    numbers = np.array(rows, object).T  # (power, place)
    high = numbers.astype(np.float64)
    low = (numbers - exact.constant(high)).astype(np.float64)
    return [TwoFloats(*both) for both in zip(high, low, strict=True)]


def _erf_series(context: Any, x: Any) -> list[Any]:
    """erf' = c·e^(−x²) =: g, and g' = −2x·g gives all further derivatives."""
    slopes = [2 / context.sqrt(context.pi) * context.exp(-x * x)]
    slopes.append(-2 * x * slopes[0])
    for number in range(1, ERF_TERMS - 2):  # g⁽ⁿ⁺¹⁾/(n+1)! from those before
        slopes.append((-2 * x * slopes[number] - 2 * slopes[number - 1]) / (number + 1))
    return [context.erf(x), *(slope / (number + 1) for number, slope in enumerate(slopes))]
