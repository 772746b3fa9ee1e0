"""The rule `softmax`: what a head adds to the residual stream, and how far that can be off.

Softmax gives each key its weight, exp(score), divided by the sum of all weights. Let the picked
keys of a query weigh 1 to e^u each, in a unit of their own; all other keys together L at most, and
the sink included. Then what is not picked gets at most L of the attention, so what comes out is off
by at most 2 L times the largest value from the weighted mean of the picked values. And

- where these are one value, that is it, whatever the weights are;
- else the weighted mean and the mean differ by at most tanh(u/4) of the range of the values: of
  two distributions whose quotient varies by a factor of e^u, this is the largest distance;
- a query that picks nothing gets what the sink sends, but for what keys get;
- in a *sum*, the sink is to weigh as much as c picked keys. With w picked keys of values v, and s
  for what the sink sends, what comes out is q = (Σ v + c s) / (c + w), a function of two outputs of
  the head. Let a picked key weigh 1 ± E of what it should, and all that is not picked L in all. By
  the right weights, the mean of v - q is 0. So what comes out is off from q by at most
  max |v - q| (w E + L) / (c + w - w E).

Rounding: sums of n + 1 products of attention and values, and the sum of weights, are off by 2n + 8
units of what comes out; a division by one part in 2^21.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.base.atoms import Atom
from rasp.language.graph import Const
from rasp.models.certificate.claims import HeadClaim, HeadOutputClaim, Refused
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.checker.float_errors import QUOTIENT, SLACK, UNIT, exp
from rasp.models.checker.head_scores import ScoreGaps, score_gaps
from rasp.models.checker.lookups import Pick
from rasp.models.checker.relations import Array, Name, Relation, number_of, same
from rasp.models.checker.sink_row import SinkRow
from rasp.models.checker.slots import Numbers, SlotStream


@dataclass(frozen=True, eq=False)
class Moved:
    """What one channel of a head gives, by the rows of a relation."""

    space: Relation
    value: Array  # (row,)
    off: Array
    spread: float
    """How far what is sent to it can be from what comes out, at most."""


@dataclass(frozen=True, eq=False)
class SentValues:
    """What keys send to one channel, and the sink."""

    numbers: Numbers
    held: float
    held_off: float

    @property
    def value(self) -> Array:
        return np.asarray(self.numbers.value[:, 0])

    @property
    def off(self) -> Array:
        return np.asarray(self.numbers.wrong[:, 0])

    @property
    def size(self) -> float:
        """The largest size of what is sent."""
        most = float((np.abs(self.value) + self.off).max(initial=0.0))
        return max(most, abs(self.held) + self.held_off)


class HeadWalk:
    """One head: its scores, and each of its channels."""

    def __init__(
        self, stream: SlotStream, sink: SinkRow | None, claim: HeadClaim, head: HeadWeights,
        variables: Mapping[int, Name],
    ) -> None:  # fmt: skip
        """`variables` are those that the head's outputs are, by their numbers."""
        self.stream, self.facts, self.sink = stream, stream.facts, sink
        self.claim, self.head, self.variables = claim, head, variables
        self.gaps: ScoreGaps = score_gaps(stream, sink, claim, head)
        self.pick = Pick(tuple(claim.selectors), claim.best, self.facts.inputs.causal)
        self.always = self.facts.always_picks(self.pick)
        self._check_claim()

    def _check_claim(self) -> None:
        """Every output of a head is one that some channel moves, and is a variable."""
        claim, count = self.claim, len(self.claim.outputs)
        if len(claim.channels) != len(self.head.value_bias) or len(claim.values) != len(
            claim.channels
        ):
            raise Refused("a head moves more values than are claimed, or fewer")
        moved = {place for channel in claim.channels for place, part in channel.items() if part}
        if claim.mode == "sum":
            moved.add(self.width)
        if moved != {*range(count)} or {*self.variables} != moved:
            raise Refused("an output of a head is not moved by any channel")
        if self.sink is None and not self.always:
            raise Refused("a head may pick nothing, and there is no sink")
        if claim.mode not in ("mean", "sum") or (claim.mode == "sum" and claim.best is not None):
            raise Refused("a head of a kind that is not followed")

    @property
    def width(self) -> int:
        """The output that is how many keys are picked: each of them adds 1."""
        for place, output in enumerate(self.claim.outputs):
            if output.values is Const(1):
                return place
        raise Refused("nothing says how many keys a head picks")

    @property
    def longest(self) -> int:
        return self.facts.inputs.max_length

    def channels(self) -> list[Moved]:
        return [self._channel(at) for at in range(len(self.head.value_bias))]

    def _channel(self, at: int) -> Moved:
        row, bias = self.head.value[at][None], self.head.value_bias[at][None]
        sent = self._sent(at, row, bias)
        outputs = {place: part for place, part in self.claim.channels[at].items() if part}
        if self.claim.mode == "sum":
            return self._sum(sent, outputs)
        if not outputs:
            raise Refused("a channel moves nothing")
        if any(self.claim.outputs[place].is_block for place in outputs):
            return self._lone(sent, outputs)
        return self._mean(sent, outputs)

    def _sent(self, at: int, row: Array, bias: Array) -> SentValues:
        """What keys send, by what they are claimed to send it by; the values included."""
        names = {*self.facts.base(self.claim.values[at])}
        for place in self.claim.channels[at]:
            names |= {*self.facts.over(self.claim.outputs[place].values)}
        numbers = self.stream.read(row, bias, names)
        numbers = numbers.where(numbers.there)
        value, off = self.stream.precision.ends(numbers.value, numbers.wrong)
        numbers = Numbers(numbers.space, value, off, np.zeros_like(off), numbers.size,
                          numbers.there)  # fmt: skip
        if self.sink is None:
            return SentValues(numbers, 0.0, 0.0)
        held, held_off = self.sink.read(row, bias)
        return SentValues(numbers, float(held[0]), float(held_off[0]))

    @property
    def _relative(self) -> float:
        """What is off in proportion to what comes out: rounding, and coarser numbers."""
        float32 = QUOTIENT + SLACK * UNIT * (2 * self.longest + 8)
        return float32 + SLACK * self.stream.precision.unit

    def _others(self) -> float:
        """How much attention goes elsewhere, at most: to what is not picked where something is, or
        to keys where nothing is."""
        gaps = self.gaps
        others = self.longest * exp(2 * gaps.error - gaps.depth)
        if self.sink is not None:
            others += exp(gaps.error + gaps.sink_error - gaps.above_sink[0])
            alone = self.longest * exp(gaps.error + gaps.sink_error - gaps.sink_above)
            others = others if self.always else max(others, alone)
        return others

    # -- means ------------------------------------------------------------------------------------

    def _lone(self, sent: SentValues, outputs: Mapping[int, Fraction]) -> Moved:
        """A channel of a block: for each atom, what the keys that hold it send, and the sink."""
        if len(outputs) != 1:
            raise Refused("a block is of several outputs")
        ((place, _),) = outputs.items()
        output, name = self.claim.outputs[place], self.variables[place]
        if not self.facts.is_one_value(self.pick, output.values):
            raise Refused("a block is made of several values")
        low, high = self._ends(sent, output, self.facts.domain(name))
        space = self.facts.space((name,))
        states = space.states(name)
        if (low > high)[states].any():
            raise Refused("a block has a state that no key sends")
        value, off = ((low + high) / 2)[states], ((high - low) / 2)[states]
        away = 2 * sent.size * self._others()
        error = off + away + self._relative * (np.abs(value) + off + away)
        return Moved(
            space, value, error, 2 * float(error.max()) + float((high - low)[states].max())
        )

    def _ends(
        self, sent: SentValues, output: HeadOutputClaim, domain: list[Atom | None]
    ) -> tuple[Array, Array]:
        """(state,): the least and the most that keys with that value send."""
        column = self.facts.column(output.values, sent.numbers.space)
        low, high = np.full(len(domain), np.inf), np.full(len(domain), -np.inf)
        numbers: dict[object, list[int]] = {}
        for place, atom in enumerate(column.atoms):
            if atom is not None:
                numbers.setdefault(number_of(atom), []).append(place)
        for state, atom in enumerate(domain):
            mine = np.isin(column.places, numbers.get(number_of(atom), []))
            if mine.any():
                low[state] = (sent.value - sent.off)[mine].min()
                high[state] = (sent.value + sent.off)[mine].max()
            if not self.always and same(atom, output.default):
                low[state] = min(low[state], sent.held - sent.held_off)
                high[state] = max(high[state], sent.held + sent.held_off)
        return low, high

    def _mean(self, sent: SentValues, outputs: Mapping[int, Fraction]) -> Moved:
        """A channel of averages: the same weighted sum of them as of the values of each key."""
        names = [self.variables[place] for place in outputs]
        keys = self._nominal(sent, outputs)
        wrong = float((np.abs(sent.value - keys) + sent.off)[~np.isnan(keys)].max(initial=0.0))
        space = self.facts.space(names)
        value = np.zeros(len(space))
        for place, part in outputs.items():
            claimed = self.claim.outputs[place]
            numbers = [float(part * _code(claimed, atom))
                       for atom in self.facts.domain(self.variables[place])]  # fmt: skip
            value += np.array(numbers)[space.states(self.variables[place])]
        spread = float(np.nanmax(keys, initial=-np.inf) - np.nanmin(keys, initial=np.inf))
        uneven = np.tanh((2 * self.gaps.error + self.gaps.spread) / 4)
        error = wrong + float(uneven) * max(0.0, spread) + 2 * sent.size * self._others()
        error += self._relative * (sent.size + error)
        if not self.always:
            error += abs(sent.held) + sent.held_off
        return Moved(space, value, np.full(len(space), error), 2 * sent.size)

    def _nominal(self, sent: SentValues, outputs: Mapping[int, Fraction]) -> Array:
        """(key,): what a key should send; nan where the program has no value."""
        total = np.zeros(len(sent.value))
        for place, part in outputs.items():
            claimed = self.claim.outputs[place]
            column = self.facts.column(claimed.values, sent.numbers.space)
            numbers = [np.nan if atom is None else float(part * _code(claimed, atom))
                       for atom in column.atoms]  # fmt: skip
            total += np.array(numbers)[column.places]
        return total

    # -- sums -------------------------------------------------------------------------------------

    def _sum(self, sent: SentValues, outputs: Mapping[int, Fraction]) -> Moved:
        """A channel of sums, beside a sink of moderate weight."""
        gaps, width = self.gaps, self.variables[self.width]
        low, high = gaps.above_sink
        weight = exp(-(low + high) / 2) if low <= high else 1.0
        uneven = exp(gaps.error + gaps.sink_error + gaps.spread + max(0.0, high - low) / 2) - 1
        top = max(high - gaps.depth if low <= high else -1e9, -gaps.sink_above)
        others = weight * self.longest * exp(gaps.error + gaps.sink_error + top)
        names = [self.variables[place] for place in outputs]
        space = self.facts.space({*names, width})
        total = np.zeros(len(space))
        for place, part in outputs.items():
            name = self.variables[place]
            numbers = [float(part * _number(atom)) for atom in self.facts.domain(name)]
            total += np.array(numbers)[space.states(name)]
        counts = np.array([float(_number(atom)) for atom in self.facts.domain(width)])
        picked = counts[space.states(width)]
        value = (total + weight * sent.held) / (weight + picked)
        keys = self._nominal(sent, outputs)
        keys = keys[~np.isnan(keys)]
        wrong = float((np.abs(sent.value - keys) + sent.off).max(initial=0.0))
        shift, room = picked * uneven + others, weight + picked * (1 - uneven)
        if not (room > 0).all():
            raise Refused("the weights of a head are not certain at all")
        apart = np.maximum(np.abs(keys.max() - value), np.abs(value - keys.min()))
        most = max(float(np.abs(value - sent.held).max()), float(apart.max())) + sent.size
        error = np.maximum(apart, 0.0) * shift / room
        error += ((picked + shift) * wrong + weight * sent.held_off) / room
        error += self._relative * (sent.size + error)
        return Moved(space, value, error, most)


def _number(atom: Atom | None) -> Fraction:
    if atom is None or isinstance(atom, str):
        raise Refused("a string has no number that stands for it")
    return Fraction(atom)


def _code(output: HeadOutputClaim, atom: Atom | None) -> Fraction:
    """The number that is sent for an atom: counted from the default, so that a query that picks
    nothing gets 0 more. Only a default that is a string may have a number of its own: the mean of
    numbers is to be the number of their mean.
    """
    base = Fraction(0) if output.default is None else output.code(output.default)
    if isinstance(atom, str) and atom == output.default:
        return Fraction(0)
    number = _number(atom)
    if output.codes is not None and output.code(number) != number:
        raise Refused("a mean of numbers that stand for atoms")
    return number - base
