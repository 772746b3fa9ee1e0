"""`rasp diff A NAME B NAME`: are two programs the same? Exit code 0 same, 1 different, 2 error."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from rasp.cli.files import find_handle, loader, read_program
from rasp.cli.parser import CommandParser
from rasp.cli.patience import ProgressLine, bar
from rasp.cli.prose import tell
from rasp.equivalence import equivalent
from rasp.equivalence.compare import RANDOM_INPUTS, RANDOM_LENGTH
from rasp.frontend.session import Session, deep_recursion
from rasp.limits import Limits, within_seconds
from rasp.syntax import parse
from rasp.syntax.tree import Evaluate

PATIENCE = 0.5
"""Seconds before a progress bar is worth showing."""


def configure(parser: CommandParser) -> None:
    parser.add_argument("file", metavar="A", help="the first program; `-` reads standard input")
    parser.add_argument("name", metavar="NAME", help="its s-op or selector")
    parser.add_argument("other_file", metavar="B", help="the second program")
    parser.add_argument("other_name", metavar="NAME", help="its s-op or selector")
    parser.take_alphabet("tokens to try (default: what the programs know)")
    parser.add_argument(
        "--max-length", type=int,
        help="try all inputs up to this length (default: as many as are quick)",
    )  # fmt: skip
    parser.add_argument(
        "--random", type=int, default=RANDOM_INPUTS, help="how many longer inputs to try"
    )
    parser.add_argument(
        "--random-length", type=int, default=RANDOM_LENGTH, help="the greatest length of these"
    )
    parser.add_argument("--bos", help="a token that every input begins with, and is not compared "
                        "(default: none)")  # fmt: skip
    parser.flag("--kinds", "let 2 and 2.0, or 1 and True, differ")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs")
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
            alphabet=arguments.alphabet,
            max_length=arguments.max_length,
            random=arguments.random,
            random_length=arguments.random_length,
            bos=arguments.bos,
            kinds=arguments.kinds,
            seed=arguments.seed,
            progress=lambda done, total: line.show(
                lambda: f"{bar(done / max(1, total))} {done:,} of {total:,} inputs"
            ),
        )
    if arguments.json:
        print(json.dumps(verdict.as_dict(), ensure_ascii=False))
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
