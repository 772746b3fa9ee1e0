"""What the commands share: reading a program from a file or standard input, and its inputs."""

from __future__ import annotations

import json
import sys
from typing import Any

from rasp.errors import RaspError, RaspNameError, RaspTypeError, RaspValueError
from rasp.frontend.handles import Handle
from rasp.frontend.loader import read_source
from rasp.frontend.session import Session
from rasp.frontend.values import describe
from rasp.graph import Node
from rasp.source import Source


def read_program(path: str) -> Source:
    """Read a program; `-` is standard input."""
    if path == "-":
        return Source("<stdin>", sys.stdin.read())
    return read_source(path)


def run_program(path: str) -> Session:
    """Run a program file silently, and return the session it leaves behind."""
    session = Session()
    session.run(read_program(path))
    return session


def find_handle(session: Session, name: str) -> Handle:
    """Return a handle on an s-op or selector of a program that has run."""
    try:
        value = session.find(name)
    except RaspNameError as error:
        defined = ", ".join(f"`{each}`" for each in session.names()) or "nothing"
        hint = error.hint if error.hint and "mean" in error.hint else f"it defines {defined}"
        raise RaspNameError(f"the program has no `{name}`", hint=hint) from None
    if not isinstance(value, Node):
        raise RaspTypeError(
            f"`{name}` is {describe(value)}, not an s-op or selector",
            hint="name something that can be applied to an input",
        )
    return Handle(value, session.program)


def read_given(text: str, as_text: bool = False) -> Any:
    """Read an input as a person gives it: a JSON list, or else the text itself.

    >>> read_given("hello"), read_given("[1, 2]")
    ('hello', [1, 2])
    """
    if as_text or not text.lstrip().startswith("["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list) else text


def read_json_line(line: str) -> Any:
    """Read one line of standard input: JSON where it is JSON, else plain text."""
    text = line.rstrip("\r\n")
    if text.lstrip()[:1] in ('"', "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise RaspValueError(
                f"this line is neither text nor JSON: {text[:60]}",
                hint='write an input as hello, "hello" or ["he", "llo"], one a line',
            ) from None
    return text


def as_error(message: str, hint: str) -> RaspError:
    """Make an error about how a command was used."""
    return RaspValueError(message, hint=hint)
