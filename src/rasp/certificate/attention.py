"""A head in, what it adds to the residual stream and how far that can be off, out.

Softmax gives each key exp(score), divided by the sum of these. Let every picked key score s, up
to ε; every other key at least B less; and the sink, where there is one, at s - λ. Then of what a
query gets, others make up at most N·exp(2ε - B), and

- in a mean, the sink makes up at most exp(2ε - λ), and picked keys weigh the same up to a factor
  of exp(2ε); where none is picked, keys make up N·exp(2ε - (what the sink is above them));
- in a sum, the sink (which holds 0) takes nearly everything: a picked key gets exp(λ) with λ far
  below 0, so that the output over exp(λ) is the sum, up to a factor of 1 ± N·exp(λ); what the sink
  is above all other keys counts against that λ, too, for queries that can pick nothing.

exp and the division are charged with 2^-21 each, wherever weights matter. Where all picked keys
hold one value, their weights need not be the same: whatever they are, they add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.arrays import HeadArrays
from rasp.certificate.claims import HeadClaim, Notes, Refused
from rasp.certificate.picks import compared
from rasp.certificate.scores import Scorer, Scores
from rasp.certificate.stream import DOUBLE, SLACK, UNIT, Stream
from rasp.certificate.tables import Array, Space, same
from rasp.graph import (
    Const,
    Elementwise,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
)

EXP = 2.0**-21
"""The relative error of one exponential, and of one division, of a softmax."""
LARGEST = 60.0
"""Exponents beyond this are cut off: what they give is useless anyway."""


@dataclass(eq=False)
class Sink:
    """The sink's own row of the stream; it should never change."""

    row: Array
    error: Array


@dataclass(frozen=True, eq=False)
class Channel:
    """One value that a head moves: a weighted sum of outputs, less a constant."""

    column: Array  # (dimension,): with what it is written
    weights: Mapping[int, Fraction]
    """Of each output."""
    shift: Fraction
    error: float
    size: float


def attend(
    stream: Stream, sink: Sink | None, claim: HeadClaim, head: HeadArrays, outputs: Sequence[int],
    name: str, notes: Notes,
) -> list[Channel]:  # fmt: skip
    """Check one head; `outputs` are the variables that it makes."""
    _check_claim(stream, claim, sink, name)
    asked, asked_off = None, np.zeros(len(head.key))
    if sink is not None:
        asked = head.key @ sink.row + head.key_bias
        asked_off = np.abs(head.key) @ sink.error
    scorer = Scorer(stream, claim, head)
    if claim.mode == "share":
        return _give_shares(stream, scorer, claim, head, outputs, name, notes)
    scores = scorer.scores(asked, asked_off)
    factor = 1.0
    if claim.mode == "sum":
        low, high = scores.above_sink
        if not -LARGEST < low <= high < 0:
            raise Refused("the sink of a sum does not score above what is picked", name)
        factor = float(np.exp((low + high) / 2))
    errors, sizes = [], []
    for channel, inputs, row, bias in zip(claim.channels, claim.values, head.value,
                                          head.value_bias, strict=True):  # fmt: skip
        size, off = _value(stream, claim, channel, inputs, row, float(bias))
        reach = _reach(stream, claim, channel, outputs)
        error = _error(stream, claim, scores, factor, size, off)
        if sink is not None:
            error += _sink_value(sink, row, float(bias)) / factor
        errors.append(error)
        sizes.append(min(reach, stream.values.inputs.max_length * size) + error)
    _describe(claim, scores, name, notes)
    return _written(stream, claim, head.out * factor, outputs, errors, sizes)


def _check_claim(stream: Stream, claim: HeadClaim, sink: Sink | None, name: str) -> None:
    picks, selectors = stream.values.picks, [each.selector for each in claim.conjuncts]
    if stream.values.inputs.causal and not picks.is_causal(selectors):
        raise Refused("a head may pick keys after the query, which a causal model cannot see", name)
    if claim.never_empty and not picks.never_empty(selectors):
        raise Refused("a head may pick nothing", name)
    if claim.mode not in ("mean", "sum", "share"):
        raise Refused("an unknown kind of head", name)
    if claim.mode == "share" and (sink is not None or not claim.never_empty or claim.best):
        raise Refused("a head gives shares beside a sink, or may pick nothing", name)
    if sink is None and (claim.mode == "sum" or not (claim.never_empty or claim.stand_ins)):
        raise Refused("a head needs a sink, and there is none", name)
    if claim.stand_ins and not claim.never_empty:
        _check_stand_ins(stream, claim, sink, name)
    if claim.mode == "sum" and (claim.best is not None):
        raise Refused("a sum over the best picks", name)
    for output in claim.outputs:
        if not (_is_affine(output.codes or {}) or picks.picks_one_value(claim, output)):
            raise Refused("a mean of codes is not the code of the mean", name)
    if claim.mode == "sum" and any(each.codes or each.default for each in claim.outputs):
        raise Refused("a sum adds numbers, and is 0 where nothing is picked", name)


def _is_affine(codes: Mapping[Atom, Fraction]) -> bool:
    """Whether codes of numbers are a line, so that means of them are codes of means.

    Strings have no mean: where several are picked, the program has no value.
    """
    points = [(Fraction(atom), code) for atom, code in codes.items() if not isinstance(atom, str)]
    steps = [(atom - points[0][0], code - points[0][1]) for atom, code in points[1:]]
    return all(atom * steps[0][1] == code * steps[0][0] for atom, code in steps)


def _check_stand_ins(stream: Stream, claim: HeadClaim, sink: Sink | None, name: str) -> None:
    """Without a sink: where no key is picked, the weight goes to keys that fail nothing but some
    conditions on keys alone. There are always such keys, and they all hold the default.
    """
    picks, values = stream.values.picks, stream.values
    mine = [claim.conjuncts[place].selector for place in claim.stand_ins]
    rest = [each.selector for place, each in enumerate(claim.conjuncts)
            if place not in claim.stand_ins]  # fmt: skip
    if sink is not None or claim.best is not None or not picks.never_empty(rest):
        raise Refused("nothing can stand in for a sink", name)
    names = [v for place in claim.stand_ins for v in claim.conjuncts[place].keys]
    for output in claim.outputs:
        space = values.space([*names, *values.over(output.values)])
        fits = np.ones(space.size, bool)
        for selector in mine:
            fits &= _on_keys(stream, selector, space)
        column = values.column(output.values, space)
        held = [column.atoms[place] for place in column.places[~fits].tolist()]
        if any(atom is not None and not same(atom, output.default) for atom in held):
            raise Refused("a key that stands in for a sink does not hold the default", name)


def _on_keys(stream: Stream, node: Selector, space: Space) -> Array:
    """(combination of a key,): whether a selector picks it, whatever the query."""
    match node:
        case Select(keys, queries, op):
            asked = stream.values.picks.atoms(queries, None)
            if len(asked) != 1:
                raise Refused("a condition looks at more than keys")
            column = stream.values.column(keys, space)
            return np.asarray(compared(column.atoms, asked, op)[0][column.places])
        case SelectorNot(inner):
            return np.asarray(~_on_keys(stream, inner, space))
        case SelectorAnd(left, right):
            return np.asarray(_on_keys(stream, left, space) & _on_keys(stream, right, space))
        case SelectorOr(left, right):
            return np.asarray(_on_keys(stream, left, space) | _on_keys(stream, right, space))
    raise Refused("a selector is not made of comparisons")


def _value(
    stream: Stream, claim: HeadClaim, channel: Mapping[int, Fraction], inputs: Sequence[int],
    row: Array, bias: float,
) -> tuple[float, float]:  # fmt: skip
    """The largest size of what keys send, and how far it is from what they should send."""
    values = stream.values
    space = values.space(tuple(inputs))
    reading = stream.read(row[None], inputs)
    held = reading.on(values, space)
    wanted, fine = _wanted(stream, claim, channel, inputs)
    fine &= ~np.isnan(held.value[:, 0])
    if not fine.any():
        return 0.0, 0.0
    got = held.value[:, 0] + bias
    off = np.abs(got - wanted) + held.error[:, 0]
    off += reading.rounding(held, np.array([bias]))[:, 0] + DOUBLE * held.mass[:, 0]
    return float(np.abs(wanted)[fine].max()), float(off[fine].max())


def _wanted(
    stream: Stream, claim: HeadClaim, channel: Mapping[int, Fraction], inputs: Sequence[int]
) -> tuple[Array, Array]:
    """(combination,): the weighted sum of the outputs' values, each less its default."""
    values = stream.values
    space = values.space(tuple(inputs))
    total, fine = np.zeros(space.size), np.ones(space.size, bool)
    numbers: list[tuple[list[float | None], Array]] = []
    shift = 0.0
    mixed: SOp | None = None
    for number, weight in channel.items():
        output = claim.outputs[number]
        shift += float(weight) * float(values.default_code(output))
    try:
        for number, weight in channel.items():
            output = claim.outputs[number]
            if output.carrier is not None:
                states = values.states_on(output.carrier, space)
                codes: list[float | None] = [
                    float(weight) * each for each in range(values.domain(output.carrier).size)
                ]
                numbers.append((codes, states))
                continue
            column = values.column(output.values, space)
            numbers.append(([None if atom is None else float(weight * values.code(output, atom))
                             for atom in column.atoms], column.places))  # fmt: skip
    except Refused:
        moved = [claim.outputs[number] for number in channel]
        if any(each.codes is not None or each.carrier is not None for each in moved):
            raise
        for number, weight in channel.items():
            inner = claim.outputs[number].values
            scaled = inner if weight == 1 else Elementwise("*", (inner, Const(weight)))
            mixed = scaled if mixed is None else Elementwise("+", (mixed, scaled))
        assert mixed is not None
        column = values.column(mixed, space)
        numbers = [([None if atom is None else float(atom) for atom in column.atoms],
                    column.places)]  # fmt: skip
    for codes, places in numbers:
        table = np.array([np.nan if code is None else code for code in codes])
        total = total + table[places]
    fine = ~np.isnan(total)
    return np.where(fine, total, 0.0) - shift, fine


def _reach(
    stream: Stream, claim: HeadClaim, channel: Mapping[int, Fraction], outputs: Sequence[int]
) -> float:
    """The largest size of what comes out, as far as the outputs' own ranges tell."""
    total = 0.0
    for number, weight in channel.items():
        numbers = stream.values.domain(outputs[number]).numbers
        assert numbers is not None
        default = stream.values.default_code(claim.outputs[number])
        most = max((abs(number - default) for number in numbers), default=0)
        total += abs(float(weight)) * float(most)
    return total


def _error(
    stream: Stream, claim: HeadClaim, scores: Scores, factor: float, size: float, off: float
) -> float:
    """How far off a value can come out of the softmax."""
    length = stream.values.inputs.max_length
    others = length * _exp(scores.match_error + scores.error - scores.depth)
    rounding = SLACK * UNIT * (2 * length + 6)
    low, high = scores.above_sink
    if claim.mode == "sum":
        uneven = _exp(scores.match_error + scores.sink_error + scores.spread + high - low) - 1
        others += length * _exp(scores.error + scores.sink_error - scores.sink_above) / factor
        relative = uneven + others + 3 * EXP + rounding + length * factor * _exp(1.0)
        relative += 2 * UNIT * max(abs(low), abs(high))
        return length * (size * relative + off * (1 + relative))
    others += _exp(scores.match_error + scores.sink_error - low)
    relative = EXP + rounding + 2 * others
    is_one = all(stream.values.picks.picks_one_value(claim, output) for output in claim.outputs)
    uneven = scores.spread
    if claim.best is not None:
        relative += 2 * length * _exp(2 * scores.match_error - scores.step)
        uneven = scores.tie
    if not is_one:
        relative += 2 * EXP + _exp(2 * scores.match_error + uneven) - 1
    error = size * relative + off
    if not claim.never_empty:
        alone = length * _exp(scores.error + scores.sink_error - scores.sink_above)
        if claim.stand_ins:
            alone = length * _exp(2 * scores.error - scores.stand_in)
        error = max(error, (size + off) * alone)
    return error


def _give_shares(
    stream: Stream, scorer: Scorer, claim: HeadClaim, head: HeadArrays, outputs: Sequence[int],
    name: str, notes: Notes,
) -> list[Channel]:  # fmt: skip
    """Position 0 holds 1, all else 0, so that what comes out is the share that position 0 gets.

    With w for its weight in matches, it is w / (w + m) for m others, where it is matched or, in a
    head that `outweighs`, where it is not; in the other case it is all of it, or nothing.
    """
    scores = scorer.shares()
    length = stream.values.inputs.max_length
    wanted = float(np.log(float(claim.weight)))
    shared = scores.others if claim.outweighs else scores.picked
    ends = scores.picked[0] if claim.outweighs else -scores.others[1]
    uneven = 0.0
    if shared[0] <= shared[1]:  # it occurs at all
        uneven = max(abs(shared[0] - wanted), abs(shared[1] - wanted))
    relative = _exp(2 * scores.error + scores.spread + uneven) - 1 + 3 * EXP
    relative += length * _exp(2 * scores.error - scores.depth) + SLACK * UNIT * (2 * length + 6)
    rest = length * _exp(2 * scores.error + scores.spread - ends)
    rest += length * float(claim.weight) * _exp(2 * scores.error - scores.depth)
    errors, sizes = [], []
    for channel, inputs, row, bias in zip(claim.channels, claim.values, head.value,
                                          head.value_bias, strict=True):  # fmt: skip
        size, off = _value(stream, claim, channel, inputs, row, float(bias))
        errors.append(size * (relative + rest) + off)
        sizes.append(size + errors[-1])
    notes.blocks.append((name, f"share; scores {scores.depth:.3g} apart", scores.depth))
    return _written(stream, claim, head.out, outputs, errors, sizes)


def _exp(exponent: float) -> float:
    return float(np.exp(min(exponent, LARGEST)))


def _sink_value(sink: Sink, row: Array, bias: float) -> float:
    """What the sink sends, which should be 0: two numbers that cancel are exactly that."""
    terms = np.append(row * sink.row, bias)
    used = terms[terms != 0]
    total = abs(float(used.sum()))
    if len(used) > 2 or total:
        total += SLACK * UNIT * len(used) * float(np.abs(used).sum())
    return total + float(np.abs(row) @ sink.error)


def _written(
    stream: Stream, claim: HeadClaim, out: Array, outputs: Sequence[int], errors: Sequence[float],
    sizes: Sequence[float],
) -> list[Channel]:  # fmt: skip
    found = []
    for number, channel in enumerate(claim.channels):
        weights = {outputs[place]: weight for place, weight in channel.items()}
        shift = sum((weight * stream.values.default_code(claim.outputs[place])
                     for place, weight in channel.items()), Fraction(0))  # fmt: skip
        error = errors[number] + SLACK * UNIT * sizes[number]
        found.append(Channel(out[:, number], weights, shift, error, sizes[number]))
    return found


def _describe(claim: HeadClaim, scores: Scores, name: str, notes: Notes) -> None:
    notes.off[name] = scores.error
    if claim.conjuncts or claim.best is not None:
        room = min(scores.depth, scores.above_sink[0]) if claim.mode == "mean" else scores.depth
        error = scores.error if scores.error > 1e-9 else 0.0  # less is this file's own rounding
        detail = f"{claim.mode}; scores {room:.3g} apart, off by at most {error:.2g}"
        notes.blocks.append((name, detail, room - 2 * scores.error))
    else:
        notes.blocks.append((name, f"{claim.mode}; looks everywhere", 0.0))


def pass_sink(stream: Stream, sink: Sink, head: HeadArrays, name: str) -> None:
    """The sink, as a query, must get nothing: it sees only itself, or scores itself far above."""
    moved = np.abs(head.value @ sink.row + head.value_bias)
    moved = np.array([_sink_value(sink, row, float(bias))
                      for row, bias in zip(head.value, head.value_bias, strict=True)])  # fmt: skip
    if not stream.values.inputs.causal:
        asked = head.query @ sink.row + head.query_bias
        own = float(asked @ (head.key @ sink.row + head.key_bias))
        low, high = stream.largest((asked @ head.key)[None])
        best = float(high[0] + asked @ head.key_bias)
        wrong = np.abs(head.query) @ sink.error
        slack = (
            SLACK
            * UNIT
            * len(asked)
            * float(
                np.abs(asked)
                @ (
                    np.abs(head.key) @ np.maximum(stream.size, np.abs(sink.row))
                    + np.abs(head.key_bias)
                )
            )
        )
        slack += float(wrong @ (np.abs(head.key) @ stream.size + np.abs(head.key_bias)))
        share = stream.values.inputs.max_length * _exp(best - own + slack)
        low, high = stream.largest(head.value)
        moved = moved + share * (np.maximum(np.abs(low), np.abs(high)) + np.abs(head.value_bias))
    sink.error = sink.error + np.abs(head.out) @ moved


def check_sink_units(sink: Sink, inside: Array, bias: Array, name: str) -> None:
    """No hidden unit may fire at the sink."""
    before = inside @ sink.row + bias
    off = np.abs(inside) @ sink.error
    off += SLACK * UNIT * 4 * (np.abs(inside) @ np.abs(sink.row) + np.abs(bias))
    if (before + off > 0).any():
        raise Refused("a hidden unit fires at the sink", name)
