"""A plan of one-hot blocks in, the same plan with no more dimensions than are read out.

From the last block that is written to the first: what all its readers read of it decides how it is
coded (see `codings`); then readers and writers are written in that code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress

import numpy as np

from rasp.models.certificate import Array
from rasp.models.compiler.analysis.times import EMBEDDING, attention_time, feed_forward_time
from rasp.models.compiler.analysis.variables import HeadOutput
from rasp.models.compiler.emitting.rows import Row, sum_rows
from rasp.models.compiler.robust.blocks import Feature, StreamBlocks
from rasp.models.compiler.robust.codings import BlockCode, coded, nearest_rows, numbers_of
from rasp.models.compiler.robust.plan_parts import (
    MovedValue,
    RobustHead,
    RobustOutput,
    Step,
    rounding_of,
)

MOST_ROUNDING = 0.05
"""How far all dimensions of a code may be rounded together."""
MOST_STATES = 600
"""Blocks of more states stay as they are: finding a code takes too long."""


@dataclass
class Narrowing:
    """The parts of a plan, which change as blocks become narrow."""

    blocks: StreamBlocks
    heads: list[list[RobustHead]]
    outputs: list[RobustOutput]

    def narrow(self) -> None:
        """Narrow each block, the last that is written first."""
        blocks = self.blocks
        written: dict[tuple[int, ...], tuple[int, list[Feature]]] = {}
        for feature in blocks.features.values():
            _, writers = written.setdefault(
                tuple(feature.own_dims), (feed_forward_time(feature.layer), [])
            )
            writers.append(feature)
        for variable, dim_of in blocks.block_dims.items():
            is_moved = isinstance(variable, HeadOutput)
            time = attention_time(variable.layer) if is_moved else EMBEDDING
            written[tuple(dim_of.values())] = time, []
        for dims, (_, writers) in sorted(written.items(), key=lambda block: -block[1][0]):
            if 0 < len(dims) <= MOST_STATES:
                self._narrow(list(dims), writers)

    def _narrow(self, dims: list[int], features: Sequence[Feature]) -> None:
        own = set(dims)
        told = [output for output in self.outputs if _tells(output, own)]
        rows = [row for row in self._rows(told) if not own.isdisjoint(row.weights)]
        found = coded(numbers_of(rows, dims), is_told=bool(told))
        if found is None:
            return
        codes, is_hot = found
        if features:
            if is_hot:
                return  # fewer states would be another function, of fewer variables perhaps
            steps = [step for feature in features for step in feature.steps]
            codes = _from_most_frequent(codes, dims, steps)
            if _is_rounded(codes, dims, steps):
                return
        coding = BlockCode(codes, self.blocks.new(codes.shape[1]), is_hot)
        self.blocks.codings[tuple(dims)] = coding
        self.blocks.dropped |= own
        self._write(dims, coding, features)
        for output in told:
            self._tell(output, dims, coding)
        self._reread(lambda row: coding.recoded(row, dims))

    def _rows(self, told: Iterable[RobustOutput]) -> Iterator[Row]:
        """All that is read, but what read-outs read that may read anything."""
        heads = list(chain.from_iterable(self.heads))
        for head in heads:
            yield from chain.from_iterable(head.columns)
            yield from (channel.row for channel in head.channels)
        for feature in self.blocks.features.values():
            yield from (step.row for step in feature.steps)
        for output in self.outputs:
            if output not in told:
                yield from output.rows

    def _reread(self, change: Callable[[Row], Row]) -> None:
        """Write all that is read anew."""
        for head in chain.from_iterable(self.heads):
            head.columns[:] = [(change(query), change(key)) for query, key in head.columns]
            head.channels[:] = [replace(channel, row=change(channel.row))
                                for channel in head.channels]  # fmt: skip
        for feature in self.blocks.features.values():
            feature.steps[:] = [replace(step, row=change(step.row)) for step in feature.steps]
        for output in self.outputs:
            output.rows[:] = map(change, output.rows)

    def _write(self, dims: list[int], coding: BlockCode, features: Sequence[Feature]) -> None:
        """Let a block's writers write its code."""
        for feature in features:
            for step in feature.steps:
                added = zip(coding.dims, _added(step, dims, coding.codes), strict=True)
                step.out.clear()
                step.out.update({dim: float(value) for dim, value in added if value})
            feature.steps[:] = [step for step in feature.steps if step.out]
        for head in [] if features else chain.from_iterable(self.heads):
            mine = {channel.dim: channel for channel in head.channels if channel.dim in set(dims)}
            if mine:
                by_state = [mine[dim] for dim in dims]
                others = [channel for channel in head.channels if channel.dim not in mine]
                head.channels[:] = [*_mixed(by_state, coding), *others]

    def _tell(self, output: RobustOutput, dims: list[int], coding: BlockCode) -> None:
        """Let a read-out score the codes of its answers."""
        states = [dims.index(dim) for row in output.rows for dim in row.weights]
        weights, constants = nearest_rows(coding.codes[states])
        for place, (row, constant) in enumerate(zip(weights, constants, strict=True)):
            told = zip(coding.dims, map(float, row), strict=True)
            read = {dim: weight for dim, weight in told if weight}
            output.rows[place] = Row(read, float(constant))


def _tells(output: RobustOutput, dims: set[int]) -> bool:
    """Whether a read-out asks in which of its states a block is, and nothing else."""
    read = [tuple(row.weights.items()) for row in output.rows]
    return len(read) > 1 and set(read) == {((dim, 1.0),) for dim in dims} and len(read) == len(dims)


def _added(step: Step, dims: Sequence[int], codes: Array) -> Array:
    """(dimension,): what a step adds to a code."""
    states = [dims.index(dim) for dim in step.out]
    return np.asarray(np.array(list(step.out.values())) @ codes[states])


def _is_rounded(codes: Array, dims: Sequence[int], steps: Sequence[Step]) -> bool:
    """Whether what steps add to one dimension of a code is rounded by more than its readers bear:
    all dimensions together make up an answer.
    """
    changes = np.array([_added(step, dims, codes) for step in steps])
    return sum(rounding_of(compress(steps, changed)) for changed in changes.T) > MOST_ROUNDING


def _from_most_frequent(codes: Array, dims: Sequence[int], steps: Sequence[Step]) -> Array:
    """Codes that are 0 for the value that most cubes begin with: these need no units."""
    first = [dims.index(dim) for step in steps if len(step.out) == 1 for dim in step.out]
    base = codes[max(set(first), key=first.count)]
    return np.asarray(np.where(base != 0, base - codes, codes))


def _mixed(by_state: Sequence[MovedValue], coding: BlockCode) -> Iterator[MovedValue]:
    """Channels that send the code of what is picked."""
    for number, dim in enumerate(coding.dims):
        codes = coding.codes[:, number]
        row = sum_rows(channel.row.times(float(code))
                       for code, channel in zip(codes, by_state, strict=True) if code)  # fmt: skip
        sink = sum(
            float(code) * channel.sink for code, channel in zip(codes, by_state, strict=True)
        )
        yield MovedValue(by_state[0].outputs, row, sink, dim)
