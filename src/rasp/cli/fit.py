"""`rasp fit FILE NAME …`: does an s-op fit into an architecture? Exit code 0: yes; 1: no."""

from __future__ import annotations

import argparse
import json

from rasp.architecture.fit import fit
from rasp.architecture.patterns import known_patterns
from rasp.cli.files import find_handle, read_given, run_program, take_limits


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the program; `-` reads standard input")
    parser.add_argument("name", help="the s-op or selector to ask about")
    parser.add_argument("--layers", type=int, help="how many layers there are")
    parser.add_argument("--heads", type=int, help="how many heads each layer has")
    parser.add_argument("--order", help="sublayers in order, `s` attention, `f` feed-forward: sfsf")
    parser.add_argument("--attention", help=f"what heads may look at: {known_patterns()}")
    parser.add_argument("--alphabet", help="tokens to try patterns on: letters, or a JSON list")
    parser.add_argument("--json", action="store_true", help="everything as one JSON value")
    take_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    handle = find_handle(run_program(arguments.file, arguments.limits), arguments.name)
    alphabet = None if arguments.alphabet is None else read_given(arguments.alphabet)
    found = fit(
        handle,
        layers=arguments.layers,
        heads=arguments.heads,
        order=arguments.order,
        attention=arguments.attention,
        alphabet=alphabet,
    )
    if arguments.json:
        print(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        print(found)
    return 0 if found else 1
