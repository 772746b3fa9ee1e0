"""Inputs that grow in, the value of an s-op at one position of each out, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from rasp.base.atoms import Atom
from rasp.insight.generation.decoding.domains import FAILED, Array
from rasp.insight.generation.decoding.machine import Machine
from rasp.insight.generation.decoding.plan import LONGEST
from rasp.insight.generation.decoding.step import DecodingStep
from rasp.language.graph import SOp

MOST_CELLS = 4_000_000
"""Cells of all selections of a batch at once; a larger batch is cut in two."""


class Growing(Protocol):
    """An input that grows."""

    tokens: list[Atom]

    def __hash__(self) -> int: ...


class Rows:
    """Inputs that grow together, and what never changes of them."""

    def __init__(self, machine: Machine, inputs: Sequence[Growing]) -> None:
        self.machine = machine
        self.inputs = list(inputs)
        self.lengths = np.array([len(one.tokens) for one in inputs])
        self.numbers = np.arange(len(inputs))
        self.is_new = True
        self.kept: dict[SOp, Array] = {}  # (inputs, capacity)
        self.codes = np.full((len(inputs), _capacity(int(self.lengths.max()))), 1)
        for row, one in zip(self.codes, inputs, strict=True):
            row[: len(one.tokens)] = machine.codes_of(one.tokens)

    def values(self, at: int) -> Iterator[tuple[Growing, Atom]]:
        """Compute the next step of each input that is not in doubt."""
        longest = int(self.lengths.max())
        if longest > min(LONGEST, self.machine.plan.longest):
            return
        self.machine.reserve(longest)
        step = DecodingStep(self.machine, self)
        step.run()
        self.is_new = False
        output = self.machine.plan.output
        codes = np.broadcast_to(step.codes(output), (len(self.lengths), step.size))
        newest = codes[self.numbers, at if at >= 0 else self.lengths + at]
        atoms = self.machine.domains[output].atoms
        for one, code, is_doubtful in zip(
            self.inputs, newest.tolist(), step.doubt.tolist(), strict=True
        ):
            if code != FAILED and not is_doubtful:
                yield one, atoms[code]

    def grow(self, kept: set[Growing]) -> None:
        """Go on with some of the inputs; each has one more token than before."""
        stays = [number for number, one in enumerate(self.inputs) if one in kept]
        if len(stays) < len(self.inputs):
            self._take(stays)
        if not stays:
            return
        if int(self.lengths.max()) == self.codes.shape[1]:
            self.codes = _doubled(self.codes)
            self.kept = {node: _doubled(codes) for node, codes in self.kept.items()}
        added = self.machine.codes_of([one.tokens[-1] for one in self.inputs])
        self.codes[self.numbers, self.lengths] = added
        self.lengths = self.lengths + 1

    def keep(self, node: SOp, codes: Array, size: int) -> Array:
        """Keep what never changes."""
        kept = self.kept[node] = np.zeros(self.codes.shape, np.int64)
        kept[:, :size] = codes
        return kept[:, :size]

    def _take(self, stays: list[int]) -> None:
        self.inputs = [self.inputs[number] for number in stays]
        self.lengths = self.lengths[stays]
        self.codes = self.codes[stays]
        self.kept = {node: codes[stays] for node, codes in self.kept.items()}
        self.numbers = np.arange(len(stays))


def _capacity(length: int) -> int:
    return 1 << max(5, length.bit_length())


def _doubled(codes: Array) -> Array:
    return np.concatenate([codes, np.ones_like(codes)], axis=1)
