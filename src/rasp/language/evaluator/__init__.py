"""GRAPH + INPUTS -> VALUES. `plain` is the meaning of the language; `fast` must agree with it.

The caller never chooses: short inputs are computed plainly, which is faster for them, and all
others (and batches) by the fast evaluator, where numpy is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from rasp.base.atoms import Atom, plain_lists, read_input
from rasp.base.errors import RaspError, RaspLimitError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.meter import Meter
from rasp.language.evaluator.plain import EvaluationError, Scores, Selection, Values
from rasp.language.evaluator.plain import evaluate as evaluate_plain
from rasp.language.graph import Elementwise, Node, Program, SOp, expression, in_order

__all__ = [
    "EvaluationError",
    "Scores",
    "Selection",
    "Values",
    "apply",
    "evaluate_batch",
    "evaluate_chunks",
    "evaluate_each",
    "evaluate_outcomes",
    "evaluate_plain",
    "every_value",
    "explain_plan",
    "pointing",
]

PLAIN_COST = 1_600
"""Up to here plain evaluation is faster, counting cells of a selection and 40 for each token."""
COLD_PLAIN_COST = 40_000
"""The same before numpy is imported, which takes as long as an input of 180 tokens or so."""
Columns: TypeAlias = dict[Node, list[list[Any]]]
"""For each output, its values on each input."""
CHUNK_TOKENS = 50_000
"""Tokens of a batch that are computed at once: few enough for the columns to stay in a cache."""


def apply(
    node: Node,
    given: object,
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
    meter: Meter | None = None,
) -> list[Any]:
    """Compute one node on one input; errors point at the expression that failed.

    >>> from rasp.language.graph import Indices
    >>> apply(Indices(), "hey")
    [0, 1, 2]
    """
    tokens = read_input(given, limits)
    try:
        return _evaluate([node], [tokens], limits, meter)[node][0]
    except EvaluationError as failed:
        raise pointing(failed, program or Program()) from None


def every_value(
    outputs: Sequence[Node], tokens: tuple[Atom, ...], program: Program, limits: Limits
) -> Values:
    """Compute nodes and everything that they need on one input; errors point as those of `apply`.

    >>> from rasp.language.graph import Indices, Tokens
    >>> list(every_value([Indices(), Tokens()], ("a", "b"), Program(), DEFAULT_LIMITS).values())
    [[0, 1], ['a', 'b']]
    """
    try:
        return evaluate_plain(in_order(outputs), tokens, limits)
    except EvaluationError as failed:
        raise pointing(failed, program) from None


def evaluate_batch(
    outputs: Sequence[Node],
    inputs: Iterable[object],
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Values]:
    """Compute several nodes on many inputs of any lengths in one pass; work is shared.

    For each input, the values of each output. An error is that of the first input that fails,
    and says which one it is.

    >>> from rasp.language.graph import Indices
    >>> [values[Indices()] for values in evaluate_batch([Indices()], ["hey", "you!"])]
    [[0, 1, 2], [0, 1, 2, 3]]
    """
    return list(evaluate_each(outputs, inputs, program, limits))


def evaluate_each(
    outputs: Sequence[Node],
    inputs: Iterable[object],
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Values]:
    """Compute the same a chunk at a time, and give the results before one that fails.

    >>> from rasp.language.graph import Indices
    >>> each = evaluate_each([Indices()], (letters * "a" for letters in (2, 3)))
    >>> next(each)[Indices()]
    [0, 1]
    """
    for columns in evaluate_chunks(outputs, inputs, program, limits):
        for number in range(len(next(iter(columns.values()), ()))):
            yield {node: lists[number] for node, lists in columns.items()}


def evaluate_outcomes(
    outputs: Sequence[Node],
    inputs: Sequence[object],
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Values | RaspError]:
    """Compute the same for every input: an input that fails gives its error, as if it were alone.

    >>> from rasp.language.graph import Indices
    >>> [type(outcome).__name__ for outcome in evaluate_outcomes([Indices()], ["hey", "", "a"])]
    ['dict', 'RaspValueError', 'dict']
    """
    done = 0
    try:
        for values in evaluate_each(outputs, inputs, program, limits):
            yield values
            done += 1
        return
    except RaspError as error:
        failed = error
    if len(inputs) == 1:
        yield failed
        return
    yield from evaluate_outcomes(outputs, inputs[done : done + 1], program, limits)
    rest = inputs[done + 1 :]
    middle = len(rest) // 2  # in halves, so that many failures cost no more than a logarithm
    for half in (rest[:middle], rest[middle:]):
        if half:
            yield from evaluate_outcomes(outputs, half, program, limits)


def evaluate_chunks(
    outputs: Sequence[Node],
    inputs: Iterable[object],
    program: Program | None = None,
    limits: Limits = DEFAULT_LIMITS,
    as_python: bool = False,
) -> Iterator[Columns]:
    """Compute the same; for each chunk and each output, the values on all inputs of the chunk.

    >>> from rasp.language.graph import Indices
    >>> [columns[Indices()] for columns in evaluate_chunks([Indices()], ["hey", "you!"])]
    [[[0, 1, 2], [0, 1, 2, 3]]]
    """
    done = 0
    is_dense = any(not isinstance(node, SOp) for node in outputs)
    for chunk, unreadable in _chunks(inputs, limits, is_dense):
        try:
            yield _evaluate(outputs, chunk, limits, as_python=as_python)
        except EvaluationError as failed:
            yield _evaluate(outputs, chunk[: failed.number], limits, as_python=as_python)
            error = pointing(failed, program or Program())
            raise _numbered(error, done + failed.number, done + len(chunk)) from None
        done += len(chunk)
        if unreadable is not None:
            raise _numbered(unreadable, done, done + 1) from None


def explain_plan(outputs: Sequence[Node], program: Program | None = None) -> str:
    """Say which strategy each aggregate gets on long inputs, and why.

    >>> from rasp.language.graph import Aggregate, Const, Select, Tokens
    >>> print(explain_plan([Aggregate(Select(Tokens(), Tokens(), "=="), Const(1))]))
    aggregate(select(tokens, tokens, ==), 1)
      groups          tokens == tokens
    <BLANKLINE>
    groups: equal keys and queries meet in a group, and each group is summed once
    time O(n) but for numbering what occurs, memory O(n)
    """
    from rasp.language.evaluator.fast.plan_text import explain

    return explain(outputs, (program or Program()).names)


def _evaluate(
    outputs: Sequence[Node],
    inputs: Sequence[Sequence[Atom]],
    limits: Limits,
    meter: Meter | None = None,
    as_python: bool = False,
) -> Columns:
    _check_dense(outputs, inputs, limits)
    if inputs and not _is_short(inputs) and _has_numpy():
        from rasp.language.evaluator.fast.evaluate import evaluate

        return evaluate(outputs, inputs, limits, meter, as_python)
    answers: list[Values] = []
    for number, tokens in enumerate(inputs):
        try:
            answers.append(evaluate_plain(outputs, tuple(tokens), limits, meter))
        except EvaluationError as failed:
            failed.number = number
            raise
    finish = plain_lists if as_python else list
    return {node: [finish(values[node]) for values in answers] for node in outputs}


def _check_dense(outputs: Sequence[Node], inputs: Sequence[Sequence[Atom]], limits: Limits) -> None:
    """Refuse to write down a selection that is too large, before anything is computed."""
    matrix = next((node for node in outputs if not isinstance(node, SOp)), None)
    if matrix is None:
        return
    for number, tokens in enumerate(inputs):
        length = len(tokens)
        if length * length > limits.dense_cells:
            error = RaspLimitError(
                f"a selection of {length} × {length} cells is over the limit of "
                f"{limits.dense_cells} cells",
                hint="give a shorter input, or aggregate over the selector instead",
            )
            failed = EvaluationError(error, matrix, None)
            failed.number = number
            raise failed


def _chunks(
    inputs: Iterable[object], limits: Limits, is_dense: bool
) -> Iterator[tuple[list[Sequence[Atom]], RaspError | None]]:
    """Read inputs, some at a time; an input that cannot be read ends the last chunk.

    A chunk has so many tokens, or (where matrices are asked for) so many cells.
    """
    chunk: list[Sequence[Atom]] = []
    size, most = 0, limits.dense_cells if is_dense else CHUNK_TOKENS
    for given in inputs:
        try:
            if type(given) is str and 0 < len(given) <= limits.input_length:
                tokens: Sequence[Atom] = given
            else:
                tokens = read_input(given, limits)
        except RaspError as error:
            yield chunk, error
            return
        added = len(tokens) ** 2 if is_dense else len(tokens)
        if chunk and size + added > most:
            yield chunk, None
            chunk, size = [], 0
        chunk.append(tokens)
        size += added
    if chunk:
        yield chunk, None


def pointing(failed: EvaluationError, program: Program) -> RaspError:
    """Make an error point at the expression that failed, or name it where it has no place.

    >>> from rasp.language.graph import Const, Elementwise, Indices
    >>> try:
    ...     evaluate_plain([Elementwise("/", (Const(1), Indices()))], ("a", "b"))
    ... except EvaluationError as failed:
    ...     print(pointing(failed, Program()).message)
    division by zero: 1 / 0 (at position 0 of "ab"), in `1 / indices`
    """
    error = failed.error
    origin = program.made.get(failed.node)
    if origin is None:
        shown = expression(failed.node, program.names, depth=4)
        error.where = replace(error.where, expression=shown)
        return error
    if origin.library:
        _blame_library_call(error, failed.node, origin.library)
    error.calls += origin.calls
    return error.located(origin.span)


def _blame_library_call(error: RaspError, node: Node, function: str) -> None:
    """Speak of the library's function that was called, not of the operators inside it."""
    if isinstance(error, RaspLimitError):
        return
    if isinstance(node, Elementwise):
        error.detail, error.words = "", {node.op: function}
    else:
        error.hints = ("give it values that it can use: `tokens_int` reads tokens as numbers",)
    if not error.message.startswith(f"`{function}`"):
        error.about = (f"`{function}` cannot use these values",)


def _numbered(error: RaspError, number: int, read: int) -> RaspError:
    """Say which input it is, where more than one is known."""
    if read > 1:
        error.where = replace(error.where, number=number)
    return error


def _is_short(inputs: Sequence[Sequence[Atom]]) -> bool:
    """Tell whether plain evaluation is likely to be done first."""
    left = PLAIN_COST if "numpy" in sys.modules else COLD_PLAIN_COST
    for tokens in inputs:
        left -= len(tokens) * (len(tokens) + 40)
        if left < 0:
            return False
    return True


def _has_numpy() -> bool:
    from importlib.util import find_spec  # only long inputs come here, and it is slow to import

    return find_spec("numpy") is not None
