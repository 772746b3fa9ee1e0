"""One meaning for each flag, whichever command takes it, and one way to say where output goes."""

from __future__ import annotations

import argparse
import importlib
import re
from collections import defaultdict

import pytest

from rasp.apps.cli import COMMANDS
from rasp.apps.cli.arguments import CommandParser

WITHOUT_RESULT = {"draw", "fmt", "train", "reproduce", "play", "completion", "lsp"}
"""Commands that draw, write, train or serve."""
SEVERAL_OUTPUTS = {"train", "grade", "testbed", "prove"}
"""Commands that write more than one thing, each named for what it is."""

READ_FROM = {"load_from", "automaton", "adapter", "program", "using", "like", "function"}
"""Options that name what a command reads."""


def options_of(command: str) -> list[argparse.Action]:
    parser = CommandParser(prog=f"rasp {command}", description="")
    importlib.import_module(f"rasp.apps.cli.{command}").configure(parser)
    return [action for action in parser._actions if action.option_strings]


def meaning(action: argparse.Action) -> str:
    """What a flag means, before what it means for one command: that follows `:`, `;` or `(`."""
    return re.split(r"[:;(]", action.help or "")[0].strip()


def test_a_flag_means_one_thing() -> None:
    meanings: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for command in COMMANDS:
        for action in options_of(command):
            for flag in action.option_strings:
                meanings[flag][f"{action.dest}: {meaning(action)}"].append(command)
    several = {flag: dict(told) for flag, told in meanings.items() if len(told) > 1}
    assert not several, "say what a flag does in the same words everywhere, or rename it"


def test_a_thing_has_one_flag() -> None:
    flags: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for command in COMMANDS:
        for action in options_of(command):
            flags[action.dest].add(tuple(action.option_strings))
    assert not {what: names for what, names in flags.items() if len(names) > 1}


@pytest.mark.parametrize("command", sorted({*COMMANDS} - WITHOUT_RESULT))
def test_a_result_can_be_had_as_json(command: str) -> None:
    assert "--json" in [flag for action in options_of(command) for flag in action.option_strings]


@pytest.mark.parametrize("command", sorted({*COMMANDS} - SEVERAL_OUTPUTS))
def test_output_goes_where_o_says(command: str) -> None:
    for action in options_of(command):
        if re.search(r"\bFILE\b|\bDIR\b|\bOUT\b", str(action.metavar)) and action.dest != "output":
            assert action.dest in READ_FROM, action.option_strings
