"""A program and inputs that grow in, the value at one position of each out, step by step.

`FromScratch` is the meaning of generation, as plainly as it can be said: every step evaluates the
whole program on the whole input. `Decoded` gives the same answers, and asks it wherever the fast
way is in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from rasp.atoms import Atom, checked, read_input
from rasp.errors import RaspError, RaspLimitError, RaspValueError
from rasp.evaluator import apply
from rasp.graph import Program, SOp
from rasp.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from rasp.generation.decoding.together import Decoder


@dataclass(frozen=True)
class Question:
    """What is asked at every step: the value of an s-op at one position.

    >>> from rasp.graph import Tokens
    >>> Question(Tokens(), at=0).answer(("a", "b"))
    'a'
    """

    node: SOp | None
    """None where something else than a program answers."""
    at: int = -1
    program: Program = field(default_factory=Program)
    limits: Limits = DEFAULT_LIMITS

    def answer(self, tokens: Sequence[Atom]) -> Atom:
        """Evaluate from scratch.

        >>> from rasp.graph import Indices
        >>> Question(Indices()).answer(("a", "b", "c"))
        2
        """
        assert self.node is not None
        values = apply(self.node, tuple(tokens), self.program, self.limits)
        return values[self.place(len(tokens))]  # type: ignore[no-any-return]

    def place(self, length: int) -> int:
        """Return the position that is read in an input of this length, counted from 0.

        >>> Question(None).place(5)
        4
        """
        if not -length <= self.at < length:
            raise RaspValueError(
                f"there is no position {self.at} in an input of {length} tokens",
                hint="read a position that every input has, such as -1, the last",
            )
        return self.at % length


class Growing(Protocol):
    """Inputs that grow together."""

    def values(self) -> list[Atom | RaspError]:
        """Return what the program gives for each input, or why it gives nothing."""

    def append(self, tokens: Sequence[Atom | None]) -> None:
        """Append a token to each input; None: the input is finished, and leaves."""


class FromScratch:
    """Inputs that grow, each evaluated anew at every step."""

    def __init__(self, question: Question, inputs: Sequence[Sequence[Atom]]) -> None:
        self.question = question
        self.inputs = [list(tokens) for tokens in inputs]

    def values(self) -> list[Atom | RaspError]:
        return [self.value(tokens) for tokens in self.inputs]

    def value(self, tokens: Sequence[Atom]) -> Atom | RaspError:
        """Return what the program gives for one input."""
        try:
            return self.question.answer(tokens)
        except RaspError as error:
            return error

    def append(self, tokens: Sequence[Atom | None]) -> None:
        pairs = zip(self.inputs, tokens, strict=True)
        self.inputs = [[*grown, token] for grown, token in pairs if token is not None]


class Decoded(FromScratch):
    """Inputs that grow together in an evaluator made for it; one in doubt leaves it for good."""

    def __init__(
        self, question: Question, inputs: Sequence[Sequence[Atom]], decoder: Decoder
    ) -> None:
        from rasp.generation.decoding.together import Together

        super().__init__(question, inputs)
        self.together = Together(decoder, inputs)
        self.doubtful = [False] * len(inputs)
        self.was_together = [True] * len(inputs)  # as it was at the beginning of this step

    def values(self) -> list[Atom | RaspError]:
        try:
            fast = iter(self.together.values(self.question.at) if self.together.inputs else ())
        except RaspLimitError as error:  # the time is up
            return [copy(error) for _ in self.inputs]
        found: list[Atom | RaspError] = []
        for number, tokens in enumerate(self.inputs):
            value = None if self.doubtful[number] else next(fast)
            if value is None:
                self.doubtful[number] = True
            found.append(self.value(tokens) if value is None else value)
        return found

    def append(self, tokens: Sequence[Atom | None]) -> None:
        for number, token in enumerate(tokens):
            if token is not None and not self._is_within(number, token):
                self.doubtful[number] = True
        self.together.append([
            None if self.doubtful[number] else tokens[number]
            for number in range(len(tokens)) if self.was_together[number]
        ])  # fmt: skip
        stays = [number for number, token in enumerate(tokens) if token is not None]
        self.doubtful = [self.doubtful[number] for number in stays]
        self.was_together = [not doubt for doubt in self.doubtful]
        super().append(tokens)

    def _is_within(self, number: int, token: Atom) -> bool:
        """Tell whether an input with this token more is one that may be evaluated."""
        limits = self.question.limits
        try:
            checked(token, limits)
        except RaspError:
            return False
        return len(self.inputs[number]) < limits.input_length


def decoder_of(question: Question) -> Decoder | None:
    """Make a program ready for decoding; None where it must be evaluated from scratch."""
    if find_spec("numpy") is None or question.node is None:
        return None
    from rasp.generation.decoding.domains import NotPlanned
    from rasp.generation.decoding.together import Decoder

    try:
        return Decoder(question.node, question.limits)
    except NotPlanned:
        return None


def readable(given: object, question: Question) -> tuple[Atom, ...]:
    """Read an input, and check that it has the position that is read."""
    tokens = read_input(given, question.limits)
    question.place(len(tokens))
    return tokens
