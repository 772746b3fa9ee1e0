"""Texts and sizes in, SVG elements out: the few shapes that all pictures are made of.

A `Fragment` is a piece of picture with a known size and its own origin; blocks are put beside and
below one another. Everything that comes from a program is escaped here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rasp.insight.drawing.glyphs import columns

ADVANCE = 0.605
"""Width of one column of the fixed-width font, in font sizes."""


@dataclass(frozen=True)
class Fragment:
    """A piece of picture, drawn from its top left corner."""

    width: float
    height: float
    body: str


def number(value: float) -> str:
    """Write a coordinate shortly.

    >>> number(3.0), number(2.505)
    ('3', '2.5')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def element(tag: str, content: str = "", **attributes: object) -> str:
    """Write an element. `content` is SVG already; attributes are escaped, None is left out.

    Underscores become the dashes of attribute names, and `class_` becomes `class`.
    """
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}={_attribute(value)}"
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def _attribute(value: object) -> str:
    return f'"{number(value) if isinstance(value, (int, float)) else escape(str(value))}"'


def title(text: str) -> str:
    """Write a tooltip."""
    return f"<title>{escape(text, quote=False)}</title>" if text else ""


def label(x: float, y: float, text: str, class_: str = "", tip: str = "") -> str:
    """Write a line of text at its baseline; the class says how it is anchored."""
    return element("text", escape(text, quote=False) + title(tip), x=x, y=y, class_=class_ or None)


def spans(x: float, y: float, parts: Sequence[tuple[str, str]], class_: str, tip: str = "") -> str:
    """Write one line of text in several classes."""
    inner = "".join(
        element("tspan", escape(text, quote=False), class_=own) for text, own in parts if text
    )
    return element("text", inner + title(tip), x=x, y=y, class_=class_)


def text_width(text: str, size: float) -> float:
    """Return the width of a text in the fixed-width font."""
    return columns(text) * size * ADVANCE


def moved(block: Fragment, x: float, y: float) -> str:
    """Write a block with its corner at a place."""
    if not x and not y:
        return block.body
    return f'<g transform="translate({number(x)} {number(y)})">{block.body}</g>'


def beside(blocks: Sequence[Fragment], gap: float) -> Fragment:
    """Put blocks in a row, aligned at the top."""
    parts, x = [], 0.0
    for block in blocks:
        parts.append(moved(block, x, 0))
        x += block.width + gap
    height = max((block.height for block in blocks), default=0)
    return Fragment(max(0.0, x - gap), height, "".join(parts))


def below(blocks: Sequence[Fragment], gap: float, centred: bool = False) -> Fragment:
    """Put blocks in a column, aligned at the left or around the middle."""
    width = max((block.width for block in blocks), default=0)
    parts, y = [], 0.0
    for block in blocks:
        parts.append(moved(block, (width - block.width) / 2 if centred else 0, y))
        y += block.height + gap
    return Fragment(width, max(0.0, y - gap), "".join(parts))


def framed(block: Fragment, class_: str, pad: float, height: float = 0) -> Fragment:
    """Put a block into a box with rounded corners, at least as high as asked."""
    width, height = block.width + 2 * pad, max(block.height + 2 * pad, height)
    box = element("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=7, class_=class_)
    return Fragment(width, height, box + moved(block, pad, pad))


def cells(places: Sequence[tuple[int, int]], width: float, height: float, gap: float) -> str:
    """Write the path of filled cells of a grid, given as (row, column), each its own subpath.

    Without a gap, neighbours in a row join into one.

    >>> cells([(0, 1), (0, 2)], 10, 10, 0)
    'M10 0h20v10h-20z'
    """
    runs: list[list[int]] = []  # row, first column, how many
    for row, column in places:
        if not gap and runs and runs[-1][0] == row and sum(runs[-1][1:]) == column:
            runs[-1][2] += 1
        else:
            runs.append([row, column, 1])
    return "".join(
        f"M{number(column * width + gap / 2)} {number(row * height + gap / 2)}"
        f"h{number(count * width - gap)}v{number(height - gap)}h-{number(count * width - gap)}z"
        for row, column, count in runs
    )
