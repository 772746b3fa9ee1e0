"""An SVG document in, PNG or PDF bytes out, without a system library.

Typst's renderer does the work: one wheel for every platform, with its own fixed-width font, so
that text is there even on a machine without fonts. In a PDF the text stays text.
"""

from __future__ import annotations

from typing import Any

from rasp.errors import RaspLimitError, RaspUnsupportedError

SCALE = 2.0
"""Pixels of a PNG for each unit of the picture."""
MOST_PIXELS = 120_000_000
UNITS_PER_INCH = 96.0
PAGE = """#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg")
"""
# Few fonts have the pictures of control characters; every font has the way terminals write them.
CONTROLS = {0x2400 + code: f"^{chr(64 + code)}" for code in range(0x20)} | {0x2421: "^?"}


def png(svg: str, width: float, height: float) -> bytes:
    """Return the picture as PNG."""
    if width * height * SCALE * SCALE > MOST_PIXELS:
        raise RaspLimitError(
            f"a PNG of {round(width * SCALE)} × {round(height * SCALE)} pixels is too large",
            hint="save as .svg or .pdf, or draw a shorter input",
        )
    # The renderer counts the picture's units as 1/96 of an inch.
    return _rendered(svg, format="png", ppi=UNITS_PER_INCH * SCALE)


def pdf(svg: str) -> bytes:
    """Return the picture as PDF, one page of its own size."""
    return _rendered(svg, format="pdf")


def _rendered(svg: str, **options: Any) -> bytes:
    try:
        import typst
    except ImportError:
        raise RaspUnsupportedError(
            "PNG and PDF need a renderer that is not installed",
            hint='pip install "rasp-lang[draw]", or save as .svg or .html',
        ) from None
    try:
        rendered = typst.compile(
            PAGE.encode(), sys_inputs={"svg": svg.translate(CONTROLS)}, **options
        )
    except RuntimeError as error:
        first = str(error).partition("\n")[0]
        raise RaspUnsupportedError(
            f"the renderer could not draw this: {first.removeprefix('error: ')}",
            hint="save as .svg or .html",
        ) from None
    assert isinstance(rendered, bytes)
    return rendered
