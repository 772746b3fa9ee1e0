"""Points in, the kinks of a piecewise-linear function through them out.

A function that starts flat is its first value plus Σ change · relu(z - position). Where `z` is
exact, it is straight from point to point (`chords`). Where `z` carries rounding errors, kinks keep
away from the points (`smooth`): the function is flat around them where it can be, so that errors
end there. Cost: 1 hidden unit for each kink, which is 2 for each change of value at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np

from rasp.models.compiler.analysis.rounding import power_of_two_in
from rasp.models.compiler.analysis.tables import numbered

ZERO = Fraction(0)
Kinks: TypeAlias = dict[Fraction, Fraction]
"""How much the slope changes at each position, from the lowest to the highest."""


def chords(points: Sequence[Fraction], values: Sequence[Fraction]) -> Kinks:
    """Straight lines from point to point; for inputs that are exact.

    Where float32 would round the slope, the line is flat first, and then steeper.

    >>> chords([Fraction(0), Fraction(1), Fraction(2)], [Fraction(0), Fraction(0), Fraction(1)])
    {Fraction(1, 1): Fraction(1, 1)}
    >>> chords([Fraction(0), Fraction(3)], [Fraction(0), Fraction(1)])
    {Fraction(1, 1): Fraction(1, 2)}
    """
    places = np.flatnonzero(np.diff(numbered(values)[1])).tolist()
    heights = [values[place + 1] - values[place] for place in places]
    widths = [points[place + 1] - points[place] for place in places]
    narrowest = _power_of_two_within(min(widths, default=Fraction(1)))
    # A power of two of which all slopes can be multiples; 0 where there is none.
    finest = min((power_of_two_in(height / narrowest) for height in heights), default=ZERO)
    kinks: Kinks = {}
    for place, height, step in zip(places, heights, widths, strict=True):
        width, end = _width_of_line(height, step, finest), points[place + 1]
        slope = height / width
        kinks[end - width] = kinks.get(end - width, ZERO) + slope
        kinks[end] = -slope
    kinks.pop(points[-1], None)  # nothing comes after it
    return {position: change for position, change in kinks.items() if change}


def _width_of_line(height: Fraction, width: Fraction, finest: Fraction) -> Fraction:
    """How wide a line is that makes a step, which has so much room."""
    if finest and (height / width / finest).denominator > 1:  # float32 would round that slope
        width = _power_of_two_within(width)
        while (height / width / finest).denominator > 1:
            width /= 2
    return width


def _power_of_two_within(gap: Fraction) -> Fraction:
    """The largest power of two that is no larger."""
    if gap >= 1:
        return Fraction(1 << (gap.__floor__().bit_length() - 1))
    return Fraction(1, 1 << ((1 / gap).__ceil__() - 1).bit_length())


def smooth(points: Sequence[Fraction], values: Sequence[Fraction]) -> Kinks:
    """Pass through the points with few kinks, all of them away from the points, and flat ones
    where that makes no difference."""
    changes = np.diff(numbered(values)[1]) != 0  # inside a flat stretch, points are left out
    turning = np.flatnonzero(np.append(True, changes) | np.append(changes, True)).tolist()
    points, values = ([row[place] for place in turning] for row in (points, values))
    gaps, rises = ([after - before for before, after in pairwise(row)] for row in (points, values))
    chord = [rise / gap for rise, gap in zip(rises, gaps, strict=True)]
    choices: list[list[Fraction]] = []
    for place in range(len(points)):
        near = chord[max(0, place - 1) : place + 1]
        # at an end of a flat stretch, it stays flat
        options = {ZERO, *near, sum(near, ZERO) / len(near)} if near and all(near) else {ZERO}
        choices.append(sorted(options, key=abs))
    slopes = _fewest(gaps, rises, choices)
    kinks = {points[0] - 1: slopes[0]}
    for place, (gap, rise) in enumerate(zip(gaps, rises, strict=True)):
        for further, change in _join(gap, rise, slopes[place], slopes[place + 1]):
            kinks[points[place] + further] = change
    return {position: change for position, change in kinks.items() if change}


def _join(
    gap: Fraction, rise: Fraction, left: Fraction, right: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """How to get from a line with one slope to the next point, and pass that with another: how far
    after the first point the slope changes, and by how much.
    """
    miss = rise - left * gap
    if left == right and not miss:
        return []
    if left != right:
        meet = gap - miss / (right - left)
        if gap / 8 <= meet <= gap - gap / 8:
            return [(meet, right - left)]
    ramp = (rise - (left + right) * gap / 4) / (gap / 2)
    return [(gap / 4, ramp - left), (gap - gap / 4, right - ramp)]


def _fewest(
    gaps: Sequence[Fraction], rises: Sequence[Fraction], choices: list[list[Fraction]]
) -> list[Fraction]:
    """Choose a slope at each point so that few kinks are needed; doubles do for counting them."""
    rough = [[float(slope) for slope in slopes] for slopes in choices]
    history = [[(int(slope != 0), abs(slope), -1) for slope in rough[0]]]
    for place, (gap, rise) in enumerate(zip(map(float, gaps), map(float, rises), strict=True)):
        reached = list(enumerate(zip(rough[place], history[-1], strict=True)))
        history.append([
            min((kinks + _kinks_between(gap, rise, before, slope), size + abs(slope), number)
                for number, (before, (kinks, size, _)) in reached)
            for slope in rough[place + 1]
        ])  # fmt: skip
    # From the end: which slope is the best there, and which one before it led to that?
    number = history[-1].index(min(history[-1], key=lambda option: option[:2]))
    slopes = []
    for row, options in zip(reversed(history), reversed(choices), strict=True):
        slopes.append(options[number])
        number = row[number][2]
    return slopes[::-1]


def _kinks_between(gap: float, rise: float, left: float, right: float) -> int:
    """How many kinks `_join` will use."""
    miss = rise - left * gap
    if left != right:
        return 1 if gap / 8 <= gap - miss / (right - left) <= gap - gap / 8 else 2
    return 0 if abs(miss) <= 1e-9 * (abs(rise) + abs(left * gap)) else 2


def base_point(
    points: Sequence[Fraction], functions: Sequence[tuple[Sequence[Fraction], Kinks]]
) -> Fraction:
    """A point where the functions are flat, if there is one: units face away from it.

    That saves the unit for the first slope, and sums of large numbers that cancel: so the
    function with the largest values comes first.
    """
    if not functions:
        return points[0]
    _, main = max(functions, key=lambda function: max(function[0]) - min(function[0]))
    rough = np.array([float(point) for point in points])
    steep = np.zeros(len(points), int)
    for _, kinks in functions:
        slopes, places = _slopes(kinks, rough)
        steep += np.array([slope != 0 for slope in slopes])[places]
    slopes, places = _slopes(main, rough)
    first = (abs(slopes[place]) for place in places.tolist())
    costs = list(zip(first, steep.tolist(), _strain(main, rough), strict=True))
    return points[costs.index(min(costs))]


def _strain(kinks: Kinks, points: np.ndarray) -> list[float]:
    """For each point as the base, the larger one of the sums of sizes at both ends."""
    turns = [(float(position), abs(float(change))) for position, change in kinks.items()]
    positions, sizes = np.array(turns).reshape(-1, 2).T
    left = np.cumsum([0.0, *sizes * (positions - points[0])])
    right = np.cumsum([0.0, *(sizes * (points[-1] - positions))[::-1]])[::-1]
    places = np.searchsorted(positions, points, side="right")
    strains: list[float] = np.maximum(left, right)[places].tolist()
    return strains


def _slopes(kinks: Kinks, points: np.ndarray) -> tuple[list[Fraction], np.ndarray]:
    """The slopes of a function that starts flat, and which it has just right of each point."""
    slopes = list(accumulate(kinks.values(), initial=ZERO))
    positions = np.array([float(position) for position in kinks])
    return slopes, np.searchsorted(positions, points, side="right")


def one_sided(
    kinks: Kinks, base: Fraction, first: Fraction
) -> dict[tuple[Fraction, int], Fraction]:
    """Units (position, sign) that make the function, up to a constant.

    To the right of the base a unit is relu(z - position), to the left relu(position - z).
    """
    units: dict[tuple[Fraction, int], Fraction] = {}
    slope = sum((change for position, change in kinks.items() if position <= base), ZERO)
    if slope:
        units[first - 1, 1] = slope
    for position, change in kinks.items():
        key = (position, 1 if position > base else -1)
        units[key] = units.get(key, ZERO) + change
    return {key: change for key, change in units.items() if change}


def evaluated(units: dict[tuple[Fraction, int], Fraction], z: Fraction) -> Fraction:
    """What units add at one input, exactly."""
    return sum((change * max(ZERO, sign * (z - position))
                for (position, sign), change in units.items()), ZERO)  # fmt: skip
