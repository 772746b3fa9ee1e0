"""`rasp draw FILE NAME INPUT`: draw how an s-op is computed, or what a selector picks."""

from __future__ import annotations

import argparse
import sys

from rasp.cli.files import find_handle, read_given, run_program, take_limits


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the program; `-` reads standard input")
    parser.add_argument("name", help="the s-op or selector to draw")
    parser.add_argument("input", help="the input to draw it on: text, or a JSON list")
    parser.add_argument("-o", "--output", help="the picture: .svg, .html, .png, .pdf or .txt")
    parser.add_argument(
        "--selector", action="store_true", help="one selection alone, not the whole flow"
    )
    parser.add_argument("--theme", choices=("auto", "light", "dark"), default="auto")
    parser.add_argument("--text", action="store_true", help="take the input as text, even `[1]`")
    take_limits(parser)


def run(arguments: argparse.Namespace) -> int:
    from rasp.drawing import draw, draw_selector

    handle = find_handle(run_program(arguments.file, arguments.limits), arguments.name)
    given = read_given(arguments.input, arguments.text)
    make = draw_selector if arguments.selector else draw
    drawing = make(handle, given, theme=arguments.theme)
    if arguments.output is None:
        sys.stdout.write(drawing.text())
    else:
        print(f"wrote {drawing.save(arguments.output)}")
    return 0
