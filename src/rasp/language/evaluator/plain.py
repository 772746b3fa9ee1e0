"""A graph and an input in, exact values out: this file is the meaning of the language.

Slow and obvious on purpose. Each node is computed once, after what it needs; a selection is
a full table of rows, `selection[query][key]`. Every other back end must agree with this one,
its errors included: the first node in order that fails, at its first failing position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from rasp.base.atoms import Atom, Number, checked, show, show_input
from rasp.base.errors import RaspError, RaspLimitError, RaspTypeError, Where
from rasp.base.limits import DEFAULT_LIMITS, Limits, too_much_memory
from rasp.base.meter import Meter, size_of_atoms
from rasp.language.graph import (
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
    SOp,
    Tokens,
    TokensAs,
    apply_operator,
    in_order,
    last_needed,
)
from rasp.language.operators import COMPARE

SMALL = 1 << 23
"""Bytes of all values from which it pays to drop those that are no longer needed."""
CELLS_PER_LOOK = 4096
"""Cells of a selection between two looks at the clock."""
LONG = 64
"""Characters from which a string is looked at before there are too many of them."""

Selection: TypeAlias = list[list[bool]]
Scores: TypeAlias = list[list[Number]]
Row = TypeVar("Row")
Values: TypeAlias = dict[Node, list[Any]]  # atoms of an s-op, rows of a selector or scorer


class EvaluationError(Exception):
    """A `RaspError` on its way out, with the node and position at which it happened.

    >>> from rasp.language.graph import Const, Elementwise, Indices
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
    outputs: Sequence[Node],
    tokens: tuple[Atom, ...],
    limits: Limits = DEFAULT_LIMITS,
    meter: Meter | None = None,
) -> Values:
    """Compute the outputs on one input; what they need is dropped after its last use.

    >>> from rasp.language.graph import Elementwise, Indices, Const
    >>> node = Elementwise("+", (Indices(), Const(1)))
    >>> evaluate([node], ("h", "i"))[node]
    [1, 2]
    """
    meter = Meter(limits) if meter is None else meter.fresh(limits)
    values: Values = {}
    sizes: dict[Node, int] = {}
    order = in_order(outputs)
    most = 8 * len(order) * len(tokens) * (len(tokens) + 64)
    is_small = most < min(SMALL, limits.memory // 4)
    expired_after = [()] * len(order) if is_small else last_needed(order, outputs)
    for node, expired in zip(order, expired_after, strict=True):
        try:
            values[node] = held = compute(node, tokens, values, meter)
            if not is_small or type(held[0]) is str:
                sizes[node] = _size(node, held)
                meter.hold(sizes[node])
            meter.check()
        except RaspLimitError as error:
            raise EvaluationError(error, node, None) from None
        except MemoryError:
            raise EvaluationError(too_much_memory(), node, None) from None
        for needed in expired:
            del values[needed]
            meter.release(sizes[needed])
    return values


def _size(node: Node, values: list[Any]) -> int:
    """Bytes of a node's values."""
    return size_of_atoms(values) if isinstance(node, SOp) else 8 * len(values) * (len(values) + 8)


def compute(node: Node, tokens: tuple[Atom, ...], values: Values, meter: Meter) -> list[Any]:
    """Compute one node from the values of what it needs."""
    operands = [values[needed] for needed in node.needs]
    match node:
        case Tokens():
            return _of_one_kind(list(tokens), node, tokens)
        case TokensAs(kind):
            return _elementwise(kind, [list(tokens)], node, tokens, meter)
        case Indices():
            return list(range(len(tokens)))
        case Const(value):
            return [value] * len(tokens)
        case Elementwise(op):
            return _elementwise(op, operands, node, tokens, meter)
        case Aggregate(default=default):
            return _aggregate(operands[0], operands[1], default, node, tokens, meter)
    _check_cells(len(tokens), node, meter)
    match node:
        case Select(op=op):
            return _select(operands[0], operands[1], op, node, tokens, meter)
        case SelectorAnd():
            return [[a and b for a, b in zip(*rows, strict=True)]
                    for rows in _rows(zip(*operands, strict=True), tokens, meter)]  # fmt: skip
        case SelectorOr():
            return [[a or b for a, b in zip(*rows, strict=True)]
                    for rows in _rows(zip(*operands, strict=True), tokens, meter)]  # fmt: skip
        case SelectorNot():
            return [[not picked for picked in row] for row in _rows(operands[0], tokens, meter)]
        case Score():
            return _score(operands[0], operands[1], node, tokens, meter)
        case ScoreSum():
            return [[a + b for a, b in zip(*rows, strict=True)]
                    for rows in _rows(zip(*operands, strict=True), tokens, meter)]  # fmt: skip
        case SelectBest():
            pairs = zip(*operands, strict=True)
            return [_best(row, scores) for row, scores in _rows(pairs, tokens, meter)]
    raise AssertionError(f"no meaning for {type(node).__name__}")


def _rows(rows: Iterable[Row], tokens: tuple[Atom, ...], meter: Meter) -> Iterable[Row]:
    """Pass rows on, and look at the clock every so many cells."""
    if len(tokens) ** 2 <= CELLS_PER_LOOK:
        return rows
    return meter.watched(rows, CELLS_PER_LOOK // len(tokens) + 1)


def _elementwise(
    op: str, operands: list[list[Atom]], node: Node, tokens: tuple[Atom, ...], meter: Meter
) -> list[Atom]:
    result: list[Atom] = []
    characters = 0
    for position in meter.watched(range(len(tokens)), 64):
        try:
            atoms = tuple(operand[position] for operand in operands)
            value = apply_operator(op, atoms, meter.limits)
        except RaspError as error:
            raise failure(error, node, tokens, position) from None
        result.append(value)
        if type(value) is str and len(value) > LONG and not any(value is atom for atom in atoms):
            characters += len(value)
            meter.afford(characters)
    return _of_one_kind(result, node, tokens)


def _select(
    keys: list[Atom],
    queries: list[Atom],
    op: str,
    node: Node,
    tokens: tuple[Atom, ...],
    meter: Meter,
) -> Selection:
    try:
        apply_operator(op, (keys[0], queries[0]))  # a sequence is of one kind: this tells for all
    except RaspError as error:
        raise failure(error, node, tokens, 0) from None
    compare = COMPARE[op]
    return [[compare(key, query) for key in keys] for query in _rows(queries, tokens, meter)]


def _score(
    keys: list[Any], queries: list[Any], node: Node, tokens: tuple[Atom, ...], meter: Meter
) -> Scores:
    for atoms in (keys, queries):
        if isinstance(atoms[0], str):
            error = RaspTypeError(
                f"`score` multiplies numbers, but {show(atoms[0])} is a string",
                hint="score by a number, such as `score(indices, 1)`",
            )
            raise failure(error, node, tokens, 0)
    return [[key * query for key in keys] for query in _rows(queries, tokens, meter)]


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
    meter: Meter,
) -> list[Atom]:
    result: list[Atom] = []
    empty: int | None = None
    for position, row in _rows(enumerate(selection), tokens, meter):
        picked = [value for value, is_picked in zip(values, row, strict=True) if is_picked]
        if not picked:
            empty = position if empty is None else empty
            result.append(default)
        elif len(picked) == 1:
            result.append(picked[0])
        else:
            result.append(mean(picked, node, tokens, position, meter))
    if empty is not None and len({isinstance(atom, str) for atom in result}) > 1:
        raise failure(misfit(default, values), node, tokens, empty)
    return result


def mean(
    picked: list[Any], node: Node, tokens: tuple[Atom, ...], position: int, meter: Meter
) -> Fraction:
    for value in picked:
        if isinstance(value, (str, bool)):
            raise failure(_no_mean(value, len(picked)), node, tokens, position)
    is_whole = set(map(type, picked)) == {int}
    total = Fraction(sum(picked if is_whole else meter.watched(picked, 8)))
    try:
        return checked(total / len(picked), meter.limits)  # type: ignore[return-value]
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
        f"nothing was picked, and the default {show(default)} cannot be mixed with {wanted}",
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


def _check_cells(length: int, node: Node, meter: Meter) -> None:
    limits = meter.limits
    meter.afford(8 * length * length)
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
    error.where = Where(position, show_input(tokens))
    return EvaluationError(error, node, position)
