"""The rule `answer`: by how much the right answer leads in every row of what a read-out reads.

The answer that the program gives is known in every row. A read-out that gives each atom a score
must have it on top; one that compares a number with codes must have its code nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import SOp
from rasp.models.certificate.claims import ReaderClaim, Refused
from rasp.models.certificate.weights.arrays import ReadoutWeights
from rasp.models.certificate.weights.readout import Readout
from rasp.models.checker.float_errors import SLACK, UNIT
from rasp.models.checker.relations import Array, ColumnOfAtoms, Name, number_of, typed
from rasp.models.checker.slots import Numbers, SlotStream

NARROW_TO_WIDE = (str, bool, int)
MOST_ATOMS = 65_536
"""The largest table of a read-out: it is a part of the model, and counted as such."""


def margin_of(
    stream: SlotStream, node: SOp, readout: Readout, arrays: ReadoutWeights, names: Sequence[Name]
) -> tuple[float, int, bool]:
    """The smallest lead of a right answer; in how many rows; and whether some answer is of a wider
    kind than the program's (1.0 for 1)."""
    count = len(readout.atoms)
    codes, scores = (0, count) if readout.scored else (count, 1)
    if len(readout.codes) != codes or len(arrays.bias) != scores or not 0 < count <= MOST_ATOMS:
        raise Refused("there are more atoms than codes or scores, or fewer")
    if not (readout.scored or stream.precision.is_float32):
        raise Refused("a number is only compared with codes in float32")
    numbers = stream.read(arrays.weight, arrays.bias, names)
    column = stream.facts.column(node, numbers.space)
    kept = column.there & numbers.there
    if not kept.any():
        raise Refused("the program has no value on any input")
    right, wider = _right_places(column, readout.atoms)
    answers = right[column.places][kept]
    if (answers < 0).any():
        raise Refused("the program may give an answer that is not among the atoms")
    lead = _lead if readout.scored else _room
    return lead(stream, numbers, kept, answers, readout), int(kept.sum()), wider


def _right_places(column: ColumnOfAtoms, atoms: Sequence[Atom]) -> tuple[Array, bool]:
    """(atom,): the place of the answer that is right, -1 for none; and whether some is wider.

    An answer is of the program's kind. Where one number is of several kinds, and they are one
    number to the model, it is of the widest.
    """
    places = {typed(atom): place for place, atom in enumerate(atoms)}
    widest = {number_of(atom): places[typed(atom)] for atom in sorted(atoms, key=_width)}
    right, wider = [], False
    for answer in column.atoms:
        place = places.get(typed(answer), -1)
        if answer is not None and (column.loose or place < 0):
            place = widest.get(number_of(answer), -1)
            wider |= place >= 0
        right.append(place)
    return np.array(right, int), wider


def _width(atom: Atom) -> int:
    return NARROW_TO_WIDE.index(type(atom)) if type(atom) in NARROW_TO_WIDE else len(NARROW_TO_WIDE)


def _classes(atoms: Sequence[Atom]) -> Array:
    """(place,): which places stand for the same atom."""
    numbering: dict[object, int] = {}
    return np.array([numbering.setdefault(typed(atom), len(numbering)) for atom in atoms])


def _lead(
    stream: SlotStream, numbers: Numbers, kept: Array, answers: Array, readout: Readout
) -> float:
    classes, margin = _classes(readout.atoms), np.inf
    stored = SLACK * stream.precision.stored
    for place in np.unique(answers).tolist():
        rows = np.flatnonzero(kept)[answers == place]
        score = numbers.value[rows]
        off = numbers.wrong[rows] + stored * (np.abs(score) + numbers.wrong[rows])
        fits = classes == classes[place]
        own = (score - off)[:, fits].max(axis=1)
        if not fits.all():
            margin = min(margin, float((own - (score + off)[:, ~fits].max(axis=1)).min()))
    return margin


def _room(
    stream: SlotStream, numbers: Numbers, kept: Array, answers: Array, readout: Readout
) -> float:
    """How far the number can move before another code is nearer."""
    codes = np.array(readout.codes, float)
    if len(codes) == 1:
        return np.inf
    if any(low >= high for low, high in pairwise(codes)):
        raise Refused("codes are not in order")
    number, off = numbers.value[kept, 0], numbers.wrong[kept, 0]
    middles = (codes[1:] + codes[:-1]) / 2
    below, above = np.append(-np.inf, middles), np.append(middles, np.inf)
    room = np.minimum(number - below[answers], above[answers] - number)
    return float((room - off - SLACK * 2 * UNIT * np.abs(codes).max()).min())


def is_read(stream: SlotStream, reader: ReaderClaim) -> bool:
    """Whether a row of weights reads an s-op: what it gives is always nearer to the s-op's value
    than to any other number that the s-op can be, and close to it if it can be no other."""
    row = np.zeros(stream.size)
    if not all(0 <= dim < stream.size for dim in reader.weights):
        return False
    row[list(reader.weights)] = list(reader.weights.values())
    facts = stream.facts
    found = facts.table(reader.node, tuple(sorted(facts.over(reader.node))))
    if found is None or any(isinstance(atom, str) for atom in found[1].listed()):
        return False
    space, column = found
    numbers = stream.read(row[None], np.array([reader.constant]), space)
    wanted = [np.nan if atom is None else float(atom) for atom in column.atoms]
    held = np.array(wanted)[column.places]
    kept = numbers.there & ~np.isnan(held)
    off = np.abs(numbers.value[:, 0] - held) + numbers.wrong[:, 0]
    listed = sorted({float(atom) for atom in column.listed() if not isinstance(atom, str)})
    apart = min((high - low for low, high in pairwise(listed)), default=2.0)
    return bool((off < min(apart, 2.0) / 2)[kept].all())
