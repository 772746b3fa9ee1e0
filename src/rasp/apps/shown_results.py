"""What a statement did, as the prompt shows it: its names, kinds, and values on the example."""

from __future__ import annotations

from rasp.base.atoms import PLURALS, kind_name, kind_of_sequence, read_input, show_input
from rasp.base.errors import RaspError
from rasp.language.evaluator import apply
from rasp.language.graph import Node, Program, Scorer, Selector, SOp, expression
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.calls import signature
from rasp.language.meaning.session import DisplaySettings, Result, Session
from rasp.language.meaning.shown_values import (
    show_scores,
    show_selection,
    show_value,
    show_values,
)
from rasp.language.meaning.value_kinds import BuiltIn, Function, Value
from rasp.language.syntax.tree import Argument, Assign, Call, Command, Define, Evaluate, Expression


def show_result(result: Result, session: Session) -> str:
    """Write what a statement did, as the REPL shows it; the empty string where that is nothing.

    >>> from rasp.base.source import Source
    >>> session = Session()
    >>> print(show_result(session.run(Source("demo", "double = indices * 2;"))[0], session))
         s-op: double
      example: double("hello") = [0, 2, 4, 6, 8]  (ints)
    """
    statement, value = result.statement, result.value
    match statement:
        case Assign():
            values = value if len(result.names) > 1 and isinstance(value, (list, dict)) else [value]
            pairs = zip(result.names, list(values), strict=False)
            return "\n".join(
                show_named(name, item, session, result.program) for name, item in pairs
            )
        case Evaluate(expression):
            return _show_grid(expression, value, session) or (
                show_named("", value, session, result.program)
            )
        case Define(name):
            function = session.scope.find(name.name)
            return f"     function: {signature(function)}" + _doc_lines(function)
        case Command(("show", *_)):
            return _show_examples(session.settings)
    return ""


def _show_grid(expression: Expression, value: Value, session: Session) -> str:
    """What a selector or scorer gives on an input, as its definition shows it."""
    match expression:
        case Call(function, (Argument(given, None),)) if isinstance(value, list):
            pass
        case _:
            return ""
    try:
        applied = session.elaborator.evaluate(function, session.scope)
        if not isinstance(applied, (Selector, Scorer)):
            return ""
        tokens = read_input(session.elaborator.evaluate(given, session.scope), session.limits)
    except RaspError:
        return ""
    if isinstance(applied, Selector):
        return show_selection(value, tokens, session.settings.full_display, " " * 5)
    return show_scores(value, tokens, " " * 5)


def show_named(name: str, value: Value, session: Session, program: Program) -> str:
    """Write a value under its name; nodes with what they give on the running example."""
    match value:
        case DrawRequest() | None:
            return ""
        case SOp() | Selector() | Scorer():
            return _show_node(name, value, session, program)
        case Function() | BuiltIn():
            return f"     function: {signature(value)}" + _doc_lines(value)
    text = show_value(value, session.settings.full_display)
    kind = "list" if isinstance(value, list) else "dict" if isinstance(value, dict) else "value"
    return f"     {kind}: {name} = {text}" if name else f"     {text}"


def _show_node(name: str, node: Node, session: Session, program: Program) -> str:
    kind = kind_name(node)
    label = name or program.names.get(node) or expression(node, program.names)
    head = f"     {kind}: {label}" if len(label) < 80 else f"     {kind}"
    settings = session.settings
    if not settings.shows(node):
        return head
    tokens = settings.example_for(node)
    shown_input = show_input(tokens)
    called = f"{label if label.isidentifier() else '(…)'}({shown_input})"
    try:
        values = apply(node, list(tokens), program, session.rest())
    except RaspError as error:
        return f"{head}\n  example: does not fit {shown_input}: {error.message}" + (
            f"\n           hint: {error.hint}" if error.hint else ""
        )
    text = show_values(called, values, tokens, settings.full_display, " " * 11)
    kinds = f"  ({PLURALS[kind_of_sequence(values)]})" if kind == "s-op" else ""
    return f"{head}\n  example: {text}{kinds}"


def _show_examples(settings: DisplaySettings) -> str:
    s_op, selector = show_input(settings.s_op_example), show_input(settings.selector_example)
    if s_op == selector:
        return f"  example: {s_op}"
    return f"  s-op example: {s_op}\n  selector example: {selector}"


def _doc_lines(function: Value) -> str:
    doc = function.doc if isinstance(function, Function) else ""
    return f"\n          doc: {doc}" if doc else ""
