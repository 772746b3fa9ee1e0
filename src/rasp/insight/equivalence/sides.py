"""Two programs in, their answers on many inputs out, and whether two answers agree.

A side is a node of the graph, or a Python function that says what should come out: it gets the
tokens as a list, and gives one value for each position (`None` where anything will do).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from rasp.base.atoms import (
    Atom,
    describe,
    describe_foreign,
    from_python,
    kind_name,
    show_input,
    to_python,
)
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError, RaspValueError
from rasp.insight.equivalence.answering import answer, answers
from rasp.language.graph import Node
from rasp.language.graph.nodes import node_of

Input: TypeAlias = tuple[Atom, ...]
Answer: TypeAlias = list[Any] | RaspError
Specification: TypeAlias = Callable[[list[Any]], Any]
Side: TypeAlias = Node | Specification
FLOAT_TOLERANCE = 1e-9
"""How far a Python function's floats may be off; RASP's own numbers are exact."""


@dataclass(frozen=True)
class Compared:
    """The two programs, and how their answers are compared."""

    left: Side
    right: Side
    ignored: int = 0
    """How many positions at the start are not compared: that of a BOS."""

    @property
    def nodes(self) -> list[Node]:
        return [side for side in (self.left, self.right) if isinstance(side, Node)]

    def answers(self, inputs: Sequence[Input]) -> list[tuple[Answer, Answer]]:
        """Compute both on many inputs, together where both are graphs."""
        if len(self.nodes) < 2:
            one, other = (answers_of(side, inputs) for side in (self.left, self.right))
            return list(zip(one, other, strict=True))
        together = answers(self.nodes, inputs)
        return [
            self.answer(tokens) if isinstance(outcome, RaspError) else (outcome[0], outcome[1])
            for tokens, outcome in zip(inputs, together, strict=True)
        ]

    def answer(self, tokens: Input) -> tuple[Answer, Answer]:
        """Compute both on one input, by the language's plain meaning."""
        return _answer(self.left, tokens), _answer(self.right, tokens)

    def agree(self, left: Answer, right: Answer, kinds: bool = False) -> bool:
        """Tell whether two answers are the same; `kinds` tells 2 from 2.0 and True from 1."""
        if isinstance(left, RaspError) or isinstance(right, RaspError):
            return _fail_alike(left, right, by_kind=len(self.nodes) == 2)
        if left == right and (not kinds or _kinds(left) == _kinds(right)):
            return True
        return len(left) == len(right) and all(
            _equal(one, other, kinds)
            for one, other in zip(left[self.ignored :], right[self.ignored :], strict=True)
        )


def side_of(given: object) -> Side:
    """Take a handle, a node or a Python function as one side of a comparison."""
    node = node_of(given)
    if node is not None:
        return node
    if callable(given):
        return given
    raise RaspTypeError(
        "a program to compare is a handle or a Python function, but this is neither",
        hint="write `rasp.equivalent(handle, other_handle)`, or a function of a list of tokens",
    )


def check_kinds(left: Side, right: Side) -> None:
    """Refuse to compare an s-op with a selector, or two Python functions."""
    nodes = [side for side in (left, right) if isinstance(side, Node)]
    if not nodes:
        raise RaspTypeError(
            "at least one of the two must be a RASP program",
            hint="compare two Python functions in Python",
        )
    if len({kind_name(node) for node in nodes}) > 1:
        raise RaspTypeError(
            f"the first is {describe(left)}, the second {describe(right)}: they are never the same",
            hint="compare two s-ops, two selectors or two scorers",
        )


def answers_of(side: Side, inputs: Sequence[Input]) -> list[Answer]:
    """Compute a program, or ask a Python function, on many inputs."""
    if not isinstance(side, Node):
        return [_specified(side, tokens) for tokens in inputs]
    outcomes = answers([side], inputs)
    return [one if isinstance(one, RaspError) else one[0] for one in outcomes]


def _answer(side: Side, tokens: Input) -> Answer:
    if not isinstance(side, Node):
        return _specified(side, tokens)
    outcome = answer([side], tokens)
    if isinstance(outcome, RaspLimitError):
        raise outcome
    return outcome if isinstance(outcome, RaspError) else list(outcome[0])


def _specified(function: Specification, tokens: Input) -> Answer:
    """Ask a Python function; what it raises is its way to fail."""
    try:
        given = function([to_python(token) for token in tokens])
    except (Exception, SystemExit) as error:
        return RaspValueError(f"{type(error).__name__}: {error}")
    try:
        return _read(given)
    except RaspError as error:
        raise type(error)(
            f"the Python function's answer on {show_input(tokens)} cannot be compared: "
            f"{error.message}",
            hint="return a list with a bool, number or string, or `None`, for each position",
        ) from None


def _read(given: Any) -> list[Any]:
    if isinstance(given, str):
        return list(given)
    items = given if isinstance(given, (list, tuple)) else getattr(given, "tolist", lambda: given)()
    if not isinstance(items, (list, tuple)):
        raise RaspTypeError(f"{describe_foreign(items)} is not a list")
    return [
        None if item is None else _read(item) if isinstance(item, (list, tuple)) else
        item if isinstance(item, float) and math.isfinite(item) else from_python(item)
        for item in items
    ]  # fmt: skip


def _fail_alike(left: Answer, right: Answer, by_kind: bool) -> bool:
    for outcome in (left, right):
        if isinstance(outcome, RaspLimitError):
            raise outcome
    if not (isinstance(left, RaspError) and isinstance(right, RaspError)):
        return False
    return not by_kind or left.kind == right.kind


def _equal(one: Any, other: Any, kinds: bool) -> bool:
    if one is None or other is None:
        return True
    if isinstance(one, list) or isinstance(other, list):
        return (
            isinstance(one, list)
            and isinstance(other, list)
            and len(one) == len(other)
            and all(_equal(left, right, kinds) for left, right in zip(one, other, strict=True))
        )
    if isinstance(one, float) or isinstance(other, float):
        return _close(one, other, kinds)
    return one == other and (not kinds or type(one) is type(other))


def _kinds(answer: list[Any]) -> list[type]:
    return list(map(type, answer))


def _close(one: Any, other: Any, kinds: bool) -> bool:
    """Compare with a Python function's float."""
    if isinstance(one, str) or isinstance(other, str):
        return False
    if kinds and not all(isinstance(side, (float, Fraction)) for side in (one, other)):
        return False
    return math.isclose(one, other, rel_tol=FLOAT_TOLERANCE, abs_tol=FLOAT_TOLERANCE)
