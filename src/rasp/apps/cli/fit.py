"""`rasp fit FILE NAME …`: does an s-op fit into an architecture? Exit code 0: yes; 1: no."""

from __future__ import annotations

import argparse

from rasp.apps.cli.arguments import CommandParser, options
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import find_handles, run_program
from rasp.apps.cli.prose import report
from rasp.insight.schedule.fitting import fit
from rasp.insight.schedule.patterns import known_patterns


def configure(parser: CommandParser) -> None:
    parser.take_program(several=True)
    parser.take("--layers", "how many layers: exactly these (default: any)", int)
    parser.take("--heads", "how many heads a layer has: at most these (default: any)", int)
    parser.take(
        "--order", "sublayers in order, `s` attention, `f` feed-forward: sfsf (default: any)"
    )
    parser.take("--attention", f"what heads may look at: {known_patterns()} (default: everything)")
    parser.take_alphabet("what the program knows")
    parser.take_json()
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    session = run_program(arguments)
    handles = list(find_handles(session, arguments.name).values())
    with working("fitting", session.rest()):
        asked = options(arguments, "layers heads order attention alphabet")
        answer = fit(handles, **asked)
    report(answer, answer.as_dict, arguments.json)
    return 0 if answer else 1
