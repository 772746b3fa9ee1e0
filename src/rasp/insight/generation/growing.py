"""A program and inputs that grow in, the value at one position of each out, step by step.

`Question.answer` is the meaning of generation, as plainly as it can be said: every step evaluates
the whole program on the whole input. `decoding` gives the same answers, and is not asked wherever
the fast way is in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rasp.base.atoms import Atom, read_input
from rasp.base.errors import RaspError, RaspLimitError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.language.evaluator import apply
from rasp.language.graph import Program, SOp

if TYPE_CHECKING:
    from rasp.insight.generation.decoding.rows import Growing
    from rasp.insight.generation.decoding.together import Decoder, Together


@dataclass(frozen=True)
class Question:
    """What is asked at every step: the value of an s-op at one position.

    >>> from rasp.language.graph import Tokens
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

        >>> from rasp.language.graph import Indices
        >>> Question(Indices()).answer(("a", "b", "c"))
        2
        """
        assert self.node is not None
        values = apply(self.node, tuple(tokens), self.program, self.limits)
        return values[self.place(len(tokens))]  # type: ignore[no-any-return]

    def outcome(self, tokens: Sequence[Atom]) -> Atom | RaspError:
        """Evaluate from scratch, or say why there is no value.

        >>> from rasp.language.graph import Indices
        >>> Question(Indices()).outcome(("a", "b"))
        1
        """
        try:
            return self.answer(tokens)
        except RaspError as error:
            return error

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


def next_values(
    rows: Sequence[Growing], question: Question, together: Together | None
) -> list[Atom | RaspError]:
    """What the program gives for each input; from scratch where the fast way is in doubt."""
    try:
        fast = together.values(rows, question.at) if together is not None else {}
    except RaspLimitError as error:  # the time is up
        return [copy(error) for _ in rows]
    return [fast[row] if row in fast else question.outcome(row.tokens) for row in rows]


def decoder_of(question: Question) -> Decoder | None:
    """Make a program ready for decoding; None where it must be evaluated from scratch."""
    if find_spec("numpy") is None or question.node is None:
        return None
    from rasp.insight.generation.decoding.domains import NotPlanned
    from rasp.insight.generation.decoding.together import Decoder

    try:
        return Decoder(question.node, question.limits)
    except NotPlanned:
        return None


def readable(given: object, question: Question) -> tuple[Atom, ...]:
    """Read an input, and check that it has the position that is read."""
    tokens = read_input(given, question.limits)
    question.place(len(tokens))
    return tokens
