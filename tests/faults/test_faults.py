"""Whatever happens while a file is written, what is in its place is the old or the new one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

import rasp
from rasp.apps.cli.arguments import CommandParser
from rasp.apps.cli.fmt import configure, run
from rasp.base import file_writing
from rasp.models.export.folders import writing

if not sys.platform.startswith("linux"):
    pytest.skip("forks, signals and limits as Linux has them", allow_module_level=True)

from .moments import (
    REFUSED,
    full_at_every_moment,
    interrupted_at_every_moment,
    killed_at_every_moment,
    without_permission,
    without_space,
)

pytestmark = pytest.mark.slow
UNTIDY = "a=1;   b =  a+1;\n" * 50


@dataclass(frozen=True)
class Writer:
    """Something that writes a file: how the folder is before, and what is done."""

    name: str
    file: str
    before: bytes
    act: Callable[[Path], object]


def lay_out(folder: Path) -> None:
    parser = CommandParser("rasp fmt", "")
    configure(parser)
    sys.stdout = StringIO()
    run(parser.parse_args([str(folder / "it.rasp")]))


def draw(folder: Path) -> None:
    from rasp.insight.drawing import draw

    draw(REVERSE, "abc").save(folder / "it.svg")


REVERSE = rasp.run("reverse = sort(tokens, -indices);")["reverse"]
WRITERS = [
    Writer("fmt", "it.rasp", UNTIDY.encode(), lay_out),
    Writer("draw", "it.svg", b"<svg>an older picture</svg>" * 10, draw),
]
every_writer = pytest.mark.parametrize("writer", WRITERS, ids=lambda each: each.name)


@pytest.fixture
def place(writer: Writer, tmp_path: Path) -> Path:
    """The file that a writer replaces."""
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / writer.file
    path.write_bytes(writer.before)
    return path


def restored(place: Path, writer: Writer) -> Callable[[], object]:
    def restore() -> None:
        for path in place.parent.iterdir():
            path.unlink()
        place.write_bytes(writer.before)

    return restore


def written_whole(place: Path, writer: Writer) -> bytes:
    """What is written where nothing goes wrong."""
    from .moments import FINE, forked

    assert forked(lambda: writer.act(place.parent)) == FINE
    new = place.read_bytes()
    assert new != writer.before
    return new


@every_writer
def test_killed_at_any_moment_the_file_is_the_old_or_the_new_one(
    writer: Writer, place: Path
) -> None:
    new = written_whole(place, writer)
    for moment in killed_at_every_moment(lambda: writer.act(place.parent), restored(place, writer)):
        assert place.read_bytes() in (writer.before, new), f"moment {moment}"


@every_writer
def test_after_ctrl_c_at_any_moment_nothing_else_is_left(writer: Writer, place: Path) -> None:
    new = written_whole(place, writer)
    for moment in interrupted_at_every_moment(
        lambda: writer.act(place.parent), restored(place, writer)
    ):
        assert place.read_bytes() in (writer.before, new), f"moment {moment}"
        assert list(place.parent.iterdir()) == [place], f"moment {moment}"


@every_writer
def test_with_a_disk_full_at_any_moment_nothing_else_is_left(writer: Writer, place: Path) -> None:
    new = written_whole(place, writer)
    for moment in full_at_every_moment(lambda: writer.act(place.parent), restored(place, writer)):
        assert place.read_bytes() in (writer.before, new), f"moment {moment}"
        assert list(place.parent.iterdir()) == [place], f"moment {moment}"


@every_writer
def test_without_space_the_old_file_stays_and_the_user_is_told(writer: Writer, place: Path) -> None:
    written_whole(place, writer)
    restored(place, writer)()
    assert without_space(lambda: writer.act(place.parent)) == REFUSED
    assert place.read_bytes() == writer.before
    assert list(place.parent.iterdir()) == [place]


@every_writer
def test_in_a_folder_that_may_only_be_read_the_user_is_told(writer: Writer, place: Path) -> None:
    written_whole(place, writer)
    restored(place, writer)()
    assert without_permission(lambda: writer.act(place.parent), str(place.parent)) == REFUSED
    assert place.read_bytes() == writer.before


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    from rasp.base.file_writing import replace_file

    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o640


def export_over(folder: Path, content: str) -> None:
    with writing(folder / "place") as work:
        (work / "model").write_text(content)
        (work / "rasp.json").write_text('{"made_by": "rasp", "files": ["model", "rasp.json"]}')


@pytest.mark.parametrize("in_one_step", [True, False])
@pytest.mark.parametrize(
    "strike", [killed_at_every_moment, interrupted_at_every_moment, full_at_every_moment]
)
def test_an_export_is_the_old_one_or_the_new_one(
    strike, in_one_step: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_one_step:
        monkeypatch.setattr(file_writing, "_exchange", lambda first, second: False)

    def restore() -> None:
        for path in tmp_path.iterdir():
            shutil.rmtree(path)
        export_over(tmp_path, "old")

    found = set()
    for moment in strike(lambda: export_over(tmp_path, "new"), restore):
        place = tmp_path / "place"
        if not place.exists():
            assert not in_one_step, f"moment {moment}"
            [place] = tmp_path.glob(".place.*.old")  # whole, but beside its place
        assert {path.name for path in place.iterdir()} == {"model", "rasp.json"}
        found.add((place / "model").read_text())
    assert found == {"old", "new"}
