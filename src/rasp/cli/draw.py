"""`rasp draw FILE NAME INPUT`: draw how an s-op is computed, or what a selector picks."""

from __future__ import annotations

import argparse
import sys

from rasp.cli.files import find_handle, read_given, run_program, take_running, take_text
from rasp.cli.patience import working
from rasp.token_lists import HELP


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the program; `-` reads standard input")
    parser.add_argument("name", help="the s-op or selector to draw")
    parser.add_argument("input", help=f"the input to draw it on: {HELP}")
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="the picture: .svg, .html, .png, .pdf or .txt (default: the terminal)",
    )  # fmt: skip
    parser.add_argument(
        "--selector", action="store_true", help="one selection alone, not the whole flow"
    )
    parser.add_argument(
        "--theme", choices=("auto", "light", "dark"), default="auto", help="the colours"
    )
    take_text(parser)
    take_running(parser)


def run(arguments: argparse.Namespace) -> int:
    from rasp.drawing import draw, draw_selector

    handle = find_handle(run_program(arguments), arguments.name)
    given = read_given(arguments.input, arguments.text)
    make = draw_selector if arguments.selector else draw
    with working("drawing", arguments.limits):
        drawing = make(handle, given, theme=arguments.theme)
    if arguments.output is None:
        sys.stdout.write(drawing.text())
    else:
        print(f"wrote {drawing.save(arguments.output)}")
    return 0
