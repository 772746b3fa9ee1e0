"""`rasp play [FILE]`: the playground, RASP in the browser, served on this machine alone."""

from __future__ import annotations

import argparse
import os
import webbrowser
from importlib.util import find_spec

from rasp.errors import RaspUnsupportedError, RaspValueError
from rasp.frontend.loader import read_source

LAST_PORT = 65535


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", help="a program to begin with (default: an example)")
    parser.add_argument(
        "--port", type=int, default=0, help="where to listen; 0 takes any free port"
    )
    parser.add_argument("--host", default="127.0.0.1", help="which address to listen on")
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        help="another name this server is reached by (default: none)",
    )
    parser.add_argument("--no-browser", action="store_true", help="open no page, print its address")


def run(arguments: argparse.Namespace) -> int:
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise RaspUnsupportedError(
            "the playground needs the extra `play`",
            hint='install it with: pip install "rasp-lang[play]"',
        )
    if not 0 <= arguments.port <= LAST_PORT:
        raise RaspValueError(
            f"there is no port {arguments.port}",
            hint=f"a port is a number up to {LAST_PORT}; leave it out for any free one",
        )
    from rasp.playground.server import Start, serve

    start = Start()
    if arguments.file is not None:
        start = Start(os.path.basename(arguments.file), read_source(arguments.file).text)

    def tell(address: str) -> None:
        print(f"RASP's playground is at {address} (Ctrl-C ends it)", flush=True)
        if not arguments.no_browser:
            webbrowser.open(address)

    try:
        serve(start, arguments.host, arguments.port, tuple(arguments.name), tell)
    except OSError as error:
        raise RaspValueError(
            f"cannot listen on {arguments.host}, port {arguments.port}: "
            f"{(error.strerror or str(error)).lower()}",
            hint="choose another with --port, or leave it out",
        ) from None
    return 0
