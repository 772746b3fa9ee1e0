"""`rasp fit FILE NAME …`: does an s-op fit into an architecture? Exit code 0: yes; 1: no."""

from __future__ import annotations

import argparse

from rasp.architecture.fit import fit
from rasp.architecture.patterns import known_patterns
from rasp.cli.files import find_handles, run_program
from rasp.cli.parser import CommandParser
from rasp.cli.patience import working
from rasp.cli.prose import print_json, tell


def configure(parser: CommandParser) -> None:
    parser.take_program(several=True)
    parser.add_argument("--layers", type=int, help="how many layers there are (default: any)")
    parser.add_argument("--heads", type=int, help="how many heads each layer has (default: any)")
    parser.add_argument(
        "--order", help="sublayers in order, `s` attention, `f` feed-forward: sfsf (default: any)"
    )
    parser.add_argument(
        "--attention", help=f"what heads may look at: {known_patterns()} (default: everything)"
    )
    parser.take_alphabet("tokens to try patterns on (default: what the program knows)")
    parser.take_json()
    parser.take_running()


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
        print_json(found.as_dict())
    else:
        tell(found)
    return 0 if found else 1
