"""What a generation asks at every step, and its rules: what ends it, and which position is read.

A step evaluates the whole program on every unfinished input, all of them in one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from rasp.base.atoms import Atom, from_python, kind_name, read_input, show
from rasp.base.errors import RaspError, RaspTypeError, RaspValueError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.language.embedding.handles import Handle
from rasp.language.evaluator import evaluate_outcomes
from rasp.language.graph import Program, SOp

MOST = 1_000
"""Tokens after which a program that has not stopped is cut off, unless more are asked for."""


@dataclass(frozen=True)
class Question:
    """What is asked at every step: the value of an s-op at one position.

    >>> from rasp.language.graph import Tokens
    >>> Question(Tokens(), at=0).answers([("a", "b"), ("c",)])
    ['a', 'c']
    """

    node: SOp | None
    """None where something else than a program answers."""
    at: int = -1
    program: Program = field(default_factory=Program)
    limits: Limits = DEFAULT_LIMITS

    def answers(self, inputs: Sequence[Sequence[Atom]]) -> list[Atom | RaspError]:
        """Return a value for each input, or the error of one that fails.

        >>> from rasp.language.graph import Indices
        >>> Question(Indices()).answers([("a", "b", "c"), ("d",)])
        [2, 0]
        """
        assert self.node is not None
        given = [tuple(tokens) for tokens in inputs]
        return [
            outcome if isinstance(outcome, RaspError) else outcome[self.node][self.at]
            for outcome in evaluate_outcomes([self.node], given, self.program, self.limits)
        ]

    def read(self, given: object) -> tuple[Atom, ...]:
        """Read an input, and check that it has the position that is read.

        >>> Question(None).read("ab")
        ('a', 'b')
        """
        tokens = read_input(given, self.limits)
        if not -len(tokens) <= self.at < len(tokens):
            raise RaspValueError(
                f"there is no position {self.at} in an input of {len(tokens)} tokens",
                hint="read a position that every input has, such as -1, the last",
            )
        return tokens


@dataclass(frozen=True)
class Rules:
    """How a generation goes: what ends it, and which position is read.

    >>> Rules(stop=7).ends("7")
    True
    """

    stop: Atom | None = ""
    most: int = MOST
    at: int = -1

    def ends(self, value: Atom) -> bool:
        """Tell whether a value is the stop token; numbers are compared as they are written.

        >>> Rules().ends(""), Rules(stop=None).ends("")
        (True, False)
        """
        return self.stop is not None and text_of(value) == text_of(self.stop)


def rules_of(stop: Any = "", most: int = MOST, at: int = -1) -> Rules:
    """Check what a caller asks for.

    >>> rules_of(".", most=5)
    Rules(stop='.', most=5, at=-1)
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise RaspValueError(
            f"`most` is a whole number above 0, but this is {most}",
            hint=f"it is the number of tokens to cut off after, such as {MOST}",
        )
    return Rules(None if stop is None else from_python(stop), most, at)


def question_of(handle: Handle | Question, rules: Rules) -> Question:
    """Return what is asked at every step; only an s-op gives tokens."""
    if isinstance(handle, Question):
        return handle
    if not isinstance(handle, Handle):
        raise RaspTypeError(
            "what generates is a handle on an s-op",
            hint='give `names["next"]`, where `names` is what `rasp.run` returned',
        )
    if not isinstance(handle.node, SOp):
        raise RaspTypeError(
            f"only an s-op gives tokens, and this is a {kind_name(handle.node)}",
            hint="aggregate over it, or name the s-op that says the next token",
        )
    return Question(handle.node, rules.at, handle.program, handle.budgets)


def text_of(value: Atom) -> str:
    """Write a value as the token that people expect: whole numbers without a fraction part.

    >>> text_of(4), text_of(Fraction(4)), text_of(Fraction(1, 2)), text_of(True), text_of("x")
    ('4', '4', '0.5', 'True', 'x')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Fraction) and value.denominator == 1:
        return str(value.numerator)
    return show(value)


def token_after(tokens: Sequence[Atom], value: Atom) -> Atom:
    """Return the token that a value becomes: text, unless the input's own tokens are numbers.

    >>> token_after(("a", "|"), 4), token_after((3, 1), 4)
    ('4', 4)
    """
    return text_of(value) if any(isinstance(token, str) for token in tokens) else value
