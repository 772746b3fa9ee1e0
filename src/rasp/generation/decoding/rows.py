"""Inputs that grow in, the value of an s-op at one position of each out, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rasp.atoms import Atom
from rasp.generation.decoding.domains import FAILED, Array
from rasp.generation.decoding.machine import Machine
from rasp.generation.decoding.plan import LONGEST
from rasp.generation.decoding.step import DecodingStep
from rasp.graph import SOp

MOST_CELLS = 4_000_000
"""Cells of all selections of a batch at once; a larger batch is cut in two."""


class Rows:
    """Inputs that grow together, and what never changes of them."""

    def __init__(self, machine: Machine, inputs: Sequence[Sequence[Atom]]) -> None:
        self.machine = machine
        self.lengths = np.array([len(tokens) for tokens in inputs])
        self.numbers = np.arange(len(inputs))
        self.is_new = True
        self.kept: dict[SOp, Array] = {}  # (inputs, capacity)
        self.codes = np.full((len(inputs), _capacity(int(self.lengths.max()))), 1)
        for row, tokens in zip(self.codes, inputs, strict=True):
            row[: len(tokens)] = machine.codes_of(list(tokens))

    def values(self, at: int) -> list[Atom | None]:
        """Compute the next step; None where an input is in doubt."""
        longest = int(self.lengths.max())
        if longest > min(LONGEST, self.machine.plan.longest):
            return [None] * len(self.lengths)
        self.machine.reserve(longest)
        step = DecodingStep(self.machine, self)
        step.run()
        self.is_new = False
        output = self.machine.plan.output
        codes = np.broadcast_to(step.codes(output), (len(self.lengths), step.size))
        found = codes[self.numbers, at if at >= 0 else self.lengths + at]
        atoms = self.machine.domains[output].atoms
        return [
            None if is_doubtful or code == FAILED else atoms[code]
            for code, is_doubtful in zip(found.tolist(), step.doubt.tolist(), strict=True)
        ]

    def append(self, tokens: Sequence[Atom | None]) -> None:
        """Append a token to each input; None: the input leaves."""
        stays = [number for number, token in enumerate(tokens) if token is not None]
        if len(stays) < len(tokens):
            self._take(np.array(stays, np.int64))
        if not stays:
            return
        if int(self.lengths.max()) == self.codes.shape[1]:
            self.codes = _doubled(self.codes)
            self.kept = {node: _doubled(codes) for node, codes in self.kept.items()}
        added = self.machine.codes_of([token for token in tokens if token is not None])
        self.codes[self.numbers, self.lengths] = added
        self.lengths = self.lengths + 1

    def keep(self, node: SOp, found: Array, size: int) -> Array:
        """Keep what never changes."""
        kept = self.kept[node] = np.zeros(self.codes.shape, np.int64)
        kept[:, :size] = found
        return kept[:, :size]

    def _take(self, stays: Array) -> None:
        self.lengths = self.lengths[stays]
        self.codes = self.codes[stays]
        self.kept = {node: codes[stays] for node, codes in self.kept.items()}
        self.numbers = np.arange(len(stays))


def _capacity(length: int) -> int:
    return 1 << max(5, length.bit_length())


def _doubled(codes: Array) -> Array:
    return np.concatenate([codes, np.ones_like(codes)], axis=1)
