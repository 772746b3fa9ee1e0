"""An SVG document in, PNG or PDF bytes out, without a system library.

Typst's renderer does the work: one wheel for every platform, with its own fixed-width font, so
that text is there even on a machine without fonts. In a PDF the text stays text.
"""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

from rasp.base.errors import RaspLimitError, RaspUnsupportedError
from rasp.base.installing import missing

SCALE = 2.0
"""Pixels of a PNG for each unit of the picture."""
MOST_PIXELS = 120_000_000
UNITS_PER_INCH = 96.0
PAGE = """#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg")
"""
# Few fonts have the pictures of control characters; every font has the way terminals write them.
CONTROLS = {0x2400 + code: f"^{chr(64 + code)}" for code in range(0x20)} | {0x2421: "^?"}


MOST_LETTERS_TRIED = 300
NOT_A_LETTER = "\U0010fffd"
"""A private character that no font has: it shows what a missing letter looks like."""
UNSEEN = re.compile(r"<(title|style)>.*?</\1>|<[^>]*>", re.DOTALL)
ONE_LETTER = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24">'
    '<text x="2" y="18" font-size="14" font-family="monospace">{}</text></svg>'
)
LETTERS_PAGE = """#set page(width: 24pt, height: 24pt, margin: 0pt)
#for one in json(bytes(sys.inputs.letters)) { page(image(bytes(one), format: "svg")) }
"""


def missing_letters(svg: str) -> list[str]:
    """Return the letters of a picture that no font here has: the renderer draws boxes for them."""
    text = unescape(UNSEEN.sub("", svg)).translate(CONTROLS)
    letters = [one for one in dict.fromkeys(text) if not one.isascii()][:MOST_LETTERS_TRIED]
    if not letters:
        return []
    pages = [ONE_LETTER.format(letter) for letter in (NOT_A_LETTER, *letters)]
    unknown, *drawn = _compiled(LETTERS_PAGE, {"letters": json.dumps(pages)}, format="png")
    return [letter for letter, image in zip(letters, drawn, strict=True) if image == unknown]


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
    rendered = _compiled(PAGE, {"svg": svg.translate(CONTROLS)}, **options)
    assert isinstance(rendered, bytes)
    return rendered


def _compiled(page: str, inputs: dict[str, str], **options: Any) -> Any:
    try:
        import typst
    except ImportError:
        raise missing("typst", "draw", "a picture as PNG or PDF", "save as .svg or .html") from None
    try:
        return typst.compile(page.encode(), sys_inputs=inputs, **options)
    except RuntimeError as error:
        first = str(error).partition("\n")[0]
        raise RaspUnsupportedError(
            f"the renderer could not draw this: {first.removeprefix('error: ')}",
            hint="save as .svg or .html",
        ) from None
