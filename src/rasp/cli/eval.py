"""`rasp eval FILE NAME INPUT…`: apply a program's s-ops, or a compiled model, to inputs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from rasp.atoms import plain_lists, read_input, show_input
from rasp.cli.answering import find_answers
from rasp.cli.lines import answer_inputs
from rasp.cli.parser import CommandParser
from rasp.cli.prose import print_json_line, tell
from rasp.frontend.show import show_scores, show_selection, show_sequence
from rasp.limits import Limits


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
        _print(arguments, answer, given)

    return answer_inputs(arguments, answering.answers, write)


def _print(arguments: argparse.Namespace, answer: dict[str, list[Any]], given: object) -> None:
    if arguments.json:
        named = {name: plain_lists(values) for name, values in answer.items()}
        alone = named if len(named) > 1 else next(iter(named.values()))
        print_json_line(alone)
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
