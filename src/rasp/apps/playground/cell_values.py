"""A program and a running example in, everything that both panes show while typing out.

Every named s-op becomes a strip of one plan, so that the page can follow a cell back to the
input; a name that does not fit the example is told apart and never hides the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rasp.apps.playground.budgets import (
    LIMITS,
    MOST_FIXES,
    MOST_NAMES,
    MOST_OUTPUTS,
    MOST_SELECTIONS_SHOWN,
)
from rasp.apps.playground.fixes import fix_of
from rasp.apps.playground.page_records import error_record, place_record
from rasp.apps.playground.requests import Ran, read_example, run_text
from rasp.apps.playground.shown import (
    Named,
    fitting_s_ops,
    joined_program,
    makes_of,
    name_record,
    named_s_ops,
    shown_selectors,
    with_steps_named,
    words_of,
)
from rasp.apps.shown_results import show_named
from rasp.base.atoms import Atom
from rasp.base.errors import RaspError
from rasp.insight.drawing import as_dict, plan_flow, plan_selection
from rasp.insight.drawing.picture_plan import Flow, Strip
from rasp.insight.drawing.planning import MOST_CELLS
from rasp.insight.schedule import earliest_layers
from rasp.language.evaluator import EvaluationError, Values, apply, evaluate_plain
from rasp.language.graph import Node, SOp, expression, in_order
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.mistakes import warnings_of
from rasp.language.meaning.shown_values import show_value
from rasp.language.syntax.tree import Evaluate


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run a program and show all its names on the example."""
    ran = run_text(request.get("program"))
    answer: dict[str, Any] = {
        "errors": [_with_fix(error, ran) for error in ran.errors],
        "warnings": _warnings(ran),
        "names": [name_record(name, ran.session) for name in ran.session.names()],
        "outputs": _outputs(ran),
    }
    try:
        tokens = read_example(request.get("example"))
    except RaspError as error:
        return answer | {"example_error": error_record(error)}
    return answer | _on_example(ran, tokens)


def _with_fix(error: RaspError, ran: Ran) -> dict[str, Any]:
    """A mistake; the first ones with the change that their hints describe."""
    record = error_record(error, ran.source)
    is_early = error in ran.errors[:MOST_FIXES]
    return record | {"fix": fix_of(error, ran.source) if is_early else None}


def _warnings(ran: Ran) -> list[dict[str, Any]]:
    statements = tuple(result.statement for result in ran.results)
    warnings = warnings_of(statements, ran.session, ran.errors)
    return [{"message": one.message, "hint": one.hint} | place_record(one.span) for one in warnings]


def _outputs(ran: Ran) -> list[dict[str, Any]]:
    """What the program's bare expressions give, line by line, as the REPL would show it."""
    outputs = []
    for result in ran.results:
        if not isinstance(result.statement, Evaluate) or result.value is None:
            continue
        if isinstance(result.value, DrawRequest):
            text = "drawn: see the Flow tab"
        elif isinstance(result.value, Node):
            text = show_named("", result.value, ran.session, result.program).strip()
        else:
            text = show_value(result.value)
        outputs.append({"line": result.statement.span.line, "text": text[:4000]})
    return outputs[:MOST_OUTPUTS]


def _on_example(ran: Ran, tokens: tuple[Atom, ...]) -> dict[str, Any]:
    every = named_s_ops(ran)
    s_ops = every[:MOST_NAMES]
    failed: list[dict[str, Any]] = []
    values = _evaluated(ran, s_ops, tokens)
    try:
        plan = _plan(ran, s_ops, tokens, values)
    except RaspError:
        s_ops, failed = fitting_s_ops(ran, tokens)
        plan = _plan_of_fitting(ran, s_ops, tokens)
    program = joined_program(ran, s_ops)
    selectors = shown_selectors(ran, s_ops, program)
    shown = selectors[:MOST_SELECTIONS_SHOWN]
    selections, unfit = _selections(ran, shown, tokens, s_ops, values)
    sizes = tuple(replace(layer, heads=()) for layer in plan.layers)  # heads are in the flow
    return {
        "plan": as_dict(replace(plan, layers=sizes)),
        "rows": [
            {"name": name, "strip": strip, "words": words_of(node, program)}
            for (name, node), strip in zip(s_ops, plan.outputs, strict=True)
        ],
        "selections": selections,
        "failed": failed + unfit,
        "left_out": max(0, len(every) - MOST_NAMES) + len(selectors) - len(shown),
    }


def _evaluated(ran: Ran, s_ops: Named, tokens: tuple[Atom, ...]) -> Values | None:
    """Compute everything that is shown at once; None if something fails, or it is too much."""
    selectors = shown_selectors(ran, s_ops, joined_program(ran, s_ops))
    nodes = in_order([node for _, node in [*s_ops, *selectors]])
    tables = sum(not isinstance(node, SOp) for node in nodes)
    if tables * len(tokens) ** 2 > min(MOST_CELLS, LIMITS.dense_cells):
        return None
    try:
        return evaluate_plain(nodes, tokens, LIMITS)
    except (EvaluationError, RaspError):
        return None  # whose fault it is, is found one by one


def _plan(ran: Ran, s_ops: Named, tokens: tuple[Atom, ...], values: Values | None = None) -> Flow:
    nodes = [node for _, node in s_ops]
    program = with_steps_named(joined_program(ran, s_ops), nodes)
    return plan_flow(nodes, list(tokens), program, LIMITS, values)


def _plan_of_fitting(ran: Ran, s_ops: Named, tokens: tuple[Atom, ...]) -> Flow:
    """Plan everything; where that is too much for one picture, the values alone."""
    try:
        return _plan(ran, s_ops, tokens)
    except RaspError as error:
        program = joined_program(ran, s_ops)
        layers = earliest_layers([node for _, node in s_ops])
        strips = {
            f"v{number}": Strip(
                id=f"v{number}",
                label=name,
                expression=expression(node, program.names, 4)[:400],
                values=tuple(apply(node, list(tokens), program, LIMITS)),
                layer=layers[node],
            )
            for number, (name, node) in enumerate(s_ops, 1)
        }
        first = Strip("s0", "tokens", "", tokens, 0)
        return Flow(
            "", tokens, {"s0": first, **strips}, ("s0",), (), (), tuple(strips), error.message
        )


def _selections(
    ran: Ran, selectors: Named, tokens: tuple[Atom, ...], s_ops: Named, values: Values | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The selections on the example, and the errors of those that have none."""
    shown: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    own, joined = ran.session.names(), joined_program(ran, s_ops)
    makes = makes_of(s_ops, joined)
    for name, node in selectors:
        is_named = own.get(name) is node
        program = ran.session.program_of(name) if is_named else joined
        try:
            plan = plan_selection(node, list(tokens), program, LIMITS, values)
            shown.append({"name": name, "makes": makes.get(node, []), "plan": as_dict(plan)})
        except RaspError as error:
            failed.append({"name": name} | error_record(error, ran.source))
    return shown, failed
