"""What a model should answer: a program, a Python function, an automaton or an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rasp.base.atoms import Atom, describe
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError
from rasp.insight.dialect.automaton import Automaton
from rasp.insight.dialect.regular_expression import automaton_of
from rasp.insight.equivalence.sides import Input, Side, answers_of, side_of
from rasp.language.graph import Node, SOp, expression
from rasp.models.proving.adapter import Adapter, key
from rasp.models.proving.digits import Array

UNREACHED = -2
"""The class of an answer that the model cannot give."""
ANYTHING = -1
"""The class of a position where any answer will do."""


@dataclass(frozen=True)
class Specification:
    """What is asked of a model."""

    program: Side | Automaton
    name: str = "the program"
    names: Mapping[Node, str] = field(default_factory=dict)
    """What the program calls its parts."""

    def answers(self, inputs: Sequence[Input]) -> list[list[Any] | RaspError]:
        """Its value at each position of each input, or the error that it ends in."""
        if isinstance(self.program, Automaton):
            accepts = self.program.accepts
            return [[None] * (len(tokens) - 1) + [accepts(tokens)] for tokens in inputs]
        found = answers_of(self.program, inputs)
        for one in found:
            if isinstance(one, RaspLimitError):
                raise one
        return found

    def holds(self, inputs: Sequence[Input]) -> Array:
        """For a promise about inputs: on which it is true, at every position."""
        kept = [not isinstance(one, RaspError) and all(value in (True, None) for value in one)
                for one in self.answers(inputs)]  # fmt: skip
        return np.array(kept, bool)


def specification_of(given: object, alphabet: Sequence[Atom]) -> Specification:
    """Take a handle, a node, a Python function, an automaton or a regular expression.

    >>> specification_of("(ab)*", "ab").answers([("a", "b")])
    [[None, True]]
    """
    if isinstance(given, str):
        automaton = automaton_of(given, "".join(map(str, alphabet)))
        return replace(specification_of(automaton, alphabet), name=given)
    if isinstance(given, Automaton):
        missing = [token for token in alphabet if token not in given.alphabet]
        if missing:
            raise RaspTypeError(
                f"the automaton has no letter {missing[0]!r}, which inputs may hold",
                hint="give it a move for every token, or leave the token out with `alphabet`",
            )
        return Specification(given, f"an automaton of {given.size} states")
    side = side_of(given)
    if isinstance(side, Node) and not isinstance(side, SOp):
        raise RaspTypeError(
            f"a model is compared with an s-op, and this is {describe(side)}",
            hint="aggregate something with it",
        )
    if not isinstance(side, Node):
        return Specification(_listing(side), str(getattr(side, "__name__", "a Python function")))
    names: Mapping[Node, str] = getattr(getattr(given, "program", None), "names", {})
    return Specification(side, expression(side, dict(names), depth=4), names)


def _listing(function: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Let a function that gives one answer for the whole input give it at every position."""

    def listed(tokens: list[Any]) -> Any:
        given = function(tokens)
        is_list = isinstance(given, list | tuple) or hasattr(given, "tolist")
        return given if is_list else [given] * len(tokens)

    return listed


def classes(adapter: Adapter, answers: Sequence[list[Any] | RaspError], length: int) -> Array:
    """Number answers as the model does: (input, compared position). Errors are `ANYTHING`."""
    number: dict[Any, int] = {None: ANYTHING}  # of every value met so far
    places = slice(adapter.ignored, None) if adapter.at == "each" else slice(length - 1, None)
    width = max(0, length - adapter.ignored) if adapter.at == "each" else 1
    rows = []
    for values in answers:
        read: list[Any] = [None] * width if isinstance(values, RaspError) else values[places]
        for value in read:
            if value not in number:
                number[value] = adapter.numbers.get(key(value), UNREACHED)
        rows.append([number[value] for value in read])
    return np.array(rows, np.int64).reshape(len(rows), width)
