"""Draw the least margin of each length as a bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rasp.base.atoms import show_input
from rasp.base.file_writing import replace_file
from rasp.insight.drawing.flow import document, heading_block
from rasp.insight.drawing.svg import Fragment, below, element, label, number
from rasp.insight.drawing.theme import style_sheet
from rasp.models.proving.comparison import LengthResult

BAR, ROW, LEFT, GAP = 260.0, 20.0, 70.0, 16.0
COLOUR = "#6b2fa5"


@dataclass(frozen=True)
class MarginChart:
    """One bar for each length: the least margin, and the input where it is."""

    title: str
    lengths: Sequence[LengthResult]

    def svg(self) -> str:
        """The chart as a document."""
        block = below([heading_block(self.title), self._bars()], GAP)
        return document(block, style_sheet("auto"), self.title)

    _repr_svg_ = svg

    def save(self, path: str | Path) -> Path:
        """Write the chart as SVG."""
        replace_file(path, self.svg().encode())
        return Path(path)

    def _bars(self) -> Fragment:
        largest = max((each.margin or 0.0 for each in self.lengths), default=0.0) or 1.0
        body = label(LEFT - 8, 12, "length", "end small soft") + label(
            LEFT, 12, "least margin, and where", "small soft"
        )
        for row, each in enumerate(self.lengths, 1):
            top, margin = row * ROW, each.margin or 0.0
            wide = BAR * max(margin, 0.0) / largest
            body += label(LEFT - 8, top + 14, str(each.length), "end small")
            body += element("rect", x=number(LEFT), y=number(top + 3), width=number(wide),
                            height=number(ROW - 6), fill=COLOUR)  # fmt: skip
            told = "not measured" if each.margin is None else f"{margin:.4g}"
            where = f"{told} at {show_input(each.worst, most=30)}"
            body += label(LEFT + wide + 8, top + 14, where, "small")
        return Fragment(LEFT + BAR + 320, ROW * (len(self.lengths) + 1) + 6, body)
