"""`rasp draw FILE NAME INPUT`: draw how an s-op is computed, or what a selector picks."""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import TYPE_CHECKING

from rasp.apps.cli.arguments import THEMES, CommandParser, options
from rasp.apps.cli.patience import working
from rasp.apps.cli.program_files import find_handle, read_given, run_program
from rasp.base.input_text import HELP

if TYPE_CHECKING:
    from rasp.insight.drawing import Drawing


def configure(parser: CommandParser) -> None:
    parser.take_program("the s-op or selector to draw")
    parser.take("input", f"the input to draw it on: {HELP}")
    parser.take_output(".svg, .html, .png, .pdf or .txt (default: the terminal)", metavar="FILE")
    parser.flag("--selector", "one selection alone, not the whole flow")
    parser.take("--theme", "the colours", choices=THEMES, default="auto")
    some = "only these layers, such as 1-2 or 3 (default: all)"
    parser.take("--only-layers", some, _layers, metavar="N-M")
    parser.heading("for papers and slides (.svg, .png and .pdf)")
    parser.flag("--compact", "each sequence in one row, a grid only where a selection needs it, "
                "and only the beginning and end of a long input")  # fmt: skip
    parser.flag("--landscape", "wider than it is high")
    parser.take(
        "--picture-width", "how wide: 800 (pixels), 17cm, 170mm, 6.5in or 345pt (default: as it is)"
    )
    parser.take("--page", "fill one page (default: none)", choices=("a4", "letter", "slide"))
    parser.heading()
    parser.take_text()
    parser.take_running()


def run(arguments: argparse.Namespace) -> int:
    from rasp.insight.drawing import draw, draw_selector

    handle = find_handle(run_program(arguments), arguments.name)
    given = read_given(arguments.input, arguments.text)
    make = draw_selector if arguments.selector else draw
    with working("drawing", handle.limits):
        drawing = make(handle, given, theme=arguments.theme)
    if arguments.only_layers:
        drawing = drawing.with_layers(*arguments.only_layers)
    arrangement = options(arguments, "compact landscape page")
    arranged = drawing.arranged(width=arguments.picture_width, **arrangement)
    return show_drawing(arranged, arguments.output)


def show_drawing(drawing: Drawing, output: str | None) -> int:
    """Write a drawing to the terminal, or to a file; return the exit code."""
    from rasp.insight.drawing.picture_sizes import refuse_layout

    if output is None:
        refuse_layout(drawing.layout)
        sys.stdout.write(drawing.text())
        return 0
    with warnings.catch_warnings(record=True) as cautions:
        warnings.simplefilter("always")
        print(f"wrote {drawing.save(output)}")
    for caution in cautions:
        print(f"warning: {caution.message}", file=sys.stderr)
    return 0


def _layers(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not first.isdecimal() or not (last.isdecimal() if dash else not last):
        raise argparse.ArgumentTypeError(f"write layers as 1-2 or 3, not {text!r}")
    return int(first), int(last or first)
