"""`rasp eval FILE NAME INPUT…`: apply a program's s-ops, or a compiled model, to inputs."""

from __future__ import annotations

import argparse
from typing import Any

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.eval_answers import find_answers
from rasp.apps.cli.input_lines import answer_inputs
from rasp.apps.cli.prose import print_json_line, tell
from rasp.base.atoms import plain_lists, read_input, show_input
from rasp.base.limits import DEFAULT_LIMITS, Limits
from rasp.language.meaning.show import show_values


def configure(parser: CommandParser) -> None:
    parser.take_program_or_model()
    parser.take("name", "the s-op or selector to apply; several with commas or blanks between")
    parser.take_inputs()
    parser.take_json("one JSON value a line")
    parser.flag("--explain-plan", "say how long inputs are computed, and why")
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    answering = find_answers(arguments)
    if arguments.explain_plan:
        tell(answering.plan())
        return 0

    def write(answer: dict[str, list[Any]], given: object) -> None:
        print_answer(answer, given, arguments.json, arguments.limits)

    return answer_inputs(arguments, answering.answers, write)


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
