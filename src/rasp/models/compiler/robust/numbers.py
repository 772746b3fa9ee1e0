"""What heads average or add up, as rows of weights that say on which side of a threshold it is.

A mean is in the stream as it is, less the default, in units of the largest value. A sum z over w
picked keys is there as z / (c + w), where c is the weight of the sink (near N), beside the share of
the sink itself, c / (c + w). So

    z / (c + w) - (t / c) · c / (c + w)  =  (z - t) / (c + w),

which has the sign of z - t whatever w is: a threshold is one row, and nothing is divided.
Neighbours g apart are at least g / (2 (c + N)) = g / 4N away from a threshold half-way. And a count
w, which is w / (c + w) by itself (see `lines`), is furthest from its neighbours near N where c is
near N: the weight is that of position 0 in `heads.width_shares`. Cost: 1 dimension for each number,
and for the share of each head; more where several share a number (`repeat`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import TypeAlias

from rasp.language.graph import Const
from rasp.models.compiler.analysis.linear import Linear
from rasp.models.compiler.analysis.variables import HeadOutput, PlannedHead, codes_of, default_code
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.heads.width_shares import boost_of, weight_of
from rasp.models.compiler.robust.blocks import StreamBlocks

Mixture: TypeAlias = Mapping[HeadOutput, Fraction]
"""The weights of a weighted sum of what heads put out."""
ONCE = 70.0
"""How many times the smallest difference that matters a number's range is, where one dimension
would do to hold it: the noise of n² dimensions is averaged where it is n times that."""
MOST_REPEATED = 64
PART = 0.375
"""The part of a number that each of several dimensions holds."""


def unit_of(blocks: StreamBlocks, output: HeadOutput) -> float:
    """The largest value that keys send, or the default: numbers are counted in it."""
    if output.carrier is not None:
        return float(len(output.carrier.conditions))
    codes = [*codes_of(blocks.values.of(output.values).atoms).values(), default_code(output)]
    return max(abs(float(code)) for code in codes) or 1.0


def sink_weight(blocks: StreamBlocks) -> Fraction:
    """How many picked keys the sink of a sum weighs."""
    return weight_of(boost_of(blocks.values.settings.max_length))


def width_of(blocks: StreamBlocks, head: PlannedHead) -> HeadOutput:
    """What a head that adds up divides by, beside the sink: how many keys it picks.

    It is one of the head's outputs, and is made one if it was none.
    """
    for counted in head.outputs:
        if blocks.values.of(counted.values).atoms == [1]:
            return counted
    counts = map(Fraction, range(blocks.analysis.settings.max_length + 1))
    width = HeadOutput(
        head.layer, tuple((count, count) for count in counts), True, head, Const(1), None,
        known_by=head.known_by,
    )  # fmt: skip
    head.outputs.append(width)
    return width


def outputs_row(blocks: StreamBlocks, weights: Mixture, constant: float) -> Row:
    """A row that is a constant, and a weighted sum of outputs as they are in the stream."""
    rows = [Row({blocks.number(output): float(weight) * unit_of(blocks, output)},
                float(weight * default_code(output)))
            for output, weight in weights.items()]  # fmt: skip
    return sum_rows([Row({}, constant), *rows])


def note_fineness(blocks: StreamBlocks, weights: Mixture, gap: float) -> None:
    """Note how fine outputs have to be, as they are in the stream, for two sums `gap` apart."""
    for output, weight in weights.items():
        most = abs(float(weight)) * unit_of(blocks, output)
        if output.head.mode == "sum":
            most /= float(sink_weight(blocks))
        blocks.note_fineness(output.head, most / gap)


def means_in(linear: Linear | None) -> Mixture:
    """The averages that an s-op is a weighted sum of; nothing where it is not such a sum."""
    outputs = {} if linear is None else linear.of(HeadOutput)
    if linear is None or len(outputs) < len(linear.parts):
        return {}
    return outputs if all(output.head.mode == "mean" for output in outputs) else {}


def mean_row(blocks: StreamBlocks, linear: Linear | None, codes: Iterable[Fraction]) -> Row | None:
    """A row that reads a weighted sum of averages as a number; None where it is not one."""
    means = means_in(linear)
    if linear is None or not means or any(map(blocks.is_picked, means)):
        return None
    gap = min(high - low for low, high in pairwise(sorted(codes)))
    note_fineness(blocks, means, float(gap))
    return outputs_row(blocks, means, float(linear.constant))


def repeat(blocks: StreamBlocks) -> None:
    """Let several dimensions share each number that has to be known closely."""
    sums = [(output.head, dim) for output, dim in blocks.number_dims.items()]
    for head, dim in [*sums, *blocks.share_dims.items()]:
        finest = blocks.finest.get(head, 1.0)
        if head.mode == "sum":  # up to w / (c + w), in steps of 1 / (c + w)
            finest *= 2 * blocks.analysis.settings.max_length
        count = min(MOST_REPEATED, ceil((finest / ONCE) ** 2))
        if count * PART**2 > 1:
            blocks.repeated[dim] = [dim, *blocks.new(count - 1)], PART * count


def drop_repeated(blocks: StreamBlocks) -> bool:
    """Hold each number in one dimension after all, where several shared any."""
    numbers = {*blocks.number_dims.values(), *blocks.share_dims.values()} & blocks.repeated.keys()
    for dim in numbers:
        dims, _ = blocks.repeated.pop(dim)
        blocks.size -= len(dims) - 1  # these were the last to be made
    return bool(numbers)
