"""`rasp verify DIR`: check a compiled model again, from its files alone."""

from __future__ import annotations

import argparse

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.patience import working
from rasp.apps.cli.prose import report

TESTED = 3
"""The exit code for a model that was run or tested, and is not proved."""


def configure(parser: CommandParser) -> None:
    parser.take("folder", "what `rasp compile -o` wrote", metavar="DIR")
    parser.take_seed("the inputs that it is run on (default: a new one)")
    parser.take_json("the certificate")


def run(arguments: argparse.Namespace) -> int:
    from rasp.models.compiler import verify

    with working("verifying"):
        certificate = verify(arguments.folder, arguments.seed)
    report(certificate, certificate.to_json, arguments.json)
    return {"proved": 0, "none": 1}.get(certificate.trust, TESTED)
