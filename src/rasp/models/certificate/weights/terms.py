"""Rows of weights in; what each source of the stream adds to them out, as functions of variables.

Claims may name weighted sums of tokens, indices and outputs. What sources add is written as
multiples of these where it can be. Which multiples are tried makes no difference to what is proved:
what they leave is a term of its own, or counts as error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rasp.models.certificate.claims import INDEX, TOKEN, ClaimedSum, SumPart
from rasp.models.certificate.program.domains import binary_unit
from rasp.models.certificate.program.tables import Array, ExactSum, base_line
from rasp.models.certificate.weights.explaining import closure
from rasp.models.certificate.weights.reading import Parts, Piece
from rasp.models.certificate.weights.rounding import DOUBLE, grains, lost_of_wholes

if TYPE_CHECKING:
    from rasp.models.certificate.weights.stream import Stream

SMALL = 2.0**-20
"""What is left of a part, once a claimed sum has its share of it, that is a rounding error."""
MUCH = 16.0


def terms_of(stream: Stream, rows: Array, variables: tuple[int, ...]) -> tuple[Parts, list[Piece]]:
    """The constant and every source's part; outputs are put together to the sums claimed."""
    size, used = np.abs(rows), (rows != 0).astype(float)
    held = np.abs(stream.constant) + stream.error  # what a dimension is off is added up, too
    mass, count = size @ held, used @ (held > 0)
    for variable, direction in stream.outputs.items():
        most = np.abs(stream.floats(variable)).max(initial=0.0)
        mass, count = mass + size @ np.abs(direction) * most, count + used @ (direction != 0)
    constant, by_token, by_index = _by_token_and_index(stream, rows, variables)
    terms = [
        Piece(stream.values.space((variable,)),
              Parts(table, np.zeros_like(table), np.abs(source) @ size.T, (source != 0) @ used.T))
        for variable, table, source in ((TOKEN, by_token, stream.tokens),
                                        (INDEX, by_index, stream.positions))
    ]  # fmt: skip
    left, noise, terms = _by_sums(stream, rows, terms, variables)
    for group in stream.groups:
        inner = rows[:, group.dims].T
        if inner.any():
            most, off = np.abs(group.table) + group.error, group.error @ np.abs(inner)
            parts = Parts(group.table @ inner, off, most @ np.abs(inner),
                          (most > 0).astype(float) @ (inner != 0))  # fmt: skip
            terms.append(Piece(group.space, parts.at(group.points)))
    four = constant + left, size @ stream.error + noise, mass, count
    return Parts(*(part[None] for part in four)), terms


def _by_token_and_index(
    stream: Stream, rows: Array, variables: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """The constant, and what token and index add to it. A BOS is at index 0: one tells the other,
    and which of them is claimed has what both add.
    """
    values = stream.values
    by_token, by_index = stream.tokens @ rows.T, stream.positions @ rows.T
    first = base_line(values.inputs)
    constant = by_token[0] + by_index[first] + stream.constant @ rows.T
    by_token, by_index = by_token - by_token[0], by_index - by_index[first]
    if values.inputs.bos is not None:
        claimed = set().union(*(closure(values, variable) for variable in variables))
        if TOKEN in claimed and INDEX not in claimed:
            by_token[-1] += by_index[0]
            by_index[0] = 0.0
        else:
            by_index[0] += by_token[-1]
            by_token[-1] = 0.0
    return constant, by_token, by_index


def _by_sums(
    stream: Stream, rows: Array, terms: list[Piece], variables: tuple[int, ...]
) -> tuple[Array, Array, list[Piece]]:
    """Write tables of the token and the index, and outputs, as multiples of claimed sums.

    Also (reading,) what that leaves of the constant, and what is left of tables by rounding
    here, which counts as error.
    """
    count = len(rows)
    tables = {SumPart(variable, state): row for variable in (TOKEN, INDEX)
              for state, row in enumerate(terms[variable].parts.value)}  # fmt: skip
    tables |= {SumPart(variable): direction @ rows.T
               for variable, direction in stream.outputs.items()}  # fmt: skip
    before, constant = dict(tables), np.zeros(count)
    pieces = []
    sums = _shares_of_sums(stream, tables, variables, rows)
    noise = lost_of_rows(stream, rows, sums)
    for variable, weight in sums:
        linear = stream.values.linear_of(variable)
        for part, share in linear.parts.items():
            tables[part] = tables.get(part, np.zeros(count)) - float(share) * weight
        constant = constant - float(linear.constant) * weight
        pieces.append(_term(stream, variable, np.outer(stream.floats(variable), weight)))
    for variable in (TOKEN, INDEX, *(part.variable for part in tables if part.is_output)):
        table, old = _table(stream, variable, tables), _table(stream, variable, before)
        direction = stream.outputs.get(variable, np.zeros(rows.shape[1]))
        scale = np.abs(direction) @ np.abs(rows).T
        if variable not in (TOKEN, INDEX):
            scale = np.outer(np.abs(stream.floats(variable)), scale)
        small = np.abs(table) <= np.maximum(SMALL * np.abs(table - old), DOUBLE * scale)
        noise = noise + np.where(small, np.abs(table), 0.0).max(axis=0, initial=0.0)
        value = np.where(small, 0.0, table)
        if variable in (TOKEN, INDEX):
            space, held = terms[variable].space, replace(terms[variable].parts, value=value)
            pieces.append(Piece(space, held.at(space.grid[0])))
        elif value.any():
            pieces.append(_term(stream, variable, value))
    return constant, noise, pieces


def lost_of_rows(stream: Stream, rows: Array, sums: Sequence[tuple[int, Array]] = ()) -> Array:
    """(reading,): how far what is added up here for rows of weights can be from what it is.

    A number of the model is the sum of its sources. Here it is taken apart further: tables are
    counted from their first row, and claimed sums, as often as `sums` say, are put in the place of
    what they are made of. All of that may be far larger than the number itself, and cancel; and the
    shares of claimed sums are fractions, which float64 rounds. So what is rounded is a part of the
    sizes of all that is added up, in whatever state it is large.
    """
    dims = np.abs(stream.constant)
    for table in (stream.tokens, stream.positions):
        dims = dims + 3 * np.abs(table).max(axis=0)
    for variable, direction in stream.outputs.items():
        dims = dims + np.abs(direction) * np.abs(stream.floats(variable)).max(initial=0.0)
    used = np.asarray(rows.any(axis=0))
    for group in stream.groups:
        if used[group.dims].any():
            dims[group.dims] += (np.abs(group.table) + group.error).max(axis=0, initial=0.0)
    size, unit = np.abs(rows) @ dims, stream.grain_of(rows)
    for variable, weight in sums:
        linear = stream.values.linear_of(variable)
        size = size + 2 * np.abs(weight) * _size(stream, variable, linear)
        units = grains(weight) * _unit(stream, variable, linear)
        unit = np.where(weight != 0, np.minimum(unit, units), unit)
    count = len(dims) + len(stream.outputs) + len(stream.groups) + len(sums)
    return lost_of_wholes(size, count, unit)


def _unit(stream: Stream, variable: int, linear: ExactSum) -> float:
    """A power of two of which a claimed sum and its shares are whole multiples; or 0."""
    unit = binary_unit([linear.constant, *linear.parts.values()])
    return min(unit, stream.values.domain(variable).unit)


def _size(stream: Stream, variable: int, linear: ExactSum) -> float:
    """How large a claimed sum is, and all that it is made of, at most and together."""
    largest = {variable: np.abs(stream.floats(variable)).max(initial=0.0)}
    for part, share in linear.parts.items():
        most = np.abs(stream.floats(part.variable)).max(initial=0.0) if part.is_output else 1.0
        largest[part.variable] = max(abs(float(share)) * most, largest.get(part.variable, 0.0))
    return abs(float(linear.constant)) + sum(map(float, largest.values()))


def _table(stream: Stream, variable: int, tables: Mapping[SumPart, Array]) -> Array:
    """(state, reading): what a variable adds by itself."""
    if variable in (TOKEN, INDEX):
        size = stream.values.domain(variable).size
        return np.array([tables[SumPart(variable, state)] for state in range(size)])
    return np.outer(stream.floats(variable), tables.get(SumPart(variable), 0.0))


def _shares_of_sums(
    stream: Stream, tables: Mapping[SumPart, Array], variables: tuple[int, ...], rows: Array
) -> list[tuple[int, Array]]:
    """The claimed sums, with weights (reading,) that leave least of what they are made of.

    Any weights will do, since what is left counts; but none with which the sums are much larger
    than what is read, of which float64 would lose the last digits.
    """
    values = stream.values
    sums = {variable: values.linear_of(variable) for variable in variables
            if isinstance(values.claims.variables[variable], ClaimedSum)}  # fmt: skip
    explained = {inner for variable in variables for inner in closure(values, variable)
                 if variable not in sums}  # fmt: skip
    every = dict.fromkeys(part for linear in sums.values() for part in linear.parts)
    parts = [part for part in every if not part.is_output or any(values.numbers(part.variable))]
    if not parts:  # no sums, or sums of what is always 0
        return []
    free = [part for part in parts if part.variable not in explained] or parts
    matrix = np.array([[float(linear.parts.get(part, 0)) for linear in sums.values()]
                       for part in free])  # fmt: skip
    wanted = np.array([tables.get(part, np.zeros(len(rows))) for part in free])
    weights = np.linalg.lstsq(matrix, wanted, rcond=None)[0]  # (sum, reading)
    near = np.round(weights * 2.0**20) / 2.0**20
    weights = np.where(np.abs(near - weights) <= DOUBLE * np.abs(weights), near, weights)
    sizes = [np.abs(stream.floats(variable)).max(initial=0.0) for variable in sums]
    most = np.abs(rows) @ stream.size
    weights = np.where(np.abs(weights) * np.array(sizes)[:, None] > MUCH * most, 0.0, weights)
    return list(zip(sums, weights, strict=True))


def _term(stream: Stream, variable: int, value: Array) -> Piece:
    """A function of one variable, (state, reading), of which others know mass and count."""
    space = stream.values.space((variable,))
    return Piece(space, Parts(value, *np.zeros((3, *value.shape))).at(space.grid[0]))
