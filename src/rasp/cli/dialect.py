"""`rasp dialect FILE NAME`, or `rasp dialect --regex '(ab)*'`: which dialects, and why."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rasp.cli.files import find_handles, run_program
from rasp.cli.parser import PROGRAM, CommandParser
from rasp.cli.patience import working
from rasp.cli.prose import print_json, tell
from rasp.dialect.algebra import Classes, classes
from rasp.dialect.automaton import Automaton
from rasp.dialect.automaton_in_c_rasp import c_rasp_of
from rasp.dialect.forecast import Forecast
from rasp.dialect.regular_expression import automaton_of
from rasp.dialect.verdicts import dialects, show_text
from rasp.errors import RaspValueError
from rasp.frontend.loader import read_source


def configure(parser: CommandParser) -> None:
    parser.add_argument("file", nargs="?", help=PROGRAM)
    parser.add_argument("name", nargs="?", help="the s-op to ask about")
    parser.add_argument(
        "--regex", help="ask about the language of a regular expression instead (default: no)"
    )
    parser.add_argument(
        "--automaton", metavar="FILE",
        help='or of an automaton: JSON such as {"alphabet": "ab", "moves": [[1, 0], [1, 1]], '
        '"accepting": [1]}; state 0 is the first (default: no)',
    )  # fmt: skip
    parser.take_alphabet("the tokens (default: what the program or the expression knows)")
    parser.flag("--text", "print the C-RASP and B-RASP texts too")
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
    handles = find_handles(run_program(arguments), arguments.name)
    with working("reading the program in each dialect", handles[0].limits):
        found = dialects(handles, arguments.alphabet)
    if arguments.json:
        print_json(found.as_dict())
        return 0
    tell(found)
    if arguments.text:
        for standing in found.standings:
            if standing.text:
                print(f"\n{show_text(standing)}")
    return 0


def _language(arguments: argparse.Namespace) -> int:
    automaton = _automaton(arguments)
    found = classes(automaton)
    text = c_rasp_of(found.decomposition) if found.c_rasp.holds else ""
    expected = Forecast(found.c_rasp.holds)
    if arguments.json:
        print_json(found.as_dict() | {"forecast": str(expected), "text": text})
        return 0
    _print_language(found)
    tell(f"\n{expected}")
    if arguments.text and text:
        print("\nthe language in C-RASP; `accept` holds at the last position:")
        print("\n".join(f"  {line}" for line in text.splitlines()))
    return 0


def _print_language(found: Classes) -> None:
    tell(f"minimal automaton: {found.automaton}\n")
    tell(found)


def _automaton(arguments: argparse.Namespace) -> Automaton:
    if arguments.regex is not None:
        letters = "".join(map(str, _letters(arguments.alphabet)))
        return automaton_of(arguments.regex, letters)
    source = read_source(arguments.automaton, arguments.limits)
    try:
        return _read_automaton(json.loads(source.text))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        raise RaspValueError(
            f"`{arguments.automaton}` is no automaton",
            hint='it is JSON: {"alphabet": "ab", "moves": [[1, 0], [1, 1]], "accepting": [1]}',
        ) from None


def _letters(alphabet: Any) -> list[Any]:
    from rasp.token_lists import read_alphabet

    return [] if alphabet is None else list(read_alphabet(alphabet))


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
