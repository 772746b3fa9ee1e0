"""`rasp eval FILE NAME INPUT…`: apply a program's s-ops, or a compiled model, to inputs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from rasp.atoms import plain_lists, read_input, show_input
from rasp.cli.answering import Answering, find_answers
from rasp.cli.files import read_given, take_running, take_text
from rasp.cli.lines import numbered_inputs, report_failures, report_line
from rasp.cli.patience import working
from rasp.cli.prose import tell
from rasp.errors import RaspError
from rasp.frontend.show import show_scores, show_selection, show_sequence
from rasp.limits import Limits
from rasp.token_lists import HELP


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", help="the program (`-` reads standard input), or a folder that `rasp compile` wrote"
    )
    parser.add_argument(
        "name", help="the s-op or selector to apply; several with commas or blanks between"
    )
    parser.add_argument(
        "input", nargs="*",
        help=f"{HELP}; `-`, or none, reads one a line from standard input, and goes on after a "
        "line that fails (the exit code is then 1)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="one JSON value a line")
    take_text(parser)
    parser.add_argument(
        "--explain-plan", action="store_true", help="say how long inputs are computed, and why"
    )
    take_running(parser)


def run(arguments: argparse.Namespace) -> int:
    answering = find_answers(arguments)
    if arguments.explain_plan:
        tell(answering.plan())
        return 0
    if not arguments.input and sys.stdin.isatty():
        print("no input was given: type one a line; Ctrl-D ends it", file=sys.stderr)
    failed = 0
    for text in arguments.input or ["-"]:
        if text == "-":
            failed += _answer_lines(arguments, answering)
            continue
        given = read_given(text, arguments.text)
        with working("computing"):
            [answer] = answering.answers([given])
        if isinstance(answer, RaspError):
            raise answer
        _print(arguments, answer, given)
    return 1 if failed else 0


def _answer_lines(arguments: argparse.Namespace, answering: Answering) -> int:
    """Answer standard input, a line each, as fast as it comes; return how many lines failed."""
    from rasp.cli.streams import Progress, waiting  # threads are not for inputs given as words

    progress = Progress(sys.stdin)
    lines = progress.counting(sys.stdin)
    total = failed = 0
    try:
        for chunk in waiting(numbered_inputs(lines, arguments.text)):
            readable = [given for _, given in chunk if not isinstance(given, RaspError)]
            answers = answering.answers(readable)
            for number, given in chunk:
                answer = given if isinstance(given, RaspError) else next(answers)
                if isinstance(answer, RaspError):
                    failed += 1
                    report_line(answer, number, arguments.json)
                else:
                    _print(arguments, answer, given)
            sys.stdout.flush()
            total += len(chunk)
            progress.advance(len(chunk))
    finally:
        progress.finish()
    report_failures(failed, total)
    return failed


def _print(arguments: argparse.Namespace, answer: dict[str, list[Any]], given: object) -> None:
    if arguments.json:
        named = {name: plain_lists(values) for name, values in answer.items()}
        alone = named if len(named) > 1 else next(iter(named.values()))
        print(json.dumps(alone, ensure_ascii=False))
    else:
        print("\n".join(_shown(answer, given, arguments.limits)))


def _shown(answer: dict[str, list[Any]], given: object, limits: Limits) -> Iterator[str]:
    tokens = read_input(given, limits)
    for name, values in answer.items():
        called = f"{name}({show_input(tokens)})"
        if not isinstance(values[0], list):
            yield f"{called} = {show_sequence(values, full=True)}"
        elif isinstance(values[0][0], bool):
            yield f"{called}\n{show_selection(values, tokens, full=True)}"
        else:
            yield f"{called}\n{show_scores(values, tokens)}"
