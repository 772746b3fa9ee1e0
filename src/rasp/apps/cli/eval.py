"""`rasp eval FILE NAME INPUT…`: apply a program's s-ops, or a compiled model, to inputs.

`rasp eval -e 'histf(tokens)' INPUT…` applies an expression.
"""

from __future__ import annotations

import argparse
from typing import Any

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.eval_answers import ModelAnswers, ProgramAnswers, find_answers
from rasp.apps.cli.input_lines import answer_inputs
from rasp.apps.cli.program_files import refuse_two_readers, run_expression
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.atoms import plain_lists, read_input, show_input
from rasp.base.errors import RaspValueError
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.language.meaning.shown_values import show_values


def configure(parser: CommandParser) -> None:
    parser.take_program_or_model(nargs="?")
    what = "the s-op or selector to apply; several with commas or blanks between"
    parser.take("name", what, nargs="?")
    text = "apply this instead of a program: 'histf(tokens)', or definitions and an expression"
    parser.take("-e --expression", f"{text} (default: none)", metavar="RASP")
    parser.take_inputs()
    parser.take_json("one value a line")
    parser.flag("--explain-plan", "say how long inputs are computed, and why")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    _sort_words(arguments)
    answering = _answering(arguments)
    if arguments.explain_plan:
        tell(answering.plan())
        return 0

    def write(answer: dict[str, list[Any]], given: object) -> None:
        print_answer(answer, given, arguments.json, arguments.limits)

    return answer_inputs(arguments, answering.answers, write)


def _answering(arguments: argparse.Namespace) -> ProgramAnswers | ModelAnswers:
    if arguments.expression is None:
        return find_answers(arguments)
    name, handle = run_expression(arguments)
    return ProgramAnswers({name: handle})


def _sort_words(arguments: argparse.Namespace) -> None:
    """Tell a program, a name and inputs apart; with `-e`, all words are inputs."""
    if arguments.expression is None:
        if arguments.name is None:
            raise RaspValueError(
                "give a program and the name of an s-op in it, or an expression",
                hint="`rasp eval FILE NAME INPUT…`, or `rasp eval -e 'histf(tokens)' hello`",
            )
        refuse_two_readers(arguments)
        return
    words = [word for word in (arguments.file, arguments.name) if word is not None]
    arguments.file = arguments.name = None
    arguments.input = [*words, *arguments.input]


def print_answer(
    answer: dict[str, list[Any]], given: object, as_json: bool, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Print values by name, for people or as a line of JSON."""
    if as_json:
        named = {name: plain_lists(values) for name, values in answer.items()}
        print_json_line(named if len(named) > 1 else next(iter(named.values())))
    else:
        tokens = read_input(given, limits)
        for name, values in answer.items():
            print(show_values(f"{name}({show_input(tokens)})", values, tokens, full=True))
