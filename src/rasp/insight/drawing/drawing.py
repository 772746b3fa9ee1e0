"""A plan in, a `Drawing` out: it can show itself anywhere."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rasp.base.errors import RaspUnsupportedError
from rasp.base.file_writing import replace_file
from rasp.base.tracebacks import doors
from rasp.insight.drawing import raster
from rasp.insight.drawing.flow import document, flow_block, selection_block, smallest_letters
from rasp.insight.drawing.glyphs import printable
from rasp.insight.drawing.heat import heat_block
from rasp.insight.drawing.html import frame, page
from rasp.insight.drawing.picture_plan import Flow, HeatMaps, Plan, SelectionShown
from rasp.insight.drawing.picture_sizes import (
    MARGIN,
    PLAIN,
    SMALLEST_POINTS,
    Fitted,
    PageLayout,
    fit,
    refuse_layout,
)
from rasp.insight.drawing.portable_picture import as_dict
from rasp.insight.drawing.svg import Fragment
from rasp.insight.drawing.text import text_of
from rasp.insight.drawing.theme import THEMES, style_sheet


@doors
@dataclass(frozen=True)
class Drawing:
    """A picture. It shows itself in notebooks, prints as text, and saves as what a file is called.

    `plan` is what the picture shows, as plain data; `theme` is auto, light or dark.

    >>> from rasp import draw, tokens
    >>> print(draw(tokens, "ab"))
    tokens on "ab"
    no attention: the embedding and one feed-forward do it
    <BLANKLINE>
    input
      tokens  a b
    <BLANKLINE>
    output
      tokens  a b
    <BLANKLINE>
    """

    plan: Plan
    theme: str = "auto"
    layout: PageLayout = PLAIN

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            style_sheet(self.theme)

    def with_theme(self, theme: str) -> Drawing:
        """Return the same picture in another theme: auto, light or dark.

        >>> from rasp import draw, indices
        >>> draw(indices, "ab").with_theme("dark").theme
        'dark'
        """
        return replace(self, theme=theme)

    def arranged(
        self,
        *,
        compact: bool = False,
        landscape: bool = False,
        width: str | float | None = None,
        page: str | None = None,
    ) -> Drawing:
        """Return the same picture for a page (`a4`, `letter` or `slide`) or of a width (`"17cm"`).

        A compact picture draws each sequence as one row, a grid only where a selection needs one,
        and the beginning and end of a long input.

        >>> from rasp import draw, indices
        >>> 'width="1280" height="720"' in draw(indices, "ab").arranged(page="slide").svg()
        True
        """
        return replace(self, layout=PageLayout(compact, landscape, width, page))

    def with_layers(self, first: int, last: int | None = None) -> Drawing:
        """Return the picture of some layers only, counted from 1.

        >>> import rasp
        >>> sorted_ab = rasp.draw(rasp.lib.sort(rasp.tokens, rasp.tokens), "ba").with_layers(2)
        >>> sorted_ab.text().splitlines()[1]
        '2 layers, heads per layer: 2 1; shown: layer 2'
        """
        if not isinstance(self.plan, Flow):
            raise RaspUnsupportedError(
                "only the picture of a whole computation has layers",
                hint="draw an s-op, not a selector alone",
            )
        return replace(self, plan=self.plan.only_layers(first, last or first))

    def svg(self) -> str:
        """Return an SVG document.

        >>> from rasp import draw, indices
        >>> draw(indices, "ab").svg()[:4]
        '<svg'
        """
        return document(self._fitted().block, style_sheet(self.theme), self.plan.title)

    def html(self) -> str:
        """Return a self-contained interactive page.

        >>> from rasp import draw, indices
        >>> draw(indices, "ab").html()[:15]
        '<!DOCTYPE html>'
        """
        return page(self.plan, self._block(), self.theme)

    def text(self) -> str:
        """Return the picture in letters, for terminals.

        >>> from rasp import draw, indices
        >>> draw(indices, "ab").text().splitlines()[0]
        'indices on "ab"'
        """
        return text_of(self.plan)

    def png(self) -> bytes:
        """Return a PNG image; needs the extra `draw`. Light, unless the theme is dark.

        >>> from rasp import draw, indices
        >>> draw(indices, "ab").png()[1:4]
        b'PNG'
        """
        block = self._fitted().block
        return raster.png(self._still(), block.width + 2 * MARGIN, block.height + 2 * MARGIN)

    def pdf(self) -> bytes:
        """Return a PDF of one page; needs the extra `draw`. Light, unless the theme is dark.

        >>> from rasp import draw, indices
        >>> draw(indices, "ab").pdf()[:4]
        b'%PDF'
        """
        return raster.pdf(self._still())

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as what JSON can hold.

        >>> from rasp import draw, indices
        >>> draw(indices, "ab").as_dict()["title"]
        'indices on "ab"'
        """
        return as_dict(self.plan)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to a file: .svg, .html, .png, .pdf or .txt. All of it is written, or nothing.

        >>> import tempfile
        >>> from rasp import draw, indices
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     draw(indices, "ab").save(f"{folder}/indices.svg").name
        'indices.svg'
        """
        path = Path(path)
        makers: dict[str, Callable[[], str | bytes]] = {
            ".svg": self.svg, ".html": self.html, ".htm": self.html, ".txt": self.text,
            ".png": self.png, ".pdf": self.pdf,
        }  # fmt: skip
        maker = makers.get(path.suffix.lower())
        if maker is None:
            raise RaspUnsupportedError(
                f"a picture cannot be saved as `{printable(path.name)}`",
                hint="end the file's name in .svg, .html, .png, .pdf or .txt",
            )
        if path.suffix.lower() in (".html", ".htm", ".txt"):
            refuse_layout(self.layout)
        content = maker()
        replace_file(path, content.encode() if isinstance(content, str) else content)
        for caution in self._cautions(path.suffix.lower()):
            warnings.warn(caution, stacklevel=2)
        return path

    def _cautions(self, suffix: str) -> list[str]:
        """Say what a reader of the saved file would not see, or hardly."""
        cautions = []
        points = self._fitted().scale * smallest_letters(self.plan, self.layout) * 72 / 96
        if points < SMALLEST_POINTS:
            cautions.append(
                f"the letters of this picture are {points:.1f} points high: draw fewer layers, a "
                "shorter input or a compact picture"
            )
        if suffix in (".png", ".pdf") and (letters := raster.missing_letters(self._still())):
            cautions.append(
                f"no font here has {' '.join(letters[:8])}{' …' if letters[8:] else ''}, drawn as "
                "boxes: install a font that has (such as Noto), or save as .svg or .html"
            )
        return cautions

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        how = 'print it to see it here; .save("picture.svg") writes it'
        return f"<Drawing: {self.plan.title} ({how})>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return frame(self.plan, self._block(), self.theme)

    def _block(self, layout: PageLayout = PLAIN) -> Fragment:
        match self.plan:
            case Flow():
                return flow_block(self.plan, layout)
            case SelectionShown():
                return selection_block(self.plan, layout)
            case HeatMaps():
                return heat_block(self.plan)

    def _fitted(self) -> Fitted:
        return fit(self._block(self.layout), self.layout)

    def _still(self) -> str:
        theme = "dark" if self.theme == "dark" else "light"
        return document(self._fitted().block, style_sheet(theme), self.plan.title)
