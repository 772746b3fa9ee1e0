"""Hidden units in, how far off what they add can be out, whatever the order of adding.

Numbers that are multiples of one power of two, whose sums never get beyond 2^24 of it, float32
adds without rounding. Elsewhere each of the sums on the way may be rounded; however n numbers
are added, none of these sums is larger than all that is positive or all that is negative among
them. A unit that is off adds exactly nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rasp.compiler.emitting.score_ranges import CELLS_AT_ONCE
from rasp.compiler.emitting.stream_errors import (
    LARGEST_COUNT,
    SLACK,
    UNIT,
    Added,
    Summands,
    grain_of,
    grains_of,
)
from rasp.compiler.emitting.weights import Array

TINY = 1e-9
COARSEST = 2.0**20


@dataclass(frozen=True, eq=False)
class Units:
    """The hidden units of one group: each is relu(sign · z + bias)."""

    signs: Array  # (unit,)
    bias: Array  # (unit,)
    out: Array  # (dimension, unit)


def added(units: Units, points: Array, wanted: Array, z: Summands) -> Added:
    """Bound what a group of units adds at each of its points, and at both ends of their error.

    `points` are the values of z less its constant, `wanted` (dimension, point) is what should be
    added, counted from the first point.
    """
    start = np.maximum(units.signs * points[0] + units.bias, 0) @ units.out.T
    bias, out = (each.astype(np.float32).astype(np.float64) for each in (units.bias, units.out))
    grain = min(z.grain, grain_of(bias))
    loudest = z.mass + np.abs(bias)
    is_exact = bool(grain) and loudest.max(initial=0.0) <= LARGEST_COUNT * grain
    unit = 0.0 if is_exact else SLACK * UNIT
    inside = unit * (z.mass * z.scaled + loudest * max(0, z.terms - 1))
    error, up, down, terms, size = np.zeros((5, len(out)))
    still = np.ones(len(out), bool)
    at_once = max(1, CELLS_AT_ONCE // max(1, len(bias)))
    for first in range(0, len(points), at_once):
        some = slice(first, first + at_once)
        here = points[some, None] * units.signs + bias
        aim = start + wanted[:, some].T
        off = np.max(
            [
                np.abs(np.maximum(here + shift * units.signs, 0) @ out.T - aim)
                for shift in ((0.0, -z.error, z.error) if z.error else (0.0,))
            ],
            axis=0,
        )
        most = np.maximum(here + z.error + inside, 0) * (1 + unit)
        is_on = most > 0
        off += (is_on * inside + unit * most) @ np.abs(out).T
        numbers = is_on.astype(float) @ (out != 0).T
        error = np.maximum(error, off.max(axis=0))
        up = np.maximum(up, (most @ np.maximum(out, 0).T).max(axis=0))
        down = np.maximum(down, (most @ np.maximum(-out, 0).T).max(axis=0))
        terms = np.maximum(terms, numbers.max(axis=0))
        size = np.maximum(size, np.abs(aim).max(axis=0))
        still &= ((numbers == 0) | (np.abs(aim) > TINY)).all(axis=0)
    fine = is_exact and not z.error
    grains = grains_of(out).min(axis=1, initial=COARSEST) * (grain if fine else 0.0)
    return Added(error, up, down, terms, grains, size, still)


def measured(units: Units, points: Array, wanted: Array, error: float) -> Added:
    """What a group of units adds as float32 rounds it here, in one order of adding, and twice that.

    For models that run behind LayerNorms and that the bounds over every order would refuse.
    """
    start = np.maximum(units.signs * points[0] + units.bias, 0) @ units.out.T
    small = [each.astype(np.float32) for each in (units.signs, units.bias, units.out)]
    noise, rounding = np.zeros((2, len(units.out)))
    for shift in (0.0, -error, error, -0.37 * error, 0.61 * error):
        held = (points + shift).astype(np.float32)[:, None]
        exact = _outputs(held.astype(np.float64), units.signs, units.bias, units.out)
        off = _outputs(held, *small).astype(np.float64) - exact
        noise = np.maximum(noise, np.abs(exact - start - wanted.T).max(axis=0))
        rounding = np.maximum(rounding, np.abs(off).max(axis=0))
    ends = (points[[0, -1]] + [-error, error])[:, None] * units.signs + units.bias
    largest = (np.abs(units.out) * np.maximum(ends, 0).max(axis=0)).max(axis=1, initial=0.0)
    bound = np.where(rounding > 0, 2 * np.maximum(rounding, UNIT * largest), 0.0)
    size = np.abs(start[:, None] + wanted).max(axis=1, initial=0.0)
    nothing = np.zeros(len(units.out))
    return Added(noise + bound, nothing, nothing, nothing + 1, nothing, size, nothing > 0)


def _outputs(held: Array, signs: Array, bias: Array, out: Array) -> Array:
    """(point, dimension): what hidden units add, some points at a time."""
    at_once = max(1, CELLS_AT_ONCE // max(1, len(signs)))
    return np.concatenate([
        np.maximum(held[first : first + at_once] * signs + bias, 0) @ out.T
        for first in range(0, len(held), at_once)
    ])  # fmt: skip


def added_by_all(size: int, parts: Iterable[tuple[Array, Added]]) -> Added:
    """What several groups add, each to some of the dimensions; the grain is infinite elsewhere."""
    error, up, down, terms, largest = np.zeros((5, size))
    grain, still = np.full(size, np.inf), np.ones(size, bool)
    for dims, part in parts:
        error[dims] += part.error
        up[dims] += part.up
        down[dims] += part.down
        terms[dims] += part.terms
        largest[dims] += part.size
        grain[dims] = np.minimum(grain[dims], part.grain)
        still[dims] &= part.still
    return Added(error, up, down, terms, grain, largest, still)
