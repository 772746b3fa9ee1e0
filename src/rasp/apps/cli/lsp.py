"""`rasp lsp`: the language server; editors start it and write to its standard input."""

from __future__ import annotations

import argparse

from rasp.apps.cli.arguments import CommandParser
from rasp.base.installing import require


def configure(parser: CommandParser) -> None:
    parser.flag("--stdio", "talk over standard input and output (it always does)")


def run(arguments: argparse.Namespace) -> int:
    require(("pygls",), "lsp", "the language server")
    from rasp.apps.lsp.language_server import serve

    serve()
    return 0
