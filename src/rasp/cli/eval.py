"""`rasp eval FILE NAME INPUT…`: apply a program's s-ops or selectors to inputs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from rasp.atoms import read_input, show_input
from rasp.cli.files import find_handle, read_given, read_json_line, run_program, take_limits
from rasp.evaluator import evaluate_each, explain_plan
from rasp.frontend.handles import Handle, plain_lists
from rasp.frontend.show import show_selection, show_sequence
from rasp.graph import SOp


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the program; `-` reads standard input")
    parser.add_argument("name", help="the s-op or selector to apply; several with commas between")
    parser.add_argument(
        "input", nargs="*", help="text, or a JSON list; `-`, or none, reads one a line"
    )
    parser.add_argument("--json", action="store_true", help="one JSON value a line")
    parser.add_argument("--text", action="store_true", help="take inputs as text, even `[1, 2]`")
    parser.add_argument(
        "--explain-plan", action="store_true", help="say how long inputs are computed, and why"
    )
    take_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    session = run_program(arguments.file, arguments.limits)
    handles = {name: find_handle(session, name) for name in arguments.name.split(",")}
    if arguments.explain_plan:
        print(explain_plan([handle.node for handle in handles.values()], session.program))
        return 0
    if not arguments.input and sys.stdin.isatty():
        print("no input was given: type one a line; Ctrl-D ends it", file=sys.stderr)
    for text in arguments.input or ["-"]:
        if text == "-":
            _evaluate_lines(arguments, handles)
        else:
            _evaluate(arguments, handles, [read_given(text, arguments.text)], 0)
    return 0


def _evaluate_lines(arguments: argparse.Namespace, handles: dict[str, Handle]) -> None:
    """Evaluate standard input, a line each, as fast as it comes."""
    from rasp.cli.streams import Progress, waiting  # threads are not for inputs given as words

    progress = Progress(sys.stdin)
    lines = progress.counting(sys.stdin)
    done = 0
    try:
        texts = (line for line in lines if line.strip())
        for chunk in waiting(read_json_line(line, arguments.text) for line in texts):
            _evaluate(arguments, handles, chunk, done)
            done += len(chunk)
            progress.advance(len(chunk))
    finally:
        progress.finish()


def _evaluate(
    arguments: argparse.Namespace, handles: dict[str, Handle], inputs: list[Any], start: int
) -> None:
    nodes = [handle.node for handle in handles.values()]
    program = next(iter(handles.values())).program
    every = evaluate_each(nodes, inputs, program, arguments.limits, start)
    for given, values in zip(inputs, every, strict=True):
        found = {name: values[handle.node] for name, handle in handles.items()}
        if arguments.json:
            print(_json(found))
        else:
            print("\n".join(_shown(found, handles, given)))
    sys.stdout.flush()


def _json(found: dict[str, list[Any]]) -> str:
    """The values of one input: alone, or by name where several were asked for."""
    named = {name: plain_lists(values) for name, values in found.items()}
    return json.dumps(named if len(named) > 1 else next(iter(named.values())), ensure_ascii=False)


def _shown(found: dict[str, list[Any]], handles: dict[str, Handle], given: object) -> Iterator[str]:
    tokens = read_input(given, next(iter(handles.values())).budgets)
    for name, values in found.items():
        called = f"{name}({show_input(tokens)})"
        if isinstance(handles[name].node, SOp):
            yield f"{called} = {show_sequence(values, full=True)}"
        else:
            yield f"{called}\n{show_selection(values, tokens, full=True)}"
