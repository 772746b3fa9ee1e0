"""`rasp lsp`: the language server; editors start it and write to its standard input."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from rasp.apps.cli.arguments import CommandParser
from rasp.base.errors import RaspUnsupportedError


def configure(parser: CommandParser) -> None:
    parser.flag("--stdio", "talk over standard input and output (it always does)")


def run(arguments: argparse.Namespace) -> int:
    if find_spec("pygls") is None:
        raise RaspUnsupportedError(
            "the language server needs the extra `lsp`",
            hint='install it with: pip install "rasp-lang[lsp]"',
        )
    from rasp.apps.lsp.language_server import serve

    serve()
    return 0
