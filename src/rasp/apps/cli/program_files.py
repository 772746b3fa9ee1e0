"""What the commands share: reading a program from a file or standard input, and its inputs."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rasp.apps.cli.patience import working
from rasp.base.errors import RaspError, RaspNameError, RaspTypeError, RaspValueError
from rasp.base.input_text import read_tokens
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.program_text import to_rasp
from rasp.language.graph import Node
from rasp.language.meaning.loader import Loader, read_source
from rasp.language.meaning.session import Session
from rasp.language.meaning.value_kinds import describe

MODEL = "model.json"
"""What the folder of a compiled model holds; the compiler itself is not imported for its name."""


def loader(arguments: argparse.Namespace) -> Loader:
    """Return what `load` may read in a command that was can be told so."""
    return Loader(enabled=not arguments.no_load, also=tuple(arguments.load_from))


def new_session(arguments: argparse.Namespace) -> Session:
    """Return a session that keeps to what a command was told."""
    return Session(arguments.limits, loader(arguments))


def read_program(path: str, limits: Limits = DEFAULT_LIMITS) -> Source:
    """Read a program; `-` is standard input."""
    if path == "-":
        return Source("<stdin>", as_sent(sys.stdin.read(limits.text_length + 1), "the program"))
    if os.path.isfile(os.path.join(path, MODEL)):
        raise RaspValueError(
            f"`{path}` is the folder of a compiled model, and this command reads programs",
            hint=f"`rasp verify {path}` checks it, `rasp eval {path} NAME` applies it",
        )
    return read_source(path, limits)


def text_alone(arguments: argparse.Namespace) -> str:
    """The text of `arguments.file` for whoever runs it later, where its folder may be another.

    A program that loads others becomes the text of `arguments.name` alone, which loads nothing.
    It is run here too, so that its mistakes are told with the name of the file.
    """
    source = read_program(arguments.file)
    session = Session(loader=loader(arguments))
    session.run(source)
    handle = find_handle(session, arguments.name)
    is_loading = re.search(r"\bload\b", source.text)
    return to_rasp(handle, arguments.name) if is_loading else source.text


@contextlib.contextmanager
def naming_file(path: str, text: str) -> Iterator[None]:
    """Let an error in a text that `text_alone` gave name the file that it came from."""
    try:
        yield
    except RaspError as error:
        if error.span is not None and error.span.source.text == text:
            name = "<stdin>" if path == "-" else path
            error.span = replace(error.span, source=Source(name, text))
        raise


def run_program(arguments: argparse.Namespace) -> Session:
    """Run `arguments.file` silently, and return the session it leaves behind."""
    session = new_session(arguments)
    source = read_program(arguments.file, arguments.limits)
    with working(f"running {source.name}"):
        session.run(source)
    return session


def find_handle(session: Session, name: str) -> Handle:
    """Return a handle on an s-op or selector of a program that has run."""
    try:
        value = session.find(name)
    except RaspNameError as error:
        defined = ", ".join(f"`{name}`" for name in session.names()) or "nothing"
        hint = error.hint if error.hint and "mean" in error.hint else f"it defines {defined}"
        raise RaspNameError(f"the program has no `{name}`", hint=hint) from None
    if not isinstance(value, Node):
        raise RaspTypeError(
            f"`{name}` is {describe(value)}, not an s-op or selector",
            hint="name something that can be applied to an input",
        )
    return Handle(value, session.program_of(name), limits=session.rest())


def find_handles(session: Session, names: str | list[str]) -> dict[str, Handle]:
    """Return handles on several s-ops and selectors, by their names."""
    return {name: find_handle(session, name) for name in read_names(names)}


def read_names(texts: str | list[str]) -> list[str]:
    """Read the names of outputs, which commas or blanks separate.

    >>> read_names("a,b"), read_names(["a", "b c"])
    (['a', 'b'], ['a', 'b', 'c'])
    """
    words = [texts] if isinstance(texts, str) else texts
    names = [name for word in words for name in word.replace(",", " ").split()]
    if not names:
        raise RaspValueError("no name was given", hint="name an s-op or selector of the program")
    return list(dict.fromkeys(names))


def read_given(text: str, as_text: bool = False) -> Any:
    """Read an input as a person gives it, see `rasp.base.input_text`; or as it is.

    >>> read_given("hello"), read_given("[1, 2]"), read_given("[1, 2]", as_text=True)
    ('hello', [1, 2], '[1, 2]')
    """
    as_sent(text, "the input")
    try:
        return text if as_text else read_tokens(text)
    except RaspError as error:
        error.hint = f"{error.hint}; or use `--text`, which takes the input as it is"
        raise


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
