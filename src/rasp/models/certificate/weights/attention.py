"""A head in, what it adds to the residual stream and how far that can be off, out.

Softmax gives each key exp(score), divided by the sum of these. Let every picked key score s, up
to ε; every other key at least B less; and the sink, where there is one, at s - λ. Then of what a
query gets, others make up at most N·exp(2ε - B), and

- in a mean, the sink makes up at most exp(2ε - λ), and picked keys weigh the same up to a factor
  of exp(2ε); where none is picked, keys make up N·exp(2ε - (what the sink is above them));
- in a sum beside a sink that weighs as much as some keys, see `portion`; in any other sum, the
  sink (which holds 0) takes nearly everything: a picked key gets exp(λ) with λ far
  below 0, so that the output over exp(λ) is the sum, up to a factor of 1 ± N·exp(λ); what the sink
  is above all other keys counts against that λ, too, for queries that can pick nothing.

exp and the division are charged with 2^-21 each, wherever weights matter. Where all picked keys
hold one value, their weights need not be the same: whatever they are, they add up to 1.

What is rounded as n numbers of up to t each are added, in any order: the sums on the way are of at
most 2, 3, ..., n of them, so that all together is off by at most 2^-24 · t · n (n + 1) / 2. And as
a float32 is one of the numbers to which a + x may be rounded if a is one, a + x is off by no more
than |x|: keys that are not picked, which get next to nothing, cost what they get once more, and so
does in a sum what is picked, where it is added to the weight of the sink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rasp.models.certificate.claims import Findings, HeadClaim, Refused
from rasp.models.certificate.program.head_claims import check_sees
from rasp.models.certificate.weights.arrays import HeadWeights
from rasp.models.certificate.weights.channels import (
    Channel,
    Sent,
    all_sent,
    group_of,
    largest_sent,
    lost_by_floats,
    read_block,
    read_value,
)
from rasp.models.certificate.weights.gradients import head_gradient
from rasp.models.certificate.weights.pairs import ShareScores
from rasp.models.certificate.weights.reading import UnitGroup
from rasp.models.certificate.weights.rounding import SLACK, TINY, UNIT, at_most
from rasp.models.certificate.weights.scores import HeadScores, Scores
from rasp.models.certificate.weights.sink import EXP, LARGEST, Sink, exp
from rasp.models.certificate.weights.stream import Stream

Moved = tuple[Channel, float]
"""What a channel adds, and how far what is sent to it can deviate from its mean."""


def attend(
    stream: Stream, sink: Sink | None, claim: HeadClaim, head: HeadWeights, outputs: Sequence[int],
    name: str, notes: Findings,
) -> list[Channel]:  # fmt: skip
    """Check one head; `outputs` are the variables that it makes."""
    check_sees(stream.values, claim, sink is not None)
    asked, asked_off = None, np.zeros(len(head.key))
    if sink is not None:
        asked, asked_off = sink.read(head.key, head.key_bias)
    scorer = HeadScores(stream, claim, head)
    rows = list(all_sent(claim, head, outputs))
    if not head.out.any():
        raise Refused("a head moves nothing")
    if claim.mode == "share":
        if not stream.precision.is_float32:
            raise Refused("a head that gives shares is only looked at in float32")
        shares = scorer.shares()
        moved = [_share(stream, claim, shares, sent) for sent in rows]
        notes.blocks.append((name, f"share; scores {shares.depth:.3g} apart", shares.depth))
        notes.unsure += [name] * (shares.depth <= 2 * shares.error)
    else:
        scores = scorer.scores(asked, asked_off)
        if claim.mode == "sum" and claim.weight:
            assert sink is not None
            moved = [_diluted(stream, sink, claim, scores, sent, outputs) for sent in rows]
        else:
            moved = [_attended(stream, sink, claim, scores, sent) for sent in rows]
        _describe(claim, scores, name, notes)
    deviation = np.array([away for _, away in moved])
    gradients = np.abs(head.out) * head_gradient(stream, head, scorer, sink, deviation)
    return [replace(channel, gradient=gradient)
            for (channel, _), gradient in zip(moved, gradients.T, strict=True)]  # fmt: skip


def _describe(claim: HeadClaim, scores: Scores, name: str, notes: Findings) -> None:
    if claim.conjuncts or claim.best is not None:
        room = min(scores.depth, scores.above_sink[0]) if claim.mode == "mean" else scores.depth
        error = at_most(max(scores.error, 1e-9), 2)  # less is this file's own rounding
        detail = f"{claim.mode}; scores {room:.3g} apart, off by at most {error}"
        notes.blocks.append((name, detail, room - 2 * scores.error))
        notes.unsure += [name] * (room <= 2 * scores.error)
    else:
        notes.blocks.append((name, f"{claim.mode}; looks everywhere", 0.0))
        notes.unsure += [name] * (scores.spread + 2 * scores.match_error >= 1)


def _attended(
    stream: Stream, sink: Sink | None, claim: HeadClaim, scores: Scores, sent: Sent
) -> Moved:
    """A mean, or a sum beside a sink that takes nearly everything."""
    factor, length = 1.0, stream.values.inputs.max_length
    if claim.mode == "sum":
        low, high = scores.above_sink
        if not -LARGEST < low <= high < 0:
            raise Refused("the sink of a sum does not score above what is picked")
        factor = float(np.exp((low + high) / 2))
    if sent.is_block:
        group, size, apart = read_block(stream, sink, claim, sent)
        # a sink that does not hold 0 is twice as far from what other keys send
        error = _error(stream, claim, scores, factor, 2 * size, 0.0, EXP)
        return _channel(stream, sent, error, size + error, group=group), 2 * error + apart
    low, high, off = read_value(stream, sent)
    size = max(-low, high)
    charge = EXP + SLACK * stream.precision.unit  # attention is rounded once more
    error = _error(stream, claim, scores, factor, size, off, charge, high - low)
    away = size + off
    if sink is not None:
        held, wrong = sink.sends(sent.row, sent.bias)
        error += 2 * (abs(held) + wrong) / factor
        away += abs(held) + wrong
    most = min(largest_sent(stream, sent), length * size) + error
    return _channel(stream, sent, error, most, factor), away


def _error(
    stream: Stream, claim: HeadClaim, scores: Scores, factor: float, size: float, off: float,
    charge: float, width: float = 0.0,
) -> float:  # fmt: skip
    """How far off a value can come out of the softmax.

    Let picked keys weigh e^±δ of what they should, and hold values v of mean m. Their mean is off
    by (e^δ - 1) e^δ times the mean of |v - m|, which is half the width of the values at most.
    """
    length = stream.values.inputs.max_length
    others = length * exp(scores.match_error + scores.error - scores.depth)
    rounding, (low, high) = SLACK * UNIT, scores.above_sink
    if claim.mode == "sum":
        uneven = exp(scores.match_error + scores.sink_error + scores.spread + high - low)
        others += length * exp(scores.error + scores.sink_error - scores.sink_above) / factor
        relative = uneven - 1 + 2 * others + 3 * charge + length * factor * exp(1.0)
        relative += rounding * (length / 2 + 4) * uneven + 2 * UNIT * max(abs(low), abs(high))
        return length * (size * relative + off * (1 + relative))
    others += exp(scores.match_error + scores.sink_error - low)
    relative = charge + 4 * others
    spread = scores.spread if claim.best is None else scores.tie
    if claim.best is not None:
        relative += 4 * length * exp(2 * scores.match_error - scores.step)
    if not all(stream.values.picks.picks_one_value(claim, output) for output in claim.outputs):
        relative += 2 * charge
        apart = scores.match_error + spread / 2
        off += (exp(apart) - 1) * exp(apart) * (width or 2 * size) / 2  # exp has a largest value
    # of w picked keys, each weighs 1 / w of all at most, times what makes them uneven
    uneven = exp(2 * scores.match_error + spread)
    relative += rounding * min(2 * length + 6, (length + 6) * uneven)
    error = size * relative + off * (1 + relative)
    if not claim.never_empty:
        alone = length * exp(scores.error + scores.sink_error - scores.sink_above)
        error = max(error, (size + off) * alone)
    return error


def _diluted(
    stream: Stream, sink: Sink, claim: HeadClaim, scores: Scores, sent: Sent,
    outputs: Sequence[int],
) -> Moved:  # fmt: skip
    """A sum beside a sink of moderate weight (see `portion`)."""
    low, high, off = read_value(stream, sent)
    held, wrong = sink.sends(sent.row, sent.bias)
    width = width_of(stream, claim, outputs)
    group = portion(stream, claim, scores, sent, width, (low, high, off), (held, wrong))
    size = max(-low, high) + off + abs(held) + wrong
    return _channel(stream, sent, 0.0, size, group=group), size


def _share(stream: Stream, claim: HeadClaim, scores: ShareScores, sent: Sent) -> Moved:
    """Position 0 holds 1, all else 0, so that what comes out is the share that position 0 gets.

    With w for its weight in matches, it is w / (w + m) for m others, where it is matched or, in a
    head that `outweighs`, where it is not; in the other case it is all of it, or nothing.
    """
    length = stream.values.inputs.max_length
    wanted = float(np.log(float(claim.weight)))
    shared = scores.others if claim.outweighs else scores.picked
    ends = scores.picked[0] if claim.outweighs else -scores.others[1]
    uneven = 0.0
    if shared[0] <= shared[1]:  # it occurs at all
        uneven = max(abs(shared[0] - wanted), abs(shared[1] - wanted))
    relative = exp(2 * scores.error + scores.spread + uneven) - 1 + 3 * EXP
    least = min(1.0, float(claim.weight))  # of all that is picked, where that is position 0 alone
    relative += length * exp(2 * scores.error - scores.depth) / least
    relative += SLACK * UNIT * (2 * length + 6)
    rest = length * exp(2 * scores.error + scores.spread - ends)
    rest += length * float(claim.weight) * exp(2 * scores.error - scores.depth)
    low, high, off = read_value(stream, sent)
    size = max(-low, high)
    error = size * (relative + rest) + off
    return _channel(stream, sent, error, size + error), size + error


def _channel(
    stream: Stream, sent: Sent, error: float, size: float, factor: float = 1.0,
    group: UnitGroup | None = None,
) -> Channel:  # fmt: skip
    """A channel with the rounding of its own sum, and what float64 rounds where it is looked at."""
    lost = 0.0 if sent.is_block else lost_by_floats(stream, sent)
    size = size + lost
    lost += 2 * TINY * (stream.values.inputs.max_length + 1) / factor
    error, moved = error + SLACK * UNIT * size + lost, stream.precision.moved
    if group is not None:
        error += 2 * moved * error
        return Channel(sent.out, {}, Fraction(0), error, size, group)
    error += SLACK * moved * (size + error)
    return Channel(sent.out * factor, sent.weights, sent.shift, error, size)


def portion(
    stream: Stream, claim: HeadClaim, scores: Scores, sent: Sent, width: int,
    keys: tuple[float, float, float], sink: tuple[float, float],
) -> UnitGroup:  # fmt: skip
    """What a channel adds, by the states of its outputs and of how many keys are picked.

    Let the sink weigh as much as c picked keys. A query that picks w keys of values v gives each of
    them 1 / (c + w) of its attention and the sink c / (c + w), so that what comes out is

        (Σ v + c s) / (c + w),    s for what the sink sends:

    a function of two outputs of the head, Σ v and w: call it q. Let a picked key weigh 1 + ε of
    what it should, |ε| <= E, and all keys that are not picked at most λ of the sink together. What
    comes out is a mean by these weights, and by the right ones the mean of v - q is 0. So it is off
    by the sum of what each weight is off times v - q, over all weights:

        max |v - q| (w E + c λ) / (c + w - w E).

    `keys` is between what keys hold, and how far off that is; `sink` is what the sink sends, and
    how far off.
    """
    uneven, others = _balance(stream, claim, scores)
    (low, high, off), (held, wrong) = keys, sink
    space = stream.values.space([*sent.weights, width])
    total = np.zeros(space.size)
    for variable, factor in sent.weights.items():
        total += float(factor) * stream.floats(variable)[space.row(variable)]
    picked, weight = stream.floats(width)[space.row(width)], float(claim.weight)
    value = (total + weight * held) / (weight + picked)
    shift = picked * uneven + weight * others
    room = weight + picked * (1 - uneven)
    if (room <= 0).any():
        raise Refused("the weights of a head are not certain at all")
    error = np.maximum(np.abs(high - value), np.abs(value - low)) * shift / room
    error += ((picked + shift) * off + weight * wrong) / room
    rounding = 3 * EXP + SLACK * UNIT * (2 * stream.values.inputs.max_length + 8)
    rounding += SLACK * (stream.precision.unit + stream.precision.moved)
    error += rounding * (max(-low, high) + abs(held))
    return group_of(space, value, error, sent.out)


def _balance(stream: Stream, claim: HeadClaim, scores: Scores) -> tuple[float, float]:
    """By how much, at most, a picked key weighs more or less against the sink than it should; and
    how much all keys weigh that are not picked.
    """
    low, high = scores.above_sink
    wanted = -float(np.log(float(claim.weight)))
    away = max(abs(low - wanted), abs(high - wanted)) if low <= high else 0.0
    uneven = exp(scores.match_error + scores.sink_error + scores.spread + away) - 1
    top = max(high - scores.depth if low <= high else -np.inf, -scores.sink_above)
    others = exp(scores.error + scores.sink_error + top)
    return uneven, stream.values.inputs.max_length * others


def width_of(stream: Stream, claim: HeadClaim, outputs: Sequence[int]) -> int:
    """The output that is how many keys are picked: each of them adds 1."""
    for variable, output in zip(outputs, claim.outputs, strict=True):
        if set(stream.values.picks.atoms(output.values, None)) == {1}:
            return variable
    raise Refused("a head adds up beside a sink, and nothing says how many keys it picks")
