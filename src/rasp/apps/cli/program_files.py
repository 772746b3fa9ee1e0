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
from rasp.apps.cli.prose import tell
from rasp.base.atoms import describe
from rasp.base.errors import (
    RaspError,
    RaspNameError,
    RaspTypeError,
    RaspValueError,
    Rebinding,
)
from rasp.base.input_text import read_tokens
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.base.source import Source
from rasp.language.embedding.handles import Handle
from rasp.language.embedding.program_text import to_rasp
from rasp.language.graph import Node
from rasp.language.meaning.loader import Loader, read_source
from rasp.language.meaning.session import Session
from rasp.language.syntax.tree import Call, Evaluate, Expression, Index, Name
from rasp.teaching.gallery.gallery_files import gallery_program

MODEL = "model.json"
"""What the folder of a compiled model holds; the compiler itself is not imported for its name."""


def loader(arguments: argparse.Namespace) -> Loader:
    """Return what `load` may read in a command that was can be told so."""
    also = tuple(arguments.load_from)
    return Loader(enabled=not arguments.no_load, also=also, elsewhere=gallery_program)


def new_session(arguments: argparse.Namespace) -> Session:
    """Return a session that keeps to what a command was told."""
    return Session(arguments.limits, loader(arguments))


def programs_of(paths: list[str]) -> list[str]:
    """List the programs to go through: those that are named, and those in folders."""
    from rasp.teaching.testing.finding import find_programs  # loads much that `eval` does not need

    found: list[str] = []
    for path in paths:  # a compiled model is refused where it is read
        is_model = os.path.isfile(os.path.join(path, MODEL))
        found += [path] if is_model else find_programs([path])
    if not found:
        raise RaspValueError(
            f"there is no `.rasp` file in {' or '.join(f'`{path}`' for path in paths)}",
            hint="name a program, or a folder that holds some",
        )
    return list(dict.fromkeys(found))


def read_program(path: str, limits: Limits = DEFAULT_LIMITS) -> Source:
    """Read a program; `-` is standard input, `gallery:NAME` a program of the gallery."""
    if (source := gallery_program(path)) is not None:
        return source
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
    tell_warnings(session)
    return session


def run_expression(arguments: argparse.Namespace) -> tuple[str, Handle]:
    """Run the text of `-e`, and return what its last line computes, with the words for it."""
    session = new_session(arguments)
    results = list(session.run_each(Source("<expression>", arguments.expression), at_prompt=True))
    tell_warnings(session)
    last = results[-1] if results else None
    if last is None or not isinstance(last.value, Node):
        raise RaspTypeError(
            f"`{arguments.expression}` is "
            + ("not a program" if last is None else f"{describe(last.value)}, not an s-op"),
            hint="write an expression that can be applied to an input: `-e 'histf(tokens)'`",
        )
    written = last.statement
    name = _written(written.expression) if isinstance(written, Evaluate) else last.names[0]
    return name, Handle(last.value, last.program, limits=session.rest())


def _written(expression: Expression) -> str:
    """Write what is applied to an input, in brackets where it takes some."""
    text = expression.span.text
    return text if isinstance(expression, (Name, Call, Index)) else f"({text})"


def tell_warnings(session: Session) -> None:
    """Say on standard error what could be read otherwise; `rasp check` asks about the rest."""
    for warned in session.warnings:
        if not isinstance(warned, Rebinding):
            tell(warned, sys.stderr)


def refuse_two_readers(arguments: argparse.Namespace) -> None:
    """Refuse a program and inputs that would both come from standard input."""
    if arguments.file == "-" and (not arguments.input or "-" in arguments.input):
        raise RaspValueError(
            "the program and its inputs cannot both come from standard input",
            hint="name the program's file, or give the inputs as words",
        )


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
        error.hints += ("or use `--text`, which takes the input as it is",)
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
