"""`rasp play [FILE]`: the playground, RASP in the browser, for yourself or for a class."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import sys
import webbrowser

from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.program_files import read_program
from rasp.base.errors import RaspValueError
from rasp.base.installing import require

LAST_PORT = 65535


def configure(parser: CommandParser) -> None:
    parser.take("file", "a program to begin with (default: an example)", nargs="?")
    parser.take("--port", "where to listen; 0 takes any free port", int, default=0)
    host = "which address to listen on; 0.0.0.0 lets others on the network in"
    parser.take("--host", host, default="127.0.0.1")
    name = "another name this server is reached by (default: none)"
    parser.take("--server-name", name, action="append", default=[])
    parser.take("--token", "the word that the address ends in (default: a random one)")
    parser.flag("--no-token", "let in whoever reaches the address, without one")
    parser.flag("--no-browser", "open no page, print its address")


def read_token(given: str | None) -> str:
    """Return the token that was asked for, or a random one.

    >>> read_token("lesson-3"), len(read_token(None)) > 20
    ('lesson-3', True)
    """
    if given is None:
        return secrets.token_urlsafe(18)
    if not re.fullmatch(r"[A-Za-z0-9_-]{4,100}", given):
        raise RaspValueError(
            f"`{given}` is not a token",
            hint="take 4 to 100 letters, digits, `-` and `_`; others can guess a short one",
        )
    return given


def warnings(host: str, token: str) -> list[str]:
    """What somebody should know who lets others in."""
    is_local = host in ("localhost", "::1") or host.startswith("127.")
    if is_local and token:
        return []
    if is_local:
        return ["without a token, every user of this machine can read and run programs here"]
    who = "everybody who has the address below" if token else "everybody who reaches this machine"
    return [f"{who} can run programs on this machine, within the playground's limits; "
            "what they type is sent unencrypted"]  # fmt: skip


def _refuse(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be served before anything is started."""
    require(("starlette", "hypercorn"), "play", "the playground")
    if not 0 <= arguments.port <= LAST_PORT:
        raise RaspValueError(
            f"there is no port {arguments.port}",
            hint=f"a port is a number up to {LAST_PORT}; leave it out for any free one",
        )


def run(arguments: argparse.Namespace) -> int:
    _refuse(arguments)
    from rasp.apps.playground.server import Start, serve, without_editor

    if note := without_editor():
        print(f"note: {note}", file=sys.stderr)
    start = Start()
    if arguments.file is not None:
        start = Start(os.path.basename(arguments.file), read_program(arguments.file).text)

    token = "" if arguments.no_token else read_token(arguments.token)

    def tell(address: str, once: str) -> None:
        for line in warnings(arguments.host, token):
            print(f"warning: {line}", file=sys.stderr)
        print(f"RASP's playground is at {address} (Ctrl-C ends it)", flush=True)
        if not arguments.no_browser:
            webbrowser.open(once)

    try:
        serve(start, arguments.host, arguments.port, tuple(arguments.server_name), tell, token)
    except OSError as error:
        raise RaspValueError(
            f"cannot listen on {arguments.host}, port {arguments.port}: "
            f"{(error.strerror or str(error)).lower()}",
            hint="choose another with --port, or leave it out",
        ) from None
    return 0
