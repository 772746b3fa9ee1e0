"""Terms of a reading in; the same as functions of single variables, where their sum is such a sum.

A reading may be a function of `n % 2 == 0` and of `n > x` at once. What it reads of the stream are
functions of `n`, and of `n` and `x`: none of them is a function of one of the claimed variables,
but together they are f(n % 2 == 0) + g(n > x), for all `n` and `x`. Whatever f and g are tried,
what they leave of the sum counts as error, so nothing that is found here has to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from rasp.models.certificate.claims import ClaimedNode, Refused
from rasp.models.certificate.program.tables import Array, Space, joined
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.reading import Parts, Piece, located, projected
from rasp.models.certificate.weights.rounding import DOUBLE, grains, lost_of_wholes

SMALL = 2.0**-20
"""What may be left of terms, of their size, where choices are looked at, which have too many cases
to be looked at together: it counts as error."""
MOST_COMBINED = 500_000
"""How many numbers terms are added up to: combinations times readings."""


def split_terms(values: ProvedValues, terms: list[Piece], variables: Sequence[int]) -> list[Piece]:
    """The same terms, with those that have to do with each other split into functions of single
    variables: claimed ones, or what says which s-op a claimed choice is.
    """
    split: list[Piece] = []
    candidates = _candidates(values, variables)
    items: list[tuple[set[int], Piece | int]] = [(values.grounds(term.space.variables), term)
                                                 for term in terms]  # fmt: skip
    items += [(values.grounds(_inputs(values, other)), other) for other in candidates]
    for _, linked in joined(items):
        members = [item for item in linked if isinstance(item, Piece)]
        mine = [item for item in linked if not isinstance(item, Piece)]
        names = {name for term in members for name in term.space.variables}
        if mine and not names <= set(variables):
            wider = names.union(*(_inputs(values, other) for other in mine))
            members = (_split(values, names, members, mine)
                       or _split(values, wider, members, mine) or members)  # fmt: skip
        split += members
    return split


def _inputs(values: ProvedValues, variable: int) -> tuple[int, ...]:
    """What an s-op is a function of; any other variable is known by itself."""
    claimed = values.claims.variables[variable]
    return tuple(values.over(claimed.node)) if isinstance(claimed, ClaimedNode) else (variable,)


def _candidates(values: ProvedValues, variables: Sequence[int]) -> list[int]:
    candidates: list[int] = []
    for variable in variables:
        claimed = values.claims.variables[variable]
        if isinstance(claimed, ClaimedNode) and claimed.node in values.claims.choices:
            which = values.node_variables.get(values.claims.choices[claimed.node][0])
            candidates += [] if which is None else [which]
        else:
            candidates.append(variable)
    return list(dict.fromkeys(candidates))


def _split(
    values: ProvedValues, names: set[int], terms: list[Piece], candidates: list[int]
) -> list[Piece] | None:
    """Terms as functions of some of the candidates; None where they are not, or nothing tells."""
    size = prod(values.sizes(names))
    if size * terms[0].parts.value.shape[1] > MOST_COMBINED:
        return None
    try:
        space = values.space(sorted(names))
        rows = {other: values.states_on(other, space)
                for other in candidates if values.has(other, space)}  # fmt: skip
    except Refused:
        return None
    total = Parts(*np.zeros((4, space.size, terms[0].parts.value.shape[1])))
    fine = np.all([row >= 0 for row in rows.values()], axis=0) if rows else None
    for term in terms:
        places = located(values, term.space, space)
        total = total.plus(term.parts.at(places))
        fine = fine & (places >= 0) if fine is not None else None
    if fine is None or not fine.any():
        return None
    kept = fine & total.there
    total = total.at(kept)
    tables = _summands([row[kept] for row in rows.values()], total.value)
    if tables is None:
        return None
    return _pieces(values, {name: row[kept] for name, row in rows.items()}, tables, total)


def _pieces(
    values: ProvedValues, rows: dict[int, Array], tables: list[Array], total: Parts
) -> list[Piece] | None:
    """A function of each variable; the first of them has what the others leave, and all that the
    terms were off, and their mass and count. Functions may be far larger than the terms, and
    cancel, so that float64 may round what they leave.
    """
    left, size, unit = total.value, np.abs(total.value), grains(total.value).min(axis=0)
    for row, table in zip(rows.values(), tables, strict=True):
        left, size = left - table[row], size + np.abs(table[row])
        unit = np.minimum(unit, grains(table).min(axis=0))
    lost = lost_of_wholes(size, len(tables), unit)
    most = SMALL if values.claims.choices else DOUBLE
    if (np.abs(left) > most * total.mass).any():
        return None
    pieces = []
    for place, (variable, row) in enumerate(rows.items()):
        size = values.domain(variable).size
        nothing = np.zeros_like(left)
        held = Parts(nothing, nothing, nothing, nothing)
        if not place:
            held = Parts(nothing, total.error + np.abs(left) + lost, total.mass, total.count)
        elif not tables[place].any():
            continue
        parts = projected(held, row, size)
        there = np.flatnonzero(parts.there)
        parts = replace(parts, value=tables[place]).at(there)
        pieces.append(Piece(Space((variable,), there[None]), parts))
    return pieces


def _summands(rows: Sequence[Array], value: Array) -> list[Array] | None:
    """Functions of each row's state (state, reading) of which a value may be the sum.

    One row after the other is split off: from a state to any other that goes with the same states
    of the rows after it, the value changes by as much as the function does.
    """
    summands: list[Array] = []
    for place, row in enumerate(rows):
        size = int(row.max(initial=0)) + 1
        table = np.zeros((size, value.shape[1]))
        if place + 1 == len(rows):
            firsts = np.unique(row, return_index=True)
            table[firsts[0]] = value[firsts[1]]
            return [*summands, table]
        rest = _numbered(rows[place + 1 :])
        change = _propagated(row, rest, value, size)
        summands.append(change)
        value = value - change[row]
    return summands or None


def _numbered(rows: Sequence[Array]) -> Array:
    """(combination,): a number for what some rows are together."""
    _, numbers = np.unique(np.array(rows), axis=1, return_inverse=True)
    return np.asarray(numbers.reshape(-1))


def _propagated(row: Array, rest: Array, value: Array, size: int) -> Array:
    """(state, reading): what each state of a row adds, counted from one that is reached first."""
    added = np.full((size, value.shape[1]), np.nan)
    level = np.full((int(rest.max(initial=0)) + 1, value.shape[1]), np.nan)
    while np.isnan(added[row, 0]).any():
        start = row[np.isnan(added[row, 0])][0]
        added[start] = 0.0
        while True:
            new = ~np.isnan(added[row, 0]) & np.isnan(level[rest, 0])
            level[rest[new]] = value[new] - added[row[new]]
            more = np.isnan(added[row, 0]) & ~np.isnan(level[rest, 0])
            added[row[more]] = value[more] - level[rest[more]]
            if not new.any() and not more.any():
                break
    return np.asarray(np.nan_to_num(added))
