"""An s-op or selector and an input in, a `Drawing` out: a plan that can show itself anywhere."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rasp.architecture.schedule import Outputs, output_nodes, program_of
from rasp.drawing import raster
from rasp.drawing.flow import document, flow_block, selection_block, smallest_letters
from rasp.drawing.glyphs import printable
from rasp.drawing.heat import heat_block, plan_heat_map
from rasp.drawing.html import frame, page
from rasp.drawing.layout import (
    MARGIN,
    PLAIN,
    SMALLEST_POINTS,
    Fitted,
    PageLayout,
    fit,
    refuse_layout,
)
from rasp.drawing.plan import Flow, HeatMap, HeatMaps, Plan, SelectionShown
from rasp.drawing.planning import plan_flow, plan_selection
from rasp.drawing.portable import as_dict
from rasp.drawing.svg import Fragment
from rasp.drawing.text import text_of
from rasp.drawing.theme import THEMES, style_sheet
from rasp.errors import RaspTypeError, RaspUnsupportedError
from rasp.graph import Node, Program, Selector
from rasp.graph.nodes import node_of
from rasp.limits import DEFAULT_LIMITS, Limits, tightest
from rasp.replacing import replace_file
from rasp.tracebacks import doors


@doors
@dataclass(frozen=True)
class Drawing:
    """A picture. It shows itself in notebooks, prints as text, and saves as what a file is called.

    `plan` is what the picture shows, as plain data; `theme` is auto, light or dark.

    >>> from rasp import tokens
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

        >>> from rasp import indices
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

        >>> from rasp import indices
        >>> 'width="1280" height="720"' in draw(indices, "ab").arranged(page="slide").svg()
        True
        """
        return replace(self, layout=PageLayout(compact, landscape, width, page))

    def with_layers(self, first: int, last: int | None = None) -> Drawing:
        """Return the picture of some layers only, counted from 1.

        >>> import rasp
        >>> sorted_ab = draw(rasp.lib.sort(rasp.tokens, rasp.tokens), "ba").with_layers(2)
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

        >>> from rasp import indices
        >>> draw(indices, "ab").svg()[:4]
        '<svg'
        """
        return document(self._fitted().block, style_sheet(self.theme), self.plan.title)

    def html(self) -> str:
        """Return a self-contained interactive page.

        >>> from rasp import indices
        >>> draw(indices, "ab").html()[:15]
        '<!DOCTYPE html>'
        """
        return page(self.plan, self._block(), self.theme)

    def text(self) -> str:
        """Return the picture in letters, for terminals.

        >>> from rasp import indices
        >>> draw(indices, "ab").text().splitlines()[0]
        'indices on "ab"'
        """
        return text_of(self.plan)

    def png(self) -> bytes:
        """Return a PNG image; needs the extra `draw`. Light, unless the theme is dark.

        >>> from rasp import indices
        >>> draw(indices, "ab").png()[1:4]
        b'PNG'
        """
        block = self._fitted().block
        return raster.png(self._still(), block.width + 2 * MARGIN, block.height + 2 * MARGIN)

    def pdf(self) -> bytes:
        """Return a PDF of one page; needs the extra `draw`. Light, unless the theme is dark.

        >>> from rasp import indices
        >>> draw(indices, "ab").pdf()[:4]
        b'%PDF'
        """
        return raster.pdf(self._still())

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as what JSON can hold.

        >>> from rasp import indices
        >>> draw(indices, "ab").as_dict()["title"]
        'indices on "ab"'
        """
        return as_dict(self.plan)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to a file: .svg, .html, .png, .pdf or .txt. All of it is written, or nothing.

        >>> import tempfile
        >>> from rasp import indices
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
        made = maker()
        replace_file(path, made.encode() if isinstance(made, str) else made)
        for caution in self._cautions(path.suffix.lower()):
            warnings.warn(caution, stacklevel=2)
        return path

    def _cautions(self, suffix: str) -> list[str]:
        """Say what a reader of the saved file would not see, or hardly."""
        found = []
        points = self._fitted().scale * smallest_letters(self.plan, self.layout) * 72 / 96
        if points < SMALLEST_POINTS:
            found.append(
                f"the letters of this picture are {points:.1f} points high: draw fewer layers, a "
                "shorter input or a compact picture"
            )
        if suffix in (".png", ".pdf") and (letters := raster.missing_letters(self._still())):
            found.append(
                f"no font here has {' '.join(letters[:8])}{' …' if letters[8:] else ''}, drawn as "
                "boxes: install a font that has (such as Noto), or save as .svg or .html"
            )
        return found

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


def draw(
    outputs: Outputs,
    given: object,
    program: Program | None = None,
    theme: str = "auto",
    limits: Limits | None = None,
) -> Drawing:
    """Draw how s-ops are computed on an input, layer by layer; a selector alone as its selection.

    >>> from rasp.graph import Aggregate, Select, Tokens, Indices
    >>> draw(Aggregate(Select(Tokens(), Tokens(), "=="), Indices()), "aba")
    <Drawing: aggregate(select(tokens, tokens, ==), indices) on "aba" (print it ...)>
    """
    nodes = _nodes(outputs)
    program = program or program_of(outputs)
    limits = limits or _limits_of(outputs)
    if len(nodes) == 1 and isinstance(nodes[0], Selector):
        return Drawing(plan_selection(nodes[0], given, program, limits), theme)
    return Drawing(plan_flow(nodes, given, program, limits), theme)


def draw_selector(
    selector: Outputs,
    given: object,
    program: Program | None = None,
    theme: str = "auto",
    limits: Limits | None = None,
) -> Drawing:
    """Draw one selection alone: a selector's own, or that of the aggregate which makes an s-op.

    >>> from rasp.graph import Select, Tokens
    >>> print(draw_selector(Select(Tokens(), Tokens(), "=="), "aba"))
    selection on "aba"
    <BLANKLINE>
      tokens  a b a  keys
      tokens
           a  █ · █
           b  · █ ·
           a  █ · █
    <BLANKLINE>
    """
    node = _nodes(selector)[0]
    program = program or program_of(selector)
    limits = limits or _limits_of(selector)
    return Drawing(plan_selection(node, given, program, limits), theme)


def heat_map(
    matrix: Any,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    title: str = "",
    theme: str = "auto",
) -> Drawing:
    """Draw numbers from 0 to 1, `matrix[query][key]`, such as the attention of one head.

    >>> heat_map([[1, 0], [0.5, 0.5]], "ab", "ab", "head 1")
    <Drawing: head 1 (print it ...)>
    """
    plan = plan_heat_map(matrix, row_labels, column_labels)
    return Drawing(HeatMaps(printable(title), (plan,)), theme)


def heat_maps(
    matrices: Sequence[Any],
    labels: Sequence[object],
    titles: Sequence[str] = (),
    title: str = "",
    theme: str = "auto",
    columns: Sequence[int] = (),
) -> Drawing:
    """Draw several attention patterns on one input side by side, each under its own title.

    With `columns`, so many of them are drawn one above the other, column by column.

    >>> heat_maps([[[1, 0], [0, 1]], [[0, 1], [1, 0]]], "ab", ["head 1", "head 2"], "layer 1")
    <Drawing: layer 1 (print it ...)>
    """
    names = [*titles, *[""] * (len(matrices) - len(titles))]
    maps: tuple[HeatMap, ...] = tuple(
        plan_heat_map(matrix, labels, labels, name)
        for matrix, name in zip(matrices, names, strict=True)
    )
    return Drawing(HeatMaps(printable(title), maps, tuple(columns)), theme)


def _nodes(outputs: Outputs) -> tuple[Node, ...]:
    several = outputs if isinstance(outputs, Sequence) else [outputs]
    if not several or None in map(node_of, several):
        raise RaspTypeError(
            "there is no s-op or selector here to draw",
            hint='draw what a program made, such as `rasp.run(text)["hist"]`',
        )
    return output_nodes(outputs)


def _limits_of(outputs: Outputs) -> Limits:
    several = outputs if isinstance(outputs, Sequence) else [outputs]
    set_for_one = (getattr(each, "limits", None) for each in several)
    return tightest(set_for_one) or DEFAULT_LIMITS
