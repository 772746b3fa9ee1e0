"""A head in, what it adds to the residual stream and how far that can be off, out.

Softmax gives each key exp(score), divided by the sum of these. Let every picked key score s, up
to ε; every other key at least B less; and the sink, where there is one, at s - λ. Then of what a
query gets, others make up at most N·exp(2ε - B), and

- in a mean, the sink makes up at most exp(2ε - λ), and picked keys weigh the same up to a factor
  of exp(2ε); where none is picked, keys make up N·exp(2ε - (what the sink is above them));
- in a sum beside a sink that weighs as much as some keys, see `dilution`; in any other sum, the
  sink (which holds 0) takes nearly everything: a picked key gets exp(λ) with λ far
  below 0, so that the output over exp(λ) is the sum, up to a factor of 1 ± N·exp(λ); what the sink
  is above all other keys counts against that λ, too, for queries that can pick nothing.

exp and the division are charged with 2^-21 each, wherever weights matter. Where all picked keys
hold one value, their weights need not be the same: whatever they are, they add up to 1.

What is rounded as n numbers of up to t each are added, in any order: whatever is added first, the
sums on the way are of 2, 3, ..., n of them at most, so that all of them together are off by
2^-24 · t · n (n + 1) / 2. To add a number to a float32 also changes the sum by no more than that
number is off by itself, so that keys that are not picked, which get next to nothing, cost no more
than what they get, once more; nor, in a sum, does what is picked cost more where it is added to
the weight of the sink.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from rasp.atoms import Atom
from rasp.certificate.arrays import HeadArrays
from rasp.certificate.cases import compared, holds
from rasp.certificate.claims import HeadClaim, Notes, Refused
from rasp.certificate.dilution import Sent, balance_of, portion
from rasp.certificate.gradients import head_gradient
from rasp.certificate.precision import FLOAT32, Precision
from rasp.certificate.reading import DOUBLE, EXACT, SLACK, UNIT, Group, grains
from rasp.certificate.scores import Scorer, Scores
from rasp.certificate.stream import Stream
from rasp.certificate.tables import Array, Space, same
from rasp.certificate.values import Values
from rasp.graph import Const, Elementwise, Select, SOp

EXP = 2.0**-21
"""The relative error of one exponential, and of one division, of a softmax."""
LARGEST = 60.0
"""Exponents beyond this are cut off: what they give is useless anyway."""


@dataclass(eq=False)
class Sink:
    """The sink's own row of the stream; it should never change."""

    row: Array
    error: Array
    precision: Precision = FLOAT32

    def rounded(self) -> Sink:
        """As numbers of a coarser precision."""
        return Sink(*self.precision.ends(self.row, self.error), self.precision)


@dataclass(frozen=True, eq=False)
class Channel:
    """One value that a head moves: a weighted sum of outputs, less a constant."""

    column: Array  # (dimension,): with what it is written
    weights: Mapping[int, Fraction]
    """Of each output."""
    shift: Fraction
    error: float
    size: float
    group: Group | None = None
    """What it adds by the state of outputs, where that is not a weighted sum of them."""
    gradient: float = 0.0
    """How much it can change with the embedded input."""


def attend(
    stream: Stream, sink: Sink | None, claim: HeadClaim, head: HeadArrays, outputs: Sequence[int],
    name: str, notes: Notes,
) -> list[Channel]:  # fmt: skip
    """Check one head; `outputs` are the variables that it makes."""
    _check_sink(stream, claim, sink, name)
    asked, asked_off = None, np.zeros(len(head.key))
    if sink is not None:
        asked, asked_off = _at_sink(sink, head.key, head.key_bias)
    scorer = Scorer(stream, claim, head)
    if claim.mode == "share":
        if not stream.precision.is_float32:
            raise Refused("a head that gives shares is only looked at in float32", name)
        return _give_shares(stream, scorer, claim, head, outputs, name, notes)
    scores = scorer.scores(asked, asked_off)
    if claim.mode == "sum" and claim.weight:
        sums, away = _diluted(stream, sink, claim, head, outputs, scores, name, notes)
        return _with_gradients(sums, head_gradient(stream, head, scorer, asked, away))
    factor = 1.0
    if claim.mode == "sum":
        low, high = scores.above_sink
        if not -LARGEST < low <= high < 0:
            raise Refused("the sink of a sum does not score above what is picked", name)
        factor = float(np.exp((low + high) / 2))
    errors, sizes, deviation = [], [], []
    blocks: dict[int, Group] = {}
    for number, (channel, inputs, row, bias) in enumerate(zip(
            claim.channels, claim.values, head.value, head.value_bias, strict=True)):  # fmt: skip
        moved = [claim.outputs[place] for place in channel]
        if any(output.is_block for output in moved):
            table, off_table, size = _block(stream, sink, claim, channel, inputs, row, float(bias),
                                            outputs, name)  # fmt: skip
            (place,) = channel
            blocks[number] = _group(stream, outputs[place], head.out[:, number], table, off_table)
            # a sink that does not hold 0 is twice as far from what other keys send
            errors.append(_error(stream, claim, scores, factor, 2 * size, 0.0, EXP))
            sizes.append(size + errors[-1] + float(off_table.max(initial=0.0)))
            deviation.append(2 * errors[-1])
            continue
        low, high, off = _value(stream, claim, channel, inputs, row, float(bias))
        size, reach = max(-low, high), _reach(stream, claim, channel, outputs)
        exp = EXP + SLACK * stream.precision.unit  # attention is rounded once more
        error = _error(stream, claim, scores, factor, size, off, exp, high - low)
        if sink is not None:
            held, wrong = _sent_by_sink(sink, row, float(bias))
            error += 2 * (abs(held) + wrong) / factor
        errors.append(error)
        sizes.append(min(reach, stream.values.inputs.max_length * size) + error)
        deviation.append((size + off) / (1.0 if claim.mode == "mean" else factor))
    _describe(claim, scores, name, notes)
    channels = _written(stream, claim, head.out * factor, outputs, errors, sizes, blocks)
    gradients = head_gradient(stream, head, scorer, asked, np.array(deviation))
    return _with_gradients(channels, gradients)


def _diluted(
    stream: Stream, sink: Sink | None, claim: HeadClaim, head: HeadArrays, outputs: Sequence[int],
    scores: Scores, name: str, notes: Notes,
) -> tuple[list[Channel], Array]:  # fmt: skip
    """A sum beside a sink of moderate weight (see `dilution`), and how far values deviate."""
    assert sink is not None
    length = stream.values.inputs.max_length
    rounding = 3 * EXP + SLACK * UNIT * (2 * length + 8)
    rounding += SLACK * (stream.precision.unit + stream.precision.moved)
    balance = balance_of(scores, claim, length, rounding, _exp)
    channels, sizes = [], []
    for number, (channel, inputs, row, bias) in enumerate(zip(
            claim.channels, claim.values, head.value, head.value_bias, strict=True)):  # fmt: skip
        low, high, off = _value(stream, claim, channel, inputs, row, float(bias))
        own, wrong = _sent_by_sink(sink, row, float(bias))
        sent, out = Sent(channel, low, high, off, own, wrong), head.out[:, number]
        group = portion(stream, claim, outputs, sent, out, balance, name)
        sizes.append(max(-low, high) + off + abs(own) + wrong)
        channels.append(Channel(out, {}, Fraction(0), SLACK * UNIT * sizes[-1], sizes[-1], group))
    _describe(claim, scores, name, notes)
    return channels, np.array(sizes)


def check_head(values: Values, claim: HeadClaim) -> None:
    """Check what is said of a head without its arrays: so that what it puts out, whatever puts it
    out, is what its domain lists. This holds for spare heads, too.
    """
    picks, selectors = values.picks, claim.selectors
    if claim.mode not in ("mean", "sum", "share"):
        raise Refused("an unknown kind of head")
    if claim.never_empty and not picks.never_empty(selectors):
        raise Refused("a head may pick nothing")
    if claim.mode == "share" and (not claim.never_empty or claim.best):
        raise Refused("a head that gives shares may pick nothing")
    if claim.mode == "sum" and claim.best is not None:
        raise Refused("a sum over the best picks")
    if claim.mode == "sum" and any(each.codes or each.default for each in claim.outputs):
        raise Refused("a sum adds numbers, and is 0 where nothing is picked")
    for output in claim.outputs:
        if not (_is_affine(output.codes or {}) or picks.picks_one_value(claim, output)):
            raise Refused("a mean of codes is not the code of the mean")
        is_odd = output.carrier is not None or claim.mode != "mean"
        if output.is_block and (is_odd or not picks.picks_one_value(claim, output)):
            raise Refused("what a head moves as a block is not one value")


def _check_sink(stream: Stream, claim: HeadClaim, sink: Sink | None, name: str) -> None:
    """A model gives a head what it needs: keys that it sees, and a sink if it may pick nothing."""
    selectors = claim.selectors
    if stream.values.inputs.causal and not stream.values.picks.is_causal(selectors):
        raise Refused("a head may pick keys after the query, which a causal model cannot see", name)
    if claim.mode == "share" and sink is not None:
        raise Refused("a head gives shares beside a sink", name)
    if sink is None and (claim.mode == "sum" or not (claim.never_empty or claim.stand_ins)):
        raise Refused("a head needs a sink, and there is none", name)
    if claim.stand_ins and not claim.never_empty:
        _check_stand_ins(stream, claim, sink, name)


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
            fits &= holds(selector, lambda node, over=space: _on_keys(values, node, over))  # type: ignore[misc]
        column = values.column(output.values, space)
        held = [column.atoms[place] for place in column.places[~fits].tolist()]
        if any(atom is not None and not same(atom, output.default) for atom in held):
            raise Refused("a key that stands in for a sink does not hold the default", name)


def _on_keys(values: Values, node: Select, space: Space) -> Array:
    """(combination of a key,): whether a comparison picks it, whatever the query."""
    asked = values.picks.atoms(node.queries, None)
    if len(asked) != 1:
        raise Refused("a condition looks at more than keys")
    column = values.column(node.keys, space)
    return np.asarray(compared(column.atoms, asked, node.op)[0][column.places])


def _block(
    stream: Stream, sink: Sink | None, claim: HeadClaim, channel: Mapping[int, Fraction],
    inputs: Sequence[int], row: Array, bias: float, outputs: Sequence[int], name: str,
) -> tuple[Array, Array, float]:  # fmt: skip
    """(state of the output,): the number that keys send which hold it (the sink, for the default),
    and how far that can be off; and the largest number that anything sends.

    All picked keys hold one value, so their weights need not be the same: they add up to 1.
    """
    if len(channel) != 1:
        raise Refused("a head mixes a block with something else", name)
    (place,) = channel
    output, values = claim.outputs[place], stream.values
    space = values.space(tuple(inputs))
    reading = stream.read(row[None], inputs)
    held = reading.on(values, space)
    number = held.value[:, 0] + bias
    off = held.error[:, 0] + reading.rounding(held, np.array([bias]))[:, 0]
    number, off = stream.precision.ends(number, off + DOUBLE * held.mass[:, 0])
    domain = values.domain(outputs[place])
    column = values.column(output.values, space)
    low, high = np.full(domain.size, np.inf), np.full(domain.size, -np.inf)
    there = ~np.isnan(number)
    for found, atom in enumerate(column.atoms):
        mine = number[there & (column.places == found)], off[there & (column.places == found)]
        states = [state for state, known in enumerate(domain.atoms)
                  if atom is not None and same(known, atom)]  # fmt: skip
        if atom is None or not len(mine[0]):
            continue
        if not states:
            raise Refused("a head moves a value that it is not said to hold", name)
        low[states] = np.minimum(low[states], (mine[0] - mine[1]).min())
        high[states] = np.maximum(high[states], (mine[0] + mine[1]).max())
    if not claim.never_empty:
        if sink is None:
            raise Refused("a head may pick nothing, and there is no sink", name)
        sent, wrong = _sent_by_sink(sink, row, bias)
        states = [state for state, known in enumerate(domain.atoms) if same(known, output.default)]
        low[states] = np.minimum(low[states], sent - wrong)
        high[states] = np.maximum(high[states], sent + wrong)
    empty = low > high  # no key holds it, so nothing is ever that
    low[empty] = high[empty] = 0.0
    size = float(max(np.abs(low).max(initial=0.0), np.abs(high).max(initial=0.0)))
    if sink is not None:
        size = max(size, sum(map(abs, _sent_by_sink(sink, row, bias))))
    return (low + high) / 2, (high - low) / 2, size


def _group(stream: Stream, variable: int, out: Array, table: Array, off: Array) -> Group:
    """A channel that is a function of one output, as what it adds to the stream."""
    dims = np.flatnonzero(out)
    space = stream.values.space((variable,))
    rounding = SLACK * (stream.precision.unit + stream.precision.moved)
    off = off + rounding * (np.abs(table) + off)
    return Group(space, space.grid[0], dims, np.outer(table, out[dims]),
                 np.outer(off, np.abs(out[dims])))  # fmt: skip


def _value(
    stream: Stream, claim: HeadClaim, channel: Mapping[int, Fraction], inputs: Sequence[int],
    row: Array, bias: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Between what keys should send, and how far from that it is what they send."""
    values = stream.values
    space = values.space(tuple(inputs))
    reading = stream.read(row[None], inputs)
    held = reading.on(values, space)
    wanted, fine = _wanted(stream, claim, channel, inputs)
    fine &= ~np.isnan(held.value[:, 0])
    if not fine.any():
        return 0.0, 0.0, 0.0
    off = held.error[:, 0] + reading.rounding(held, np.array([bias]))[:, 0]
    got, off = stream.precision.ends(held.value[:, 0] + bias, off + DOUBLE * held.mass[:, 0])
    off = off + np.abs(got - wanted)
    return float(wanted[fine].min()), float(wanted[fine].max()), float(off[fine].max())


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
        shift += float(weight) * float(output.base)
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
            numbers.append(([None if atom is None else float(weight * output.code(atom))
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
        default = claim.outputs[number].base
        most = max((abs(number - default) for number in numbers), default=0)
        total += abs(float(weight)) * float(most)
    return total


def _error(
    stream: Stream, claim: HeadClaim, scores: Scores, factor: float, size: float, off: float,
    exp: float, width: float = 0.0,
) -> float:  # fmt: skip
    """How far off a value can come out of the softmax.

    Let picked keys weigh e^±δ of what they should, and hold values v of mean m. Their mean is off
    by (e^δ - 1) e^δ times the mean of |v - m|, which is half the width of the values at most.
    """
    length = stream.values.inputs.max_length
    others = length * _exp(scores.match_error + scores.error - scores.depth)
    rounding = SLACK * UNIT
    low, high = scores.above_sink
    if claim.mode == "sum":
        uneven = _exp(scores.match_error + scores.sink_error + scores.spread + high - low)
        others += length * _exp(scores.error + scores.sink_error - scores.sink_above) / factor
        relative = uneven - 1 + 2 * others + 3 * exp + length * factor * _exp(1.0)
        relative += rounding * (length / 2 + 4) * uneven + 2 * UNIT * max(abs(low), abs(high))
        return length * (size * relative + off * (1 + relative))
    others += _exp(scores.match_error + scores.sink_error - low)
    is_one = all(stream.values.picks.picks_one_value(claim, output) for output in claim.outputs)
    relative = exp + 4 * others
    spread = scores.spread if claim.best is None else scores.tie
    if claim.best is not None:
        relative += 4 * length * _exp(2 * scores.match_error - scores.step)
    if not is_one:
        relative += 2 * exp
        apart = scores.match_error + spread / 2
        off += (_exp(apart) - 1) * _exp(apart) * (width or 2 * size) / 2  # exp has a largest value
    # of w picked keys, each weighs 1 / w of all at most, times what makes them uneven
    uneven = _exp(2 * scores.match_error + spread)
    relative += rounding * min(2 * length + 6, (length + 6) * uneven)
    error = size * relative + off * (1 + relative)
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
        low, high, off = _value(stream, claim, channel, inputs, row, float(bias))
        size = max(-low, high)
        errors.append(size * (relative + rest) + off)
        sizes.append(size + errors[-1])
    notes.blocks.append((name, f"share; scores {scores.depth:.3g} apart", scores.depth))
    channels = _written(stream, claim, head.out, outputs, errors, sizes)
    return _with_gradients(channels, head_gradient(stream, head, scorer, None, np.array(sizes)))


def _exp(exponent: float) -> float:
    return float(np.exp(min(exponent, LARGEST)))


def _written(
    stream: Stream, claim: HeadClaim, out: Array, outputs: Sequence[int], errors: Sequence[float],
    sizes: Sequence[float], blocks: Mapping[int, Group] | None = None,
) -> list[Channel]:  # fmt: skip
    found = []
    for number, channel in enumerate(claim.channels):
        error = errors[number] + SLACK * UNIT * sizes[number]
        if blocks and number in blocks:
            error += 2 * stream.precision.moved * error
            found.append(
                Channel(out[:, number], {}, Fraction(0), error, sizes[number], blocks[number])
            )
            continue
        error += SLACK * stream.precision.moved * (sizes[number] + error)
        weights = {outputs[place]: weight for place, weight in channel.items()}
        shift = sum((weight * claim.outputs[place].base
                     for place, weight in channel.items()), Fraction(0))  # fmt: skip
        found.append(Channel(out[:, number], weights, shift, error, sizes[number]))
    return found


def _with_gradients(channels: Sequence[Channel], gradients: Array) -> list[Channel]:
    return [replace(channel, gradient=gradient)
            for channel, gradient in zip(channels, gradients.tolist(), strict=True)]  # fmt: skip


def _describe(claim: HeadClaim, scores: Scores, name: str, notes: Notes) -> None:
    notes.off[name] = scores.error
    if claim.conjuncts or claim.best is not None:
        room = min(scores.depth, scores.above_sink[0]) if claim.mode == "mean" else scores.depth
        error = scores.error if scores.error > 1e-9 else 0.0  # less is this file's own rounding
        detail = f"{claim.mode}; scores {room:.3g} apart, off by at most {error:.2g}"
        notes.blocks.append((name, detail, room - 2 * scores.error))
    else:
        notes.blocks.append((name, f"{claim.mode}; looks everywhere", 0.0))


def _sent_by_sink(sink: Sink, row: Array, bias: float) -> tuple[float, float]:
    value, off = _at_sink(sink, row[None], np.array([bias]))
    return float(value[0]), float(off[0])


def _at_sink(sink: Sink, weight: Array, bias: Array) -> tuple[Array, Array]:
    """(row,): what rows of weights read of the sink, and how far off float32 can be.

    Nothing is rounded where all terms are multiples of one power of two and add up to less than
    2^24 of it; nor where two numbers of float32 cancel.
    """
    terms = np.hstack([weight * sink.row, bias[:, None]])  # (row, dimension + 1)
    value, mass = terms.sum(axis=1), np.abs(terms).sum(axis=1)
    count = (terms != 0).sum(axis=1)
    exact = mass <= EXACT * grains(terms).min(axis=1)
    exact |= (count <= 2) & (value == 0) & (terms.astype(np.float32) == terms).all(axis=1)
    off = np.where(exact, 0.0, SLACK * UNIT * count * mass) + np.abs(weight) @ sink.error
    return sink.precision.ends(value, off)


def pass_sink(stream: Stream, sink: Sink, heads: Sequence[HeadArrays]) -> None:
    """What the heads of a layer add to the sink's row, and how far that can be off: as a query,
    the sink sees only itself, or scores itself far above all keys.

    Rounding is bounded by the sizes of all that is added. What should be 0 and is not is added to
    a number of float32, so that rounding at most doubles it.
    """
    seen = sink.rounded()
    exp = EXP + SLACK * (stream.precision.unit + stream.precision.moved)
    total, mass, count, error = np.zeros((4, len(sink.row)))
    for head in heads:
        value, off = _at_sink(seen, head.value, head.value_bias)
        low, high = stream.largest(head.value)
        others = np.maximum(np.abs(low), np.abs(high)) + np.abs(head.value_bias)
        off = off + (exp + 4 * SLACK * UNIT) * np.abs(value)
        off = off + _given_to_others(stream, seen, head) * (np.abs(value) + others)
        total, error = total + head.out @ value, error + 2 * np.abs(head.out) @ off
        mass, count = mass + np.abs(head.out) @ np.abs(value), count + (head.out != 0).sum(axis=1)
    rounding = SLACK * UNIT * (count + 1) * (np.abs(sink.row) + mass)
    sink.row = sink.row + total
    again = (mass > 0) & ((sink.row != total) | (count > 1))  # else it is rounded as it is read
    rounding += again * stream.precision.stored * (count + 1) * (np.abs(sink.row) + mass)
    sink.error = sink.error + error + np.where(mass > 0, rounding, 0.0)


def _given_to_others(stream: Stream, sink: Sink, head: HeadArrays) -> float:
    """How much of the sink's attention goes to other keys, at most."""
    if stream.values.inputs.causal:
        return 0.0
    asked, asked_off = _at_sink(sink, head.query, head.query_bias)
    sent, sent_off = _at_sink(sink, head.key, head.key_bias)
    _, best = stream.largest((asked @ head.key)[None])
    above = float(best[0] + asked @ head.key_bias - asked @ sent)
    sizes = np.abs(head.key) @ stream.size + np.abs(head.key_bias)  # of any other key
    count = (head.key != 0).sum(axis=1) + 1 + np.count_nonzero(asked)
    rounding = SLACK * (UNIT * count + 2 * stream.precision.unit)
    above += float(np.abs(asked) @ (rounding * (sizes + np.abs(sent))))
    above += float(asked_off @ (sizes + np.abs(sent) + sent_off) + np.abs(asked) @ sent_off)
    return stream.values.inputs.max_length * _exp(above)


def check_sink_units(sink: Sink, inside: Array, bias: Array, name: str) -> None:
    """No hidden unit may fire at the sink."""
    before, off = _at_sink(sink, inside, bias)
    if (before + off > 0).any():
        raise Refused("a hidden unit fires at the sink", name)
