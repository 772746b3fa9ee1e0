"""`generate NAME INPUT` at the prompt: a next-token program, fed with its answers step by step."""

from __future__ import annotations

from rasp.base.atoms import describe, from_python, show, show_input
from rasp.base.errors import RaspTypeError
from rasp.insight.generation import steps
from rasp.language.embedding.handles import Handle
from rasp.language.graph import Node
from rasp.language.meaning.session import Session
from rasp.language.syntax.tree import Command

MOST = 50
"""Tokens after which the prompt stops a program that does not stop itself."""


def generated(command: Command, session: Session) -> str:
    """Generate on an input, or on the running example; return what there is to say."""
    name = command.words[1]
    node = session.find(name)
    if not isinstance(node, Node):
        raise RaspTypeError(
            f"`{name}` is {describe(node)}, not an s-op",
            command.span,
            "name the s-op whose last value is the next token",
        )
    given = session.settings.s_op_example
    if command.argument is not None:
        given = session.elaborator.evaluate(command.argument, session.scope)
    handle = Handle(node, session.program_of(name), limits=session.limits)
    lines, appended = [], []
    for step in steps(handle, given, most=MOST):
        if step.token is not None:
            appended.append(from_python(step.token))
        told = show_input(tuple(appended), most=2 * MOST) if step.token is not None else "it stops"
        lines.append(f"     step {step.step}: {show(from_python(step.value)):<12} {told}")
    if appended and step.token is not None:
        lines.append(f"     cut off after {MOST} tokens: `rasp generate --most N` goes further")
    return "\n".join(lines)
