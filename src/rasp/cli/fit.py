"""`rasp fit FILE NAME …`: does an s-op fit into an architecture? Exit code 0: yes; 1: no."""

from __future__ import annotations

import argparse
import json

from rasp.architecture.fit import fit
from rasp.architecture.patterns import known_patterns
from rasp.cli.files import find_handles, run_program, take_alphabet, take_running
from rasp.cli.patience import working
from rasp.cli.prose import tell


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the program; `-` reads standard input")
    parser.add_argument(
        "name", nargs="+", help="the s-op or selector; several with commas or blanks between"
    )
    parser.add_argument("--layers", type=int, help="how many layers there are (default: any)")
    parser.add_argument("--heads", type=int, help="how many heads each layer has (default: any)")
    parser.add_argument(
        "--order", help="sublayers in order, `s` attention, `f` feed-forward: sfsf (default: any)"
    )
    parser.add_argument(
        "--attention", help=f"what heads may look at: {known_patterns()} (default: everything)"
    )
    take_alphabet(parser, "tokens to try patterns on (default: what the program knows)")
    parser.add_argument("--json", action="store_true", help="everything as one JSON value")
    take_running(parser)


def run(arguments: argparse.Namespace) -> int:
    handles = find_handles(run_program(arguments), arguments.name)
    with working("fitting", handles[0].limits):
        found = fit(
            handles,
            layers=arguments.layers,
            heads=arguments.heads,
            order=arguments.order,
            attention=arguments.attention,
            alphabet=arguments.alphabet,
        )
    if arguments.json:
        print(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        tell(found)
    return 0 if found else 1
