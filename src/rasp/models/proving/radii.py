"""Upper bounds, in float64, on lengths of vectors and norms of matrices.

Each is made of numbers that are not negative, so what rounding takes is a share of it.
"""

from __future__ import annotations

import numpy as np

from rasp.models.proving.digits import SMALLEST, Array

UP = 1 + 1e-10
VANISHING = 1e-150


def up(radius: Array) -> Array:
    """Round radii up, past all that computing them lost."""
    return np.asarray(radius * UP + SMALLEST)


def norms(x: Array) -> Array:
    """Bounds on the 2-norms of rows; squares of numbers below 10⁻¹⁵⁰ may vanish."""
    return up(np.sqrt(np.einsum("...i,...i->...", x, x)) + VANISHING * x.shape[-1])


def spectral(matrix: Array) -> float:
    """Bound the largest singular value: ‖W‖² = ‖G‖ ≤ ‖G^m‖_F^(1/m) for G = WᵀW and m = 64.

    G is positive semidefinite, so squaring it in float64 changes its Frobenius norm by a share of
    n^1.5·u at most, which `UP` covers for n up to 10,000.
    """
    small = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    power, size = small.T @ small, 1.0
    exponent = 0.0  # log2 of what was divided out
    for _ in range(6):
        size = float(np.sqrt((power * power).sum()))
        if size == 0.0:
            return VANISHING * matrix.size
        power, exponent = power / size, 2 * (exponent + np.log2(size))
        power = power @ power
    size = float(np.sqrt((power * power).sum()))
    return float(2.0 ** ((exponent + np.log2(size)) / 128)) * (1 + 1e-9) + VANISHING * matrix.size


def frobenius(matrix: Array) -> float:
    return float(np.sqrt((matrix * matrix).sum())) * UP + VANISHING * matrix.size
