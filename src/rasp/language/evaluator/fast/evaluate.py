"""A graph and a batch of inputs in, exact values out, without a matrix.

Nodes are visited in the plain evaluator's order. Where a node fails, the first input that it
fails on is given to the plain evaluator's own code, so the error is the same; an input before
that one could still fail at a later node, so the inputs before it are evaluated first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

import numpy as np

from rasp.base.atoms import Atom, plain_lists
from rasp.base.errors import RaspError, RaspLimitError
from rasp.base.limits import DEFAULT_LIMITS, Limits, too_much_memory
from rasp.base.meter import Meter
from rasp.language.evaluator import plain
from rasp.language.evaluator.fast.best import best_keys, best_scores
from rasp.language.evaluator.fast.blocked import picks
from rasp.language.evaluator.fast.columns import INT, STRING, Array, Column, one_kind
from rasp.language.evaluator.fast.conjunctions import Best
from rasp.language.evaluator.fast.elementwise import elementwise
from rasp.language.evaluator.fast.means import TooManyDenominators, aggregated
from rasp.language.evaluator.fast.prepared import Prepared, prepare
from rasp.language.evaluator.fast.selections import Selections
from rasp.language.evaluator.fast.workspace import Batch, Workspace
from rasp.language.graph import (
    Aggregate,
    Elementwise,
    Indices,
    Node,
    Score,
    ScoreSum,
    Select,
    SelectBest,
    Selector,
    SOp,
    Tokens,
    TokensAs,
    score_terms,
)
from rasp.language.operators import ORDERINGS

LARGE_BATCH = 60_000  # tokens from which it pays to forget what is no longer needed
MANY_VALUES = 2_000_000  # tokens times nodes from which it does
COLUMN_BYTES, ATOM_BYTES = 17, 40  # of each position, in a column and in a list

Result = TypeVar("Result")


class _Failed(Exception):
    """A node cannot be computed on some input: the first such input's number."""

    def __init__(self, number: int, row: int | None = None, error: RaspError | None = None) -> None:
        self.number = number
        self.row = row
        self.error = error
        """What to say, where the plain evaluator would not fail but take forever."""


def evaluate(
    outputs: Sequence[Node],
    inputs: Sequence[Sequence[Atom]],
    limits: Limits = DEFAULT_LIMITS,
    meter: Meter | None = None,
    as_python: bool = False,
) -> dict[Node, list[list[Any]]]:
    """Compute the outputs on every input; for each output, one list per input.

    The values of s-ops are atoms, or (`as_python`) what Python has for them.

    >>> from rasp.language.graph import Indices
    >>> evaluate([Indices()], [("a", "b"), ("c",)])[Indices()]
    [[0, 1], [0]]
    """
    meter = Meter(limits) if meter is None else meter.fresh(limits)
    prepared = prepare(tuple(outputs))
    order = prepared.order
    evaluation = _Evaluation(Batch(inputs), prepared, meter)
    size = evaluation.batch.size
    large = size > LARGE_BATCH or size * len(order) > MANY_VALUES
    expired: Sequence[Iterable[Any]] = [()] * len(order)
    if large and order:
        expired = _within(order[-1], lambda _: prepared.expired(meter))
    for node, no_longer_needed in zip(order, expired, strict=True):
        try:
            _within(node, evaluation.compute)
        except _Failed as failed:
            if failed.number:
                evaluate(outputs, inputs[: failed.number], limits, evaluation.meter)
            evaluation.fail(node, failed)
        evaluation.forget(no_longer_needed)
    results = partial(evaluation.results, as_python=as_python)
    return {node: _within(node, results) for node in dict.fromkeys(outputs)}


def _within(node: Node, compute: Callable[[Node], Result]) -> Result:
    """Name the node at which time or memory are used up."""
    try:
        return compute(node)
    except RaspLimitError as error:
        raise plain.EvaluationError(error, node, None) from None
    except MemoryError:
        raise plain.EvaluationError(too_much_memory(), node, None) from None


class _Evaluation:
    """One pass over one batch."""

    def __init__(self, batch: Batch, prepared: Prepared, meter: Meter) -> None:
        self.batch = batch
        self.prepared = prepared
        self.meter = meter
        self.space = Workspace(batch, meter)
        self.space.columns |= prepared.constants
        self.selections = Selections(self.space)

    def compute(self, node: Node) -> None:
        """Compute a node, and keep its column; raise where time or memory are used up."""
        self.meter.afford(COLUMN_BYTES * self.batch.size)
        if isinstance(node, SOp):
            self.space.keep(node, self._column(node))
        else:
            self._check(node)
        self.meter.check()

    def _column(self, node: SOp) -> Column:
        match node:
            case Tokens():
                return self._of_one_kind(self.batch.tokens())
            case TokensAs(kind):
                given = [self.batch.tokens()]
                return self._of_one_kind(*elementwise(kind, given, self.meter))
            case Indices():
                return Column(one_kind(INT), self.batch.indices)
            case Elementwise():
                applied = self.prepared.applications[node]
                given = [self.space.columns[operand] for operand in applied.varying]
                return self._of_one_kind(*applied(given, self.meter))
            case Aggregate():
                return self._aggregate(node)
        raise AssertionError(f"no column for {type(node).__name__}")

    def _check(self, node: Node) -> None:
        """Refuse a selector or scorer whose atoms do not compare."""
        match node:
            case Select(keys, queries, op) if op in ORDERINGS:
                self._refuse(self._starts_with_string(keys) != self._starts_with_string(queries))
            case Score(keys, queries):
                self._refuse(self._starts_with_string(keys) | self._starts_with_string(queries))
            case SelectBest(selector, Score() as scorer):
                self.space.keep(Best(selector, scorer), best_keys(node, self.space))
            case SelectBest(selector, scorer):
                self.space.keep(Best(selector, scorer), best_scores(node, self.space))

    def results(self, node: Node, as_python: bool = False) -> list[list[Any]]:
        """An output's values, one list per input."""
        bounds = self.batch.starts.tolist()
        stretches = list(pairwise(bounds))
        if isinstance(node, SOp):
            self.meter.afford(ATOM_BYTES * self.batch.size)
            atoms = self.space.columns[node].atoms(self.batch.size, as_python)
            if len(stretches) == 1:
                return [atoms]
            return [atoms[start:end] for start, end in stretches]
        if isinstance(node, Selector):
            return [self._rows(node, start, end).tolist() for start, end in stretches]
        scores = [self._scores(node, number) for number in range(len(stretches))]
        return plain_lists(scores) if as_python else scores

    def forget(self, keys: Iterable[Any]) -> None:
        for key in keys:
            self.space.forget(key)
            self.selections.forget(key)

    def fail(self, node: Node, failed: _Failed) -> NoReturn:
        """Raise the plain evaluator's error for the first input that a node fails on."""
        try:
            if failed.error is not None:
                raise plain.EvaluationError(failed.error, node, None)
            if failed.row is not None and isinstance(node, Aggregate):
                self._fail_to_aggregate(node, failed.number, failed.row)
            else:
                self._plainly(node, failed.number)
        except plain.EvaluationError as error:
            error.number = failed.number
            raise
        raise AssertionError(f"{type(node).__name__} failed in the fast evaluator only")

    def _aggregate(self, node: Aggregate) -> Column:
        values = self.space.columns[node.values]
        selection = self.selections.picks(node.selector)
        try:
            column, failed = aggregated(node, values, selection, self.batch, self.meter)
        except TooManyDenominators as failure:
            raise _Failed(failure.number, error=failure.error) from None
        if failed is not None:
            row = int(np.flatnonzero(failed)[0])
            number = self.batch.number_at(row)
            raise _Failed(number, row - int(self.batch.starts[number]))
        misfit = self._first_mixed(column)
        if misfit is not None:
            start, end = self.batch.starts[misfit : misfit + 2]
            raise _Failed(misfit, int(np.flatnonzero(selection.count[start:end] == 0)[0]))
        return column

    def _fail_to_aggregate(self, node: Aggregate, number: int, row: int) -> None:
        tokens = tuple(self.batch.inputs[number])
        start, end = self.batch.starts[number : number + 2].tolist()
        values = self._atoms(node.values, number)
        [cells] = self._rows(node.selector, start, end, row, row + 1).tolist()
        picked = [value for value, is_picked in zip(values, cells, strict=True) if is_picked]
        if not picked:
            raise plain.failure(plain.misfit(node.default, values), node, tokens, row)
        plain.mean(picked, node, tokens, row, self.meter)

    def _rows(
        self, selector: Selector, start: int, end: int, first: int = 0, last: int | None = None
    ) -> Array:
        """Some rows of one input's selection."""
        keys = np.arange(start, end)
        return picks(selector, keys[first:last], keys, self.space)

    def _scores(self, node: Node, number: int) -> list[list[Any]]:
        """A scorer's numbers on one input."""
        if not isinstance(node, ScoreSum):
            return self._plainly(node, number)
        terms = [self._plainly(term, number) for term in score_terms(node)]
        return [[sum(cells) for cells in zip(*rows, strict=True)]
                for rows in zip(*terms, strict=True)]  # fmt: skip

    def _plainly(self, node: Node, number: int) -> list[Any]:
        """Compute one node on one input with the plain evaluator."""
        values: plain.Values = {
            needed: self._atoms(needed, number) for needed in node.needs if isinstance(needed, SOp)
        }
        tokens = tuple(self.batch.inputs[number])
        limits = replace(self.meter.limits, plain_cells=len(tokens) ** 2)
        return plain.compute(node, tokens, values, self.meter.fresh(limits))

    def _atoms(self, node: SOp, number: int) -> list[Atom]:
        start, end = self.batch.starts[number : number + 2].tolist()
        return self.space.columns[node].take(np.arange(start, end)).atoms(end - start)

    def _of_one_kind(self, column: Column, failed: Array | None = None) -> Column:
        """Check that the operator applied everywhere, and that no input mixes kinds."""
        if failed is not None:
            raise _Failed(self.batch.number_at(int(np.flatnonzero(failed)[0])))
        mixed = self._first_mixed(column)
        if mixed is not None:
            raise _Failed(mixed)
        return column

    def _first_mixed(self, column: Column) -> int | None:
        """The first input in which a column holds strings and numbers."""
        if len(column.kinds) == 1 or not (column.has_strings and column.has_numbers):
            return None
        is_string = (column.kinds == STRING).astype(np.int64)
        strings = np.add.reduceat(is_string, self.batch.starts[:-1])
        mixed = np.flatnonzero((strings > 0) & (strings < np.diff(self.batch.starts)))
        return int(mixed[0]) if len(mixed) else None

    def _starts_with_string(self, node: SOp) -> Array:
        """For each input, whether a sequence holds strings: its first atom tells for all."""
        kinds = self.space.columns[node].kinds
        is_string: Array = kinds == STRING
        return is_string if len(kinds) == 1 else is_string[self.batch.starts[:-1]]

    def _refuse(self, wrong: Array) -> None:
        """Fail at the first input that is wrong."""
        if wrong.any():
            raise _Failed(int(np.flatnonzero(wrong)[0]))
