"""`rasp verify DIR`: check a compiled model again, from its files alone."""

from __future__ import annotations

import argparse

from rasp.cli.parser import CommandParser
from rasp.cli.patience import working
from rasp.cli.prose import print_json, tell


def configure(parser: CommandParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="what `rasp compile -o` wrote")
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="of the random inputs, to repeat a run (default: a new one)",
    )
    parser.take_json("the certificate as JSON")


def run(arguments: argparse.Namespace) -> int:
    from rasp.compiler import verify

    with working("verifying"):
        certificate = verify(arguments.folder, arguments.seed)
    if arguments.json:
        print_json(certificate.to_json())
    else:
        tell(certificate)
    return 0 if certificate.exact else 1
