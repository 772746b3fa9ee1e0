"""What a picture is for in, its size out: a page, a slide, a column of a paper.

One unit of a picture is 1/96 of an inch, as in CSS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rasp.base.errors import RaspUnsupportedError, RaspValueError
from rasp.insight.drawing.svg import Fragment, number

MARGIN = 16.0
MILLIMETRE = 96 / 25.4
UNITS = {"px": 1.0, "mm": MILLIMETRE, "cm": 10 * MILLIMETRE, "in": 96.0, "pt": 96 / 72}
PAGES = {
    "a4": (210 * MILLIMETRE, 297 * MILLIMETRE),
    "letter": (8.5 * 96, 11.0 * 96),
    "slide": (1280.0, 720.0),
}
LARGEST_SCALE = 2.0
"""How much a small picture is enlarged at most to fill its page."""
LANDSCAPE = (1600.0, 1000.0)
"""The shape that a picture in landscape takes where no page is given."""
SMALLEST_POINTS = 5.0
"""Height of letters below which a printed picture is hard to read."""


@dataclass(frozen=True)
class PageLayout:
    """How a picture is arranged. Without anything it has its own size, layers from top to bottom.

    >>> PageLayout(page="a4", landscape=True).size
    (1122.51..., 793.70...)
    """

    compact: bool = False
    landscape: bool = False
    width: str | float | None = None
    page: str | None = None

    def __post_init__(self) -> None:
        if self.page is not None and self.page not in PAGES:
            raise RaspValueError(f"there is no page {self.page!r}", hint="use " + ", ".join(PAGES))
        if self.page is not None and self.width is not None:
            raise RaspUnsupportedError(
                "a picture has a page or a width, not both",
                hint="a page is filled as far as the picture's shape allows",
            )
        if self.width is not None:
            read_width(self.width)

    @property
    def size(self) -> tuple[float, float] | None:
        """Width and height of the page, if there is one."""
        if self.page is None:
            return None
        width, height = PAGES[self.page]
        return (max(width, height), min(width, height)) if self.landscape else (width, height)


PLAIN = PageLayout()
"""A picture's own size, layers from top to bottom."""


def refuse_layout(layout: PageLayout) -> None:
    """Refuse to show as text or as a web page what was arranged for paper."""
    if layout != PLAIN:
        raise RaspUnsupportedError(
            "only pictures have a width, a page or a compact form",
            hint="save as .svg, .png or .pdf",
        )


def read_width(text: str | float) -> float:
    """Read a width such as `800`, `17cm` or `6.5in`, in units of a picture.

    >>> read_width("800"), read_width("2in")
    (800.0, 192.0)
    """
    matched = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(px|mm|cm|in|pt)?", str(text).strip())
    units = float(matched[1]) * UNITS[matched[2] or "px"] if matched else 0.0
    if not 60 <= units <= 20_000:
        raise RaspValueError(
            f"{str(text)[:40]!r} is not the width of a picture",
            hint="write 800 (pixels), 17cm, 170mm, 6.5in or 345pt",
        )
    return units


@dataclass(frozen=True)
class Fitted:
    """A picture on its page: what is drawn inside the margins, and how much it was scaled."""

    block: Fragment
    scale: float = 1.0


def room_for(layout: PageLayout) -> tuple[float, float] | None:
    """Return the room inside the margins: of the page, or a shape; None where any size will do."""
    if layout.size is not None:
        return layout.size[0] - 2 * MARGIN, layout.size[1] - 2 * MARGIN
    return LANDSCAPE if layout.landscape else None


def fit(block: Fragment, layout: PageLayout) -> Fitted:
    """Scale a picture to its page or width."""
    if layout.size is not None:
        width, height = layout.size[0] - 2 * MARGIN, layout.size[1] - 2 * MARGIN
        scale = min(width / block.width, height / block.height, LARGEST_SCALE)
    elif layout.width is not None:
        width = read_width(layout.width) - 2 * MARGIN
        scale = min(width / block.width, LARGEST_SCALE)
        height = block.height * scale
    else:
        return Fitted(block)
    x, y = (width - block.width * scale) / 2, (height - block.height * scale) / 2
    place = f"translate({number(x)} {number(y)}) scale({scale:.4f})"
    return Fitted(Fragment(width, height, f'<g transform="{place}">{block.body}</g>'), scale)
