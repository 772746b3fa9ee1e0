"""Files of every kind, whole or not at all."""

import struct
import sys
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli import main
from rasp.insight.drawing import Drawing, draw
from rasp.language.graph import Tokens

PROGRAM = """
opp_index = length - indices - 1;
flip = select(indices, opp_index, ==);
reverse = aggregate(flip, tokens);
"""


@pytest.fixture
def reverse() -> Drawing:
    return draw(rasp.run(PROGRAM)["reverse"], ["a", "&", "😀", "שלום", "\x00"])


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".svg", b"<svg "), (".html", b"<!DOCTYPE html>"), (".txt", b"reverse on")],
)
def test_the_suffix_chooses(reverse: Drawing, tmp_path: Path, suffix: str, start: bytes) -> None:
    path = reverse.save(tmp_path / f"flow{suffix}")
    assert path.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [path]  # nothing half-written is left beside it


def test_png_has_twice_the_size_of_the_svg(reverse: Drawing) -> None:
    pytest.importorskip("typst", reason="the extra `draw` is not installed")
    image = reverse.png()
    assert image.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", image[16:24])
    head = reverse.svg()[:200]
    assert abs(width / 2 - svg_size(head)[0]) <= 1
    assert abs(height / 2 - svg_size(head)[1]) <= 1


def svg_size(head: str) -> tuple[float, float]:
    return float(head.split('width="')[1].split('"')[0]), float(
        head.split('height="')[1].split('"')[0]
    )


def test_pdf_is_a_pdf(reverse: Drawing) -> None:
    pytest.importorskip("typst", reason="the extra `draw` is not installed")
    assert reverse.pdf().startswith(b"%PDF-")


def test_dark_and_light_images_differ() -> None:
    pytest.importorskip("typst", reason="the extra `draw` is not installed")
    drawing = draw(Tokens(), "ab")
    assert drawing.with_theme("dark").png() != drawing.with_theme("light").png()
    assert drawing.with_theme("auto").png() == drawing.with_theme("light").png()


def test_without_the_extra_the_error_names_it(
    reverse: Drawing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(rasp.RaspUnsupportedError) as error:
        reverse.save(tmp_path / "flow.png")
    assert "[draw]" in (error.value.hint or "")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(
    reverse: Drawing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "flow.svg"
    path.write_text("old")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(rasp.RaspLimitError, match="no space left"):
        reverse.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_suffix_or_folder_is_refused(reverse: Drawing, tmp_path: Path) -> None:
    with pytest.raises(rasp.RaspUnsupportedError, match=r"flow\.jpeg"):
        reverse.save(tmp_path / "flow.jpeg")
    with pytest.raises(rasp.RaspValueError, match="cannot be written"):
        reverse.save(tmp_path / "nowhere" / "flow.svg")


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "reverse.rasp"
    path.write_text(PROGRAM)
    return str(path)


def test_the_command_prints_text(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", program, "reverse", "abc"]) == 0
    assert "layer 2: flip = select(indices, opp_index, ==)" in capsys.readouterr().out


def test_the_command_draws_one_selection(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", program, "reverse", '["x", "y"]', "--selector"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("█") == 2
    assert "layer" not in printed


def test_the_command_writes_files(program: str, tmp_path: Path) -> None:
    path = tmp_path / "flow.svg"
    assert main(["draw", program, "reverse", "abc", "-o", str(path), "--theme", "dark"]) == 0
    assert "#15171c" in path.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing", "abc"], "no `nothing`"),
        (["reverse", ""], "the input is empty"),
        (["reverse", "abc", "-o", "flow.gif"], "flow.gif"),
        (["reverse", "a" * 300], "too long to draw"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    program: str, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["draw", program, *arguments]) == 2
    assert words in capsys.readouterr().err
