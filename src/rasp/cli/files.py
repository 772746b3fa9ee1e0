"""What the commands share: reading a program from a file or standard input, and its inputs."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from rasp.errors import RaspNameError, RaspTypeError, RaspValueError
from rasp.frontend.handles import Handle
from rasp.frontend.loader import read_source
from rasp.frontend.session import Session
from rasp.frontend.values import describe
from rasp.graph import Node
from rasp.limits import DEFAULT_LIMITS, Limits, read_limit
from rasp.source import Source


class _Limit(argparse.Action):
    """Adds one budget to those given before."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, read_limit(values, getattr(namespace, self.dest)))


def take_limits(parser: argparse.ArgumentParser) -> None:
    """Let a command be told how much a program may use: `arguments.limits`."""
    parser.add_argument(
        "--limit", dest="limits", action=_Limit, default=DEFAULT_LIMITS, metavar="NAME=VALUE",
        help="change a budget, such as seconds=10 or steps=1000000 (may be given several times)",
    )  # fmt: skip


def read_program(path: str, limits: Limits = DEFAULT_LIMITS) -> Source:
    """Read a program; `-` is standard input."""
    if path == "-":
        return Source("<stdin>", as_sent(sys.stdin.read(limits.text_length + 1), "the program"))
    return read_source(path, limits)


def run_program(path: str, limits: Limits = DEFAULT_LIMITS) -> Session:
    """Run a program file silently, and return the session it leaves behind."""
    session = Session(limits)
    session.run(read_program(path, limits))
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
    return Handle(value, session.program, limits=session.limits)


def read_given(text: str, as_text: bool = False) -> Any:
    """Read an input as a person gives it: a JSON list, or else the text itself.

    >>> read_given("hello"), read_given("[1, 2]")
    ('hello', [1, 2])
    """
    as_sent(text, "the input")
    if as_text or not text.lstrip().startswith("["):
        return text
    try:
        return _list_of_tokens(json.loads(text), text)
    except (ValueError, RecursionError):
        return text


def read_json_line(line: str, as_text: bool = False) -> Any:
    """Read one line of standard input: JSON where it is JSON, else plain text."""
    text = as_sent(line.rstrip("\r\n"), "the input")
    if as_text or text.lstrip()[:1] not in ('"', "["):
        return text
    try:
        return _list_of_tokens(json.loads(text), text)
    except (ValueError, RecursionError):
        raise RaspValueError(
            f"this line is neither text nor JSON: {text[:60]}",
            hint='write hello, "hello" or ["he", "llo"]; `--text` takes every line as it is',
        ) from None


def as_sent(text: str, what: str) -> str:
    """Return a text that was UTF-8; bytes that were none came in as halves of characters.

    >>> as_sent("hé", "the input")
    'hé'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RaspValueError(
            f"{what} cannot be read: it is not UTF-8 text", hint="send it as UTF-8"
        ) from None
    return text


def _list_of_tokens(value: Any, text: str) -> Any:
    """Refuse a list that holds none: `[[]]` are brackets rather than JSON."""
    if isinstance(value, list) and (not value or any(_is_no_atom(each) for each in value)):
        raise RaspTypeError(
            f"as JSON, {text[:60]} is no list of tokens",
            hint='give brackets as `["[", "]"]`, or with `--text` where the command takes that',
        )
    return value


def _is_no_atom(value: Any) -> bool:
    return value is None or isinstance(value, list | dict)
