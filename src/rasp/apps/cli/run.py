"""`rasp run FILE`: run a program and print what the REPL would."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from rasp.apps.cli.arguments import PROGRAM, CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import new_session, read_program
from rasp.apps.cli.prose import print_json_line, tell
from rasp.apps.shown_results import show_result
from rasp.base.atoms import is_atom, kind_name, plain_lists
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.session import Result, Session
from rasp.language.syntax.tree import Command

KINDS_OF_ATOMS = ("bool", "int", "float", "string")


def configure(parser: CommandParser) -> None:
    parser.take("file", PROGRAM)
    parser.flag("--quiet", "run it, print only drawings and errors")
    parser.take_json("one object for each statement that gives something")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    session = new_session(arguments)
    results = session.run_each(read_program(arguments.file, arguments.limits))
    while (result := _next(results)) is not None:
        while session.warnings:
            tell(session.warnings.pop(0), sys.stderr)
        if isinstance(result.statement, Command) and result.statement.words[0] in ("exit", "quit"):
            return 0
        if arguments.json:
            if result.value is not None:
                print_json_line(record(result, session))
            continue
        if isinstance(result.value, DrawRequest):
            from rasp.insight.drawing import draw

            shown = list(result.value.tokens)
            print(draw(result.value.node, shown, result.program, limits=session.rest()))
        text = show_result(result, session)
        if text and not arguments.quiet:
            print(text)
    return 0


def record(result: Result, session: Session) -> dict[str, Any]:
    """Return what a statement did as JSON-able data; the rest is written as the prompt does."""
    value, line = result.value, result.statement.span.line
    kind = "drawing" if isinstance(value, DrawRequest) else kind_name(value)
    is_data = kind in KINDS_OF_ATOMS or (kind == "list" and _is_plain(value))
    shown = plain_lists([value])[0] if is_data else show_result(result, session)
    return {"line": line, "names": list(result.names), "kind": kind, "value": shown}


def _is_plain(value: Any) -> bool:
    """Tell atoms, and lists of these, from lists that hold anything else."""
    return all(map(_is_plain, value)) if isinstance(value, list) else is_atom(value)


def _next(results: Iterator[Result]) -> Result | None:
    """Run the next statement; None where there is no more."""
    with working("running"):
        return next(results, None)
