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
from functools import cached_property
from itertools import pairwise, permutations, product

import numpy as np

from rasp.compiler.analysis.linear import Linear, total
from rasp.compiler.analysis.rounding import UNIT, rough_error
from rasp.compiler.analysis.variables import IndexVariable, TokenVariable, Variable
from rasp.compiler.planning.features import Features, Group

MOST_ORDERED = 4
"""The most inputs of which every order is tried."""
NEAR = [Fraction(1, 32), Fraction(1, 16), Fraction(1, 8)]
"""How near to points kinks may come, in gaps."""
SMALL_WEIGHTS = [Fraction(sign * size) for size in (1, 2, 3) for sign in (1, -1)]


@dataclass(frozen=True, eq=False)
class Ridge:
    """What a group reads, and the states by the value of `z`."""

    z: Linear
    points: list[Fraction]
    states: list[list[int]]
    """For each point, the states of the group that have that `z`."""
    clearance: Fraction
    """How many gaps kinks keep away from the points: far enough for what `z` is off."""

    @cached_property
    def first_states(self) -> np.ndarray:
        """(point,): the first of its states; all of them have the same value."""
        return np.array([states[0] for states in self.states], int)


def choose_ridge(features: Features, group: Group, time: int) -> Ridge:
    """Choose codes and weights with few kinks."""
    tables = _tables(group)
    length = features.analysis.settings.max_length
    codes, weights = min(
        ((codes, weights) for codes in _codings(group, tables) for weights in _candidates(codes)),
        key=lambda choice: (_kinks(group, tables, *choice), sum(map(abs, choice[1]))),
    )
    z = total(
        _coded(features, variable, dict(zip(natural, chosen, strict=True)), time).times(weight)
        for variable, weight, chosen, natural in zip(
            group.inputs, weights, codes, group.codes, strict=True
        )
    )
    places: dict[Fraction, list[int]] = {}
    for state, number in enumerate(numbers_of(codes, weights)):
        if state not in group.undefined:
            places.setdefault(number, []).append(state)
    points = sorted(places)
    gap = float(min((b - a for a, b in pairwise(points)), default=Fraction(1)))
    error = _rough_error(group, codes, weights, length) / gap
    near = NEAR if group.layer <= 1 else []  # later on, scores may be off as well
    clearance = next((clearance for clearance in near if 4 * error < clearance), Fraction(1, 4))
    return Ridge(z, points, [places[point] for point in points], clearance)


def _coded(
    features: Features, variable: Variable, chosen: dict[Fraction, Fraction], time: int
) -> Linear:
    """An input with the codes chosen for it; only those of the token and the index are free."""
    if not isinstance(variable, (TokenVariable, IndexVariable)):
        return features.code(variable, time)
    table = [chosen[code] for _, code in variable.states]
    return features.resolve(0, (variable,), table, time)


def clearest_weights(group: Group, length: int) -> tuple[Fraction, ...]:
    """The weights with which the states of a group are furthest apart, beside what `z` is off."""
    codes = [list(input_codes) for input_codes in group.codes]
    tables = _tables(group)
    return min(
        _candidates(codes),
        key=lambda weights: _relative_error(group, tables.reshape(-1), codes, weights, length),
    )


def _relative_error(
    group: Group, table: np.ndarray, codes: list[list[Fraction]], weights: tuple[Fraction, ...],
    length: int,
) -> float:  # fmt: skip
    """How far `z` can be off, in gaps between states that differ; infinite where some have one."""
    used = ~np.isnan(table)
    z, values = _rough_numbers(codes, weights)[used], table[used]
    order = np.argsort(z, kind="stable")
    gap = float(np.diff(z[order])[np.diff(values[order]) != 0].min(initial=np.inf))
    if gap <= 1e-9:
        return float("inf")
    size = sum(_reach(*coded) for coded in zip(codes, weights, strict=True))
    return (_rough_error(group, codes, weights, length) + 2 * UNIT * size) / gap


def _tables(group: Group) -> np.ndarray:
    """(term, state): the value of each term once; NaN where it does not matter."""
    shape = tuple(len(codes) for codes in group.codes)
    floats: dict[int, float] = {}
    rows: dict[bytes, np.ndarray] = {}
    for table in group.tables:
        keys = list(map(id, table))
        for key, value in dict(zip(keys, table, strict=True)).items():
            if key not in floats:
                floats[key] = np.nan if value is None else float(value)
        row = np.array(list(map(floats.__getitem__, keys)))
        rows.setdefault(row.tobytes(), row)
    array = np.array(list(rows.values()))
    array[:, sorted(group.undefined)] = np.nan
    return array.reshape(len(rows), *shape)


def _codings(group: Group, tables: np.ndarray) -> list[list[list[Fraction]]]:
    """Codes of all inputs: as they are, and with tokens and indices in the order of values."""
    both = [_codes(group, axis, tables) for axis in range(len(group.inputs))]
    own, ordered = [first for first, _ in both], [second for _, second in both]
    return [own] if own == ordered else [own, ordered]


def _codes(
    group: Group, axis: int, tables: np.ndarray
) -> tuple[list[Fraction], list[Fraction]]:  # fmt: skip
    """Codes of one input: its own; and chosen classes, as the token's and the index's are free.

    Classes stand for its own codes where those say more than is needed.
    """
    natural = list(group.codes[axis])
    if not isinstance(group.inputs[axis], (TokenVariable, IndexVariable)):
        return natural, natural
    slices = np.moveaxis(tables, axis + 1, 0).reshape(len(natural), -1)
    # Rows are compared as bytes: what does not matter is some number, and -0.0 becomes 0.0.
    filled = np.where(np.isnan(slices), -12345.678, slices + 0.0)
    class_of: dict[bytes, int] = {}
    classes = [class_of.setdefault(row.tobytes(), len(class_of)) for row in filled]
    first = [classes.index(number) for number in range(len(class_of))]
    with np.errstate(all="ignore"):
        size = np.nan_to_num(slices).mean(axis=1)
    order = sorted(range(len(first)), key=lambda number: (size[first[number]], first[number]))
    rank = {old: Fraction(new) for new, old in enumerate(order)}
    chosen = [rank[number] for number in classes]
    return natural if len(first) == len(natural) else chosen, chosen


def _candidates(codes: list[list[Fraction]]) -> list[tuple[Fraction, ...]]:
    candidates: list[tuple[Fraction, ...]] = []
    for order, is_roomy in product(_orders(codes), (False, True)):
        weights = [Fraction(0)] * len(codes)
        reach, unit = Fraction(0), Fraction(1)
        for axis in order:
            different = sorted(set(codes[axis]))
            gap = min((b - a for a, b in pairwise(different)), default=Fraction(1))
            room = reach if is_roomy else unit  # more of it makes gentler slopes
            least = Fraction(-(-(reach + room) // gap)) if reach else unit / gap
            weights[axis] = least
            reach += weights[axis] * (different[-1] - different[0])
        candidates.append(tuple(weights))
    if 2 <= len(codes) <= 3:
        candidates += [small for small in product(SMALL_WEIGHTS, repeat=len(codes)) if small[0] > 0]
    return candidates


def _rough_error(
    group: Group, codes: list[list[Fraction]], weights: tuple[Fraction, ...], length: int
) -> float:
    """Roughly how far `z` can be off."""
    noisy = (_reach(input_codes, weight)
             for variable, input_codes, weight in zip(group.inputs, codes, weights, strict=True)
             if variable.is_noisy)  # fmt: skip
    return rough_error(sum(noisy), length)


def _reach(codes: list[Fraction], weight: Fraction) -> float:
    return float(abs(weight)) * max(abs(float(codes[0])), abs(float(codes[-1])))


def _orders(codes: list[list[Fraction]]) -> Iterable[tuple[int, ...]]:
    """The orders in which the inputs become digits: all of them where they are few."""
    if len(codes) <= MOST_ORDERED:
        return permutations(range(len(codes)))
    rising = sorted(range(len(codes)), key=lambda axis: len(codes[axis]))
    return [tuple(range(len(codes))), tuple(rising), tuple(reversed(rising))]


def numbers_of(
    codes: Sequence[Sequence[Fraction]], weights: tuple[Fraction, ...]
) -> list[Fraction]:
    """`z` for each state."""
    numbers = [Fraction(0)]
    for input_codes, weight in zip(codes, weights, strict=True):
        numbers = [number + weight * code for number in numbers for code in input_codes]
    return numbers


def _rough_numbers(codes: list[list[Fraction]], weights: tuple[Fraction, ...]) -> np.ndarray:
    """`z` for each state, as floats: they do for choosing weights."""
    numbers = np.zeros(1)
    for input_codes, weight in zip(codes, weights, strict=True):
        scaled = float(weight) * np.array([float(code) for code in input_codes])
        numbers = (numbers[:, None] + scaled).reshape(-1)
    return numbers


def _kinks(
    group: Group, tables: np.ndarray, codes: list[list[Fraction]], weights: tuple[Fraction, ...]
) -> float:
    """Roughly how many kinks there are; infinite where states that differ would get one `z`."""
    flat = tables.reshape(len(tables), -1)
    used = ~np.isnan(flat).any(axis=0)
    z, values = np.round(_rough_numbers(codes, weights)[used], 9), flat[:, used]
    order = np.argsort(z, kind="stable")
    z, values = z[order], values[:, order]
    same = np.diff(z) == 0
    if (np.diff(values, axis=1)[:, same] != 0).any():
        return float("inf")
    keep = np.concatenate([[True], ~same])
    slopes = np.diff(values[:, keep], axis=1) / np.diff(z[keep])
    corners = int((np.abs(np.diff(slopes, axis=1, prepend=0.0)) > 1e-9).any(axis=0).sum())
    if not group.is_noisy:
        return corners
    changes = int((np.abs(slopes) > 1e-12).any(axis=0).sum())
    return min(2 * changes, corners + changes)
