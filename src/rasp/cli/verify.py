"""`rasp verify DIR`: check a compiled model again, from its files alone."""

from __future__ import annotations

import argparse
import json

from rasp.cli.patience import working
from rasp.cli.prose import tell


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="what `rasp compile -o` wrote")
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="of the random inputs, to repeat a run (default: a new one)",
    )
    parser.add_argument("--json", action="store_true", help="the certificate as JSON")


def run(arguments: argparse.Namespace) -> int:
    from rasp.compiler import verify

    with working("verifying"):
        certificate = verify(arguments.folder, arguments.seed)
    if arguments.json:
        print(json.dumps(certificate.to_json(), ensure_ascii=False, indent=1))
    else:
        tell(certificate)
    return 0 if certificate.exact else 1
