"""A graph and an input in, exact values out: this file is the meaning of the language.

Slow and obvious on purpose. Each node is computed once, after what it needs; a selection is
a full table of rows, `selection[query][key]`. Every other back end must agree with this one,
its errors included: the first node in order that fails, at its first failing position.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from rasp.atoms import Atom, Number, checked, show, show_input
from rasp.errors import RaspError, RaspLimitError, RaspTypeError
from rasp.graph import (
    Aggregate,
    Const,
    Elementwise,
    Indices,
    Node,
    Score,
    ScoreSum,
    Select,
    SelectBest,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    Tokens,
    TokensAs,
    apply_operator,
    in_order,
)
from rasp.limits import DEFAULT_LIMITS, Clock, Limits

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Selection: TypeAlias = list[list[bool]]
Scores: TypeAlias = list[list[Number]]
Values: TypeAlias = dict[Node, list[Any]]  # atoms of an s-op, rows of a selector or scorer


class EvaluationError(Exception):
    """A `RaspError` on its way out, with the node and position at which it happened.

    >>> from rasp.graph import Const, Elementwise, Indices
    >>> try:
    ...     evaluate([Elementwise("/", (Const(1), Indices()))], ("a", "b"))
    ... except EvaluationError as failed:
    ...     print(failed.position, failed.error.kind)
    0 value
    """

    def __init__(self, error: RaspError, node: Node, position: int | None) -> None:
        super().__init__(error.message)
        self.error = error
        self.node = node
        self.position = position
        self.number = 0
        """Which input of a batch, from 0."""


def evaluate(
    outputs: Sequence[Node], tokens: tuple[Atom, ...], limits: Limits = DEFAULT_LIMITS
) -> Values:
    """Compute the outputs, and everything they need, on one input.

    >>> from rasp.graph import Elementwise, Indices, Const
    >>> node = Elementwise("+", (Indices(), Const(1)))
    >>> evaluate([node], ("h", "i"))[node]
    [1, 2]
    """
    clock = Clock(limits)
    values: Values = {}
    for node in in_order(outputs):
        values[node] = compute(node, tokens, values, limits)
        check_time(clock, node)
    return values


def compute(node: Node, tokens: tuple[Atom, ...], values: Values, limits: Limits) -> list[Any]:
    """Compute one node from the values of what it needs."""
    got = [values[needed] for needed in node.needs]
    match node:
        case Tokens():
            return _of_one_kind(list(tokens), node, tokens)
        case TokensAs(kind):
            return _elementwise(kind, [list(tokens)], node, tokens, limits)
        case Indices():
            return list(range(len(tokens)))
        case Const(value):
            return [value] * len(tokens)
        case Elementwise(op):
            return _elementwise(op, got, node, tokens, limits)
        case Aggregate(default=default):
            return _aggregate(got[0], got[1], default, node, tokens, limits)
    _check_cells(len(tokens), node, limits)
    match node:
        case Select(op=op):
            return _select(got[0], got[1], op, node, tokens)
        case SelectorAnd():
            return [[a and b for a, b in zip(*rows, strict=True)]
                    for rows in zip(got[0], got[1], strict=True)]  # fmt: skip
        case SelectorOr():
            return [[a or b for a, b in zip(*rows, strict=True)]
                    for rows in zip(got[0], got[1], strict=True)]  # fmt: skip
        case SelectorNot():
            return [[not picked for picked in row] for row in got[0]]
        case Score():
            return _score(got[0], got[1], node, tokens)
        case ScoreSum():
            return [[a + b for a, b in zip(*rows, strict=True)]
                    for rows in zip(got[0], got[1], strict=True)]  # fmt: skip
        case SelectBest():
            return [_best(row, scores) for row, scores in zip(got[0], got[1], strict=True)]
    raise AssertionError(f"no meaning for {type(node).__name__}")


def _elementwise(
    op: str, operands: list[list[Atom]], node: Node, tokens: tuple[Atom, ...], limits: Limits
) -> list[Atom]:
    result: list[Atom] = []
    for position in range(len(tokens)):
        try:
            atoms = tuple(operand[position] for operand in operands)
            result.append(apply_operator(op, atoms, limits))
        except RaspError as error:
            raise failure(error, node, tokens, position) from None
    return _of_one_kind(result, node, tokens)


def _select(
    keys: list[Atom], queries: list[Atom], op: str, node: Node, tokens: tuple[Atom, ...]
) -> Selection:
    try:
        apply_operator(op, (keys[0], queries[0]))  # a sequence is of one kind: this tells for all
    except RaspError as error:
        raise failure(error, node, tokens, 0) from None
    compare = COMPARE[op]
    return [[compare(key, query) for key in keys] for query in queries]


def _score(keys: list[Atom], queries: list[Atom], node: Node, tokens: tuple[Atom, ...]) -> Scores:
    for atoms in (keys, queries):
        if isinstance(atoms[0], str):
            error = RaspTypeError(
                f"`score` multiplies numbers, but {show(atoms[0])} is a string",
                hint="score by a number, such as `score(indices, 1)`",
            )
            raise failure(error, node, tokens, 0)
    return [[key * query for key in keys] for query in queries]  # type: ignore[operator,misc]


def _best(row: list[bool], scores: list[Number]) -> list[bool]:
    picked = [score for score, is_picked in zip(scores, row, strict=True) if is_picked]
    if not picked:
        return row
    highest = max(picked)
    return [is_picked and score == highest
            for score, is_picked in zip(scores, row, strict=True)]  # fmt: skip


def _aggregate(
    selection: Selection,
    values: list[Atom],
    default: Atom,
    node: Node,
    tokens: tuple[Atom, ...],
    limits: Limits,
) -> list[Atom]:
    result: list[Atom] = []
    empty: int | None = None
    for position, row in enumerate(selection):
        picked = [value for value, is_picked in zip(values, row, strict=True) if is_picked]
        if not picked:
            empty = position if empty is None else empty
            result.append(default)
        elif len(picked) == 1:
            result.append(picked[0])
        else:
            result.append(mean(picked, node, tokens, position, limits))
    if empty is not None and len({isinstance(atom, str) for atom in result}) > 1:
        raise failure(misfit(default, values), node, tokens, empty)
    return result


def mean(
    picked: list[Atom], node: Node, tokens: tuple[Atom, ...], position: int, limits: Limits
) -> Fraction:
    for value in picked:
        if isinstance(value, (str, bool)):
            raise failure(_no_mean(value, len(picked)), node, tokens, position)
    try:
        found = Fraction(sum(picked)) / len(picked)  # type: ignore[arg-type]
        return checked(found, limits)  # type: ignore[return-value]
    except RaspError as error:
        raise failure(error, node, tokens, position) from None


def _no_mean(value: str | bool, count: int) -> RaspError:
    if isinstance(value, bool):
        return RaspTypeError(
            f"{count} values were picked, and bools have no mean",
            hint="`indicator` turns bools into 0 and 1: `aggregate(…, indicator(…))`",
        )
    return RaspTypeError(
        f"{count} values were picked, and strings have no mean: {show(value)} is one of them",
        hint="let the selector pick one key per query, or aggregate numbers",
    )


def misfit(default: Atom, values: list[Atom]) -> RaspError:
    wanted = "strings" if isinstance(values[0], str) else "numbers"
    example = '"-"' if isinstance(values[0], str) else "0"
    return RaspTypeError(
        f"nothing was picked, and the default {show(default)} cannot stand among {wanted}",
        hint=f"give a default of the values' kind: `aggregate(…, …, {example})`",
    )


def _of_one_kind(atoms: list[Atom], node: Node, tokens: tuple[Atom, ...]) -> list[Atom]:
    """Check that a sequence is all strings, or all bools and numbers."""
    first = isinstance(atoms[0], str)
    for position, atom in enumerate(atoms):
        if isinstance(atom, str) != first:
            text, number = (atoms[0], atom) if first else (atom, atoms[0])
            error = RaspTypeError(
                "a sequence holds strings or numbers, not both: "
                f"{show(text)} is a string, {show(number)} is not",
                hint="`tokens_str` makes strings of all tokens; give both branches one kind",
            )
            raise failure(error, node, tokens, position)
    return atoms


def check_time(clock: Clock, node: Node) -> None:
    """Raise where the time is up, at the node that took it."""
    try:
        clock.check()
    except RaspError as error:
        raise EvaluationError(error, node, None) from None


def _check_cells(length: int, node: Node, limits: Limits) -> None:
    if length * length > limits.plain_cells:
        raise EvaluationError(
            RaspLimitError(
                f"a selection of {length} × {length} cells is over the limit of "
                f"{limits.plain_cells} cells",
                hint="give a shorter input",
            ),
            node,
            None,
        )


def failure(
    error: RaspError, node: Node, tokens: tuple[Atom, ...], position: int
) -> EvaluationError:
    """Say at which position of which input an error happened."""
    error.message += f" (at position {position} of {show_input(tokens)})"
    return EvaluationError(error, node, position)
