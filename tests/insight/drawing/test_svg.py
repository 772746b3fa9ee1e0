"""The SVG against the plan: everything is there, in its place, and well formed."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

import rasp
from rasp.insight.drawing import Drawing, draw, draw_selector
from rasp.insight.drawing.glyphs import in_cell
from rasp.insight.drawing.picture_plan import Flow
from rasp.language.graph import Aggregate, Indices, Select, Tokens
from strategies import for_each
from strategies.graphs import named_program

from .flow_heads import heads_of

SVG = "{http://www.w3.org/2000/svg}"
SUBPATH = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v")
HOSTILE = [
    "&", "<b>", "</svg>", '"', "'", "]]>", "--", "😀", "👩‍👧", "\x00", "\n", "\x1b", "שלום",
    "مرحبا", "a long word indeed", "\u202e", "\ud800", "\ufffe", "", " ", "日本",
]  # fmt: skip


def picked_cells(selection: ElementTree.Element) -> set[tuple[int, int]]:
    """Read the picked cells back from the drawn paths."""
    width, height = map(float, selection.attrib["data-cells"].split())
    found = set()
    for path in selection.findall(f"{SVG}path[@class='picked']"):
        for x, y, length in SUBPATH.findall(path.attrib["d"]):
            row, column = int(float(y) / height), int(float(x) / width)
            found |= {(row, column + more) for more in range(round(float(length) / width) or 1)}
    return found


def selections_of(drawing: Drawing) -> dict[str, ElementTree.Element]:
    """Map each head to its drawn selection."""
    root = ElementTree.fromstring(drawing.svg())
    return {
        head.attrib["data-head"]: grid
        for head in root.iter(f"{SVG}g")
        if "data-head" in head.attrib
        for grid in head.iter(f"{SVG}g")
        if grid.get("class") == "selection"
    }


@for_each(range(40))
def test_exactly_the_picked_cells_are_drawn(seed: int) -> None:
    outputs, program, given = named_program(seed)
    drawing = draw(outputs, given, program)
    assert isinstance(drawing.plan, Flow)
    drawn = selections_of(drawing)
    assert set(drawn) == set(heads_of(drawing.plan))
    for head in heads_of(drawing.plan).values():
        wanted = {
            (query, key)
            for query, row in enumerate(head.picks)
            for key, picked in enumerate(row)
            if picked
        }
        assert picked_cells(drawn[head.id]) == wanted


@pytest.mark.parametrize("length", [1, 12, 60, 200])
def test_picks_are_drawn_at_every_length(length: int) -> None:
    tokens = [at % 3 for at in range(length)]
    drawing = draw_selector(Select(Tokens(), Tokens(), "<="), tokens)
    (selection,) = selections_of(drawing).values()
    wanted = {(query, key) for query in range(length) for key in range(length)
              if tokens[key] <= tokens[query]}  # fmt: skip
    assert picked_cells(selection) == wanted


@settings(max_examples=60, deadline=None)
@for_all(st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8)), min_size=1, max_size=6))
def test_any_tokens_give_well_formed_pictures_that_show_them(tokens: list[str]) -> None:
    same = Aggregate(Select(Tokens(), Tokens(), "=="), Indices())
    drawing = draw(same, tokens)
    root = ElementTree.fromstring(drawing.svg().encode())
    row = next(group for group in root.iter(f"{SVG}g") if group.get("data-strip") == "s0")
    shown = [text.text for text in row.iter(f"{SVG}text")]
    assert len(shown) == len(tokens)
    for text, token in zip(shown, tokens, strict=True):
        assert text
        wanted = in_cell(token, 12)
        assert text == wanted or (text.endswith("…") and wanted.startswith(text[:-1]))


def boxes(element: ElementTree.Element, x: float = 0, y: float = 0):  # type: ignore[no-untyped-def]
    """Yield every rectangle and text with its absolute place."""
    moved = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.tag in (f"{SVG}rect", f"{SVG}text"):
        left, top = x + float(element.get("x", 0)), y + float(element.get("y", 0))
        width, height = float(element.get("width", 0)), float(element.get("height", 0))
        yield left, top, left + width, top + height
    for inner in element:
        yield from boxes(inner, x, y)


@for_each(range(40))
def test_nothing_lies_outside_the_page(seed: int) -> None:
    outputs, program, given = named_program(seed)
    root = ElementTree.fromstring(draw(outputs, given, program).svg())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for left, top, right, bottom in boxes(root):
        assert left >= 0 and top >= 0
        assert right <= width + 0.01 and bottom <= height + 0.01


def test_cells_shrink_as_inputs_grow() -> None:
    widths = []
    for length in (12, 60, 200):
        root = ElementTree.fromstring(draw(Tokens(), "a" * length).svg())
        widths.append(float(root.attrib["width"]) / length)
    assert widths == sorted(widths, reverse=True)


def test_a_cut_word_has_itself_in_full_as_tooltip() -> None:
    word = "antidisestablishmentarianism"
    root = ElementTree.fromstring(draw(Tokens(), [word, "a"]).svg())
    row = next(group for group in root.iter(f"{SVG}g") if group.get("data-strip") == "s0")
    cell = next(row.iter(f"{SVG}text"))
    assert cell.text and len(cell.text) < 9 and cell.text.endswith("…")
    assert cell[0].text == f'"{word}"'


@pytest.mark.parametrize(
    ("theme", "dark", "light"), [("auto", 1, 1), ("light", 0, 1), ("dark", 1, 0)]
)
def test_themes(theme: str, dark: int, light: int) -> None:
    svg = draw(Tokens(), "ab", theme=theme).svg()
    assert (".paper{fill:#15171c}" in svg, ".paper{fill:#ffffff}" in svg) == (dark, light)
    assert ("prefers-color-scheme" in svg) == (theme == "auto")


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(rasp.RaspValueError, match="no theme 'neon'"):
        draw(Tokens(), "ab", theme="neon")
