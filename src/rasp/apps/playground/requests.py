"""A request as it came over the wire in, what it asks for out, or a refusal in words."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from rasp.apps.playground.budgets import LIMITS, LONGEST_EXAMPLE
from rasp.base.atoms import Atom, describe, kind_name, read_input
from rasp.base.errors import RaspError, RaspLimitError, RaspNameError, RaspTypeError, RaspValueError
from rasp.base.input_text import read_tokens, write_tokens
from rasp.base.source import Source
from rasp.language.embedding.handles import Handle
from rasp.language.graph import Node, SOp
from rasp.language.meaning.loader import Loader
from rasp.language.meaning.session import Result, Session
from rasp.teaching import gallery as programs


@dataclass
class Ran:
    """A program that has run: its session, what each statement did, and every mistake."""

    source: Source
    session: Session
    results: list[Result] = field(default_factory=list)
    errors: list[RaspError] = field(default_factory=list)


def run_text(text: object) -> Ran:
    """Run a program's text under the playground's budgets; `load` sees the gallery alone."""
    if not isinstance(text, str):
        raise RaspTypeError("the program is not a text", hint="send the program as a string")
    source = Source("program", text)
    loader = Loader(root=os.path.dirname(programs.__file__ or ""))
    session = Session(limits=LIMITS, loader=loader)
    results, errors = session.check(source)
    return Ran(source, session, results, sorted(errors, key=_position))


def _position(error: RaspError) -> int:
    return error.span.start if error.span else 0


def read_example(given: object) -> tuple[Atom, ...]:
    """Read the running example as it is in its box: a list, a range, or characters.

    >>> read_example("hey"), read_example("[1, 2.5]")
    (('h', 'e', 'y'), (1, Fraction(5, 2)))
    """
    if not isinstance(given, str):
        raise RaspTypeError("the example is not a text", hint="type letters, or a list: [3, 1, 2]")
    tokens = read_input(read_tokens(given, LIMITS), LIMITS)
    if len(tokens) > LONGEST_EXAMPLE:
        raise RaspLimitError(
            f"an example of {len(tokens)} tokens is too long to show: "
            f"at most {LONGEST_EXAMPLE} fit",
            hint="type a shorter one; `rasp eval` computes inputs of any length",
        )
    return tokens


def example_text(given: object) -> str:
    """Write an input as the example's box has it.

    >>> example_text("abc"), example_text([1, 2])
    ('abc', '[1, 2]')
    """
    return write_tokens(read_input(given))


def find_handle(ran: Ran, name: object) -> Handle:
    """Return the s-op or selector that a request asks about."""
    if not isinstance(name, str):
        raise RaspTypeError("no s-op is chosen", hint="choose one of the program's names")
    own = ran.session.names()
    if name not in own:
        first = ran.errors[0] if ran.errors else None
        hint = f"fix the program first: {first.message}" if first else _defined(list(own))
        raise RaspNameError(f"the program has no `{name}`", hint=hint)
    value = own[name]
    if not isinstance(value, Node):
        raise RaspTypeError(
            f"`{name}` is {describe(value)}, not an s-op or selector",
            hint="choose something that can be applied to an input",
        )
    return Handle(value, ran.session.program_of(name), limits=ran.session.limits)


def find_s_op(ran: Ran, name: object) -> Handle:
    """Return the s-op that an exercise asks for."""
    handle = find_handle(ran, name)
    if not isinstance(handle.node, SOp):
        raise RaspTypeError(
            f"`{name}` is a {kind_name(handle.node)}, but should be an s-op",
            hint="use the selector in `aggregate` or `selector_width` to make an s-op",
        )
    return handle


def _defined(names: list[str]) -> str:
    return f"it defines {', '.join(f'`{name}`' for name in names[:8])}" if names else (
        "it defines nothing yet: write a definition such as `double = indices * 2;`"
    )  # fmt: skip


def read_number(given: object, what: str, least: int, most: int) -> int | None:
    """Read a number from a form; an empty field is None."""
    if given is None or given == "":
        return None
    try:
        number = int(str(given))
    except ValueError:
        raise RaspValueError(f"{what} is a whole number", hint=f"type {least} to {most}") from None
    if not least <= number <= most:
        raise RaspValueError(
            f"{what} is between {least} and {most}, not {number}", hint="type another number"
        )
    return number


def read_word(request: dict[str, Any], field_name: str) -> str | None:
    """Read a text from a form; an empty field is None."""
    given = request.get(field_name)
    return given.strip() or None if isinstance(given, str) else None
