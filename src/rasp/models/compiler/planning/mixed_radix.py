"""A feed-forward group in, the one number it reads out: `z`, a weighted sum of its inputs.

z = Σ aᵢ·xᵢ, where aᵢ times the smallest difference of two xᵢ is more than all inputs before can
add up to: then no two states have one `z`, as in a mixed-radix numeral, and any function of the
inputs is a function of `z` alone. Small weights that send different states to one `z` are fine
where the function agrees there, and often need far fewer kinks. Codes of tokens and indices are
free: states that make no difference share one. Cost: what reads `z` (see `piecewise`), and
1 dimension where `z` can be read from no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise, permutations, product

import numpy as np

from rasp.models.compiler.analysis.joint_tables import all_sums
from rasp.models.compiler.analysis.linear import Linear, total
from rasp.models.compiler.analysis.variables import GroundVariable
from rasp.models.compiler.planning.features import Features, Group

ONE = Fraction(1)
MOST_ORDERED = 4
"""The most inputs of which every order is tried."""
SMALL_WEIGHTS = [Fraction(sign * size) for size in (1, 2, 3) for sign in (1, -1)]


@dataclass(frozen=True, eq=False)
class Ridge:
    """What a group reads, `z`, and its states by the value of that."""

    group: Group
    z: Linear
    points: list[Fraction]
    states: np.ndarray  # (point,): the first state with that `z`; all have the same value


def choose_ridge(features: Features, group: Group, time: int) -> Ridge:
    """Choose codes and weights with few kinks."""
    rows = np.array(list({row.tobytes(): row for row in group.tables}.values()))  # (term, state)
    is_known = ~np.isnan(rows).any(axis=0)
    rows[:, ~is_known] = np.nan
    inputs = [_read(features, group, axis, rows, time) for axis in range(len(group.inputs))]
    codes = [input_codes for input_codes, _ in inputs]
    terms = rows[:, is_known]
    rough = [np.array(input_codes, float) for input_codes in codes]  # doubles do for choosing

    def cost(weights: tuple[Fraction, ...]) -> tuple[float, Fraction]:
        digits = (float(weight) * row for weight, row in zip(weights, rough, strict=True))
        kinks = _kinks(group, terms, reduce(np.add.outer, digits).reshape(-1)[is_known])
        return kinks, sum(map(abs, weights), Fraction(0))

    weights = min(_candidates(codes), key=cost)
    z = total(read.times(weight) for (_, read), weight in zip(inputs, weights, strict=True))
    numbers, unit = numbers_of(codes, weights)
    different, first = np.unique(numbers[is_known], return_index=True)
    points = [Fraction(number, unit) for number in different.tolist()]
    return Ridge(group, z, points, np.flatnonzero(is_known)[first])


def _read(
    features: Features, group: Group, axis: int, rows: np.ndarray, time: int
) -> tuple[list[Fraction], Linear]:
    """The codes of one input, and how to read them; only those of the token and the index are free:
    these are classes in the order of values where its own say more than is needed.
    """
    variable, natural = group.inputs[axis], group.codes[axis]
    if not isinstance(variable, GroundVariable):
        return natural, features.code(variable, time)
    tables = rows.reshape(len(rows), *map(len, group.codes))
    codes = _classes(np.moveaxis(tables, axis + 1, 0).reshape(len(natural), -1))
    if len(set(codes)) == len(natural):
        codes = natural
    code_of = dict(zip(natural, codes, strict=True))
    table = [code_of[code] for code in variable.codes_of_states]
    return codes, features.resolve(0, (variable,), table, time)


def _classes(slices: np.ndarray) -> list[Fraction]:
    """For each row, the place of its class among those of equal rows, in the order of values."""
    # What does not matter is some number, and -0.0 becomes 0.0.
    filled = np.where(np.isnan(slices), -12345.678, slices + 0.0)
    _, first, classes = np.unique(filled, axis=0, return_index=True, return_inverse=True)
    with np.errstate(all="ignore"):
        size = np.nan_to_num(slices).mean(axis=1)
    rank = np.argsort(np.lexsort((first, size[first])))
    return [Fraction(place) for place in rank[classes.reshape(-1)].tolist()]


def _candidates(codes: list[list[Fraction]]) -> list[tuple[Fraction, ...]]:
    candidates = [place_values(codes, order) for order in _orders(codes)]
    if 2 <= len(codes) <= 3:
        candidates += [small for small in product(SMALL_WEIGHTS, repeat=len(codes)) if small[0] > 0]
    return candidates


def place_values(codes: Sequence[Sequence[Fraction]], order: Sequence[int]) -> tuple[Fraction, ...]:
    """The weights of inputs as digits, in an order: each outweighs all that come before it."""
    weights, reach = [ONE] * len(codes), Fraction(0)
    for axis in order:
        different = sorted(set(codes[axis]))
        gap = min((b - a for a, b in pairwise(different)), default=ONE)
        weights[axis] = Fraction(-(-(reach + 1) // gap)) if reach else 1 / gap
        reach += weights[axis] * (different[-1] - different[0])
    return tuple(weights)


def _orders(codes: list[list[Fraction]]) -> Iterable[tuple[int, ...]]:
    """The orders in which the inputs become digits: all of them where they are few."""
    if len(codes) <= MOST_ORDERED:
        return permutations(range(len(codes)))
    rising = sorted(range(len(codes)), key=lambda axis: len(codes[axis]))
    return [tuple(range(len(codes))), tuple(rising), tuple(reversed(rising))]


def numbers_of(
    codes: Sequence[Sequence[Fraction]], weights: tuple[Fraction, ...]
) -> tuple[np.ndarray, int]:
    """(state,): `z` in whole units, however large; and how many units make 1.

    >>> zero, half, one = Fraction(0), Fraction(1, 2), Fraction(1)
    >>> numbers_of([[zero, half], [zero, one]], (one, one))
    (array([0, 2, 1, 3], dtype=object), 2)
    """
    return all_sums([[weight * code for code in input_codes]
                     for input_codes, weight in zip(codes, weights, strict=True)])  # fmt: skip


def _kinks(group: Group, values: np.ndarray, z: np.ndarray) -> float:
    """Roughly how many kinks there are; infinite where states that differ would get one `z`."""
    z = np.round(z, 9)
    order = np.argsort(z, kind="stable")
    z = z[order]
    is_new = np.append(True, np.diff(z) != 0)
    again = np.flatnonzero(~is_new)
    if (values[:, order[again]] != values[:, order[again - 1]]).any():
        return float("inf")
    slopes = np.diff(values[:, order[is_new]], axis=1) / np.diff(z[is_new])
    corners = int((np.abs(np.diff(slopes, axis=1, prepend=0.0)) > 1e-9).any(axis=0).sum())
    if not group.is_inexact:
        return corners
    changes = int((np.abs(slopes) > 1e-12).any(axis=0).sum())
    return min(2 * changes, corners + changes)
