"""`rasp diff A NAME B NAME`: are two programs the same? Exit code 0 same, 1 different, 2 error."""

from __future__ import annotations

import argparse
from dataclasses import replace

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.patience import ProgressLine, bar
from rasp.apps.cli.program_files import find_handle, loader, read_program
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.limits import Limits, within_seconds
from rasp.insight.equivalence import equivalent
from rasp.insight.equivalence.compare import RANDOM_INPUTS, RANDOM_LENGTH
from rasp.language.meaning.session import Session, deep_recursion
from rasp.language.syntax import parse
from rasp.language.syntax.tree import Evaluate

PATIENCE = 0.5
"""Seconds before a progress bar is worth showing."""


def configure(parser: CommandParser) -> None:
    parser.take("file", "the first program; `-` reads standard input", metavar="A")
    parser.take("name", "its s-op or selector", metavar="NAME")
    parser.take("other_file", "the second program", metavar="B")
    parser.take("other_name", "its s-op or selector", metavar="NAME")
    parser.take_alphabet("tokens to try (default: what the programs know)")
    every = "try all inputs up to this length (default: as many as are quick)"
    parser.take("--max-length", every, int)
    parser.take("--random", "how many longer inputs to try", int, default=RANDOM_INPUTS)
    parser.take("--random-length", "the greatest length of these", int, default=RANDOM_LENGTH)
    first = "a token that every input begins with, and is not compared (default: none)"
    parser.take("--bos", first)
    parser.flag("--kinds", "let 2 and 2.0, or 1 and True, differ")
    parser.take("--seed", "of the random inputs", int, default=0)
    parser.take_json("print the verdict as JSON")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    paths = (arguments.file, arguments.other_file)
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
    return 0 if verdict.same else 1


def _defined(arguments: argparse.Namespace, limits: Limits, path: str, other: str) -> Session:
    """Run a program's definitions; its examples may well fail, if it is the one that is wrong."""
    session = Session(limits, replace(loader(arguments), compared_with=other))
    with deep_recursion():
        for statement in parse(read_program(path, limits), limits):
            if not isinstance(statement, Evaluate):
                session.execute(statement)
    return session
