"""`rasp eval FILE NAME INPUT…`: apply a program's s-op or selector to inputs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from rasp.atoms import read_input, show_input
from rasp.cli.files import find_handle, read_given, read_json_line, run_program
from rasp.frontend.handles import plain_lists
from rasp.frontend.show import show_selection, show_sequence
from rasp.graph import SOp


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the program; `-` reads standard input")
    parser.add_argument("name", help="the s-op or selector to apply")
    parser.add_argument("input", nargs="*", help="text, or a JSON list; `-` reads one input a line")
    parser.add_argument("--json", action="store_true", help="one JSON value a line")
    parser.add_argument("--text", action="store_true", help="take inputs as text, even `[1, 2]`")


def run(arguments: argparse.Namespace) -> int:
    from rasp.evaluator import apply

    handle = find_handle(run_program(arguments.file), arguments.name)
    for given in _inputs(arguments):
        values = apply(handle.node, given, handle.program)
        if arguments.json:
            print(json.dumps(plain_lists(values), ensure_ascii=False), flush=True)
            continue
        tokens = read_input(given)
        called = f"{arguments.name}({show_input(tokens)})"
        if isinstance(handle.node, SOp):
            print(f"{called} = {show_sequence(values, full=True)}")
        else:
            print(f"{called}\n{show_selection(values, tokens, full=True)}")
    return 0


def _inputs(arguments: argparse.Namespace) -> Iterator[Any]:
    for text in arguments.input or ["-"]:
        if text == "-":
            yield from (read_json_line(line) for line in sys.stdin if line.strip())
        else:
            yield read_given(text, arguments.text)
