"""A word to the REPL in, a session's settings changed: what is shown, on which example.

Words that ask for something (`names`, `help`, `save`, …) are the front door's own business; here
they are only known, so that a program which holds them is not a mistake.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rasp.base.atoms import describe, read_input
from rasp.base.errors import RaspError, RaspSyntaxError, RaspTypeError
from rasp.language.meaning.value_kinds import MISSING
from rasp.language.syntax.tree import Command, Name
from rasp.language.words import COMMANDS

if TYPE_CHECKING:
    from rasp.language.meaning.session import Session


def obey(command: Command, session: Session) -> None:
    """Do what a word to the REPL says, or say what it could have been."""
    settings = session.settings
    match command.words:
        case ("set", *kinds, "example") if kinds in ([], ["s-op"], ["selector"]):
            _set_example(command, kinds, session)
        case ("examples", ("on" | "off") as choice):
            shown = choice == "on"
            session.settings = replace(
                settings, show_s_op_examples=shown, show_selector_examples=shown
            )
        case ("s-op", "examples", ("on" | "off") as choice):
            settings.show_s_op_examples = choice == "on"
        case ("selector", "examples", ("on" | "off") as choice):
            settings.show_selector_examples = choice == "on"
        case ("full", "seq", "display", ("on" | "off") as choice):
            settings.full_display = choice == "on"
        case ("show", *kinds, "example") if kinds in ([], ["s-op"], ["selector"]):
            pass
        case ("exit",) | ("quit",) | ("names",) | ("undo",) | ("help",) | ("save",):
            pass
        case ("doc", _) | ("arch", _) | ("generate", _) | ("help", _):
            pass
        case _:
            usage = COMMANDS[command.words[0]]
            raise RaspSyntaxError(
                f"`{' '.join(command.words)}` is not something the REPL knows",
                command.span,
                f"write `{usage.partition(':')[0]}`",
            )


def _set_example(command: Command, kinds: list[str], session: Session) -> None:
    if command.argument is None:
        raise RaspSyntaxError(
            "`set example` needs an input", command.span, 'write `set example "hello"`'
        )
    argument = command.argument
    if isinstance(argument, Name) and session.scope.find(argument.name) is MISSING:
        raise RaspSyntaxError(
            f"`{argument.name}` has no quotes around it",
            argument.span,
            f'write `set example "{argument.name}"`',
        )
    value = session.elaborator.evaluate(argument, session.scope)
    if not isinstance(value, (str, list)):
        raise RaspTypeError(
            f"an example is a string or a list of atoms, but this is {describe(value)}",
            argument.span,
            'write `set example "hello"` or `set example [1, 2, 3]`',
        )
    try:
        tokens = read_input(value, session.limits)
    except RaspError as error:
        raise error.located(argument.span) from None
    if kinds != ["selector"]:
        session.settings.s_op_example = tokens
    if kinds != ["s-op"]:
        session.settings.selector_example = tokens
