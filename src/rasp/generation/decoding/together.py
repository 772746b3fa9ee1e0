"""An s-op and inputs in, its value at one position of each out, whenever they have grown.

This is what callers use: it makes the plan, makes it again where a guess of it was wrong, and
cuts large batches into parts. None as a value means that the plain evaluator must be asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from rasp.atoms import Atom
from rasp.generation.decoding.domains import NotPlanned
from rasp.generation.decoding.machine import Machine, MixedInside
from rasp.generation.decoding.plan import DecodingPlan
from rasp.generation.decoding.rows import MOST_CELLS, Rows
from rasp.graph import SOp
from rasp.limits import Clock, Limits

MOST_LEARNT = 3_000_000
"""Values and results that are remembered from one batch of inputs to the next."""


class Decoder:
    """A program made ready for decoding; it learns from all inputs that it sees.

    >>> from rasp.graph import Indices
    >>> from rasp.limits import DEFAULT_LIMITS
    >>> together = Together(Decoder(Indices(), DEFAULT_LIMITS), [("a",), ("b", "c")])
    >>> together.values(-1)
    [0, 1]
    """

    def __init__(self, node: SOp, limits: Limits) -> None:
        self.machine = Machine(DecodingPlan(node), limits)

    def tidy(self) -> None:
        """Forget everything where it has become much."""
        if self.machine.learnt > MOST_LEARNT:
            self.machine = Machine(self.machine.plan, self.machine.limits)

    def separate(self, node: SOp) -> None:
        """Make the plan again, with one operator that is computed by itself."""
        plan = self.machine.plan
        separate = plan.separate | {node}
        self.machine = Machine(DecodingPlan(plan.output, separate), self.machine.limits)


class Together:
    """Inputs that grow together."""

    def __init__(self, decoder: Decoder, inputs: Sequence[Sequence[Atom]]) -> None:
        decoder.tidy()
        self.decoder = decoder
        self.inputs = [list(tokens) for tokens in inputs]
        self._parts: list[Rows] = []
        self._is_given_up = False

    def values(self, at: int) -> list[Atom | None]:
        """Compute the next value of each input; None where it is in doubt."""
        while not self._is_given_up:
            self.decoder.machine.clock = Clock(self.decoder.machine.limits)
            try:
                return self._values(at)
            except MixedInside as mixed:
                self.decoder.separate(mixed.node)
                self._parts = []
            except NotPlanned:
                self._is_given_up = True
        return [None] * len(self.inputs)

    def append(self, tokens: Sequence[Atom | None]) -> None:
        """Append a token to each input; None: the input leaves."""
        start = 0
        try:
            for part in self._parts:
                size = len(part.lengths)
                part.append(tokens[start : start + size])
                start += size
        except NotPlanned:
            self._is_given_up = True
        self._parts = [part for part in self._parts if len(part.lengths)]
        pairs = zip(self.inputs, tokens, strict=True)
        self.inputs = [[*grown, token] for grown, token in pairs if token is not None]

    def _values(self, at: int) -> list[Atom | None]:
        longest = max(map(len, self.inputs))
        most = max(1, MOST_CELLS // longest**2)
        if not self._parts or any(len(part.lengths) > most for part in self._parts):
            self._parts = [
                Rows(self.decoder.machine, self.inputs[start : start + most])
                for start in range(0, len(self.inputs), most)
            ]
        return [value for part in self._parts for value in part.values(at)]
