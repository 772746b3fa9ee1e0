"""What the plain evaluator and the fast one say, so that it can be compared: errors too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from rasp.base.atoms import Atom
from rasp.language.evaluator import plain
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


def agree(outputs: Sequence[Node], *inputs: tuple[Atom, ...]) -> None:
    """Both evaluators answer alike, with values and with errors."""
    assert fast_results(outputs, inputs) == plain_results(outputs, inputs)


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
