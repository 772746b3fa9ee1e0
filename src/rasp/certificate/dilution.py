"""A head that adds up beside a sink of moderate weight: what it adds to the stream, out.

Let the sink weigh as much as c picked keys. A query that picks w keys of values v gives each of
them 1 / (c + w) of its attention and the sink c / (c + w), so that what comes out is

    (Σ v + c s) / (c + w),    s for what the sink sends:

a function of two outputs of the head, Σ v and w: call it q. Let a picked key weigh 1 + ε of what it
should, |ε| <= E, and all keys that are not picked at most λ of the sink together. What comes out
is a mean by these weights, and by the right ones the mean of v - q is 0. So it is off by the sum of
what each weight is off times v - q, over all weights:

    max |v - q| (w E + c λ) / (c + w - w E).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.certificate.claims import HeadClaim, Refused
from rasp.certificate.reading import Group
from rasp.certificate.scores import Scores
from rasp.certificate.stream import Stream
from rasp.certificate.tables import Array


@dataclass(frozen=True)
class Sent:
    """What one channel moves: between what keys hold, how far they are off, and the sink's."""

    weights: Mapping[int, Fraction]
    low: float
    high: float
    off: float
    sink: float
    sink_off: float


@dataclass(frozen=True)
class Balance:
    """How far from what they should be the weights are."""

    uneven: float
    """Of picked keys against the sink, by a factor of 1 + this at most."""
    others: float
    """Of all keys that are not picked, against the sink."""
    relative: float
    """What exp, the division and the sums round, of the whole."""


def balance_of(
    scores: Scores, claim: HeadClaim, length: int, relative: float, exp: Callable[[float], float]
) -> Balance:
    """The balance of a head, from how its scores lie."""
    low, high = scores.above_sink
    wanted = -float(np.log(float(claim.weight)))
    away = max(abs(low - wanted), abs(high - wanted)) if low <= high else 0.0
    uneven = exp(scores.match_error + scores.sink_error + scores.spread + away) - 1
    top = max(high - scores.depth if low <= high else -np.inf, -scores.sink_above)
    others = length * exp(scores.error + scores.sink_error + top)
    return Balance(uneven, others, relative)


def portion(
    stream: Stream, claim: HeadClaim, outputs: Sequence[int], sent: Sent, out: Array,
    balance: Balance, name: str,
) -> Group:  # fmt: skip
    """What a channel adds, by the states of its outputs and of how many keys are picked."""
    width = width_of(stream, claim, outputs, name)
    variables = [*(outputs[place] for place in sent.weights), width]
    space = stream.values.space(variables)
    total = np.zeros(space.size)
    for place, factor in sent.weights.items():
        total += float(factor) * _numbers(stream, outputs[place], space.row(outputs[place]))
    picked = _numbers(stream, width, space.row(width))
    weight = float(claim.weight)
    value = (total + weight * sent.sink) / (weight + picked)
    shift = picked * balance.uneven + weight * balance.others
    room = weight + picked * (1 - balance.uneven)
    if (room <= 0).any():
        raise Refused("the weights of a head are not certain at all", name)
    error = np.maximum(np.abs(sent.high - value), np.abs(value - sent.low)) * shift / room
    error += ((picked + shift) * sent.off + weight * sent.sink_off) / room
    error += balance.relative * (max(-sent.low, sent.high) + abs(sent.sink))
    dims = np.flatnonzero(out)
    return Group(space, np.arange(space.size), dims, np.outer(value, out[dims]),
                 np.outer(error, np.abs(out[dims])))  # fmt: skip


def width_of(stream: Stream, claim: HeadClaim, outputs: Sequence[int], name: str) -> int:
    """The output that is how many keys are picked: each of them adds 1."""
    for variable, output in zip(outputs, claim.outputs, strict=True):
        if set(stream.values.picks.atoms(output.values, None)) == {1}:
            return variable
    raise Refused("a head adds up beside a sink, and nothing says how many keys it picks", name)


def _numbers(stream: Stream, variable: int, states: Array) -> Array:
    numbers = stream.values.domain(variable).numbers
    assert numbers is not None
    return np.asarray(np.array([float(number) for number in numbers])[states])
