"""Pictures for papers and slides: on the page, legible, compact, and without the author's paths."""

import re
import struct
import warnings
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rasp
from rasp.apps.cli import main
from rasp.insight.drawing import Drawing, draw, heat_maps
from rasp.insight.drawing.glyphs import in_cells
from rasp.insight.drawing.small_blocks import window_for
from rasp.teaching.gallery import load
from strategies.graphs import named_program

from .flow_heads import heads_of
from .test_svg import SVG, selections_of

BRACKETS = "(({}))({}){(())}()({})()"


def gallery(name: str, given: str) -> Drawing:
    return draw(load(name), given)


def scale_of(svg: str) -> float:
    found = re.search(r"scale\(([\d.]+)\)", svg)
    return float(found[1]) if found else 1.0


def test_dyck2_on_24_tokens_is_legible_on_one_a4_page(tmp_path: Path) -> None:
    assert len(BRACKETS) == 24
    picture = gallery("dyck2", BRACKETS).arranged(page="a4", compact=True)
    root = ElementTree.fromstring(picture.svg())
    assert float(root.attrib["width"]) == pytest.approx(793.7, abs=0.1)
    assert float(root.attrib["height"]) == pytest.approx(1122.5, abs=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a picture with letters below 5 points warns
        picture.save(tmp_path / "dyck2.svg")


def test_sort_on_12_tokens_is_legible_on_a_slide(tmp_path: Path) -> None:
    picture = gallery("sort_tokens", "transformers").arranged(page="slide")
    assert 'width="1280" height="720"' in picture.svg()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture.save(tmp_path / "sort.svg")
    compact = picture.arranged(page="slide", compact=True)
    assert scale_of(compact.svg()) > scale_of(picture.svg())


def test_letters_too_small_to_read_are_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="points high"):
        gallery("dyck2", BRACKETS).arranged(width=200).save(tmp_path / "tiny.svg")


@pytest.mark.parametrize("seed", range(12))
def test_no_box_of_an_arranged_picture_is_off_its_page(seed: int) -> None:
    outputs, program, given = named_program(seed)
    for layout in ({"page": "a4"}, {"page": "slide", "compact": True}, {"width": "9cm"}):
        picture = draw(outputs, given, program).arranged(**layout)  # type: ignore[arg-type]
        root = ElementTree.fromstring(picture.svg())
        placed = next(
            group for group in root.iter(f"{SVG}g") if "scale" in group.get("transform", "")
        )
        x, y, scale = map(float, re.findall(r"[-\d.]+", placed.attrib["transform"]))
        assert x >= -0.01 and y >= -0.01 and scale > 0


@pytest.mark.parametrize("seed", range(12))
def test_a_compact_grid_has_exactly_the_picks(seed: int) -> None:
    outputs, program, given = named_program(seed)
    picture = draw(outputs, given, program)
    drawn = selections_of(picture.arranged(compact=True))
    for name, head in heads_of(picture.plan).items():
        counts = [sum(row) for row in head.picks]
        needs_grid = max(counts) > 1 and min(counts) < len(counts)
        if needs_grid:
            subpaths = [
                path.attrib["d"].count("M") for path in drawn[name] if "data-query" in path.attrib
            ]
            assert sum(subpaths) == sum(counts)
            assert len(subpaths) == sum(count > 0 for count in counts)


def test_a_head_that_picks_one_key_or_none_has_no_grid() -> None:
    reverse = gallery("reverse", "abcdef")
    assert len(selections_of(reverse)) == 2
    assert not selections_of(reverse.arranged(compact=True))
    assert "every query picks every key" in reverse.arranged(compact=True).svg()


def test_a_long_input_is_shown_at_its_ends() -> None:
    window = window_for(200)
    assert window[0] == 0 and window[-1] == 199 and window.count(None) == 1
    compact = gallery("reverse", "ab" * 100).arranged(compact=True).svg()
    assert "⋯" in compact
    assert len(compact) < len(gallery("reverse", "ab" * 100).svg()) / 5


def test_layers_are_chosen() -> None:
    whole = gallery("dyck2", "(()")
    part = whole.with_layers(2, 3)
    assert [layer.number for layer in part.plan.layers] == [2, 3]  # type: ignore[union-attr]
    text = part.text()
    assert "layer 3:" in text and "layer 1:" not in text
    assert "\ninput\n" not in text and "\noutput\n" in text
    with pytest.raises(rasp.RaspValueError, match="no layers 3 to 4"):
        whole.with_layers(3, 4)


def test_text_and_pages_have_no_layout(tmp_path: Path) -> None:
    picture = gallery("reverse", "abc").arranged(compact=True)
    for suffix in ("txt", "html"):
        with pytest.raises(rasp.RaspUnsupportedError, match="only pictures"):
            picture.save(tmp_path / f"x.{suffix}")


def test_numbers_of_a_sequence_have_one_style() -> None:
    thirds = [Fraction(1, 3), Fraction(1, 2), Fraction(1), 2]
    assert in_cells(thirds) == ["1/3", "1/2", "1", "2"]
    assert in_cells([Fraction(3, 4), Fraction(1, 2), 0]) == ["0.75", "0.5", "0"]
    mixed = in_cells([Fraction(10, 19), Fraction(1, 2), Fraction(100, 123)], 5)
    assert mixed == ["0.526", "0.500", "0.813"]


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_no_path_of_the_author_is_in_a_file(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "secret-folder"
    folder.mkdir()
    program = folder / "own.rasp"
    program.write_text("mine = aggregate(select(tokens, tokens, ==), indices);")
    picture = tmp_path / f"picture.{suffix}"
    assert main(["draw", str(program), "mine", "aba", "-o", str(picture)]) == 0
    written = picture.read_text()
    assert "own.rasp:1:" in written
    assert "secret-folder" not in written


def test_letters_without_a_font_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typst", reason="the extra `draw` is not installed")
    from rasp.insight.drawing.raster import NOT_A_LETTER, missing_letters

    assert missing_letters(draw(rasp.tokens, ["a", "é", "→"]).svg()) == []
    unknown = chr(ord(NOT_A_LETTER) - 1)
    assert missing_letters(draw(rasp.tokens, ["a", unknown]).svg()) == [unknown]
    program = tmp_path / "p.rasp"
    program.write_text("same = tokens;")
    picture = tmp_path / "p.png"
    assert main(["draw", str(program), "same", unknown, "-o", str(picture)]) == 0
    assert "no font here has" in capsys.readouterr().err
    assert picture.exists()


def test_a_page_fills_a_pdf_exactly(tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="the extra `draw` is not installed")
    picture = gallery("reverse", "abc").arranged(page="letter", landscape=True)
    width, height = struct.unpack(">II", picture.png()[16:24])
    assert (width, height) == (2 * 1056, 2 * 816)
    found = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", picture.pdf())
    assert found and (round(float(found[1])), round(float(found[2]))) == (792, 612)


@pytest.mark.parametrize("options", [["--picture-width", "wide"], ["--only-layers", "2-1"],
                                     ["--page", "a4"]])  # fmt: skip
def test_options_that_cannot_be_met_are_refused(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.rasp"
    program.write_text("own = aggregate(select(tokens, tokens, ==), indices);")
    assert main(["draw", str(program), "own", "aba", *options]) != 0
    assert "error" in capsys.readouterr().err


def test_pairs_of_heat_maps_stay_in_one_column() -> None:
    one = [[1.0, 0.0], [0.0, 1.0]]
    picture = heat_maps([one] * 15, "ab", [f"map {n}" for n in range(15)], columns=[3] * 5)
    root = ElementTree.fromstring(picture.svg())
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("class") == "box"]
    assert len(boxes) == 5
