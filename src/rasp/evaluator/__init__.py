"""GRAPH + INPUTS -> VALUES. `plain` is the meaning of the language; `fast` must agree with it."""

from __future__ import annotations

from typing import Any

from rasp.atoms import read_input
from rasp.evaluator.plain import EvaluationError, Scores, Selection, Values
from rasp.evaluator.plain import evaluate as evaluate_plain
from rasp.graph import Node, Program, expression
from rasp.limits import DEFAULT_LIMITS, Limits

__all__ = ["EvaluationError", "Scores", "Selection", "Values", "apply", "evaluate_plain"]


def apply(
    node: Node, given: object, program: Program | None = None, limits: Limits = DEFAULT_LIMITS
) -> list[Any]:
    """Compute one node on one input; errors point at the expression that failed.

    >>> from rasp.graph import Indices
    >>> apply(Indices(), "hey")
    [0, 1, 2]
    """
    program = program or Program()
    tokens = read_input(given, limits)
    try:
        return evaluate_plain([node], tokens, limits)[node]
    except EvaluationError as failed:
        error = failed.error
        if failed.node in program.origins:
            error.located(program.origins[failed.node])
        else:
            error.message += f", in `{expression(failed.node, program.names, depth=4)}`"
        raise error from None
