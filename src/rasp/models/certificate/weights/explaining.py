"""Terms of a reading in; which claimed variables they are functions of, and the terms added up over
these, out.

A term is what one source of the stream adds. It is a function of its own variables, which claims
need not name: they may name a sum or an s-op that is made of these, or of which they are made. So
terms are added up over a space in which all of it is known, state by state, and what the claimed
variables do not decide counts as error.
"""

from __future__ import annotations

import numpy as np

from rasp.models.certificate.claims import INDEX, TOKEN, ClaimedNode, ClaimedSum, Refused
from rasp.models.certificate.program.tables import Space
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.arrays import check_cells
from rasp.models.certificate.weights.reading import Parts, Piece, located, projected
from rasp.models.certificate.weights.rounding import DOUBLE
from rasp.models.certificate.weights.stand_ins import over_cases


def closure(values: ProvedValues, variable: int) -> set[int]:
    """A variable, and all that it is made of."""
    waiting, reached = [variable], {variable}
    while waiting:
        inner = {*_made_of(values, waiting.pop())} - reached
        waiting += inner
        reached |= inner
    return reached


def _made_of(values: ProvedValues, variable: int) -> list[int]:
    match values.claims.variables[variable]:
        case ClaimedSum(_, parts):
            return [part.variable for part in parts]
        case ClaimedNode(node):
            return [*values.over(node)]
    return []


def touched_by(values: ProvedValues, term: Piece, variables: tuple[int, ...]) -> set[int]:
    """The claimed variables that a term is to be a function of; none where it is constant,
    but for something as small as what is rounded here. A BOS connects token and index.
    """
    touched = _explained_by(values, term, variables)
    is_ground = term.space.variables in ((TOKEN,), (INDEX,))
    if touched and is_ground and values.inputs.bos is not None:
        touched |= {v for v in variables if closure(values, v) & {TOKEN, INDEX}}
    return touched


def _explained_by(values: ProvedValues, term: Piece, variables: tuple[int, ...]) -> set[int]:
    names = set(term.space.variables)
    if names <= set(variables):
        return names
    value, mass = term.parts.value, term.parts.mass.max(initial=0.0)
    spread = float(np.ptp(value, axis=0).max(initial=0.0)) if len(value) else 0.0
    if spread <= DOUBLE * mass and not term.parts.error.any():
        return set()
    inner = set().union(*(closure(values, variable) for variable in names))
    touched = {v for v in variables if v in names or closure(values, v) & inner}
    for variable in touched if len(touched) > 1 else ():
        if _decides(values, variable, term):
            return {variable}
    return touched


def _decides(values: ProvedValues, variable: int, term: Piece) -> bool:
    """Whether a term is a function of one s-op, by itself."""
    match values.claims.variables[variable]:
        case ClaimedNode(node) if node not in values.claims.choices:
            if not set(term.space.variables) <= set(values.over(node)):
                return False
        case _:
            return False
    try:
        piece = piece_of(values, (variable,), [term])
    except Refused:
        return False
    parts = piece.parts.at(piece.parts.there)
    spread = parts.error.max(axis=0, initial=0.0) - term.parts.error.max(axis=0, initial=0.0)
    return not (spread > DOUBLE * parts.mass.max(axis=0, initial=0.0)).any()


def piece_of(values: ProvedValues, cluster: tuple[int, ...], terms: list[Piece]) -> Piece:
    """Add terms up over a cluster of variables, or over what these are made of."""
    space = _common_space(values, cluster, terms)
    is_open = len(set(space.variables)) < len(space.variables)
    fine, placed = np.ones(space.size, bool), []
    for term in terms:
        parts, places = term.parts, np.arange(space.size)
        if is_open:
            parts = over_cases(values, term, space)
            fine &= parts.there
        else:
            places = located(values, term.space, space)
            fine &= places >= 0
        placed.append((parts, places))
    kept = np.flatnonzero(fine)
    count = terms[0].parts.value.shape[1]
    check_cells(len(kept), count)
    total = Parts(*np.zeros((4, len(kept), count)))
    for parts, places in placed:
        total = total.plus(parts.at(places[kept]))
    target = values.space(cluster)
    if space is target and len(kept) == space.size:
        return Piece(space, total)
    onto = located(values, target, space)[kept]
    return Piece(target, projected(total, onto, target.size))


def _common_space(values: ProvedValues, cluster: tuple[int, ...], terms: list[Piece]) -> Space:
    """A space over which every term is a function: sums and s-ops are taken apart as needed."""
    match values.claims.variables[cluster[0]], len(cluster):
        case ClaimedNode(node), 1 if node in values.claims.choices:
            return values.table(node)[0]
    variables = list(cluster)
    while True:
        space = values.space(variables)
        missing = {variable for term in terms for variable in term.space.variables
                   if not values.has(variable, space)}  # fmt: skip
        if not missing:
            return space
        wanted = set().union(*(closure(values, variable) for variable in missing))
        opened: list[int] = []
        for variable in variables:
            made_of = _made_of(values, variable) if closure(values, variable) & wanted else []
            opened += made_of or [variable]
        opened = list(dict.fromkeys(opened))
        if opened == variables:
            raise Refused("a reading depends on more than is claimed")
        variables = opened
