"""A read-out in; refused unless it says the program's answer in every state of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.arrays import ReadoutArrays
from rasp.certificate.claims import Notes, ReaderClaim, Refused
from rasp.certificate.gradients import lengths
from rasp.certificate.reading import DOUBLE, SLACK, UNIT, Parts, Reading
from rasp.certificate.stream import Stream
from rasp.certificate.tables import Array, Column, Space, typed, variants_of
from rasp.graph import SOp

AT_ONCE = 8_000_000
NARROW_TO_WIDE = (type(None), str, bool, int, Fraction)
MULTIPLE = 1e-3
"""Rows that are this close to multiples of one row are taken for such."""
MOST_ATOMS = 65_536
"""The largest table of a read-out: it is a part of the model, and counted as such."""


@dataclass(frozen=True)
class Readout:
    """The atoms that an output chooses from, and the numbers next to which they are, if these are
    compared with what is read.
    """

    name: str
    atoms: tuple[Atom, ...]
    codes: tuple[float, ...]
    scored: bool
    """Whether each atom has a score, and the best one is the answer."""


def read_out(
    stream: Stream, node: SOp, readout: Readout, arrays: ReadoutArrays, inputs: Sequence[int],
    notes: Notes,
) -> None:  # fmt: skip
    """Check an output on every combination of what it is claimed to be a function of."""
    name = f"read-out {readout.name}"
    count = len(readout.atoms)
    codes, scores = (0, count) if readout.scored else (count, 1)
    if len(readout.codes) != codes or len(arrays.bias) != scores:
        raise Refused("there are more atoms than codes or scores, or fewer", name)
    if count > MOST_ATOMS:
        raise Refused(f"a read-out has {count} atoms, and the limit is {MOST_ATOMS}", name)
    values = stream.values
    space = values.space(tuple(inputs))
    column = values.column(node, space)
    steepest = float(lengths(stream, arrays.weight).max(initial=0.0))
    notes.gradient = max(notes.gradient, steepest)
    if not (readout.scored or stream.precision.is_float32):
        raise Refused("a number is only compared with codes in float32", name)
    if readout.scored and (_has_many_rows(arrays.weight) or not stream.precision.is_float32):
        _score_each(stream, readout, arrays, column, space, notes)
        return
    row, factors, off_rows = _one_row(arrays.weight)
    reading = stream.read(row[None], inputs)
    held = reading.on(values, space)
    table = np.hstack([column.places[:, None], held.value, held.error, held.mass, held.count])
    points = np.unique(table, axis=0)
    right = _right_places(column, readout, notes)
    if not any(atom is not None for atom in column.atoms):
        raise Refused("the program has no value on any input", name)
    fine = np.array([column.atoms[int(place)] is not None for place in points[:, 0]])
    points = points[fine & ~np.isnan(points[:, 1])]
    if not len(points):
        raise Refused("no input reaches the read-out", name)
    parts = Parts(*(points[:, [number]] for number in range(1, 5)))
    answers = np.array([right[int(place)] for place in points[:, 0]])
    if (answers < 0).any():
        lost = column.atoms[int(points[:, 0][answers < 0][0])]
        raise Refused(f"the program may answer {lost!r}, which is not among the atoms", name)
    low, high = (parts.value + sign * parts.error for sign in (-1, 1))
    notes.ranges[readout.name] = row, _ranges(column, points[:, 0].astype(int), low, high)
    stray = off_rows @ stream.size
    if readout.scored:
        margin = _scored(parts, answers, _classes(readout), factors, arrays.bias, stray)
    else:
        margin = _nearest(reading, parts, answers, readout, float(arrays.bias[0]))
    notes.blocks.append((name, f"{count} atoms, {len(points)} states", margin))
    if not margin > 0:
        raise Refused(f"the answer is not certain: no margin is left ({margin:.3g})", name)


def _ranges(
    column: Column, places: Array, low: Array, high: Array
) -> dict[tuple[type, Atom], tuple[float, float]]:
    """Between what a reading is, for each atom that there is."""
    least, most = np.full((2, len(column.atoms)), np.inf)
    np.minimum.at(least, places, low[:, 0])
    np.minimum.at(most, places, -high[:, 0])
    return {typed(column.atoms[place]): (float(least[place]), -float(most[place]))  # type: ignore[misc]
            for place in np.unique(places).tolist()}  # fmt: skip


def _right_places(column: Column, readout: Readout, notes: Notes) -> list[int]:
    """(atom,): the place of the answer that is right; -1 where there is none.

    An answer is of the program's kind. Where one number is of several kinds (a lone pick is an
    int, a mean a float), and they are one number to the model, it is of the widest: that is noted.
    """
    places = {typed(atom): place for place, atom in enumerate(readout.atoms)}
    equal: dict[Atom | None, set[type]] = {}
    for atom in column.atoms:
        some = [atom] if atom is None else variants_of(atom, column.kinds)
        equal.setdefault(atom, set()).update(map(type, some))
    found = []
    for atom in column.atoms:
        place = places.get(typed(atom), -1)
        if place < 0 or (atom is not None and len(variants_of(atom, column.kinds)) > 1):
            place = places.get((max(equal[atom], key=NARROW_TO_WIDE.index), atom), -1)
            notes.wider |= place >= 0 and len(equal[atom]) > 1
        found.append(place)
    return found


def _has_many_rows(weight: Array) -> bool:
    """Whether the rows are no multiples of one of them."""
    _, _, left = _one_row(weight)
    return bool(left.max(initial=0.0) > MULTIPLE * np.abs(weight).max(initial=0.0))


def _score_each(
    stream: Stream, readout: Readout, arrays: ReadoutArrays, column: Column, space: Space,
    notes: Notes,
) -> None:  # fmt: skip
    """Check a read-out with a row for each atom: in every state, the right score is the best."""
    name = f"read-out {readout.name}"
    right = np.array(_right_places(column, readout, notes))
    there = np.array([atom is not None for atom in column.atoms])
    if not there.any():
        raise Refused("the program has no value on any input", name)
    if (right[there] < 0).any():
        lost = column.atoms[int(np.flatnonzero(there & (right < 0))[0])]
        raise Refused(f"the program may answer {lost!r}, which is not among the atoms", name)
    classes, margin, states = _classes(readout), np.inf, 0
    reading = stream.read(arrays.weight, space.variables)
    held = reading.on(stream.values, space)
    fine = there[column.places] & ~np.isnan(held.value).any(axis=1)
    at_once = max(1, AT_ONCE // max(1, len(arrays.bias)))
    rows = np.flatnonzero(fine)
    for first in range(0, len(rows), at_once):
        some = rows[first : first + at_once]
        parts, answers = held.at(some), right[column.places[some]]
        score = parts.value + arrays.bias
        off = parts.error + reading.rounding(parts, arrays.bias) + DOUBLE * parts.mass
        off = off + SLACK * stream.precision.stored * (np.abs(score) + off)
        fits = classes == classes[answers][:, None]
        own = np.where(fits, score - off, -np.inf).max(axis=1)
        other = np.where(fits, -np.inf, score + off).max(axis=1, initial=-np.inf)
        margin, states = min(margin, float((own - other).min())), states + len(some)
    if not states:
        raise Refused("no input reaches the read-out", name)
    notes.blocks.append((name, f"{len(readout.atoms)} atoms, {states} states", margin))
    if not margin > 0:
        raise Refused(f"the answer is not certain: no margin is left ({margin:.3g})", name)


def is_read(stream: Stream, reader: ReaderClaim) -> bool:
    """Whether a row of weights reads an s-op: what it gives is always nearer to the s-op's value
    than to any other number that the s-op can be, and close to it if it can be no other.
    """
    values = stream.values
    row = np.zeros(len(stream.error))
    if any(dim >= len(row) for dim in reader.weights):
        return False
    row[list(reader.weights)] = list(reader.weights.values())
    try:
        space, column = values.table(reader.node)
        held = stream.read(row[None], space.variables).on(values, space)
    except Refused:
        return False
    if any(isinstance(atom, str) for atom in column.atoms):
        return False
    numbers = np.array([np.nan if atom is None else float(atom) for atom in column.atoms])
    wanted = numbers[column.places]
    fine = ~np.isnan(wanted) & ~np.isnan(held.value[:, 0])
    off = np.abs(held.value[:, 0] + reader.constant - wanted) + held.error[:, 0]
    apart = np.diff(np.unique(numbers[~np.isnan(numbers)])).min(initial=2.0)
    return bool((off < apart / 2)[fine].all())


def _classes(readout: Readout) -> Array:
    """(place,): which places of a read-out stand for the same atom."""
    known: dict[tuple[type, Atom | None], int] = {}
    return np.array([known.setdefault(typed(atom), len(known)) for atom in readout.atoms])


def _one_row(weight: Array) -> tuple[Array, Array, Array]:
    """The one row of which all rows are multiples, the factors, and what is left of each row."""
    norms = np.abs(weight).max(axis=1)
    row = weight[int(norms.argmax())]
    if not row.any():
        return row, np.zeros(len(weight)), np.zeros_like(weight)
    main = int(np.abs(row).argmax())
    factors = weight[:, main] / row[main]
    return row, factors, np.abs(weight - factors[:, None] * row)


def _scored(
    parts: Parts, answers: Array, classes: Array, factors: Array, bias: Array, stray: Array
) -> float:
    """The smallest lead of the right atom's score over all others, less their errors."""
    margin = np.inf
    at_once = max(1, AT_ONCE // max(1, len(bias)))
    for first in range(0, len(answers), at_once):
        some = slice(first, first + at_once)
        value, wrong = parts.value[some], parts.error[some]
        score = value * factors + bias  # (state, atom)
        sums = np.abs(factors) * parts.mass[some] + np.abs(bias)
        off = (SLACK * UNIT * (parts.count[some] + 2) + DOUBLE) * sums + stray
        rows = np.arange(len(score))
        fits = classes == classes[answers[some]][:, None]  # an atom may have several places
        mine = np.where(fits, score, -np.inf).argmax(axis=1)
        lead = score[rows, mine][:, None] - score
        shared = np.abs(factors - factors[mine][:, None]) * wrong  # both read the same number
        lead = lead - shared - off - off[rows, mine][:, None]
        lead[fits] = np.inf
        margin = min(margin, float(lead.min(initial=np.inf)))
    return margin


def _nearest(
    reading: Reading, parts: Parts, answers: Array, readout: Readout, bias: float
) -> float:
    """How far the number can move before another atom is the nearest."""
    codes = np.array(readout.codes)
    if len(codes) == 1:
        return np.inf
    if (np.diff(codes) <= 0).any():
        raise Refused("codes are not in order")
    number = parts.value[:, 0] + bias
    off = parts.error[:, 0] + reading.rounding(parts, np.array([bias]))[:, 0]
    classes = _classes(readout)
    middles = (codes[1:] + codes[:-1]) / 2
    changes = classes[1:] != classes[:-1]
    bounds = np.concatenate([[-np.inf], middles[changes], [np.inf]])
    which = np.searchsorted(bounds, number) - 1
    firsts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    if (classes[firsts[which]] != classes[answers]).any():
        return -np.inf
    room = np.minimum(number - bounds[which], bounds[which + 1] - number)
    return float((room - off).min(initial=np.inf))
