"""Value rows of heads in; what they send, as outputs of heads or as a number by states, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.base.atoms import Atom
from rasp.models.certificate.claims import HeadClaim, HeadOutputClaim, Refused
from rasp.models.certificate.program.domains import Domain
from rasp.models.certificate.program.sums import mixture
from rasp.models.certificate.program.tables import Array, Space, same
from rasp.models.certificate.program.values import ProvedValues
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.certificate.weights.reading import UnitGroup
from rasp.models.certificate.weights.rounding import DOUBLE, SLACK
from rasp.models.certificate.weights.sink import Sink
from rasp.models.certificate.weights.stream import Stream


@dataclass(frozen=True, eq=False)
class Channel:
    """One value that a head moves: a weighted sum of outputs, less a constant."""

    column: Array  # (dimension,): with what it is written
    weights: Mapping[int, Fraction]
    """Of each output."""
    shift: Fraction
    error: float
    size: float
    group: UnitGroup | None = None
    """What it adds by the state of outputs, where that is not a weighted sum of them."""
    gradient: Array | float = 0.0  # (dimension,)
    """How much what it adds can change with the embedded input."""


@dataclass(frozen=True, eq=False)
class SentTerm:
    """An output of a head, and how much of it is sent."""

    output: HeadOutputClaim
    variable: int
    weight: Fraction


@dataclass(frozen=True, eq=False)
class Sent:
    """A row of values, and what is claimed of it."""

    terms: Sequence[SentTerm]
    inputs: tuple[int, ...]
    """What it is a function of, at the key."""
    row: Array
    bias: float
    out: Array  # (dimension,)

    @property
    def weights(self) -> dict[int, Fraction]:
        """Of each output, by its variable."""
        return {term.variable: term.weight for term in self.terms}

    @property
    def shift(self) -> Fraction:
        return sum((term.weight * term.output.base for term in self.terms), Fraction(0))

    @property
    def is_block(self) -> bool:
        return any(term.output.is_block for term in self.terms)


def all_sent(claim: HeadClaim, head: HeadWeights, variables: Sequence[int]) -> Iterator[Sent]:
    """Every row of values of a head."""
    rows = zip(claim.channels, claim.values, head.value, head.value_bias, head.out.T, strict=True)
    for weights, inputs, row, bias, out in rows:
        terms = [SentTerm(claim.outputs[place], variables[place], weight)
                 for place, weight in weights.items()]  # fmt: skip
        yield Sent(terms, inputs, row, float(bias), out)


def read_value(stream: Stream, sent: Sent) -> tuple[float, float, float]:
    """Between what keys should send, and how far from that it is what they send."""
    number, off = _read(stream, sent)
    wanted, lost = _wanted(stream.values, sent)
    fine = ~np.isnan(number) & ~np.isnan(wanted)
    if not fine.any():
        return 0.0, 0.0, 0.0
    off, wanted = (off + lost + np.abs(number - wanted))[fine], wanted[fine]
    return float(wanted.min()), float(wanted.max()), float(off.max())


def _read(stream: Stream, sent: Sent) -> tuple[Array, Array]:
    """(combination of a key,): the number that is sent, and how far off it can be."""
    reading = stream.read(sent.row[None], sent.inputs)
    held = reading.on(stream.values, stream.values.space(sent.inputs))
    off = held.error + reading.rounding(held, np.array([sent.bias])) + DOUBLE * held.mass
    return stream.precision.ends(held.value[:, 0] + sent.bias, off[:, 0])


def _wanted(values: ProvedValues, sent: Sent) -> tuple[Array, Array]:
    """(combination,): the weighted sum of the outputs' values, each less its default; and what
    float64 may have lost of it, which is a part of what it adds up.
    """
    space = values.space(sent.inputs)
    try:
        tables = [_codes(values, term.output, term.weight, space) for term in sent.terms]
    except Refused:
        if not all(term.output.is_plain for term in sent.terms):
            raise
        node = mixture([(term.output.values, term.weight) for term in sent.terms])
        tables = [_codes(values, HeadOutputClaim(node), Fraction(1), space)]
    size = sum(map(np.abs, tables), np.full(space.size, abs(float(sent.shift))))
    return np.asarray(sum(tables, np.zeros(space.size)) - float(sent.shift)), DOUBLE * size


def _codes(values: ProvedValues, output: HeadOutputClaim, weight: Fraction, space: Space) -> Array:
    """(combination,): a multiple of the number that stands for an output's value; not a number
    where the program has no value.
    """
    if output.carrier is not None:
        count = values.states_on(output.carrier, space)
        return np.where(count < 0, np.nan, float(weight) * count)
    column = values.column(output.values, space)
    codes = [np.nan if atom is None else float(weight * output.code(atom)) for atom in column.atoms]
    return np.asarray(np.array(codes)[column.places])


def lost_by_floats(stream: Stream, sent: Sent) -> float:
    """How far the weighted sum of outputs, less its shift, can be from what is added to the stream
    in its place.

    A dimension is given a column times a weight times a code, less the column times the shift.
    Weights, codes and shifts are fractions, which may have more digits than float64: each of them
    is rounded, and so is each product and each sum, by 2^-53 of what it is. These few roundings are
    less than 2^-46 of all that is added up. That may be far more than what is left of it, once the
    shift is taken off: so it is the numbers themselves whose sizes count, and not their sum's.
    """
    total = abs(sent.shift)
    for variable, weight in sent.weights.items():
        total += abs(weight) * max(map(abs, stream.values.numbers(variable)), default=Fraction(0))
    return DOUBLE * float(total)


def largest_sent(stream: Stream, sent: Sent) -> float:
    """The largest size of what comes out, as far as the outputs' own ranges tell."""
    total = 0.0
    for term in sent.terms:
        base, numbers = term.output.base, stream.values.numbers(term.variable)
        most = max((abs(number - base) for number in numbers), default=0)
        total += float(abs(term.weight) * most)
    return total


def read_block(
    stream: Stream, sink: Sink | None, claim: HeadClaim, sent: Sent
) -> tuple[UnitGroup, float, float]:
    """What a channel adds, by the state of its one output: the number that keys send which hold
    it (the sink, for the default). Also the largest number that anything sends, and how far from
    their middle those are, at most, which hold one value.

    All picked keys hold one value, so their weights need not be the same: they add up to 1.
    """
    if len(sent.terms) != 1:
        raise Refused("a head mixes a block with something else")
    (term,) = sent.terms
    low, high = _sent_by_state(stream, sent, term)
    held, wrong = (0.0, 0.0) if sink is None else sink.sends(sent.row, sent.bias)
    if not claim.never_empty:
        if sink is None:
            raise Refused("a head may pick nothing, and there is no sink")
        states = _states_of(stream.values.domain(term.variable), term.output.default)
        low[states] = np.minimum(low[states], held - wrong)
        high[states] = np.maximum(high[states], held + wrong)
    empty = low > high  # no key holds it, so nothing is ever that
    low[empty] = high[empty] = 0.0
    size = max(float(np.maximum(-low, high).max(initial=0.0)), abs(held) + wrong)
    rounding = SLACK * (stream.precision.unit + stream.precision.moved)
    space = stream.values.space((term.variable,))
    value, error = ((low + high) / 2)[space.grid[0]], ((high - low) / 2)[space.grid[0]]
    error = error + rounding * (np.abs(value) + error)
    apart = float(((high - low) / 2).max(initial=0.0))
    return group_of(space, value, error, sent.out), size * (1 + rounding), apart


def _sent_by_state(stream: Stream, sent: Sent, term: SentTerm) -> tuple[Array, Array]:
    """(state of the output,): the least and the most that a key sends which holds it."""
    domain = stream.values.domain(term.variable)
    column = stream.values.column(term.output.values, stream.values.space(sent.inputs))
    number, off = _read(stream, sent)
    low, high = np.full(domain.size, np.inf), np.full(domain.size, -np.inf)
    there = ~np.isnan(number)
    for at, atom in enumerate(column.atoms):
        mine = there & (column.places == at)
        if atom is None or not mine.any():
            continue
        states = _states_of(domain, atom)
        if not states:
            raise Refused("a head moves a value that it is not said to hold")
        low[states] = np.minimum(low[states], (number - off)[mine].min())
        high[states] = np.maximum(high[states], (number + off)[mine].max())
    return low, high


def _states_of(domain: Domain, atom: Atom | None) -> list[int]:
    """The states in which a variable holds an atom: 1 and 1.0 are one to a model."""
    return [state for state, held in enumerate(domain.atoms) if same(held, atom)]


def group_of(space: Space, value: Array, error: Array, out: Array) -> UnitGroup:
    """A number by states, written along a direction."""
    dims = np.flatnonzero(out)
    return UnitGroup(space, np.arange(space.size), dims, np.outer(value, out[dims]),
                 np.outer(error, np.abs(out[dims])))  # fmt: skip
