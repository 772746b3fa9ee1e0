"""`rasp lsp`: the language server; editors start it and write to its standard input."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from rasp.errors import RaspUnsupportedError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="talk over standard input and output (it always does)"
    )


def run(arguments: argparse.Namespace) -> int:
    if find_spec("pygls") is None:
        raise RaspUnsupportedError(
            "the language server needs the extra `lsp`",
            hint='install it with: pip install "rasp-lang[lsp]"',
        )
    from rasp.lsp.server import serve

    serve()
    return 0
