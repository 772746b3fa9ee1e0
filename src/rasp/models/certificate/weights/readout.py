"""A read-out in; refused unless it says the program's answer in every state of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import SOp
from rasp.models.certificate.claims import Findings, ReaderClaim, Refused
from rasp.models.certificate.program.tables import (
    Array,
    AtomColumn,
    rows_in_order,
    typed,
    variants_of,
)
from rasp.models.certificate.weights.arrays import ReadoutWeights, batches
from rasp.models.certificate.weights.gradients import lengths
from rasp.models.certificate.weights.reading import Parts, Reading
from rasp.models.certificate.weights.rounding import DOUBLE, SLACK, TINY, UNIT
from rasp.models.certificate.weights.stream import Stream

AT_ONCE = 8_000_000
NARROW_TO_WIDE = (type(None), str, bool, int, Fraction)
LOST = 1000.0
"""A margin that lacks more than this says no more than that there is none."""
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
    stream: Stream, node: SOp, readout: Readout, arrays: ReadoutWeights, inputs: Sequence[int],
    notes: Findings,
) -> None:  # fmt: skip
    """Check an output on every combination of what it is claimed to be a function of."""
    _check_sizes(readout, arrays)
    steepest = float(lengths(stream, arrays.weight).max(initial=0.0))
    notes.gradient = max(notes.gradient, steepest)
    row, factors, left = _one_row(arrays.weight)
    if not (readout.scored or stream.precision.is_float32):
        raise Refused("a number is only compared with codes in float32")
    is_one = left.max(initial=0.0) <= MULTIPLE * np.abs(row).max(initial=0.0)
    is_one = not readout.scored or (is_one and stream.precision.is_float32)
    space = stream.values.space(tuple(inputs))
    column = stream.values.column(node, space)
    right = np.array(_right_places(column, readout, notes))
    if not any(atom is not None for atom in column.atoms):
        raise Refused("the program has no value on any input")
    reading = stream.read(row[None] if is_one else arrays.weight, inputs)
    places, parts = _states(column, reading.on(stream.values, space), is_one)
    answers = right[places]
    if (answers < 0).any():
        lost = column.atoms[int(places[answers < 0][0])]
        raise Refused(f"the program may answer {lost!r}, which is not among the atoms")
    if not readout.scored:
        margin = _nearest(reading, parts, answers, readout, float(arrays.bias[0]))
    elif is_one:
        more = ((left > 0) & (row == 0) & (stream.size > 0)).sum(axis=1)
        stray = left @ stream.size, more
        margin = _scored(parts, answers, readout, factors, arrays.bias, stray)
    else:
        stored = SLACK * stream.precision.stored
        margin = _scored_by_row(reading, parts, answers, readout, arrays.bias, stored)
    detail = f"{len(readout.atoms)} atoms, {len(places)} states"
    notes.blocks.append((f"read-out {readout.name}", detail, margin))
    if not margin > 0:
        size = f" ({margin:.3g})" if margin > -LOST else ""
        raise Refused(f"the answer is not certain: no margin is left{size}")


def _check_sizes(readout: Readout, arrays: ReadoutWeights) -> None:
    count = len(readout.atoms)
    codes, scores = (0, count) if readout.scored else (count, 1)
    if len(readout.codes) != codes or len(arrays.bias) != scores:
        raise Refused("there are more atoms than codes or scores, or fewer")
    if count > MOST_ATOMS:
        raise Refused(f"a read-out has {count} atoms, and the limit is {MOST_ATOMS}")


def _states(column: AtomColumn, held: Parts, is_one: bool) -> tuple[Array, Parts]:
    """What the program answers and what is read, where both are something; for one row, every
    state that is different.
    """
    fine = column.there & held.there
    if not fine.any():
        raise Refused("no input reaches the read-out")
    places, parts = column.places[fine], held.at(fine)
    if is_one:
        points = rows_in_order(np.hstack([places[:, None], *parts.four]))
        places, parts = points[:, 0].astype(int), Parts(*(points[:, [n]] for n in range(1, 5)))
    return places, parts


def _right_places(column: AtomColumn, readout: Readout, notes: Findings) -> list[int]:
    """(atom,): the place of the answer that is right; -1 where there is none.

    An answer is of the program's kind. Where one number is of several kinds (a lone pick is an
    int, a mean a float), and they are one number to the model, it is of the widest: that is noted.
    """
    places = {typed(atom): place for place, atom in enumerate(readout.atoms)}
    equal: dict[Atom | None, set[type]] = {}
    for atom in column.atoms:
        variants = [atom] if atom is None else variants_of(atom, column.kinds)
        equal.setdefault(atom, set()).update(map(type, variants))
    right = []
    for atom in column.atoms:
        place = places.get(typed(atom), -1)
        if place < 0 or (atom is not None and len(variants_of(atom, column.kinds)) > 1):
            place = places.get((max(equal[atom], key=NARROW_TO_WIDE.index), atom), -1)
            notes.wider |= place >= 0 and len(equal[atom]) > 1
        right.append(place)
    return right


def _classes(readout: Readout) -> Array:
    """(place,): which places of a read-out stand for the same atom."""
    numbering: dict[tuple[type, Atom | None], int] = {}
    return np.array([numbering.setdefault(typed(atom), len(numbering)) for atom in readout.atoms])


def _one_row(weight: Array) -> tuple[Array, Array, Array]:
    """The one row of which all rows are multiples, the factors, and what is left of each row."""
    norms = np.abs(weight).max(axis=1, initial=0.0)  # of a constant, the stream may hold nothing
    row = weight[int(norms.argmax())]
    if not row.any():
        return row, np.zeros(len(weight)), np.zeros_like(weight)
    main = int(np.abs(row).argmax())
    factors = weight[:, main] / row[main]
    return row, factors, np.abs(weight - factors[:, None] * row)


def _scored(
    parts: Parts, answers: Array, readout: Readout, factors: Array, bias: Array,
    stray: tuple[Array, Array],
) -> float:  # fmt: skip
    """The smallest lead of the right atom's score over all others, less their errors, where all
    rows are multiples of one: both scores are off by multiples of what that is off. `stray` is what
    else the rows read, at most, and of how many dimensions.
    """
    classes, margin, (beside, more) = _classes(readout), np.inf, stray
    for states in batches(len(answers), len(bias), AT_ONCE):
        value, wrong = parts.value[states], parts.error[states]
        score = value * factors + bias  # (state, atom)
        sums = np.abs(factors) * parts.mass[states] + np.abs(bias) + beside
        count = parts.count[states] + more + 2
        off = (SLACK * UNIT * count + DOUBLE) * sums + beside + 2 * TINY * count
        rows = np.arange(len(score))
        fits = classes == classes[answers[states]][:, None]  # an atom may have several places
        mine = np.where(fits, score, -np.inf).argmax(axis=1)
        lead = score[rows, mine][:, None] - score
        shared = np.abs(factors - factors[mine][:, None]) * wrong
        lead = lead - shared - off - off[rows, mine][:, None]
        lead[fits] = np.inf
        margin = float(np.minimum(margin, lead.min(initial=np.inf)))
    return margin


def _scored_by_row(
    reading: Reading, parts: Parts, answers: Array, readout: Readout, bias: Array, stored: float
) -> float:
    """The same where each atom has a row of its own."""
    classes, margin = _classes(readout), np.inf
    for states in batches(len(answers), len(bias), AT_ONCE):
        held = parts.at(states)
        off = held.error + reading.rounding(held, bias) + DOUBLE * held.mass
        score = held.value + bias
        off = off + stored * (np.abs(score) + off)
        fits = classes == classes[answers[states]][:, None]
        own = np.where(fits, score - off, -np.inf).max(axis=1)
        other = np.where(fits, -np.inf, score + off).max(axis=1, initial=-np.inf)
        margin = float(np.minimum(margin, (own - other).min()))
    return margin


def _nearest(
    reading: Reading, parts: Parts, answers: Array, readout: Readout, bias: float
) -> float:
    """How far the number can move before another atom is the nearest, as float64 finds it: beside
    codes that are large, it does not see small numbers.
    """
    codes = np.array(readout.codes, float)
    if len(codes) == 1:
        return np.inf
    if (np.diff(codes) <= 0).any():
        raise Refused("codes are not in order")
    number = parts.value[:, 0] + bias
    off = parts.error[:, 0] + reading.rounding(parts, np.array([bias]))[:, 0]
    off += DOUBLE * (np.abs(number) + np.abs(codes).max())
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


def is_read(stream: Stream, reader: ReaderClaim) -> bool:
    """Whether a row of weights reads an s-op: what it gives is always nearer to the s-op's value
    than to any other number that the s-op can be, and close to it if it can be no other.
    """
    values = stream.values
    row = np.zeros(len(stream.error))
    if not all(0 <= dim < len(row) for dim in reader.weights):  # -1 would be one of them again
        return False
    row[list(reader.weights)] = list(reader.weights.values())
    over = values.over(reader.node)
    if reader.node in values.claims.choices:  # of which a table leaves states open
        over = (values.node_variables[reader.node],)
    try:
        space = values.space(over)
        column = values.column(reader.node, space)
        held = stream.read(row[None], space.variables).on(values, space)
    except Refused:
        return False
    if any(isinstance(atom, str) for atom in column.atoms):
        return False
    numbers = [None if atom is None else Fraction(atom) for atom in column.atoms]
    wanted = np.array([np.nan if one is None else float(one) for one in numbers])[column.places]
    fine = ~np.isnan(wanted) & ~np.isnan(held.value[:, 0])
    off = np.abs(held.value[:, 0] + reader.constant - wanted) + held.error[:, 0]
    off += DOUBLE * (held.mass[:, 0] + abs(reader.constant) + np.abs(wanted))
    listed = sorted({one for one in numbers if one is not None})
    apart = min((float(high - low) for low, high in pairwise(listed)), default=2.0)
    return bool((off < min(apart, 2.0) / 2)[fine].all())
