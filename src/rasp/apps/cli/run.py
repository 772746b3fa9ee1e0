"""`rasp run FILE`: run a program and print what the REPL would."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from rasp.apps.cli.arguments import PROGRAM, CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import new_session, read_program
from rasp.language.meaning.builtins import DrawRequest
from rasp.language.meaning.session import Result
from rasp.language.meaning.show import show_result
from rasp.language.syntax.tree import Command


def configure(parser: CommandParser) -> None:
    parser.take("file", PROGRAM)
    parser.flag("--quiet", "run it, print only drawings and errors")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    session = new_session(arguments)
    results = session.run_each(read_program(arguments.file, arguments.limits))
    while (result := _next(results)) is not None:
        while session.warnings:
            warning = session.warnings.pop(0)
            print(f"warning: {warning.message} ({warning.span})", file=sys.stderr)
        if isinstance(result.statement, Command) and result.statement.words[0] in ("exit", "quit"):
            return 0
        if isinstance(result.value, DrawRequest):
            from rasp.insight.drawing import draw

            shown = list(result.value.tokens)
            print(draw(result.value.node, shown, result.program, limits=session.rest()))
        text = show_result(result, session)
        if text and not arguments.quiet:
            print(text)
    return 0


def _next(results: Iterator[Result]) -> Result | None:
    """Run the next statement; None where there is no more."""
    with working("running"):
        return next(results, None)
