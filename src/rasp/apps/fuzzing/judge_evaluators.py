"""Judges of evaluation: the fast evaluator and batches say what the plain one says, errors too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from rasp.apps.fuzzing.cases import LIMITS, Case
from rasp.apps.fuzzing.outcomes import Disagreement, NothingToCompare
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.language.evaluator import apply, evaluate_batch, plain
from rasp.language.evaluator.fast import (
    blocked,
    coding,
    evaluate,
    key_layout,
    means,
    range_sums,
)
from rasp.language.graph import Node

Inputs: TypeAlias = Sequence[tuple[Atom, ...]]

STRAIN: tuple[tuple[Any, str, int], ...] = (
    (key_layout, "CODES_PER_POSITION", 0),
    (key_layout, "SPARE_CODES", 2),
    (key_layout, "WIDEST", 2**20),
    (coding, "WIDEST", 2**12),
    (blocked, "BLOCK_CELLS", 40),
    (blocked, "SMALL_SUM", 50),
    (evaluate, "LARGE_BATCH", 0),
    (range_sums, "EXACT_SUM_BITS", 17),
    (means, "LIMBS_AT_ONCE", 2),
)


def judge_fast(case: Case) -> None:
    """Each input alone, by the fast evaluator however short it is."""
    outputs = _outputs(case)
    for tokens, expected in zip(case.inputs, _plain_results_of(case), strict=True):
        _agree("plain", expected, "fast", fast_results(outputs, [tokens]))


def judge_strained(case: Case) -> None:
    """The same where short inputs are made to take the ways of long ones."""
    with strained():
        judge_fast(case)


def judge_batch(case: Case) -> None:
    """All inputs at once give what they give one after the other, and so does the public door."""
    outputs = _outputs(case)
    times = 2 if case.seed % 5 == 0 else 1
    inputs = case.inputs * times
    expected = _together(_plain_results_of(case) * times)
    _agree("plain", expected, "in a batch", fast_results(outputs, inputs))
    _agree("apply", one_by_one(outputs, inputs), "evaluate_batch", as_a_batch(outputs, inputs))


def _outputs(case: Case) -> list[Node]:
    if not case.outputs or not case.inputs:
        raise NothingToCompare
    return list(case.outputs.values())


def _plain_results_of(case: Case) -> list[object]:
    """What the plain evaluator says of each input; the judges of one case ask it once."""
    if "plain" not in case.shared:
        case.shared["plain"] = [plain_results(_outputs(case), [tokens]) for tokens in case.inputs]
    results: list[object] = case.shared["plain"]
    return results


def _together(results: Sequence[object]) -> object:
    """The results of single inputs as those of a batch: its values, or its first error."""
    for number, result in enumerate(results):
        if isinstance(result, tuple):
            return (*result[:3], number, *result[4:])
    return [values for result in results if isinstance(result, list) for values in result]


def _agree(first: str, expected: object, second: str, result: object) -> None:
    if expected != result:
        raise Disagreement(f"{first}: {str(expected)[:1500]}\n{second}: {str(result)[:1500]}")


def plain_results(outputs: Sequence[Node], inputs: Inputs) -> object:
    """What the plain evaluator says, one input after the other: values, or its first error."""
    results: list[object] = []
    for number, tokens in enumerate(inputs):
        try:
            values = plain.evaluate(outputs, tokens)
        except plain.EvaluationError as failed:
            failed.number = number
            return described(failed)
        results.append([exactly(values[output]) for output in outputs])
    return results


def fast_results(outputs: Sequence[Node], inputs: Inputs) -> object:
    """The same from the fast evaluator, whatever the length."""
    try:
        values = evaluate.evaluate(outputs, inputs)
    except plain.EvaluationError as failed:
        return described(failed)
    return [[exactly(values[output][number]) for output in outputs]
            for number in range(len(inputs))]  # fmt: skip


def one_by_one(outputs: Sequence[Node], inputs: Inputs) -> object:
    """What `apply` says of each output, up to the first input with an error."""
    results: list[object] = []
    for number, tokens in enumerate(inputs):
        try:
            results.append([exactly(apply(node, tokens, limits=LIMITS)) for node in outputs])
        except RaspError as error:
            return (number, type(error).__name__)
    return results


def as_a_batch(outputs: Sequence[Node], inputs: Inputs) -> object:
    """The same by `evaluate_batch`, which says which input it was."""
    try:
        batch = evaluate_batch(outputs, inputs, limits=LIMITS)
    except RaspError as error:
        return (error.where.number or 0, type(error).__name__)
    return [[exactly(values[node]) for node in outputs] for values in batch]


def exactly(values: object) -> object:
    """Values with their types, since Python says `1 == True == Fraction(1)`."""
    if isinstance(values, list):
        return [exactly(value) for value in values]
    return (type(values).__name__, values)


def described(failed: plain.EvaluationError) -> object:
    """Everything that an error says, and of what."""
    error = failed.error
    return (type(error).__name__, error.message, error.hint, failed.number, failed.position,
            id(failed.node))  # fmt: skip


@contextmanager
def strained() -> Iterator[None]:
    """Let short inputs take the ways of long ones: sorted codes, many blocks, split sums …"""
    before = [(module, name, getattr(module, name)) for module, name, _ in STRAIN]
    try:
        for module, name, value in STRAIN:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
