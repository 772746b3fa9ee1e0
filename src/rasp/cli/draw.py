"""`rasp draw FILE NAME INPUT`: draw how an s-op is computed, or what a selector picks."""

from __future__ import annotations

import argparse
import sys
import warnings

from rasp.cli.files import find_handle, read_given, run_program
from rasp.cli.parser import CommandParser
from rasp.cli.patience import working
from rasp.token_lists import HELP


def configure(parser: CommandParser) -> None:
    parser.take_program("the s-op or selector to draw")
    parser.add_argument("input", help=f"the input to draw it on: {HELP}")
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="the picture: .svg, .html, .png, .pdf or .txt (default: the terminal)",
    )  # fmt: skip
    parser.flag("--selector", "one selection alone, not the whole flow")
    parser.add_argument(
        "--theme", choices=("auto", "light", "dark"), default="auto", help="the colours"
    )
    parser.add_argument(
        "--layers",
        metavar="N-M",
        type=_layers,
        help="only these layers, such as 1-2 or 3 (default: all)",
    )
    paper = parser.add_argument_group("for papers and slides (.svg, .png and .pdf)")
    paper.add_argument(
        "--compact", action="store_true",
        help="each sequence in one row, a grid only where a selection needs it, and only the "
        "beginning and end of a long input",
    )  # fmt: skip
    paper.add_argument("--landscape", action="store_true", help="wider than it is high")
    paper.add_argument(
        "--width", help="how wide: 800 (pixels), 17cm, 170mm, 6.5in or 345pt (default: as it is)"
    )
    paper.add_argument(
        "--page", choices=("a4", "letter", "slide"), help="fill one page (default: none)"
    )
    parser.take_text()
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    from rasp.drawing import draw, draw_selector
    from rasp.drawing.layout import refuse_layout

    handle = find_handle(run_program(arguments), arguments.name)
    given = read_given(arguments.input, arguments.text)
    make = draw_selector if arguments.selector else draw
    with working("drawing", handle.limits):
        drawing = make(handle, given, theme=arguments.theme)
    if arguments.layers:
        drawing = drawing.with_layers(*arguments.layers)
    drawing = drawing.arranged(
        compact=arguments.compact,
        landscape=arguments.landscape,
        width=arguments.width,
        page=arguments.page,
    )
    if arguments.output is None:
        refuse_layout(drawing.layout)
        sys.stdout.write(drawing.text())
        return 0
    with warnings.catch_warnings(record=True) as cautions:
        warnings.simplefilter("always")
        print(f"wrote {drawing.save(arguments.output)}")
    for caution in cautions:
        print(f"warning: {caution.message}", file=sys.stderr)
    return 0


def _layers(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not first.isdecimal() or not (last.isdecimal() if dash else not last):
        raise argparse.ArgumentTypeError(f"write layers as 1-2 or 3, not {text!r}")
    return int(first), int(last or first)
