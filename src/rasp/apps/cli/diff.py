"""`rasp diff A NAME B NAME`: are two programs the same? The exit code is the verdict."""

from __future__ import annotations

import argparse
from dataclasses import replace

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.program_files import find_handle, loader, read_program
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.errors import RaspValueError
from rasp.base.limits import Limits, within_seconds
from rasp.base.progress import ProgressLine, bar
from rasp.insight.equivalence import equivalent
from rasp.insight.equivalence.compare import RANDOM_INPUTS, RANDOM_LENGTH
from rasp.language.meaning.session import Session, deep_recursion
from rasp.language.syntax import parse
from rasp.language.syntax.tree import Evaluate

EXIT_CODES = {"proved": 0, "different": 1, "tested": 3}
"""What the command ends with; 2 where the programs could not be compared."""
PATIENCE = 0.5
"""Seconds before a progress bar is worth showing."""


def configure(parser: CommandParser) -> None:
    parser.epilog = (
        "exit code: 0 the same, proved on all inputs asked about; 1 different; "
        "2 not compared;\n3 the same on all inputs tested, which proves nothing about longer ones"
    )
    parser.take("file", "the first program; `-` reads standard input", metavar="A")
    parser.take("name", "its s-op or selector", metavar="NAME")
    parser.take("other_file", "the second program", metavar="B")
    parser.take("other_name", "its s-op or selector", metavar="NAME")
    parser.take_alphabet("what the programs know")
    parser.take_length("all up to it are tested (default: as many as are quick)")
    parser.take("--random", "how many longer inputs to test", int, default=RANDOM_INPUTS)
    parser.take("--random-length", "the greatest length of these", int, default=RANDOM_LENGTH)
    parser.take_bos("it is not compared")
    parser.flag("--kinds", "let 2 and 2.0, or 1 and True, differ")
    parser.take_seed("the longer inputs", 0)
    parser.take_json("the verdict")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    paths = (arguments.file, arguments.other_file)
    if paths == ("-", "-"):
        raise RaspValueError(
            "two programs cannot both come from standard input", hint="name the file of one"
        )
    one = _defined(arguments, arguments.limits, *paths)
    other = _defined(arguments, one.rest(), *reversed(paths))
    first, second = find_handle(one, arguments.name), find_handle(other, arguments.other_name)
    with ProgressLine(PATIENCE, not arguments.json) as line, within_seconds(other.rest()):
        verdict = equivalent(
            first,
            second,
            **options(arguments, "alphabet max_length random random_length bos kinds seed"),
            progress=lambda done, total: line.show(
                lambda: f"{bar(done / max(1, total))} {done:,} of {total:,} inputs"
            ),
        )
    if arguments.json:
        print_json_line(verdict.as_dict())
    else:
        tell(verdict)
    return EXIT_CODES[verdict.verdict]


def _defined(arguments: argparse.Namespace, limits: Limits, path: str, other: str) -> Session:
    """Run a program's definitions; its examples may well fail, if it is the one that is wrong."""
    session = Session(limits, replace(loader(arguments), compared_with=other))
    with deep_recursion():
        for statement in parse(read_program(path, limits), limits):
            if not isinstance(statement, Evaluate):
                session.execute(statement)
    return session
