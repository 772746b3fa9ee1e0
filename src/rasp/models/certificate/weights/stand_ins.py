"""Readings of two kinds of variables that stand for others.

A *count* is how many of several conditions hold: a reading is a function of it where each of them
is worth the same. A *choice* is one of several s-ops: a reading is looked at case by case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rasp.language.graph import Const, Elementwise
from rasp.models.certificate.claims import ClaimedCount, ClaimedNode, ClaimedVariable, Refused
from rasp.models.certificate.program.tables import Array, Space, places_among
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.reading import (
    Parts,
    Piece,
    Reading,
    constant_part,
    located,
    projected,
)


def without_counts(values: ProvedValues, variables: Sequence[int]) -> tuple[int, ...]:
    """Claimed variables, with the conditions themselves in place of how many hold."""
    opened: list[int] = []
    for variable in variables:
        claimed = values.claims.variables[variable]
        if isinstance(claimed, ClaimedCount):
            opened += [values.node_variables[node] for node in claimed.conditions
                      if node in values.node_variables]  # fmt: skip
        else:
            opened.append(variable)
    return tuple(dict.fromkeys(opened))


def with_counts(values: ProvedValues, reading: Reading, variables: Sequence[int]) -> Reading:
    """Conditions that all add the same where they hold, as a multiple of how many hold."""
    for variable in variables:
        claimed = values.claims.variables[variable]
        if isinstance(claimed, ClaimedCount):
            reading = _with_count(values, reading, variable, claimed)
    return reading


def _with_count(
    values: ProvedValues, reading: Reading, variable: int, claimed: ClaimedCount
) -> Reading:
    members = {values.node_variables.get(node) for node in claimed.conditions}
    mine = [piece for piece in reading.pieces if set(piece.space.variables) & members]
    if not mine:  # it is the same, however many hold
        return reading
    if not all(set(piece.space.variables) <= members for piece in mine):
        raise Refused("conditions that are counted are read with something else")
    if sum(len(piece.space.variables) for piece in mine) != len(claimed.conditions):
        raise Refused("some condition that is counted is not read")
    parts_of = [_by_number_held(values, piece) for piece in mine]
    slopes = [slope for parts in parts_of if (slope := _slope(parts)) is not None]
    slope = np.nan_to_num(np.median(slopes, axis=0))
    base = reading.base
    for parts in parts_of:
        level = parts.value - np.arange(len(parts.value))[:, None] * slope
        parts = replace(parts, value=level)
        base = base.plus(constant_part(parts.at(parts.there)))
    count = np.outer(np.arange(len(claimed.conditions) + 1), slope)
    space = values.space((variable,))
    piece = Piece(space, Parts(count, *np.zeros((3, *count.shape))).at(space.grid[0]))
    others = [piece for piece in reading.pieces if piece not in mine]
    return replace(reading, base=base, pieces=[*others, piece])


def _by_number_held(values: ProvedValues, piece: Piece) -> Parts:
    """A piece over conditions by how many of them hold."""
    held = np.zeros(piece.space.size, int)
    for row, variable in zip(piece.space.grid, piece.space.variables, strict=True):
        held += np.array([atom is True for atom in values.domain(variable).atoms])[row]
    held[~piece.parts.there] = -1
    return projected(piece.parts, held, len(piece.space.variables) + 1)


def _slope(parts: Parts) -> Array | None:
    """What one more condition adds; None where only one count occurs."""
    there = np.flatnonzero(parts.there)
    if len(there) < 2:
        return None
    first, last = there[0], there[-1]
    return np.asarray((parts.value[last] - parts.value[first]) / (last - first))


# -- choices --------------------------------------------------------------------------------------


def over_cases(values: ProvedValues, term: Piece, space: Space) -> Parts:
    """A term over cases of a choice: of what is left open, all that it can be counts."""
    rows = np.array([_states(values, variable, space) for variable in term.space.variables])
    rows = rows.reshape(len(term.space.variables), space.size)
    four = np.zeros((4, space.size, term.parts.value.shape[1]))
    patterns, which = np.unique(rows >= 0, axis=1, return_inverse=True)
    sizes = np.array(values.sizes(term.space.variables), int)
    for number, is_closed in enumerate(patterns.T):
        mine = np.flatnonzero(which.reshape(-1) == number)
        onto, at = np.zeros(term.space.size, int), np.zeros(len(mine), int)
        if is_closed.any():
            listed = term.space.grid[is_closed]
            onto = places_among(listed, listed, sizes[is_closed])
            at = places_among(rows[is_closed][:, mine], listed, sizes[is_closed])
        parts = projected(term.parts, onto, term.space.size + 1)  # the last: no input has it
        four[:, mine] = parts.at(at).four
    return Parts(*four)


def _states(values: ProvedValues, variable: int, space: Space) -> Array:
    """(case,): a variable's state; -1 where a case of a choice leaves open what it depends on.

    It is looked up over what it depends on alone, which has no open cases.
    """
    if variable in space.variables:
        return space.row(variable)
    inner = values.space(_needed(values.claims.variables[variable], values, space))
    places = located(values, inner, space)
    return np.where(places < 0, -1, values.states_on(variable, inner)[places])


def _needed(variable: ClaimedVariable, values: ProvedValues, space: Space) -> tuple[int, ...]:
    """What a variable depends on, of a space; a gate on which leaf is chosen, and nothing else."""
    match variable:
        case ClaimedNode(Elementwise("==", (node, Const()))) if (
            values.node_variables.get(node) in space.variables
        ):
            return (values.node_variables[node],)
        case ClaimedNode(node) if {*values.over(node)} <= {*space.variables}:
            return values.over(node)
    raise Refused("a case of a choice leaves open what is read")
