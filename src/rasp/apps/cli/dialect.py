"""`rasp dialect FILE NAME`, or `rasp dialect --regex '(ab)*'`: which dialects, and why."""

from __future__ import annotations

import argparse
import json
from textwrap import indent
from typing import Any

from rasp.apps.cli.arguments import PROGRAM, CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import find_handles, run_program
from rasp.apps.cli.prose import report
from rasp.base.errors import RaspValueError
from rasp.base.input_text import read_alphabet
from rasp.insight.dialect.automaton import Automaton
from rasp.insight.dialect.automaton_in_c_rasp import c_rasp_of
from rasp.insight.dialect.dialect_verdicts import dialects
from rasp.insight.dialect.language_classes import classes, forecast
from rasp.insight.dialect.regular_expression import automaton_of
from rasp.language.meaning.loader import read_source

EXAMPLE = '{"alphabet": "ab", "moves": [[1, 0], [1, 1]], "accepting": [1]}'


def configure(parser: CommandParser) -> None:
    parser.take("file", PROGRAM, nargs="?")
    parser.take("name", "the s-op to ask about", nargs="?")
    parser.take(
        "--regex", "a regular expression instead of a program: its language (default: none)"
    )
    parser.take("--automaton", f"an automaton instead of a program: JSON such as {EXAMPLE}; state "
                "0 is the first (default: none)", metavar="FILE")  # fmt: skip
    parser.take_alphabet("what the program or the expression knows")
    parser.flag("--translate", "print the texts in C-RASP and B-RASP too")
    parser.take_json()
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    asked = [arguments.regex, arguments.automaton, arguments.file]
    if sum(one is not None for one in asked) != 1 or (arguments.file and not arguments.name):
        raise RaspValueError(
            "give one thing to ask about: a program and a name, `--regex` or `--automaton`",
            hint="`rasp dialect FILE NAME`, or `rasp dialect --regex '(ab)*'`",
        )
    return _language(arguments) if arguments.file is None else _program(arguments)


def _program(arguments: argparse.Namespace) -> int:
    session = run_program(arguments)
    handles = list(find_handles(session, arguments.name).values())
    with working("reading the program in each dialect", session.rest()):
        answer = dialects(handles, arguments.alphabet)
    report(answer, answer.as_dict, arguments.json)
    for standing in answer.standings if arguments.translate and not arguments.json else ():
        if standing.text:
            print(f"\nthe same in {standing.dialect}:\n{indent(standing.text, '  ')}")
    return 0


def _language(arguments: argparse.Namespace) -> int:
    automaton = automaton_asked_for(arguments)
    decided = classes(automaton)
    text = c_rasp_of(decided.decomposition) if decided.c_rasp.holds else ""
    expected = forecast(decided.c_rasp.holds)
    report(
        f"minimal automaton: {decided.automaton}\n\n{decided}\n\n{expected}",
        lambda: decided.as_dict() | {"forecast": expected, "text": text},
        arguments.json,
    )
    if text and arguments.translate and not arguments.json:
        print("\nthe language in C-RASP; `accept` holds at the last position:")
        print(indent(text, "  "))
    return 0


def automaton_asked_for(arguments: argparse.Namespace) -> Automaton:
    """The automaton of `--regex` or `--automaton`."""
    if arguments.regex is not None:
        letters = [] if arguments.alphabet is None else read_alphabet(arguments.alphabet)
        return automaton_of(arguments.regex, "".join(map(str, letters)))
    source = read_source(arguments.automaton, arguments.limits)
    try:
        return _read_automaton(json.loads(source.text))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        raise RaspValueError(
            f"`{arguments.automaton}` is not an automaton",
            hint=f"it is JSON: {EXAMPLE}",
        ) from None


def _read_automaton(data: Any) -> Automaton:
    alphabet, states = tuple(data["alphabet"]), len(data["moves"])
    moves = tuple(tuple(int(state) for state in row) for row in data["moves"])
    accepting = frozenset(int(state) for state in data["accepting"])
    every = [*accepting, *(state for row in moves for state in row)]
    if (
        not states
        or len(set(alphabet)) != len(alphabet)
        or any(len(row) != len(alphabet) for row in moves)
        or not all(0 <= state < states for state in every)
        or not all(isinstance(letter, str | int | float) for letter in alphabet)
    ):
        raise ValueError
    return Automaton(alphabet, moves, accepting).minimal()
