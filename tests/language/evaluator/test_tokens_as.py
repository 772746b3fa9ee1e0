"""The input read as another kind: the fast evaluator agrees with the plain one, errors included."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from rasp.base.atoms import Atom
from rasp.language.evaluator.fast.evaluate import evaluate
from rasp.language.evaluator.plain import EvaluationError
from rasp.language.evaluator.plain import evaluate as evaluate_plain
from rasp.language.graph import TokensAs

INPUTS: list[tuple[Atom, ...]] = [
    ("4", "07", "-2"),
    (1, True, Fraction(5, 2)),
    ("3", 5, "6"),  # no sequence as it is, but one of ints
    ("", "x", "0"),
    (Fraction(-5, 2), 0),
]


def outcome(compute: Callable[[], list[Atom]]) -> str | list[tuple[type, Atom]]:
    """The values with their kinds, or the error's message."""
    try:
        return [(type(atom), atom) for atom in compute()]
    except EvaluationError as failed:
        return failed.error.message


@pytest.mark.parametrize("tokens", INPUTS, ids=str)
@pytest.mark.parametrize("kind", ["int", "float", "string", "bool"])
def test_both_evaluators_read_tokens_alike(kind: str, tokens: tuple[Atom, ...]) -> None:
    node = TokensAs(kind)
    plainly = outcome(lambda: evaluate_plain([node], tokens)[node])
    fast = outcome(lambda: evaluate([node], [("1",), tokens])[node][1])
    assert fast == plainly
