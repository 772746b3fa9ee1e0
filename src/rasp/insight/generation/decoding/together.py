"""An s-op and inputs in, its value at one position of each out, whenever they have grown.

This is what callers use: it makes the plan, makes it again where a guess of it was wrong, and
cuts large batches into parts. Of an input that gets no value the plain evaluator must be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rasp.base.atoms import Atom, checked
from rasp.base.errors import RaspError
from rasp.base.limits import Clock, Limits
from rasp.insight.generation.decoding.domains import NotPlanned
from rasp.insight.generation.decoding.machine import Machine, MixedInside
from rasp.insight.generation.decoding.plan import DecodingPlan
from rasp.insight.generation.decoding.rows import MOST_CELLS, Growing, Rows
from rasp.language.graph import SOp

MOST_LEARNT = 3_000_000
"""Values and results that are remembered from one batch of inputs to the next."""


class Decoder:
    """A program made ready for decoding; it learns from all inputs that it sees.

    >>> from rasp.insight.generation.loop import GrowingInput, Question
    >>> from rasp.language.graph import Indices
    >>> from rasp.base.limits import DEFAULT_LIMITS
    >>> inputs = [GrowingInput(given, Question(Indices())) for given in ("a", "bc")]
    >>> together = Decoder(Indices(), DEFAULT_LIMITS).together(inputs)
    >>> list(together.values(inputs, -1).values())
    [0, 1]
    """

    def __init__(self, node: SOp, limits: Limits) -> None:
        self.machine = Machine(DecodingPlan(node), limits)

    def together(self, inputs: Sequence[Growing]) -> Together:
        """Let inputs grow together."""
        return Together(self, inputs)

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
    """Inputs that grow together; their owner appends the tokens."""

    def __init__(self, decoder: Decoder, inputs: Sequence[Growing]) -> None:
        decoder.tidy()
        self.decoder = decoder
        self._inputs = list(inputs)
        self._parts: list[Rows] = []

    def values(self, unfinished: Iterable[Growing], at: int) -> dict[Growing, Atom]:
        """Compute the next value of each unfinished input; one in doubt is left out for good."""
        goes_on = set(unfinished)
        self._inputs = [one for one in self._inputs if one in goes_on and self._is_within(one)]
        values: dict[Growing, Atom] = {}
        try:
            for part in self._parts:
                part.grow(set(self._inputs))
            values = self._values(at)
        except NotPlanned:
            self._parts = []
        self._inputs = list(values)
        return values

    def _is_within(self, one: Growing) -> bool:
        """Tell whether an input with its newest token may be evaluated."""
        limits = self.decoder.machine.limits
        try:
            checked(one.tokens[-1], limits)
        except RaspError:
            return False
        return len(one.tokens) <= limits.input_length

    def _values(self, at: int) -> dict[Growing, Atom]:
        while self._inputs:
            self.decoder.machine.clock = Clock(self.decoder.machine.limits)
            try:
                self._cut_into_parts()
                return {one: value for part in self._parts for one, value in part.values(at)}
            except MixedInside as mixed:
                self.decoder.separate(mixed.node)
                self._parts = []
        return {}

    def _cut_into_parts(self) -> None:
        longest = max(len(one.tokens) for one in self._inputs)
        most = max(1, MOST_CELLS // longest**2)
        self._parts = [part for part in self._parts if part.inputs]
        if not self._parts or any(len(part.inputs) > most for part in self._parts):
            self._parts = [
                Rows(self.decoder.machine, self._inputs[start : start + most])
                for start in range(0, len(self._inputs), most)
            ]
